"""Ops on numbers, and the operators of tensors."""

import numpy as np

from tensorbraid import _core, dtypes, graphs
from tensorbraid.graphs import convert_to_tensor, make_op


def _unary(op_type, default_name):
    def op(x, name=None):
        return make_op(op_type, [x], name or default_name).outputs[0]

    op.__name__ = op.__qualname__ = default_name
    op.__doc__ = f"The op {op_type} of one operand; see docs/ops.md."
    return op


def _binary(op_type, default_name):
    def op(x, y, name=None):
        return make_op(op_type, [x, y], name or default_name).outputs[0]

    op.__name__ = op.__qualname__ = default_name
    op.__doc__ = f"The op {op_type} of two operands, which are broadcast; see docs/ops.md."
    return op


abs = _unary("Abs", "Abs")
ceil = _unary("Ceil", "Ceil")
cos = _unary("Cos", "Cos")
exp = _unary("Exp", "Exp")
floor = _unary("Floor", "Floor")
identity = _unary("Identity", "Identity")
log = _unary("Log", "Log")
log1p = _unary("Log1p", "Log1p")
logical_not = _unary("LogicalNot", "LogicalNot")
negative = _unary("Neg", "Neg")
reciprocal = _unary("Reciprocal", "Reciprocal")
round = _unary("Round", "Round")
rsqrt = _unary("Rsqrt", "Rsqrt")
sigmoid = _unary("Sigmoid", "Sigmoid")
sign = _unary("Sign", "Sign")
sin = _unary("Sin", "Sin")
sqrt = _unary("Sqrt", "Sqrt")
square = _unary("Square", "Square")
stop_gradient = _unary("StopGradient", "StopGradient")
tanh = _unary("Tanh", "Tanh")

add = _binary("Add", "Add")
divide = _binary("RealDiv", "truediv")
equal = _binary("Equal", "Equal")
floordiv = _binary("FloorDiv", "floordiv")
floormod = mod = _binary("FloorMod", "FloorMod")
greater = _binary("Greater", "Greater")
greater_equal = _binary("GreaterEqual", "GreaterEqual")
less = _binary("Less", "Less")
less_equal = _binary("LessEqual", "LessEqual")
logical_and = _binary("LogicalAnd", "LogicalAnd")
logical_or = _binary("LogicalOr", "LogicalOr")
maximum = _binary("Maximum", "Maximum")
minimum = _binary("Minimum", "Minimum")
multiply = _binary("Mul", "Mul")
not_equal = _binary("NotEqual", "NotEqual")
pow = _binary("Pow", "Pow")
squared_difference = _binary("SquaredDifference", "SquaredDifference")
subtract = _binary("Sub", "Sub")


def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False,
           b_is_sparse=False, name=None):
    """The product of two matrices, or of batches of matrices."""
    a = convert_to_tensor(a, name="a")
    b = convert_to_tensor(b, name="b", dtype=a.dtype)
    if (a.shape.ndims or 0) > 2 or (b.shape.ndims or 0) > 2:
        for matrix, transposed in (("a", transpose_a), ("b", transpose_b)):
            if transposed and a.dtype.is_complex:
                raise ValueError(f"transpose_{matrix} of batches of complex matrices is not supported; use adjoint")
        return make_op("BatchMatMulV2", [a, b], name or "MatMul", adj_x=adjoint_a or transpose_a,
                       adj_y=adjoint_b or transpose_b).outputs[0]
    if (adjoint_a or adjoint_b) and a.dtype.is_complex:
        raise ValueError("adjoint_a and adjoint_b of complex matrices are not supported")
    return make_op("MatMul", [a, b], name or "MatMul", transpose_a=transpose_a or adjoint_a,
                   transpose_b=transpose_b or adjoint_b).outputs[0]


def cast(x, dtype, name=None):
    """x converted to `dtype`; x itself if it has that dtype."""
    dtype = dtypes.as_dtype(dtype)
    x = convert_to_tensor(x, name="x")
    if x.dtype == dtype:
        return x
    return make_op("Cast", [x], name or "Cast", DstT=dtype).outputs[0]


def argmax(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):
    """The index of the largest value along an axis."""
    axis = dimension if axis is None else axis
    return make_op("ArgMax", [input, 0 if axis is None else axis], name or "ArgMax",
                   output_type=dtypes.as_dtype(output_type)).outputs[0]


