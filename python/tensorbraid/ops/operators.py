"""Python's operators on tensors and variables, with values of Python and NumPy on either side."""

from tensorbraid import _core, dtypes
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import elementwise, indexing, linalg_ops


def _add(x, y, name):
    return make_op("Add" if x.dtype == dtypes.string else "AddV2", [x, y], name).outputs[0]


def _of_op(op_type):
    return lambda x, y, name: make_op(op_type, [x, y], name).outputs[0]


def _logical_or_bitwise(logical, bitwise):
    def operation(x, y, name):
        if x.dtype == dtypes.bool:
            return logical(x, y, name)
        with name_scope(name):
            return bitwise(x, y)

    return operation


def _matmul(x, y, name):
    return linalg_ops.matmul(x, y, name=name)


_BINARY = {
    "add": ("add", _add), "sub": ("sub", _of_op("Sub")), "mul": ("mul", _of_op("Mul")),
    "truediv": ("truediv", lambda x, y, name: elementwise.truediv(x, y, name)),
    "floordiv": ("floordiv", _of_op("FloorDiv")), "mod": ("mod", _of_op("FloorMod")), "pow": ("pow", _of_op("Pow")),
    "matmul": ("matmul", _matmul),
    "and": ("and", _logical_or_bitwise(elementwise.logical_and, elementwise.bitwise_and)),
    "or": ("or", _logical_or_bitwise(elementwise.logical_or, elementwise.bitwise_or)),
    "xor": ("xor", _logical_or_bitwise(elementwise.logical_xor, elementwise.bitwise_xor)),
}


def _operator(name, operation):
    def _left(x, y):
        with name_scope(None, name, [x, y]) as scope:
            x = convert_to_tensor(x)
            return operation(x, _beside(y, x, "y"), scope)

    def _right(y, x):
        with name_scope(None, name, [x, y]) as scope:
            y = convert_to_tensor(y)
            return operation(_beside(x, y, "x"), y, scope)

    return _left, _right


def _beside(value, tensor, name):
    """The value as a tensor, of the other tensor's dtype if it can be converted to it."""
    try:
        return convert_to_tensor(value, tensor.dtype, name=name)
    except (TypeError, ValueError):
        return convert_to_tensor(value, name=name)


def _comparison(op_type):
    return lambda x, y: make_op(op_type, [x, y], op_type).outputs[0]


def _invert(x):
    return elementwise.logical_not(x) if x.dtype == dtypes.bool else elementwise.invert(x)


# The operators that a class of the program may delegate to tensors, as Tensor.OVERLOADABLE_OPERATORS says.
_OVERLOADABLE = frozenset(
    f"__{name}__" for symbols in (_BINARY, ("div",)) for symbol in symbols for name in (symbol, "r" + symbol)).union(
        f"__{symbol}__" for symbol in ("lt", "le", "gt", "ge", "neg", "abs", "invert", "getitem", "eq", "ne"))


def _install(tensor_class):
    for symbol, (name, operation) in _BINARY.items():
        left, right = _operator(name, operation)
        setattr(tensor_class, f"__{symbol}__", left)
        setattr(tensor_class, f"__r{symbol}__", right)
    tensor_class.__div__, tensor_class.__rdiv__ = _operator("div", elementwise.div)
    for symbol, op_type in (("lt", "Less"), ("le", "LessEqual"), ("gt", "Greater"), ("ge", "GreaterEqual")):
        setattr(tensor_class, f"__{symbol}__", _comparison(op_type))
    tensor_class.__neg__ = lambda x: elementwise.negative(x)
    tensor_class.__abs__ = lambda x: elementwise.abs(x)
    tensor_class.__invert__ = _invert
    tensor_class.__getitem__ = indexing.get_item
    tensor_class.OVERLOADABLE_OPERATORS = _OVERLOADABLE


_install(_core.Tensor)
_install(_core.Variable)

__all__ = []
