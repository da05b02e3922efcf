"""Learning rates that change with the global step, as graphs of ops, so that every argument may be a tensor.

Below, t is the global step, and p is t / decay_steps, rounded down with `staircase`.
"""

import contextlib
import math

from tensorbraid import _core, dtypes
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graphs import convert_to_tensor, make_op
from tensorbraid.ops.random_ops import random_normal

__all__ = [
    "cosine_decay", "cosine_decay_restarts", "exponential_decay", "inverse_time_decay", "linear_cosine_decay",
    "natural_exp_decay", "noisy_linear_cosine_decay", "piecewise_constant", "piecewise_constant_decay",
    "polynomial_decay"]


@contextlib.contextmanager
def _schedule(function, name, learning_rate, global_step):
    """Opens the scope of a schedule. Yields the scope's name and the learning rate as a tensor."""
    if global_step is None:
        raise ValueError(f"global_step is required for {function}.")
    with graphs.name_scope(name, None, [learning_rate, global_step]) as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        arguments.check(rate.dtype.is_floating or rate.dtype.is_integer, "learning_rate",
                        "a number, or a tensor of numbers", learning_rate)
        yield scope, rate


def _like(rate, value):
    """The value in the dtype of the learning rate."""
    if isinstance(value, (graphs.Tensor, _core.Variable)):
        value = convert_to_tensor(value)
        return value if value.dtype == rate.dtype else make_op("Cast", [value], DstT=rate.dtype).outputs[0]
    return convert_to_tensor(value, dtype=rate.dtype)


def _op(op_type, *inputs, name=None):
    return make_op(op_type, inputs, name).outputs[0]


def _periods(rate, global_step, decay_steps, staircase):
    p = _like(rate, global_step) / _like(rate, decay_steps)
    return _op("Floor", p) if staircase else p


def exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """learning_rate * decay_rate ^ p"""
    with _schedule("exponential_decay", name or "ExponentialDecay", learning_rate, global_step) as (scope, rate):
        p = _periods(rate, global_step, decay_steps, staircase)
        return _op("Mul", rate, _op("Pow", _like(rate, decay_rate), p), name=scope)


def natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """learning_rate * e ^ (-decay_rate * p)"""
    with _schedule("natural_exp_decay", name or "NaturalExpDecay", learning_rate, global_step) as (scope, rate):
        p = _periods(rate, global_step, decay_steps, staircase)
        base = _op("Exp", _op("Neg", _like(rate, decay_rate)))
        return _op("Mul", rate, _op("Pow", base, p), name=scope)


def inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """learning_rate / (1 + decay_rate * p)"""
    with _schedule("inverse_time_decay", name or "InverseTimeDecay", learning_rate, global_step) as (scope, rate):
        p = _periods(rate, global_step, decay_steps, staircase)
        return _op("RealDiv", rate, 1.0 + _like(rate, decay_rate) * p, name=scope)


def polynomial_decay(learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False,
                     name=None):
    """(learning_rate - end) * (1 - min(t, decay_steps) / decay_steps) ^ power + end

    With `cycle`, the decay begins again whenever it has reached the end, and then takes a multiple of decay_steps.
    """
    with _schedule("polynomial_decay", name or "PolynomialDecay", learning_rate, global_step) as (scope, rate):
        end = _like(rate, end_learning_rate)
        step, steps = _like(rate, global_step), _like(rate, decay_steps)
        if cycle:
            steps = steps * _op("Maximum", _op("Ceil", step / steps), _like(rate, 1))
        else:
            step = _op("Minimum", step, steps)
        shape = _op("Pow", 1 - step / steps, _like(rate, power))
        return _op("Add", (rate - end) * shape, end, name=scope)


def piecewise_constant(x, boundaries, values, name=None):
    """values[i] for the first i with x <= boundaries[i]; the last value beyond all boundaries."""
    boundaries = arguments.items("boundaries", boundaries, "a list of numbers")
    values = arguments.items("values", values, "a list of numbers")
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    with graphs.name_scope(name, "PiecewiseConstant", [x] + boundaries + values) as scope:
        x = convert_to_tensor(x)
        values = [convert_to_tensor(value) for value in values]
        for value in values[1:]:
            if value.dtype != values[0].dtype:
                raise ValueError(f"Values must have elements all with the same dtype ({values[0].dtype!r} vs "
                                 f"{value.dtype!r}).")
        if not boundaries:
            return _op("Identity", values[0], name=scope)
        passed = _op("Greater", x, _op("Pack", [_boundary(b, x) for b in boundaries]))
        number = _op("Sum", make_op("Cast", [passed], DstT=dtypes.int32).outputs[0], [0])
        return _op("GatherV2", _op("Pack", values), number, 0, name=scope)


