"""Named tuples for the outputs of ops that have several."""

import collections
import functools

__all__ = []


@functools.lru_cache(maxsize=None)
def results_class(op_type, fields):
    """The class of named tuples with these fields, which are separated by spaces. Pickle makes it where it is needed."""
    kind = collections.namedtuple(op_type, fields.split())
    kind.__reduce__ = lambda self: (_restored, (op_type, fields, tuple(self)))
    return kind


def _restored(op_type, fields, values):
    return results_class(op_type, fields)(*values)
