"""tensorflow.python.framework.dtypes: the element types, and their lookup by number or name."""

from tensorbraid.dtypes import *  # noqa: F401,F403
from tensorbraid.dtypes import _BY_NUMBER, DType, as_dtype  # noqa: F401

_TYPE_TO_STRING = {dtype: dtype.name for dtype in _BY_NUMBER.values()}
_STRING_TO_TF = {dtype.name: dtype for dtype in _BY_NUMBER.values()}
_INTERN_TABLE = _BY_NUMBER

__all__ = ["DType", "as_dtype"]