piecewise_constant_decay = piecewise_constant


def _boundary(boundary, x):
    if not isinstance(boundary, (graphs.Tensor, _core.Variable)):
        if x.dtype.is_integer and int(boundary) != boundary:
            raise ValueError(f"Boundaries ({boundary}) must have the same dtype as x ({x.dtype!r}).")
        return convert_to_tensor(boundary, dtype=x.dtype)
    boundary = convert_to_tensor(boundary)
    if boundary.dtype == dtypes.int32 and x.dtype == dtypes.int64:
        return make_op("Cast", [boundary], DstT=x.dtype).outputs[0]
    if boundary.dtype != x.dtype:
        raise ValueError(f"Boundaries ({boundary.dtype!r}) must have the same dtype as x ({x.dtype!r}).")
    return boundary


def _cosine(rate, fraction):
    """(1 + cos(pi * fraction)) / 2"""
    return 0.5 * (1.0 + _op("Cos", _like(rate, math.pi) * fraction))


def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None):
    """learning_rate * ((1 - alpha) * (1 + cos(pi * min(t, decay_steps) / decay_steps)) / 2 + alpha)"""
    with _schedule("cosine_decay", name or "CosineDecay", learning_rate, global_step) as (_, rate):
        steps = _like(rate, decay_steps)
        fraction = _op("Minimum", _like(rate, global_step), steps) / steps
        return _op("Mul", rate, (1 - alpha) * _cosine(rate, fraction) + alpha)


def cosine_decay_restarts(learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
    """cosine_decay in periods. Each is t_mul times as long as the one before it, and begins at m_mul times its rate.

    Source: Loshchilov and Hutter, 2017.
    """
    if isinstance(t_mul, (graphs.Tensor, _core.Variable)):
        raise NotImplementedError("a tensor as t_mul")
    with _schedule("cosine_decay_restarts", name or "SGDRDecay", learning_rate, global_step) as (scope, rate):
        fraction = _like(rate, global_step) / _like(rate, first_decay_steps)
        if t_mul == 1.0:
            period = _op("Floor", fraction)
            fraction = fraction - period
        else:
            length = _like(rate, t_mul)
            period = _op("Floor", _op("Log", 1.0 - fraction * (1.0 - length)) / _op("Log", length))
            grown = _op("Pow", length, period)
            fraction = (fraction - (1.0 - grown) / (1.0 - length)) / grown
        height = _op("Pow", _like(rate, m_mul), period)
        return _op("Mul", rate, (1 - alpha) * (height * _cosine(rate, fraction)) + alpha, name=scope)


def linear_cosine_decay(learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None):
    """With f = min(t, decay_steps) / decay_steps:

    learning_rate * ((alpha + 1 - f) * (1 + cos(2 pi num_periods f)) / 2 + beta). Source: Bello et al., 2017.
    """
    with _schedule("linear_cosine_decay", name or "LinearCosineDecay", learning_rate, global_step) as (scope, rate):
        return _linear_cosine(rate, global_step, decay_steps, num_periods, alpha, beta, lambda linear, step: linear,
                              scope)


def noisy_linear_cosine_decay(learning_rate, global_step, decay_steps, initial_variance=1.0, variance_decay=0.55,
                              num_periods=0.5, alpha=0.0, beta=0.001, name=None):
    """linear_cosine_decay with normally distributed noise added to 1 - f.

    The variance of the noise is initial_variance / (1 + min(t, decay_steps)) ^ variance_decay.
    """
    def noisy(linear, step):
        variance = _like(linear, initial_variance) / _op("Pow", 1.0 + step, _like(linear, variance_decay))
        return linear + random_normal([], stddev=_op("Sqrt", variance), dtype=linear.dtype)

    default = "NoisyLinearCosineDecay"
    with _schedule("noisy_linear_cosine_decay", name or default, learning_rate, global_step) as (scope, rate):
        return _linear_cosine(rate, global_step, decay_steps, num_periods, alpha, beta, noisy, scope)


def _linear_cosine(rate, global_step, decay_steps, num_periods, alpha, beta, change, scope):
    steps = _like(rate, decay_steps)
    step = _op("Minimum", _like(rate, global_step), steps)
    linear = change((steps - step) / steps, step)
    fraction = 2.0 * _like(rate, num_periods) * (step / steps)
    return _op("Mul", rate, (alpha + linear) * _cosine(rate, fraction) + beta, name=scope)
