"""Assertions about tensors: at once where the values are known, otherwise in the step."""

import numpy as np

from tensorbraid import dtypes, errors
from tensorbraid.internal import graphs
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import convert_to_tensor, name_scope
from tensorbraid.ops import arrays, control, elementwise, reductions
from tensorbraid.ops.sparse_tensor import SparseTensor


def _static(*tensors):
    """The values of the tensors, if all are known before the step."""
    values = [t._constant() for t in tensors]
    return None if any(v is None for v in values) else values


def _compare(name_of_op, function, numpy_function):
    def check(x, y, data=None, summarize=None, message=None, name=None):
        with name_scope(name, name_of_op, [x, y, data]):
            x = convert_to_tensor(x, name="x")
            y = convert_to_tensor(y, x.dtype if not isinstance(y, graphs.Tensor) else None, name="y")
            values = _static(x, y)
            if values is not None and not np.all(numpy_function(*values)):
                raise errors.InvalidArgumentError(
                    None, None, f"{message or ''}\n{name_of_op} does not hold for {values[0]} and {values[1]}")
            if data is None:
                data = [message or "", f"{name_of_op}: the condition x, y did not hold element-wise:",
                        f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
            return control.Assert(reductions.reduce_all(function(x, y)), data, summarize=summarize)

    return named(check, name_of_op,
                 f"An operation that fails unless {name_of_op[7:]} holds for all elements of x and y.")


assert_equal = _compare("assert_equal", elementwise.equal, np.equal)
assert_none_equal = _compare("assert_none_equal", elementwise.not_equal, np.not_equal)
assert_less = _compare("assert_less", elementwise.less, np.less)
assert_less_equal = _compare("assert_less_equal", elementwise.less_equal, np.less_equal)
assert_greater = _compare("assert_greater", elementwise.greater, np.greater)
assert_greater_equal = _compare("assert_greater_equal", elementwise.greater_equal, np.greater_equal)


def _sign(name_of_op, compare, zero_first):
    def check(x, data=None, summarize=None, message=None, name=None):
        with name_scope(name, name_of_op, [x, data]):
            x = convert_to_tensor(x, name="x")
            zero = graphs.constant(0, x.dtype)
            if data is None:
                data = [message or "", f"{name_of_op}: the condition did not hold element-wise:", f"x ({x.name}) = ", x]
            first, second = (zero, x) if zero_first else (x, zero)
            return compare(first, second, data, summarize, message)

    return named(check, name_of_op,
                 f"An operation that fails unless all elements are {name_of_op[7:].replace('_', ' ')}.")


assert_negative = _sign("assert_negative", assert_less, False)
assert_non_negative = _sign("assert_non_negative", assert_less_equal, True)
assert_non_positive = _sign("assert_non_positive", assert_less_equal, False)
assert_positive = _sign("assert_positive", assert_less, True)


def assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless |x - y| <= atol + rtol * |y| for all elements."""
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, x.dtype, name="y")
        precision = 10 * float(np.finfo(x.dtype.as_numpy_dtype).eps) if x.dtype.name != "bfloat16" else 0.078125
        rtol = convert_to_tensor(precision if rtol is None else rtol, x.dtype, name="rtol")
        atol = convert_to_tensor(precision if atol is None else atol, x.dtype, name="atol")
        if data is None:
            data = [message or "", "x and y are not near each other:", f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
        close = elementwise.less_equal(elementwise.abs(x - y), atol + rtol * elementwise.abs(y))
        return control.Assert(reductions.reduce_all(close), data, summarize=summarize)


def assert_integer(x, message=None, name=None):
    """Raises TypeError unless the tensor has integers."""
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(f"{message or ''}  Expected \"x\" to be integer type.  Found: {x.dtype!r}")
        return control.no_op("statically_determined_was_integer")


def assert_type(tensor, tf_type, message=None, name=None):
    """Raises TypeError unless the tensor has this dtype."""
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype != dtypes.as_dtype(tf_type):
            raise TypeError(f"{message or ''}{tensor.name} must be of type {dtypes.as_dtype(tf_type)!r}; "
                            f"got {tensor.dtype!r}")
        return control.no_op("statically_determined_correct_type")


def _rank_check(name_of_op, doc, holds, dynamic):
    def check(x, rank, data=None, summarize=None, message=None, name=None):
        with name_scope(name, name_of_op, [x, rank]):
            x = convert_to_tensor(x, name="x")
            rank = convert_to_tensor(rank, name="rank")
            if not rank.dtype.is_integer:
                raise TypeError(f"Rank must be an integer, got {rank.dtype!r}")
            wanted = rank._constant()
            if wanted is not None and np.ndim(wanted) != 0:
                raise ValueError("Rank must be a scalar.")
            if wanted is not None and x.shape.ndims is not None:
                if not holds(x.shape.ndims, int(wanted)):
                    raise ValueError(f"{message or ''}.  Tensor {x.name} must have rank {wanted}. "
                                     f"Received rank {x.shape.ndims}, shape {x.shape}")
                return control.no_op("static_checks_determined_all_ok")
            if data is None:
                data = [message or "", f"{name_of_op}: {x.name} has a wrong rank; its shape is", arrays.shape(x)]
            return control.Assert(dynamic(arrays.rank(x), rank), data, summarize=summarize)

    return named(check, name_of_op, doc)


assert_rank = _rank_check("assert_rank", "An operation that fails unless the tensor has this rank.",
                          lambda a, b: a == b, elementwise.equal)
assert_rank_at_least = _rank_check("assert_rank_at_least",
                                   "An operation that fails if the rank is lower than this one.",
                                   lambda a, b: a >= b, elementwise.greater_equal)


def assert_rank_in(x, ranks, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless the tensor's rank is one of `ranks`."""
    with name_scope(name, "assert_rank_in", [x]):
        x = convert_to_tensor(x, name="x")
        tensors = [convert_to_tensor(r, dtypes.int32, name="rank") for r in ranks]
        wanted = _static(*tensors)
        if wanted is not None and x.shape.ndims is not None:
            if x.shape.ndims not in [int(r) for r in wanted]:
                raise ValueError(f"{message or ''}.  Tensor {x.name} must have rank in {tuple(ranks)}. "
                                 f"Received rank {x.shape.ndims}, shape {x.shape}")
            return control.no_op("static_checks_determined_all_ok")
        if data is None:
            data = [message or "", f"the rank of {x.name} is wrong; its shape is", arrays.shape(x)]
        equal = reductions.reduce_any(arrays.stack([elementwise.equal(arrays.rank(x), r) for r in tensors]))
        return control.Assert(equal, data, summarize=summarize)


def assert_scalar(tensor, name=None, message=None):
    """The tensor; raises ValueError unless it is a scalar."""
    with name_scope(name, "assert_scalar", [tensor]):
        tensor = convert_to_tensor(tensor)
        if tensor.shape.ndims != 0:
            raise ValueError(f"{message or ''}Expected scalar shape for {tensor.name}, saw shape: {tensor.shape}.")
        return tensor


def assert_proper_iterable(values):
    """Raises TypeError for a value that is no list of values: a tensor, an array or a string."""
    if isinstance(values, (graphs.Tensor, SparseTensor, np.ndarray, str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"Expected argument \"values\" to be a \"proper\" iterable.  Found: {type(values)}")


def assert_same_float_dtype(tensors=None, dtype=None):
    """The dtype that all tensors have; raises ValueError if they differ or are no floats."""
    found = None if dtype is None else dtypes.as_dtype(dtype)
    for tensor in tensors or []:
        if tensor is None:
            continue
        if found is None:
            found = tensor.dtype
        elif found != tensor.dtype:
            raise ValueError(f"Tensor {tensor} has dtype {tensor.dtype.name}, expected {found.name}")
    found = found or dtypes.float32
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found!r}.")
    return found


def is_numeric_tensor(tensor):
    """Whether the value is a tensor of numbers."""
    return isinstance(tensor, graphs.Tensor) and (tensor.dtype.is_floating or tensor.dtype.is_integer
                                                  or tensor.dtype.is_complex)


def _increasing(name_of_op, compare):
    def check(x, name=None):
        with name_scope(name, name_of_op, [x]):
            x = arrays.reshape(convert_to_tensor(x), [-1])
            return reductions.reduce_all(compare(x[:-1], x[1:]))

    return named(check, name_of_op, f"Whether the elements, in their order, are {name_of_op[3:].replace('_', ' ')}.")


is_non_decreasing = _increasing("is_non_decreasing", elementwise.less_equal)
is_strictly_increasing = _increasing("is_strictly_increasing", elementwise.less)

__all__ = [
    "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer", "assert_less", "assert_less_equal",
    "assert_near", "assert_negative", "assert_non_negative", "assert_non_positive", "assert_none_equal",
    "assert_positive", "assert_proper_iterable", "assert_rank", "assert_rank_at_least", "assert_rank_in",
    "assert_same_float_dtype", "assert_scalar", "assert_type", "is_non_decreasing", "is_numeric_tensor",
    "is_strictly_increasing",
]
