"""Neural networks."""

from tensorbraid import graphs, math_ops
from tensorbraid.graphs import make_op
from tensorbraid.math_ops import sigmoid, tanh  # noqa: F401


def _activation(op_type, default_name):
    def op(features, name=None):
        return make_op(op_type, [features], name or default_name).outputs[0]

    op.__name__ = op.__qualname__ = default_name.lower()
    op.__doc__ = f"The op {op_type}; see docs/ops.md."
    return op


elu = _activation("Elu", "Elu")
relu = _activation("Relu", "Relu")
relu6 = _activation("Relu6", "Relu6")
selu = _activation("Selu", "Selu")
softplus = _activation("Softplus", "Softplus")
softsign = _activation("Softsign", "Softsign")


def _last_axis(op_type, name_of_op):
    def op(logits, axis=None, name=None, dim=None):
        axis = dim if axis is None else axis
        rank = graphs.convert_to_tensor(logits).shape.ndims
        if axis not in (None, -1) and axis != (rank or 0) - 1:
            raise NotImplementedError(f"{name_of_op} along an axis that is not the last one")
        return make_op(op_type, [logits], name or op_type).outputs[0]

    op.__name__ = op.__qualname__ = name_of_op
    return op


softmax = _last_axis("Softmax", "softmax")
log_softmax = _last_axis("LogSoftmax", "log_softmax")


def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None):
    """The loss of each example: -sum(labels * log softmax(logits)). Both are [batch, classes]."""
    if (dim if axis is None else axis) not in (None, -1):
        raise NotImplementedError("softmax_cross_entropy_with_logits along an axis that is not the last one")
    return make_op("SoftmaxCrossEntropyWithLogits", [logits, labels], name or "softmax_cross_entropy_with_logits").outputs[0]


def softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, dim=-1, name=None, axis=None):
    """As softmax_cross_entropy_with_logits_v2, without a gradient for the labels."""
    if _sentinel is not None or labels is None or logits is None:
        raise ValueError("Only call `softmax_cross_entropy_with_logits` with named arguments (labels=..., logits=..., ...)")
    return softmax_cross_entropy_with_logits_v2(math_ops.stop_gradient(labels), logits, axis, name, dim)


def sparse_softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """The loss of each example: -log softmax(logits)[label]. Labels are class numbers."""
    if _sentinel is not None or labels is None or logits is None:
        raise ValueError(
            "Only call `sparse_softmax_cross_entropy_with_logits` with named arguments (labels=..., logits=..., ...)")
    return make_op("SparseSoftmaxCrossEntropyWithLogits", [logits, labels],
                   name or "SparseSoftmaxCrossEntropyWithLogits").outputs[0]


def bias_add(value, bias, data_format=None, name=None):
    """Adds a vector to each row of `value`."""
    return make_op("BiasAdd", [value, bias], name or "BiasAdd", data_format=data_format or "NHWC").outputs[0]
