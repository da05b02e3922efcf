"""The floating point operations of a node, by its type: those that TensorFlow counts, and nothing for other types."""

import math

__all__ = ["of"]

# For each element of the result.
_FOR_EACH = {**dict.fromkeys(
    "Add AddV2 Sub Mul RealDiv Maximum Minimum Pow Equal NotEqual Greater GreaterEqual Less LessEqual Neg Reciprocal "
    "Square Log BiasAdd AssignAdd AssignSub".split(), 1), "Rsqrt": 2, "SquaredDifference": 2, "RsqrtGrad": 4,
    "Softmax": 5}


def _size(tensor):
    """The number of elements; raises ValueError if the shape is not known."""
    dims = tensor.shape.as_list()
    if None in dims:
        raise ValueError(tensor.name)
    return math.prod(dims)


def _product(op):
    """Two for each pair of factors of a matrix product. TensorFlow disregards that a batch is transposed."""
    inner = op.inputs[0].shape.as_list()
    return 2 * inner[-2 if op.type == "MatMul" and op.get_attr("transpose_a") else -1] * _size(op.outputs[0])


def _convolution(op):
    kernel = op.inputs[1].shape.as_list()
    return 2 * math.prod(kernel[:-1]) * _size(op.outputs[0])


def _depthwise(op):
    kernel = op.inputs[1].shape.as_list()
    return 2 * kernel[0] * kernel[1] * _size(op.outputs[0])


def _pool(op):
    return math.prod(op.get_attr("ksize")) * _size(op.outputs[0])


def _reduction(op):
    return _size(op.inputs[0]) - _size(op.outputs[0])


def _gradient_by_images(op):
    return 2 * math.prod(op.inputs[1].shape.as_list()[:-1]) * _size(op.inputs[2])


def _gradient_by_kernel(op):
    return 2 * math.prod(op.outputs[0].shape.as_list()[:-1]) * _size(op.inputs[2])


_RULES = {
    "MatMul": _product, "BatchMatMul": _product, "BatchMatMulV2": _product, "Conv2D": _convolution,
    "Conv3D": _convolution, "DepthwiseConv2dNative": _depthwise, "MaxPool": _pool, "AvgPool": _pool,
    "Conv2DBackpropInput": _gradient_by_images, "Conv2DBackpropFilter": _gradient_by_kernel, "Sum": _reduction,
    "ArgMax": _reduction, "ArgMin": _reduction, "BiasAddGrad": _reduction, "Mean": lambda op: _size(op.inputs[0]),
    "L2Loss": lambda op: 3 * _size(op.inputs[0]) - 1, "AddN": lambda op: _size(op.outputs[0]) * (len(op.inputs) - 1),
    "MaxPoolGrad": lambda op: (math.prod(op.get_attr("ksize")) + 1) * _size(op.inputs[2]),
    "AvgPoolGrad": lambda op: math.prod(op.get_attr("ksize")) * _size(op.inputs[1]) + _size(op.outputs[0]),
}


def of(op):
    """How many a run of the node takes; 0 if the type is not counted, or a shape is not known."""
    try:
        if op.type in _FOR_EACH:
            return _FOR_EACH[op.type] * _size(op.outputs[0])
        return _RULES[op.type](op) if op.type in _RULES else 0
    except (TypeError, ValueError):
        return 0
