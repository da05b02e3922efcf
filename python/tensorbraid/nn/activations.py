"""Activation functions, softmax and dropout."""

import numbers

import numpy as np

from tensorbraid import _core, errors
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.function_names import named
from tensorbraid.ops import random_ops
from tensorbraid.ops.elementwise import sigmoid, tanh
from tensorbraid.ops.node import known_rank, one_axis, op, shape_of, tensor
from tensorbraid.ops.op_functions import op_doc
from tensorbraid.ops.special_math import zero_fraction

__all__ = ["bias_add", "crelu", "dropout", "elu", "leaky_relu", "log_softmax", "relu", "relu6", "relu_layer", "selu",
           "sigmoid", "silu", "softmax", "softplus", "softsign", "swish", "tanh", "xw_plus_b", "zero_fraction"]


def _activation(op_type):
    def function(features, name=None):
        return op(op_type, [features], name)

    return named(function, op_type.lower(), op_doc(op_type))


elu = _activation("Elu")
relu = _activation("Relu")
relu6 = _activation("Relu6")
selu = _activation("Selu")
softplus = _activation("Softplus")
softsign = _activation("Softsign")


def leaky_relu(features, alpha=0.2, name=None):
    """max(features, alpha * features)."""
    with graphs.name_scope(name, "LeakyRelu", [features]) as scope:
        features = tensor(features, name="features")
        if features.dtype.is_integer:
            features = op("Cast", [features], DstT="float32")
        if isinstance(alpha, np.ndarray):
            alpha = alpha.item()
        if not isinstance(alpha, numbers.Number):
            raise TypeError(f"Expected float for argument 'alpha' not {alpha!r}.")
        return op("LeakyRelu", [features], scope, alpha=float(alpha))


def crelu(features, name=None, axis=-1):
    """relu of the features and relu of their negatives, side by side."""
    with graphs.name_scope(name, "CRelu", [features]):
        features = tensor(features, name="features")
        return op("Relu", [op("ConcatV2", [[features, op("Neg", [features])], axis])])


def silu(features, beta=1.0):
    """features * sigmoid(beta * features)."""
    features = tensor(features, name="features")
    with graphs.name_scope(None, "swish", [features]):
        scaled = features if isinstance(beta, numbers.Number) and beta == 1.0 else op("Mul", [features, beta])
        return op("Mul", [features, op("Sigmoid", [scaled])])


swish = silu


def _along(op_type, logits, axis, name):
    """A softmax along any axis. The op itself works along the last one."""
    logits = tensor(logits, name="logits")
    rank = known_rank(logits, f"{op_type} along an axis") if axis not in (None, -1) else None
    if axis in (None, -1) or axis == rank - 1:
        return op(op_type, [logits], name)
    axis = arguments.integer("axis", axis)
    if not -rank <= axis < rank:
        raise errors.InvalidArgumentError(
            None, None, f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of dimensions in the "
            f"input. Received: dim={axis}")
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    with graphs.name_scope(name, op_type, [logits]) as scope:
        swapped = op(op_type, [op("Transpose", [logits, order])])
        return op("Transpose", [swapped, order], scope)


def softmax(logits, axis=None, name=None, dim=None):
    """exp(logits) / sum(exp(logits)) along an axis."""
    return _along("Softmax", logits, one_axis(axis, dim), name)


def log_softmax(logits, axis=None, name=None, dim=None):
    """The logarithm of softmax."""
    return _along("LogSoftmax", logits, one_axis(axis, dim), name)


def bias_add(value, bias, data_format=None, name=None):
    """Adds a vector along the channels of `value`."""
    if data_format is not None:
        data_format = "NCHW" if data_format.startswith("NC") else "NHWC" if data_format.startswith("N") else data_format
        if data_format not in ("NCHW", "NHWC"):
            raise ValueError(f"`data_format` must be of the form `N...C` or `NC...`. Received: {data_format}")
    return op("BiasAdd", [value, bias], name, data_format=data_format)


def xw_plus_b(x, weights, biases, name=None):
    """matmul(x, weights) + biases."""
    with graphs.name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        return op("BiasAdd", [op("MatMul", [x, weights]), biases], scope)


def relu_layer(x, weights, biases, name=None):
    """relu(matmul(x, weights) + biases)."""
    with graphs.name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        return op("Relu", [op("BiasAdd", [op("MatMul", [x, weights]), biases])], scope)


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """Sets a part `rate` = 1 - keep_prob of the elements to 0 at random, and scales the others by 1 / keep_prob."""
    if rate is not None and keep_prob is not None:
        raise ValueError("pass only one of rate and keep_prob")
    if rate is None and keep_prob is None:
        raise ValueError("You must provide a rate to dropout.")
    for name_of_part, part in (("keep_prob", keep_prob), ("rate", rate)):
        is_number = isinstance(part, numbers.Real) or getattr(part, "shape", None) == ()
        arguments.check(part is None or is_number or isinstance(part, (graphs.Tensor, _core.Variable)), name_of_part,
                        "a number or a scalar tensor", part)
    if rate is None:
        rate = 1 - keep_prob
    if isinstance(rate, numbers.Real) and not 0 <= rate < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
    with graphs.name_scope(name, "dropout", [x]):
        x = tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(f"`x.dtype` must be a floating point tensor as `x` will be scaled. Received: {x.dtype}")
        if isinstance(rate, numbers.Real) and rate == 0:
            return x
        scale = 1 / (1 - rate) if isinstance(rate, numbers.Real) else op("RealDiv", [1.0, op("Sub", [1.0, rate])])
        scaled = op("Mul", [x, scale])
        noise = _noise_shape(x, noise_shape)
        random = random_ops.random_uniform(noise, seed=seed, dtype=x.dtype)
        keep = op("GreaterEqual", [random, rate])
        dropped = op("SelectV2", [keep, scaled, op("Cast", [0.0], DstT=x.dtype)])
        dropped.set_shape(x.shape)  # a rate or noise shape that only the step knows hides it
        return dropped


def _noise_shape(x, noise_shape):
    """The shape of the random choice. None in it stands for the size of x, and some sizes may be tensors."""
    if noise_shape is None:
        return x.shape.as_list() if x.shape.is_fully_defined() else shape_of(x)
    if isinstance(noise_shape, graphs.Tensor):
        return noise_shape
    if not isinstance(noise_shape, (list, tuple)):
        noise_shape = graphs.TensorShape(noise_shape)
    sizes = [size if isinstance(size, graphs.Tensor) else graphs.TensorShape([size]).as_list()[0]
             for size in noise_shape]
    if any(size is None for size in sizes):
        known = x.shape.as_list()
        sizes = [known[i] if size is None else size for i, size in enumerate(sizes)]
    if all(isinstance(size, int) for size in sizes):
        return sizes
    whole = shape_of(x)
    return op("Pack", [[op("StridedSlice", [whole, [i], [i + 1], [1]], shrink_axis_mask=1) if size is None else size
                        for i, size in enumerate(sizes)]])
