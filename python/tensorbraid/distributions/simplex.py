"""Distributions of shares that sum to 1, and of counts with such shares."""

import tensorbraid as tf
from tensorbraid.distributions.base import (
    FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, arguments, checked, new_seed, with_defined)
from tensorbraid.distributions.discrete import categorical_parameter, checked_counts, counts_of, log_combinations
from tensorbraid.distributions.divergences import RegisterKL

__all__ = ["Dirichlet", "DirichletMultinomial"]


class _OfConcentration(Distribution):
    """A distribution with one concentration for each class."""

    concentration = property(lambda self: self._concentration)
    total_concentration = property(lambda self: self._total_concentration)

    def _keep(self, concentration, validate_args):
        value = tf.convert_to_tensor(concentration, name="concentration")
        if validate_args:
            value = categorical_parameter(value)
        self._concentration = checked(validate_args, lambda: [
            tf.assert_positive(value, message="Concentration parameter must be positive.")], value)
        self._total_concentration = tf.reduce_sum(self._concentration, -1)

    def _batch_shape(self):
        return self.total_concentration.shape

    def _batch_shape_tensor(self):
        return tf.shape(self.total_concentration)

    def _event_shape(self):
        return self.concentration.shape.with_rank_at_least(1)[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self.concentration)[-1:]

    def _covariance(self):
        x = self._spread() * self._mean()
        return tf.matrix_set_diag(-tf.matmul(x[..., tf.newaxis], x[..., tf.newaxis, :]), self._variance())


class Dirichlet(_OfConcentration):
    """The distribution of Dirichlet."""

    def __init__(self, concentration, validate_args=False, allow_nan_stats=True, name="Dirichlet"):
        given = arguments(locals())
        with tf.name_scope(name, values=[concentration]) as name:
            self._keep(concentration, validate_args)
        super().__init__(self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._concentration, self._total_concentration], name)

    def _sample_n(self, n, seed=None):
        gamma = tf.random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        return gamma / tf.reduce_sum(gamma, -1, keepdims=True)

    def _log_prob(self, x):
        x = checked(self.validate_args, lambda: [
            tf.assert_positive(x, message="samples must be positive"),
            tf.debugging.assert_near(tf.ones([], self.dtype), tf.reduce_sum(x, -1),
                                     message="sample last-dimension must sum to `1`")], x)
        return tf.reduce_sum(tf.math.xlogy(self.concentration - 1.0, x), -1) - tf.lbeta(self.concentration)

    def _classes(self):
        return tf.cast(self.event_shape_tensor()[0], self.dtype)

    def _entropy(self):
        return (tf.lbeta(self.concentration)
                + (self.total_concentration - self._classes()) * tf.digamma(self.total_concentration)
                - tf.reduce_sum((self.concentration - 1.0) * tf.digamma(self.concentration), -1))

    def _spread(self):
        return tf.rsqrt(1.0 + self.total_concentration[..., tf.newaxis])

    def _mean(self):
        return self.concentration / self.total_concentration[..., tf.newaxis]

    def _variance(self):
        x = self._spread() * self._mean()
        return x * (self._spread() - x)

    def _mode(self):
        mode = (self.concentration - 1.0) / (self.total_concentration[..., tf.newaxis] - self._classes())
        is_defined = tf.reduce_all(self.concentration > 1.0, -1, keepdims=True)
        return with_defined(self, is_defined, mode,
                            [(self.concentration, "Mode undefined when any concentration <= 1")])


@RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(a, b, name=None):
    with tf.name_scope(name, "kl_dirichlet_dirichlet", [a.concentration, b.concentration]):
        total = tf.digamma(tf.reduce_sum(a.concentration, -1, keepdims=True))
        weighted = (a.concentration - b.concentration) * (tf.digamma(a.concentration) - total)
        return tf.reduce_sum(weighted, -1) - tf.lbeta(a.concentration) + tf.lbeta(b.concentration)


class DirichletMultinomial(_OfConcentration):
    """Counts of `total_count` draws of classes, whose shares have a distribution of Dirichlet."""

    def __init__(self, total_count, concentration, validate_args=False, allow_nan_stats=True,
                 name="DirichletMultinomial"):
        given = arguments(locals())
        with tf.name_scope(name, values=[total_count, concentration]) as name:
            self._total_count = tf.convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = counts_of(self._total_count)
            self._keep(concentration, validate_args)
        super().__init__(self._concentration.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._total_count, self._concentration], name)

    total_count = property(lambda self: self._total_count)

    def _sample_n(self, n, seed=None):
        classes = self.event_shape_tensor()[0]
        gamma = tf.random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        draws = tf.multinomial(tf.reshape(tf.log(gamma), [-1, classes]), tf.cast(self.total_count, tf.int32),
                               new_seed(seed, "dirichlet_multinomial"))
        counts = tf.reduce_sum(tf.one_hot(draws, classes), -2)
        counts = tf.reshape(counts, tf.concat([[n], self.batch_shape_tensor(), [classes]], 0))
        return tf.cast(counts, self.dtype)

    def _log_prob(self, counts):
        counts = checked_counts(self, counts)
        return (tf.lbeta(self.concentration + counts) - tf.lbeta(self.concentration)
                + log_combinations(self.total_count, counts))

    def _spread(self):
        total = self.total_concentration[..., tf.newaxis]
        return tf.sqrt((1.0 + total / self.total_count) / (1.0 + total))

    def _mean(self):
        return self.total_count * (self.concentration / self.total_concentration[..., tf.newaxis])

    def _variance(self):
        x = self._spread() * self._mean()
        return x * (self.total_count * self._spread() - x)
