"""Distributions of real numbers with a place and a width."""

import math

import numpy as np
import tensorbraid as tf
from tensorbraid.distributions.base import FULLY_REPARAMETERIZED, Broadcast, arguments, new_seed, with_defined
from tensorbraid.distributions.divergences import RegisterKL

__all__ = ["Laplace", "Normal", "StudentT", "Uniform"]


def _parameters(values, checks=None):
    """The parameters as tensors with their names, after checks."""
    with tf.control_dependencies(checks() if checks else []):
        tensors = [tf.identity(value, name=name) for name, value in values.items()]
    tf.assert_same_float_dtype(tensors)
    return tensors


class _LocationScale(Broadcast):
    """The base of distributions with a location and a positive scale, which broadcast to the batch shape."""

    _names = ("loc", "scale")

    def __init__(self, loc, scale, validate_args, allow_nan_stats, name):
        given = arguments(locals())
        with tf.name_scope(name, values=[loc, scale]) as name:
            checks = (lambda: [tf.assert_positive(scale)]) if validate_args else None
            self._loc, self._scale = self._broadcast = _parameters({"loc": loc, "scale": scale}, checks)
        super().__init__(self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         self._broadcast, name)

    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)


class Normal(_LocationScale):
    """The normal distribution."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Normal"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        return tf.random_normal(self._shape_of_samples(n), dtype=self.dtype, seed=seed) * self.scale + self.loc

    def _z(self, x):
        with tf.name_scope("standardize"):
            return (x - self.loc) / self.scale

    def _log_prob(self, x):
        return -0.5 * tf.square(self._z(x)) - (0.5 * math.log(2 * math.pi) + tf.log(self.scale))

    def _cdf(self, x):
        return _below(self._z(x))

    def _log_cdf(self, x):
        return _log_below(self._z(x))

    def _survival_function(self, x):
        return _below(-self._z(x))

    def _log_survival_function(self, x):
        return _log_below(-self._z(x))

    def _quantile(self, p):
        return tf.math.ndtri(p) * self.scale + self.loc

    def _entropy(self):
        return 0.5 * math.log(2 * math.pi * math.e) + tf.log(self.scale * tf.ones_like(self.loc))

    def _mean(self):
        return self.loc * tf.ones_like(self.scale)

    _mode = _mean

    def _stddev(self):
        return self.scale * tf.ones_like(self.loc)


def _below(z):
    """The probability that a standard normal number is at most z."""
    w = z * tf.constant(math.sqrt(0.5), z.dtype)
    size = tf.abs(w)
    outer = tf.where_v2(w > 0.0, 2.0 - tf.erfc(size), tf.erfc(size))
    return 0.5 * tf.where_v2(size < math.sqrt(0.5), 1.0 + tf.erf(w), outer)


def _log_below(z):
    """The logarithm of _below. Far to the left it is an asymptotic series with terms up to the power -6."""
    low, high = (-20.0, 8.0) if z.dtype == tf.float64 else (-10.0, 5.0)
    left = tf.minimum(z, low)
    square = tf.square(left)
    series = 1.0 - 1.0 / square + 3.0 / tf.square(square) - 15.0 / (tf.square(square) * square)
    far = -0.5 * square - tf.log(-left) - 0.5 * math.log(2 * math.pi) + tf.log(series)
    return tf.where_v2(z > high, -_below(-z), tf.where_v2(z > low, tf.log(_below(tf.maximum(z, low))), far))


@RegisterKL(Normal, Normal)
def _kl_normal_normal(a, b, name=None):
    with tf.name_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        variance = tf.square(b.scale)
        ratio = tf.square(a.scale) / variance
        return tf.squared_difference(a.loc, b.loc) / (2.0 * variance) + 0.5 * (ratio - 1.0 - tf.log(ratio))


class Laplace(_LocationScale):
    """The distribution of Laplace, whose density falls exponentially on both sides."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Laplace"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n, seed=None):
        kind = self.dtype.as_numpy_dtype
        u = tf.random_uniform(self._shape_of_samples(n), np.nextafter(kind(-1), kind(0)), 1.0, self.dtype, seed)
        return self.loc - self.scale * tf.sign(u) * tf.log1p(-tf.abs(u))

    def _z(self, x):
        return (x - self.loc) / self.scale

    def _log_prob(self, x):
        return -tf.abs(self._z(x)) - (math.log(2.0) + tf.log(self.scale))

    @staticmethod
    def _log_below(z):
        return tf.where_v2(z < 0.0, z - math.log(2.0), tf.log1p(-0.5 * tf.exp(-tf.abs(z))))

    def _log_cdf(self, x):
        return self._log_below(self._z(x))

    def _log_survival_function(self, x):
        return self._log_below(-self._z(x))

    def _cdf(self, x):
        z = self._z(x)
        return 0.5 + 0.5 * tf.sign(z) * (1.0 - tf.exp(-tf.abs(z)))

    def _entropy(self):
        return math.log(2.0) + 1.0 + tf.log(self.scale + tf.zeros_like(self.loc))

    def _mean(self):
        return self.loc + tf.zeros_like(self.scale)

    _mode = _mean

    def _stddev(self):
        return math.sqrt(2.0) * self.scale + tf.zeros_like(self.loc)


