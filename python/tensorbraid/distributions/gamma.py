"""The distributions of positive numbers, and of numbers between 0 and 1, that gamma functions normalize."""

import numpy as np
import tensorbraid as tf
from tensorbraid.distributions.base import FULLY_REPARAMETERIZED, Broadcast, arguments, checked, new_seed, with_defined
from tensorbraid.distributions.divergences import RegisterKL

__all__ = ["Beta", "Exponential", "Gamma"]


class Gamma(Broadcast):
    """The gamma distribution."""

    _names = ("concentration", "rate")

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="Gamma"):
        given = arguments(locals())
        with tf.name_scope(name, values=[concentration, rate]) as name:
            with tf.control_dependencies([tf.assert_positive(concentration), tf.assert_positive(rate)] if validate_args
                                         else []):
                self._concentration = tf.identity(concentration, name="concentration")
                self._rate = tf.identity(rate, name="rate")
            tf.assert_same_float_dtype([self._concentration, self._rate])
        self._broadcast = [self._concentration, self._rate]
        super().__init__(self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         self._broadcast, name)

    concentration = property(lambda self: self._concentration)
    rate = property(lambda self: self._rate)

    def _checked(self, x):
        tf.assert_same_float_dtype([x], self.dtype)
        return checked(self.validate_args, lambda: [tf.assert_positive(x)], x)

    def _sample_n(self, n, seed=None):
        return tf.random_gamma([n], self.concentration, self.rate, self.dtype, seed)

    def _log_prob(self, x):
        x = self._checked(x)
        normalization = tf.lgamma(self.concentration) - self.concentration * tf.log(self.rate)
        return tf.math.xlogy(self.concentration - 1.0, x) - self.rate * x - normalization

    def _cdf(self, x):
        return tf.igamma(self.concentration, self.rate * self._checked(x))

    def _entropy(self):
        return (self.concentration - tf.log(self.rate) + tf.lgamma(self.concentration)
                + (1.0 - self.concentration) * tf.digamma(self.concentration))

    def _mean(self):
        return self.concentration / self.rate

    def _variance(self):
        return self.concentration / tf.square(self.rate)

    def _stddev(self):
        return tf.sqrt(self.concentration) / self.rate

    def _mode(self):
        return with_defined(self, self.concentration > 1.0, (self.concentration - 1.0) / self.rate,
                            [(self.concentration, "mode not defined when any concentration <= 1")])


@RegisterKL(Gamma, Gamma)
def _kl_gamma_gamma(a, b, name=None):
    with tf.name_scope(name, "kl_gamma_gamma", [a.concentration, a.rate, b.concentration, b.rate]):
        return ((a.concentration - b.concentration) * tf.digamma(a.concentration) + tf.lgamma(b.concentration)
                - tf.lgamma(a.concentration) + b.concentration * (tf.log(a.rate) - tf.log(b.rate))
                + a.concentration * (b.rate / a.rate - 1.0))


class Exponential(Gamma):
    """The exponential distribution."""

    _names = ("rate",)

    def __init__(self, rate, validate_args=False, allow_nan_stats=True, name="Exponential"):
        given = arguments(locals())
        with tf.name_scope(name, values=[rate]) as name:
            rate = tf.convert_to_tensor(rate, name="rate")
        super().__init__(tf.ones([], rate.dtype), rate, validate_args, allow_nan_stats, name)
        self._parameters = given

    def _log_survival_function(self, value):
        return self._log_prob(value) - tf.log(self.rate)

    def _sample_n(self, n, seed=None):
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = tf.random_uniform(tf.concat([[n], tf.shape(self.rate)], 0), tiny, 1.0, self.dtype, seed)
        return -tf.log(uniform) / self.rate


class Beta(Broadcast):
    """The beta distribution."""

    _names = ("concentration1", "concentration0")

    def __init__(self, concentration1=None, concentration0=None, validate_args=False, allow_nan_stats=True,
                 name="Beta"):
        given = arguments(locals())
        with tf.name_scope(name, values=[concentration1, concentration0]) as name:
            self._concentration1, self._concentration0 = (
                self._positive(tf.convert_to_tensor(value, name=which), validate_args)
                for which, value in (("concentration1", concentration1), ("concentration0", concentration0)))
            tf.assert_same_float_dtype([self._concentration1, self._concentration0])
            self._total_concentration = self._concentration1 + self._concentration0
        self._broadcast = [self._total_concentration]
        super().__init__(self._total_concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._concentration1, self._concentration0, self._total_concentration], name)

    concentration1 = property(lambda self: self._concentration1)
    concentration0 = property(lambda self: self._concentration0)
    total_concentration = property(lambda self: self._total_concentration)

    @staticmethod
    def _positive(value, validate_args):
        message = "Concentration parameter must be positive."
        return checked(validate_args, lambda: [tf.assert_positive(value, message=message)], value)

    def _sample_n(self, n, seed=None):
        ones = tf.ones_like(self.total_concentration)
        a = tf.random_gamma([n], ones * self.concentration1, dtype=self.dtype, seed=seed)
        b = tf.random_gamma([n], ones * self.concentration0, dtype=self.dtype, seed=new_seed(seed, "beta"))
        return a / (a + b)

    def _log_normalization(self):
        return tf.lgamma(self.concentration1) + tf.lgamma(self.concentration0) - tf.lgamma(self.total_concentration)

    def _log_prob(self, x):
        x = checked(self.validate_args, lambda: [
            tf.assert_positive(x, message="sample must be positive"),
            tf.assert_less(x, tf.ones([], self.dtype), message="sample must be less than `1`.")], x)
        return (tf.math.xlogy(self.concentration1 - 1.0, x) + (self.concentration0 - 1.0) * tf.log1p(-x)
                - self._log_normalization())

    def _cdf(self, x):
        return tf.betainc(self.concentration1, self.concentration0, x)

    def _entropy(self):
        return (self._log_normalization() - (self.concentration1 - 1.0) * tf.digamma(self.concentration1)
                - (self.concentration0 - 1.0) * tf.digamma(self.concentration0)
                + (self.total_concentration - 2.0) * tf.digamma(self.total_concentration))

    def _mean(self):
        return self.concentration1 / self.total_concentration

    def _variance(self):
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self):
        checks = [(value, f"Mode undefined for {which} <= 1.") for which, value in (
            ("concentration1", self.concentration1), ("concentration0", self.concentration0))]
        is_defined = tf.logical_and(self.concentration1 > 1.0, self.concentration0 > 1.0)
        return with_defined(self, is_defined, (self.concentration1 - 1.0) / (self.total_concentration - 2.0), checks)


@RegisterKL(Beta, Beta)
def _kl_beta_beta(a, b, name=None):
    with tf.name_scope(name, "kl_beta_beta", [a.total_concentration, b.total_concentration]):
        return (b._log_normalization() - a._log_normalization()
                - tf.digamma(a.concentration1) * (b.concentration1 - a.concentration1)
                - tf.digamma(a.concentration0) * (b.concentration0 - a.concentration0)
                + tf.digamma(a.total_concentration) * (b.total_concentration - a.total_concentration))
