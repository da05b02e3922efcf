"""Element types of tensors."""

import difflib

import numpy as np

from tensorbraid.internal import arguments


class DType:
    """An element type. Its number and its name are TensorFlow's. Compare with `==`; a NumPy dtype or a name will do."""

    def __new__(cls, type_enum, name=None, numpy_type=None):
        if name is not None:
            return super().__new__(cls)
        if int(type_enum) not in _BY_NUMBER:
            raise TypeError(f"{type_enum} does not correspond to a valid tf.DType")
        return _BY_NUMBER[int(type_enum)]

    def __init__(self, type_enum, name=None, numpy_type=None):
        if name is not None:
            self.as_datatype_enum = type_enum
            self.name = name
            self._numpy_type = numpy_type

    def __reduce__(self):
        return DType, (self.as_datatype_enum,)

    @property
    def as_numpy_dtype(self):
        """The NumPy type of the elements; strings are objects."""
        if self._numpy_type is None:
            import ml_dtypes

            return ml_dtypes.bfloat16
        return self._numpy_type

    @property
    def base_dtype(self):
        """The type itself: the package makes no reference types."""
        return self

    @property
    def is_floating(self):
        """Whether it is a type of floating-point numbers."""
        return self.name in ("float16", "bfloat16", "float32", "float64")

    @property
    def is_complex(self):
        """Whether it is a type of complex numbers."""
        return self.name in ("complex64", "complex128")

    @property
    def is_integer(self):
        """Whether it is a type of integers, quantized ones excluded."""
        return self.name.startswith(("int", "uint"))

    @property
    def is_bool(self):
        """Whether it is bool."""
        return self.name == "bool"

    @property
    def is_unsigned(self):
        return self.name.startswith("uint")

    @property
    def is_quantized(self):
        return False

    @property
    def is_numpy_compatible(self):
        return self.name not in ("resource", "variant")

    @property
    def real_dtype(self):
        """The type of the parts of complex numbers; any other type is its own."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def size(self):
        """The bytes of an element."""
        if self._numpy_type is np.object_:
            return 0
        return np.dtype(self.as_numpy_dtype).itemsize

    def _limit(self, which):
        if self.is_integer:
            return getattr(np.iinfo(self.as_numpy_dtype), which)
        if not self.is_floating:
            raise TypeError(f"Cannot find {which}imum value of {self}.")
        if self.name == "bfloat16":
            import ml_dtypes

            return getattr(ml_dtypes.finfo(ml_dtypes.bfloat16), which)
        return getattr(np.finfo(self.as_numpy_dtype), which)

    @property
    def min(self):
        """The smallest number; TypeError for types without an order."""
        return self._limit("min")

    @property
    def max(self):
        """The largest number."""
        return self._limit("max")

    @property
    def limits(self):
        """The smallest and the largest value of an image of this type."""
        if self.is_integer:
            return (0, self.max)
        if self.name in ("float32", "float64", "bool"):
            return (0, 1 if self.is_floating else True)
        raise ValueError(f"{self} does not have defined limits.")

    def is_compatible_with(self, other):
        """Whether a tensor of the other type can be used in place of one of this type."""
        return self == as_dtype(other)

    def __eq__(self, other):
        if other is None:
            return False
        try:
            return self.as_datatype_enum == as_dtype(other).as_datatype_enum
        except TypeError:
            return NotImplemented

    def __hash__(self):
        return self.as_datatype_enum

    def __repr__(self):
        return f"tf.{self.name}"

    def __str__(self):
        return f"<dtype: '{self.name}'>"


float32 = DType(1, "float32", np.float32)
float64 = double = DType(2, "float64", np.float64)
int32 = DType(3, "int32", np.int32)
uint8 = DType(4, "uint8", np.uint8)
int16 = DType(5, "int16", np.int16)
int8 = DType(6, "int8", np.int8)
string = DType(7, "string", np.object_)
complex64 = DType(8, "complex64", np.complex64)
int64 = DType(9, "int64", np.int64)
bool = DType(10, "bool", np.bool_)
bfloat16 = DType(14, "bfloat16", None)
uint16 = DType(17, "uint16", np.uint16)
complex128 = DType(18, "complex128", np.complex128)
float16 = half = DType(19, "float16", np.float16)
resource = DType(20, "resource", np.object_)
variant = DType(21, "variant", np.object_)
uint32 = DType(22, "uint32", np.uint32)
uint64 = DType(23, "uint64", np.uint64)

_ALL = [value for value in list(globals().values()) if isinstance(value, DType)]
_BY_NUMBER = {dtype.as_datatype_enum: dtype for dtype in _ALL}
_BY_NAME = {dtype.name: dtype for dtype in _ALL} | {"double": float64, "float": float32, "half": float16}
_BY_PYTHON_TYPE = {float: float32, int: int32, complex: complex128, str: string, bytes: string, type(True): bool}


def as_dtype(value):
    """The DType for a DType, a number of TensorFlow's, a name, a type of Python, or a NumPy dtype."""
    if isinstance(value, DType):
        return value
    if value is None:
        raise TypeError(arguments.about(value, "Cannot convert the argument `type_value`: None to a TensorFlow DType."))
    if isinstance(value, str) and value in _BY_NAME:
        return _BY_NAME[value]
    if isinstance(value, int) and value in _BY_NUMBER:
        return _BY_NUMBER[value]
    if isinstance(value, type) and value in _BY_PYTHON_TYPE:
        return _BY_PYTHON_TYPE[value]
    try:
        name = np.dtype(value).name
    except TypeError:
        near = difflib.get_close_matches(value, _BY_NAME, 1) if isinstance(value, str) else []
        hint = f"; did you mean '{near[0]}'?" if near else "; a dtype is such as tf.float32"
        raise TypeError(arguments.about(value, f"cannot convert {value!r} to a TensorFlow dtype{hint}")) from None
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name.startswith(("str", "bytes", "object")):
        return string
    raise TypeError(f"NumPy's dtype {name} has no TensorFlow dtype")
