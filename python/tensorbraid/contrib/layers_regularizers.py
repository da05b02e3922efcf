"""Regularizers and initializers of tf.contrib.layers."""

import numbers

import tensorbraid as tf
from tensorbraid import nn
from tensorbraid.initializers import GlorotNormal, GlorotUniform, Initializer, VarianceScaling
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.ops.node import op, tensor

__all__ = ["apply_regularization", "l1_l2_regularizer", "l1_regularizer", "l2_regularizer", "sum_regularizer",
           "variance_scaling_initializer", "xavier_initializer", "xavier_initializer_conv2d"]


def _is_off(scale):
    """Whether the scale of a regularizer is 0. Raises ValueError if it is none."""
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real) and scale < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale}")
    return scale == 0.0


def l1_regularizer(scale, scope=None):
    """scale * sum(|x|)."""
    if _is_off(scale):
        return lambda _: None

    def l1(weights, name=None):
        with graphs.name_scope(scope, "l1_regularizer", [weights]) as name_scope:
            weights = tensor(weights)
            return op("Mul", [graphs.constant(scale, weights.dtype, name="scale"), _total("Abs", weights)],
                      name or name_scope)

    return l1


def l2_regularizer(scale, scope=None):
    """scale * sum(x²) / 2."""
    if _is_off(scale):
        return lambda _: None

    def l2(weights):
        with graphs.name_scope(scope, "l2_regularizer", [weights]) as name_scope:
            weights = tensor(weights)
            return op("Mul", [graphs.constant(scale, weights.dtype, name="scale"), nn.l2_loss(weights)], name_scope)

    return l2


def _total(op_type, weights):
    flat = op("Reshape", [op(op_type, [weights]), [-1]])
    return op("Sum", [flat, [0]])


def sum_regularizer(regularizer_list, scope=None):
    """The sum of several regularizers."""
    regularizers = [regularizer for regularizer in regularizer_list if regularizer is not None]
    if not regularizers:
        return None

    def total(weights):
        with graphs.name_scope(scope, "sum_regularizer", [weights]):
            losses = [loss for loss in (regularizer(weights) for regularizer in regularizers) if loss is not None]
            return op("AddN", [losses]) if losses else None

    return total


def l1_l2_regularizer(scale_l1=1.0, scale_l2=1.0, scope=None):
    """The sum of l1_regularizer and l2_regularizer."""
    _is_off(scale_l1), _is_off(scale_l2)
    scope = scope or "l1_l2_regularizer"
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=scope)


def apply_regularization(regularizer, weights_list=None):
    """The sum of the penalties of the weights, by default those of the collection "weights". They become losses."""
    weights_list = weights_list or tf.get_collection(GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with tf.name_scope("get_regularization_penalty", values=weights_list) as scope:
        penalties = [regularizer(weights) for weights in weights_list]
        penalties = [tf.constant(0.0) if penalty is None else penalty for penalty in penalties]
        if any(penalty.shape.ndims != 0 for penalty in penalties):
            raise ValueError(f"regularizer must return a scalar Tensor instead of a Tensor with rank "
                             f"{penalties[0].shape.ndims}.")
        total = tf.add_n(penalties, name=scope)
        tf.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total


def xavier_initializer(uniform=True, seed=None, dtype="float32"):
    """Numbers with variance 2 / (inputs + outputs)."""
    return GlorotUniform(seed, dtype) if uniform else _Scaled(1.0, "FAN_AVG", False, seed, dtype)


xavier_initializer_conv2d = xavier_initializer


class _Scaled(Initializer):
    """VarianceScaling whose normal numbers, as contrib's, make up for the truncation by the factor 1.3."""

    def __init__(self, factor, mode, uniform, seed, dtype):
        self.mode, self.seed, self.dtype = mode, arguments.seed(seed), GlorotNormal(dtype=dtype).dtype
        factor = arguments.number("factor", factor)
        scale = factor if uniform else factor * 1.3 * 0.87962566103423978**2
        self._scaling = VarianceScaling(scale, mode.lower(), "uniform" if uniform else "truncated_normal", seed, dtype)

    def _native(self):
        return self._scaling._native()


def variance_scaling_initializer(factor=2.0, mode="FAN_IN", uniform=False, seed=None, dtype="float32"):
    """Numbers whose variance is factor / the fan that `mode` names."""
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")
    return _Scaled(factor, mode, uniform, seed, dtype)
