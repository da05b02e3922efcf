"""tf.contrib.distributions: those of tf.distributions, and others that programs use."""

import math

import numpy as np
import tensorbraid as tf
from tensorbraid.contrib import bijectors as bijectors  # noqa: F401
from tensorbraid.contrib.bijectors import TransformedDistribution as TransformedDistribution  # noqa: F401
from tensorbraid.distributions import *  # noqa: F401,F403
from tensorbraid.distributions.base import (
    FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Broadcast, Distribution, arguments)
from tensorbraid.distributions.discrete import Categorical, _logits_and_probs
from tensorbraid.distributions.divergences import RegisterKL
from tensorbraid.distributions.divergences import kl_divergence as kl  # noqa: F401  # its name in the first versions
from tensorbraid.distributions.gamma import Beta, Exponential, Gamma
from tensorbraid.distributions.location_scale import Laplace, Normal, StudentT


def _with_softplus(name, base, positive):
    """A distribution whose parameters `positive` are softplus of what is given."""
    names = base.__init__.__code__.co_varnames[1:base.__init__.__code__.co_argcount]

    def __init__(self, *args, **kwargs):
        given = dict(zip(names, args), **kwargs)
        scope = given.pop("name", name)
        with tf.name_scope(scope, values=list(given.values())) as scope:
            made = {key: tf.nn.softplus(value, name=f"softplus_{key}") if key in positive else value
                    for key, value in given.items()}
            base.__init__(self, **made, name=scope)
        self._parameters = dict(given, name=scope)

    return type(name, (base,),
                {"__init__": __init__, "__doc__": f"{base.__name__} with softplus of {' and '.join(positive)}."})


BetaWithSoftplusConcentration = _with_softplus("BetaWithSoftplusConcentration", Beta,
                                               ("concentration1", "concentration0"))
ExponentialWithSoftplusRate = _with_softplus("ExponentialWithSoftplusRate", Exponential, ("rate",))
GammaWithSoftplusConcentrationRate = _with_softplus("GammaWithSoftplusConcentrationRate", Gamma,
                                                    ("concentration", "rate"))
LaplaceWithSoftplusScale = _with_softplus("LaplaceWithSoftplusScale", Laplace, ("scale",))
NormalWithSoftplusScale = _with_softplus("NormalWithSoftplusScale", Normal, ("scale",))
StudentTWithSoftplusScale = _with_softplus("StudentTWithSoftplusScale", StudentT, ("scale",))


class Logistic(Broadcast):
    """The logistic distribution."""

    _names = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Logistic"):
        given = arguments(locals())
        with tf.name_scope(name, values=[loc, scale]) as name:
            with tf.control_dependencies([tf.assert_positive(scale)] if validate_args else []):
                self._loc, self._scale = tf.identity(loc, name="loc"), tf.identity(scale, name="scale")
            tf.assert_same_float_dtype([self._loc, self._scale])
        self._broadcast = [self._loc, self._scale]
        super().__init__(self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         self._broadcast, name)

    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    def _sample_n(self, n, seed=None):
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = tf.random_uniform(self._shape_of_samples(n), tiny, 1.0, self.dtype, seed)
        return self.loc + (tf.log(uniform) - tf.log1p(-uniform)) * self.scale

    def _z(self, x):
        return (x - self.loc) / self.scale

    def _log_prob(self, x):
        z = self._z(x)
        return -z - 2.0 * tf.nn.softplus(-z) - tf.log(self.scale)

    def _log_cdf(self, x):
        return -tf.nn.softplus(-self._z(x))

    def _cdf(self, x):
        return tf.sigmoid(self._z(x))

    def _log_survival_function(self, x):
        return -tf.nn.softplus(self._z(x))

    def _survival_function(self, x):
        return tf.sigmoid(-self._z(x))

    def _entropy(self):
        return 2.0 + tf.log(self.scale * tf.ones_like(self.loc))

    def _mean(self):
        return self.loc * tf.ones_like(self.scale)

    _mode = _mean

    def _stddev(self):
        return self.scale * tf.ones_like(self.loc) * (math.pi / math.sqrt(3.0))