class StudentT(Broadcast):
    """Student's distribution with `df` degrees of freedom."""

    _names = ("df", "loc", "scale")

    def __init__(self, df, loc, scale, validate_args=False, allow_nan_stats=True, name="StudentT"):
        given = arguments(locals())
        with tf.name_scope(name, values=[df, loc, scale]) as name:
            checks = (lambda: [tf.assert_positive(df)]) if validate_args else None
            self._broadcast = _parameters({"df": df, "loc": loc, "scale": scale}, checks)
            self._df, self._loc, self._scale = self._broadcast
        super().__init__(self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         self._broadcast, name)

    df = property(lambda self: self._df)
    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    def _ones(self):
        return tf.ones(self.batch_shape_tensor(), self.dtype)

    def _sample_n(self, n, seed=None):
        normal = tf.random_normal(self._shape_of_samples(n), dtype=self.dtype, seed=seed)
        df = self.df * self._ones()
        gamma = tf.random_gamma([n], 0.5 * df, 0.5, self.dtype, new_seed(seed, "student_t"))
        return normal * tf.rsqrt(gamma / df) * self.scale + self.loc

    def _log_prob(self, x):
        y = (x - self.loc) / self.scale
        normalization = (tf.log(tf.abs(self.scale)) + 0.5 * tf.log(self.df) + 0.5 * math.log(math.pi)
                         + tf.lgamma(0.5 * self.df) - tf.lgamma(0.5 * (self.df + 1.0)))
        return -0.5 * (self.df + 1.0) * tf.log1p(y ** 2.0 / self.df) - normalization

    def _cdf(self, x):
        y = (x - self.loc) / tf.abs(self.scale)
        tail = 0.5 * tf.betainc(0.5 * self.df, tf.cast(0.5, self.dtype), self.df / (y ** 2.0 + self.df))
        return tf.where_v2(y < 0.0, tail, 1.0 - tail)

    def _entropy(self):
        ones = self._ones()[..., tf.newaxis]
        beta = tf.concat([ones * self.df[..., tf.newaxis], ones], -1) / 2.0
        half = 0.5 * (self.df + 1.0)
        return (tf.log(tf.abs(self.scale)) + 0.5 * tf.log(self.df) + tf.lbeta(beta)
                + half * (tf.digamma(half) - tf.digamma(0.5 * self.df)))

    def _mean(self):
        return with_defined(self, self.df > self._ones(), self.loc * self._ones(),
                            [(self.df, "mean not defined for components of df <= 1")])

    def _variance(self):
        above = tf.where_v2(self.df > 2.0, self.df - 2.0, tf.ones_like(self.df))
        variance = self._ones() * tf.square(self.scale) * self.df / above
        variance = tf.where_v2(self.df > 2.0 * self._ones(), variance, tf.cast(np.inf, self.dtype))
        return with_defined(self, self.df > self._ones(), variance,
                            [(self.df, "variance not defined for components of df <= 1")])

    def _mode(self):
        return tf.identity(self.loc)


class Uniform(Broadcast):
    """The uniform distribution on [low, high)."""

    _names = ("low", "high")

    def __init__(self, low=0.0, high=1.0, validate_args=False, allow_nan_stats=True, name="Uniform"):
        given = arguments(locals())
        with tf.name_scope(name, values=[low, high]) as name:
            message = "uniform not defined when low >= high."
            checks = (lambda: [tf.assert_less(low, high, message=message)]) if validate_args else None
            self._low, self._high = self._broadcast = _parameters({"low": low, "high": high}, checks)
        super().__init__(self._low.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given, self._broadcast,
                         name)

    low = property(lambda self: self._low)
    high = property(lambda self: self._high)

    def range(self, name="range"):
        """high - low."""
        with self._scope(name):
            return self.high - self.low

    def _sample_n(self, n, seed=None):
        return self.low + self.range() * tf.random_uniform(self._shape_of_samples(n), dtype=self.dtype, seed=seed)

    def _prob(self, x):
        x = x * tf.ones(self.batch_shape_tensor(), x.dtype)
        outside = tf.logical_or(x < self.low, x >= self.high)
        density = tf.where_v2(outside, tf.zeros_like(x), tf.ones_like(x) / self.range())
        return tf.where_v2(tf.is_nan(x), x, density)

    def _cdf(self, x):
        ones = tf.ones(tf.broadcast_dynamic_shape(tf.shape(x), self.batch_shape_tensor()), self.dtype)
        below = tf.where_v2(x < self.low, tf.zeros_like(ones), (x * ones - self.low) / self.range())
        return tf.where_v2(x >= self.high, ones, below)

    def _entropy(self):
        return tf.log(self.range())

    def _mean(self):
        return (self.low + self.high) / 2.0

    def _variance(self):
        return tf.square(self.range()) / 12.0

    def _stddev(self):
        return self.range() / math.sqrt(12.0)