def _reduction(op_type, default_name):
    def op(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
        axis = reduction_indices if axis is None else axis
        keep = keep_dims if keepdims is None else keepdims
        x = convert_to_tensor(input_tensor)
        if axis is None:
            rank = x.shape.ndims
            if rank is not None:
                axis = graphs.constant(np.arange(rank, dtype=np.int32))
            else:
                axis = range(0, make_op("Rank", [x]).outputs[0])
        return make_op(op_type, [x, axis], name or default_name, keep_dims=bool(keep)).outputs[0]

    op.__name__ = op.__qualname__ = f"reduce_{default_name.lower()}"
    op.__doc__ = f"The op {op_type} along `axis`, a number or a list; None stands for all axes."
    return op


reduce_all = _reduction("All", "All")
reduce_any = _reduction("Any", "Any")
reduce_max = _reduction("Max", "Max")
reduce_mean = _reduction("Mean", "Mean")
reduce_min = _reduction("Min", "Min")
reduce_prod = _reduction("Prod", "Prod")
reduce_sum = _reduction("Sum", "Sum")


def range(start, limit=None, delta=1, dtype=None, name="range"):
    """The numbers from `start` to before `limit`."""
    if limit is None:
        start, limit = 0, start
    values = [start, limit, delta]
    if dtype is not None:
        values = [convert_to_tensor(v, dtype) if not isinstance(v, graphs.Tensor) else cast(v, dtype) for v in values]
    return make_op("Range", values, name).outputs[0]


def reshape(tensor, shape, name=None):
    """The same elements under another shape."""
    return make_op("Reshape", [tensor, shape], name or "Reshape").outputs[0]


def transpose(a, perm=None, name="transpose"):
    """`a` with its axes in the order of `perm`; None reverses them."""
    a = convert_to_tensor(a)
    if perm is None:
        if a.shape.ndims is None:
            raise ValueError("transpose needs perm for a tensor of unknown rank")
        perm = list(reversed(list(np.arange(a.shape.ndims))))
    return make_op("Transpose", [a, np.asarray(perm, np.int32)], name or "transpose").outputs[0]


def concat(values, axis, name="concat"):
    """The tensors one after the other along an axis."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    return make_op("ConcatV2", [list(values), axis], name or "concat").outputs[0]


def _filled(value):
    def op(shape, dtype=dtypes.float32, name=None):
        dtype = dtypes.as_dtype(dtype)
        if isinstance(shape, graphs.Tensor):
            return make_op("Fill", [shape, convert_to_tensor(value, dtype)], name or op.__name__).outputs[0]
        dims = graphs.TensorShape(shape).as_list()
        return graphs.constant(np.full(dims, value, dtype.as_numpy_dtype), name=name or op.__name__)

    return op


zeros = _filled(0)
zeros.__name__ = zeros.__qualname__ = "zeros"
ones = _filled(1)
ones.__name__ = ones.__qualname__ = "ones"


def group(*inputs, **kwargs):
    """An operation that runs after all `inputs`."""
    flat = [item for entry in inputs for item in (entry if isinstance(entry, (list, tuple)) else [entry])]
    graph = graphs.graph_of(flat)
    with graph.control_dependencies(flat):
        return graph._op("NoOp", [], {}, kwargs.get("name") or "group_deps")


def _random(op_type, default_name, scale):
    def op(shape, first, second, dtype=dtypes.float32, seed=None, name=None):
        graph = graphs.get_default_graph()
        with graphs.name_scope(name, default_name, [shape]):
            dims = convert_to_tensor(shape if isinstance(shape, graphs.Tensor) else np.asarray(shape, np.int32), name="shape")
            graph_seed = graph.seed
            seeds = {}
            if seed is not None or graph_seed:
                seeds = {"seed": graph_seed or 87654321, "seed2": seed if seed is not None else len(graph.get_operations())}
            values = make_op(op_type, [dims], None, dtype=dtypes.as_dtype(dtype), **seeds).outputs[0]
            return scale(values, first, second)

    return op


_uniform = _random("RandomUniform", "random_uniform", lambda x, low, high: x * (high - low) + low)
_normal = _random("RandomStandardNormal", "random_normal", lambda x, mean, stddev: x * stddev + mean)
_truncated = _random("TruncatedNormal", "truncated_normal", lambda x, mean, stddev: x * stddev + mean)


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Numbers from [minval, maxval)."""
    return _uniform(shape, minval, maxval, dtype, seed, name)


def random_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of a normal distribution."""
    return _normal(shape, mean, stddev, dtype, seed, name)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of a normal distribution without those more than two deviations from the mean."""
    return _truncated(shape, mean, stddev, dtype, seed, name)


def _operator(op_type, default_name):
    def left(x, y):
        return make_op(op_type, [x, _like(y, x)], default_name).outputs[0]

    def right(y, x):
        types = {} if op_type.startswith("Logical") else {"T": y.dtype}
        return make_op(op_type, [_like(x, y), y], default_name, **types).outputs[0]

    return left, right


def _like(value, tensor):
    """A NumPy array or a value of Python as a constant of the tensor's dtype, in TensorFlow's way named "y" or "x"."""
    if isinstance(value, np.ndarray) and value.dtype != tensor.dtype.as_numpy_dtype:
        return convert_to_tensor(value)
    return value


def _install(tensor_class):
    for symbol, op_type, name in (
        ("add", "AddV2", "add"), ("sub", "Sub", "sub"), ("mul", "Mul", "mul"), ("truediv", "RealDiv", "truediv"),
        ("floordiv", "FloorDiv", "floordiv"), ("mod", "FloorMod", "mod"), ("pow", "Pow", "pow"),
        ("matmul", "MatMul", "matmul"), ("and", "LogicalAnd", "and"), ("or", "LogicalOr", "or"),
    ):
        left, right = _operator(op_type, name)
        setattr(tensor_class, f"__{symbol}__", left)
        setattr(tensor_class, f"__r{symbol}__", right)
    for symbol, op_type in (("lt", "Less"), ("le", "LessEqual"), ("gt", "Greater"), ("ge", "GreaterEqual")):
        setattr(tensor_class, f"__{symbol}__", _operator(op_type, op_type)[0])
    tensor_class.__neg__ = lambda x: make_op("Neg", [x], "Neg").outputs[0]
    tensor_class.__abs__ = lambda x: make_op("Abs", [x], "Abs").outputs[0]
    tensor_class.__invert__ = lambda x: make_op("LogicalNot", [x], "LogicalNot").outputs[0]


_install(_core.Tensor)
_install(_core.Variable)