class MultivariateNormalDiag(Distribution):
    """A normal distribution of vectors with independent elements.

    The standard deviations are `scale_diag`, 1 by default, plus `scale_identity_multiplier` if it is given.
    """

    def __init__(self, loc=None, scale_diag=None, scale_identity_multiplier=None, validate_args=False,
                 allow_nan_stats=True, name="MultivariateNormalDiag"):
        given = arguments(locals())
        if loc is None and scale_diag is None:
            raise NotImplementedError("MultivariateNormalDiag without loc and scale_diag")
        with tf.name_scope(name, values=[loc, scale_diag, scale_identity_multiplier]) as name:
            loc = None if loc is None else tf.convert_to_tensor(loc, name="loc")
            if scale_diag is None:
                multiplier = 1.0 if scale_identity_multiplier is None else scale_identity_multiplier
                diagonal = tf.ones_like(loc) * tf.expand_dims(tf.convert_to_tensor(multiplier, loc.dtype), -1)
            else:
                diagonal = tf.convert_to_tensor(scale_diag, None if loc is None else loc.dtype, name="scale_diag")
                if scale_identity_multiplier is not None:
                    diagonal += tf.expand_dims(tf.convert_to_tensor(scale_identity_multiplier, diagonal.dtype), -1)
            with tf.control_dependencies([tf.assert_positive(tf.abs(diagonal))] if validate_args else []):
                diagonal = tf.identity(diagonal, name="diag")
            self._loc = tf.zeros_like(diagonal) if loc is None else loc
            self._diagonal = diagonal
        super().__init__(diagonal.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._loc, diagonal], name)

    loc = property(lambda self: self._loc)

    def _shape(self):
        return tf.broadcast_static_shape(self._loc.shape, self._diagonal.shape)

    def _shape_tensor_of_both(self):
        return tf.broadcast_dynamic_shape(tf.shape(self._loc), tf.shape(self._diagonal))

    def _batch_shape(self):
        return self._shape()[:-1]

    def _batch_shape_tensor(self):
        return self._shape_tensor_of_both()[:-1]

    def _event_shape(self):
        return self._shape()[-1:]

    def _event_shape_tensor(self):
        return self._shape_tensor_of_both()[-1:]

    def _ones(self):
        return tf.ones(self._shape_tensor_of_both(), self.dtype)

    def _sample_n(self, n, seed=None):
        shape = tf.concat([[n], self._shape_tensor_of_both()], 0)
        return tf.random_normal(shape, dtype=self.dtype, seed=seed) * self._diagonal + self._loc

    def _log_size(self):
        return tf.reduce_sum(tf.log(tf.abs(self._diagonal * self._ones())), -1)

    def _elements(self):
        return tf.cast(self.event_shape_tensor()[0], self.dtype)

    def _log_prob(self, x):
        z = (x - self._loc) / self._diagonal
        return (-0.5 * tf.reduce_sum(tf.square(z), -1) - 0.5 * math.log(2 * math.pi) * self._elements()
                - self._log_size())

    def _entropy(self):
        return 0.5 * (1.0 + math.log(2 * math.pi)) * self._elements() + self._log_size()

    def _mean(self):
        return self._loc * self._ones()

    _mode = _mean

    def _stddev(self):
        return tf.abs(self._diagonal) * self._ones()

    def _variance(self):
        return tf.square(self._diagonal) * self._ones()

    def _covariance(self):
        return tf.matrix_diag(self._variance())


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """MultivariateNormalDiag with softplus of scale_diag."""

    def __init__(self, loc, scale_diag, validate_args=False, allow_nan_stats=True,
                 name="MultivariateNormalDiagWithSoftplusScale"):
        given = arguments(locals())
        with tf.name_scope(name, values=[scale_diag]) as name:
            scale_diag = tf.nn.softplus(scale_diag)
        super().__init__(loc, scale_diag, None, validate_args, allow_nan_stats, name)
        self._parameters = given


@RegisterKL(MultivariateNormalDiag, MultivariateNormalDiag)
def _kl_diag_diag(a, b, name=None):
    with tf.name_scope(name, "kl_mvn", [a.loc, b.loc]):
        ratio = tf.square(a._diagonal / b._diagonal)
        distance = tf.square((a.loc - b.loc) / b._diagonal)
        return 0.5 * tf.reduce_sum(ratio + distance - 1.0 - tf.log(ratio), -1)


class OneHotCategorical(Distribution):
    """A class, as a vector of zeros and one 1."""

    def __init__(self, logits=None, probs=None, dtype=tf.int32, validate_args=False, allow_nan_stats=True,
                 name="OneHotCategorical"):
        given = arguments(locals())
        with tf.name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = _logits_and_probs(logits, probs, validate_args, name, True)
            self._classes = Categorical(logits=self._logits)
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, [self._logits, self._probs],
                         name)

    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)
    event_size = property(lambda self: self._classes.event_size)

    def _batch_shape(self):
        return self.logits.shape[:-1]

    def _batch_shape_tensor(self):
        return tf.shape(self.logits)[:-1]

    def _event_shape(self):
        return self.logits.shape[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self.logits)[-1:]

    def _sample_n(self, n, seed=None):
        return tf.one_hot(self._classes._sample_n(n, seed), self.event_size, dtype=self.dtype)

    def _log_prob(self, x):
        x = tf.cast(x, self.logits.dtype)
        return tf.reduce_sum(x * tf.nn.log_softmax(self.logits), -1)

    def _entropy(self):
        return self._classes.entropy()

    def _mode(self):
        return tf.one_hot(tf.argmax(self.logits, -1), self.event_size, dtype=self.dtype)


@RegisterKL(OneHotCategorical, OneHotCategorical)
def _kl_one_hot(a, b, name=None):
    return a._classes.kl_divergence(b._classes)
