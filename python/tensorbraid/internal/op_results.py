"""Named tuples for ops with several outputs."""

import collections
import functools

__all__ = []


@functools.lru_cache(maxsize=None)
def results_class(op_type, fields):
    """A class of named tuples. `fields` is separated by spaces."""
    kind = collections.namedtuple(op_type, fields.split())
    kind.__reduce__ = lambda self: (_restored, (op_type, fields, tuple(self)))
    return kind


def _restored(op_type, fields, values):
    return results_class(op_type, fields)(*values)
