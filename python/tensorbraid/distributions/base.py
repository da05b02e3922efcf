"""The base of all distributions: it names the nodes, shapes the samples, and derives what a distribution lacks."""

import contextlib
import hashlib

import numpy as np
import tensorbraid as tf
from tensorbraid.ops import arrays, control

__all__ = ["FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED", "Distribution", "ReparameterizationType"]


class ReparameterizationType:
    """Whether gradients flow from a sample to the parameters of its distribution."""

    def __init__(self, rep_type):
        self._rep_type = rep_type

    def __repr__(self):
        return f"<Reparameterization Type: {self._rep_type}>"


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


def new_seed(seed, salt):
    """A seed for the second random op of a sample; None for None."""
    return None if seed is None else int(hashlib.md5(f"{seed}{salt}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF


def arguments(values):
    """The arguments of a constructor, of its locals()."""
    return {name: value for name, value in values.items() if name != "self" and not name.startswith("__")}


class Distribution:
    """A distribution. A class of a program's own defines `_log_prob`, `_sample_n` and others of the methods below."""

    def __init__(self, dtype, reparameterization_type, validate_args, allow_nan_stats, parameters=None,
                 graph_parents=None, name=None):
        for i, parent in enumerate(graph_parents or []):
            if not control.is_tensor(parent):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        if not name or not name.endswith("/"):
            with tf.name_scope(name or type(self).__name__) as name:
                pass
        self._dtype = tf.as_dtype(dtype)
        self._reparameterization_type = reparameterization_type
        self._validate_args, self._allow_nan_stats = validate_args, allow_nan_stats
        self._parameters = arguments(parameters or {})
        self._graph_parents, self._name = graph_parents or [], name

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    parameters = property(lambda self: dict(self._parameters))
    reparameterization_type = property(lambda self: self._reparameterization_type)
    allow_nan_stats = property(lambda self: self._allow_nan_stats)
    validate_args = property(lambda self: self._validate_args)
    batch_shape = property(lambda self: tf.TensorShape(self._batch_shape()))
    event_shape = property(lambda self: tf.TensorShape(self._event_shape()))

    @contextlib.contextmanager
    def _scope(self, name):
        with tf.name_scope(self.name):
            with tf.name_scope(name) as scope:
                yield scope

    def _lacks(self, what):
        return NotImplementedError(f"{what} is not implemented: {type(self).__name__}")

    def _method(self, what):
        """The private method of a distribution that has one; None otherwise."""
        return getattr(self, "_" + what, None)

    def copy(self, **override_parameters_kwargs):
        """A distribution with some other parameters."""
        return type(self)(**{**self._parameters, **override_parameters_kwargs})

    @classmethod
    def param_shapes(cls, sample_shape, name="DistributionParamShapes"):
        """The shapes of the parameters for samples of this shape."""
        with tf.name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape):
        """The static shapes of the parameters for samples of this shape."""
        shape = tf.TensorShape(sample_shape)
        if not shape.is_fully_defined():
            raise ValueError("TensorShape sample_shape must be fully defined")
        return {name: shape for name in cls.param_shapes(shape.as_list())}

    @staticmethod
    def _param_shapes(sample_shape):
        raise NotImplementedError("_param_shapes not implemented")

    # Shapes.

    def _batch_shape(self):
        return tf.TensorShape(None)

    def _event_shape(self):
        return tf.TensorShape([])

    def _event_shape_tensor(self):
        return tf.constant([], tf.int32)

    def _shape_tensor(self, what, name):
        known = getattr(self, what)
        with self._scope(name):
            if known.is_fully_defined():
                return tf.constant(np.array(known.as_list(), np.int32), name=what)
            compute = self._method(what + "_tensor")
            if compute is None:
                raise self._lacks(what + "_tensor")
            return compute()

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """The shape of the parameters: one sample has this shape, followed by the shape of an event."""
        return self._shape_tensor("batch_shape", name)

    def event_shape_tensor(self, name="event_shape_tensor"):
        """The shape of one event."""
        return self._shape_tensor("event_shape", name)

    def _is_scalar(self, what, name):
        known = getattr(self, what)
        with self._scope(name):
            if known.ndims is not None:
                return tf.convert_to_tensor(known.ndims == 0, name=name)
            return tf.equal(tf.shape(self._method(what + "_tensor")())[0], 0, name=name)

    def is_scalar_event(self, name="is_scalar_event"):
        """Whether an event is a number."""
        return self._is_scalar("event_shape", name)

    def is_scalar_batch(self, name="is_scalar_batch"):
        """Whether there is one distribution only."""
        return self._is_scalar("batch_shape", name)

    # Samples.

    def sample(self, sample_shape=(), seed=None, name="sample"):
        """Samples: this many for each distribution of the batch."""
        if self._method("sample_n") is None:
            raise self._lacks("sample_n")
        with self._scope(name):
            shape = tf.convert_to_tensor(sample_shape, dtype=tf.int32, name="sample_shape")
            static = arrays.get_static_value(shape)
            count = tf.reduce_prod(shape) if static is None else np.prod(static, dtype=np.int32)
            rank = shape.shape.ndims
            if rank is not None and rank > 1:
                raise ValueError(f"sample_shape must be a number or a vector, not a tensor of rank {rank}")
            if rank != 1:
                shape = tf.reshape(shape, [-1 if rank is None else 1])
            samples = self._sample_n(count, seed)
            samples = tf.reshape(samples, tf.concat([shape, tf.shape(samples)[1:]], 0))
            known = tf.TensorShape(None) if static is None else tf.TensorShape(np.reshape(static, [-1]).tolist())
            samples.set_shape(known.concatenate(self.batch_shape).concatenate(self.event_shape))
            return samples

    # Functions of a value.

    def _of_value(self, what, value, name):
        """The method `what`, or another method that it follows from."""
        with self._scope(name):
            value = tf.convert_to_tensor(value, name="value", preferred_dtype=self.dtype)
            if self._method(what) is not None:
                return self._method(what)(value)
            if what == "log_prob" and self._method("prob"):
                return tf.log(self._prob(value))
            if what == "prob" and self._method("log_prob"):
                return tf.exp(self._log_prob(value))
            if what == "log_cdf" and self._method("cdf"):
                return tf.log(self._cdf(value))
            if what == "cdf" and self._method("log_cdf"):
                return tf.exp(self._log_cdf(value))
            has_cdf = self._method("cdf") or self._method("log_cdf")
            if what == "log_survival_function" and has_cdf:
                return tf.log1p(-self.cdf(value))
            if what == "survival_function" and has_cdf:
                return 1.0 - self.cdf(value)
        raise self._lacks(what)

    def log_prob(self, value, name="log_prob"):
        """The logarithm of the density or the probability of the value."""
        return self._of_value("log_prob", value, name)

    def prob(self, value, name="prob"):
        """The density or the probability of the value."""
        return self._of_value("prob", value, name)

    def log_cdf(self, value, name="log_cdf"):
        """The logarithm of the probability of at most this value."""
        return self._of_value("log_cdf", value, name)

    def cdf(self, value, name="cdf"):
        """The probability of at most this value."""
        return self._of_value("cdf", value, name)

    def log_survival_function(self, value, name="log_survival_function"):
        """The logarithm of the probability of more than this value."""
        return self._of_value("log_survival_function", value, name)

    def survival_function(self, value, name="survival_function"):
        """The probability of more than this value."""
        return self._of_value("survival_function", value, name)

    def quantile(self, value, name="quantile"):
        """The value that a sample exceeds with the probability 1 - value."""
        return self._of_value("quantile", value, name)

    # Statistics.

    def _statistic(self, what, name):
        with self._scope(name):
            if self._method(what) is not None:
                return self._method(what)()
            if what == "variance" and self._method("stddev"):
                return tf.square(self._stddev())
            if what == "stddev" and self._method("variance"):
                return tf.sqrt(self._variance())
        raise self._lacks(what)

    def entropy(self, name="entropy"):
        """Shannon's entropy."""
        return self._statistic("entropy", name)

    def mean(self, name="mean"):
        """The mean."""
        return self._statistic("mean", name)

    def variance(self, name="variance"):
        """The variance."""
        return self._statistic("variance", name)

    def stddev(self, name="stddev"):
        """The standard deviation."""
        return self._statistic("stddev", name)

    def covariance(self, name="covariance"):
        """The covariance matrix of an event with one dimension."""
        return self._statistic("covariance", name)

    def mode(self, name="mode"):
        """The most probable value."""
        return self._statistic("mode", name)

    def cross_entropy(self, other, name="cross_entropy"):
        """The cross entropy with another distribution."""
        with self._scope(name), tf.name_scope("cross_entropy"):
            return self.entropy() + tf.distributions.kl_divergence(self, other, self.allow_nan_stats)

    def kl_divergence(self, other, name="kl_divergence"):
        """The divergence of Kullback and Leibler from another distribution."""
        with self._scope(name):
            return tf.distributions.kl_divergence(self, other, self.allow_nan_stats)

    def __repr__(self):
        return (f"<tfp.distributions.{type(self).__name__} '{self.name}' batch_shape={self.batch_shape} "
                f"event_shape={self.event_shape} dtype={self.dtype.name}>")

    def __str__(self):
        shapes = "".join(f", {what}={shape}" for what, shape in (("batch_shape", self.batch_shape),
                                                                 ("event_shape", self.event_shape))
                         if shape.ndims is not None)
        return f'tfp.distributions.{type(self).__name__}("{self.name}"{shapes}, dtype={self.dtype.name})'


class Broadcast(Distribution):
    """A distribution whose batch shape is the shape to which the parameters in `self._broadcast` broadcast."""

    def _batch_shape(self):
        shape = tf.TensorShape([])
        for parameter in self._broadcast:
            shape = tf.broadcast_static_shape(shape, parameter.shape)
        return shape

    def _batch_shape_tensor(self):
        shape = tf.shape(self._broadcast[0])
        for parameter in self._broadcast[1:]:
            shape = tf.broadcast_dynamic_shape(shape, tf.shape(parameter))
        return shape

    def _shape_of_samples(self, n):
        return tf.concat([[n], self.batch_shape_tensor()], 0)

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {name: tf.convert_to_tensor(sample_shape, dtype=tf.int32) for name in cls._names}


def with_defined(distribution, is_defined, value, checks, nan=np.nan):
    """The value where it is defined; elsewhere NaN, or an error if the distribution allows no undefined values."""
    if distribution.allow_nan_stats:
        return tf.where_v2(is_defined, value, tf.cast(nan, distribution.dtype))
    one = tf.ones([], distribution.dtype)
    return control.with_dependencies([tf.assert_less(one, bounded, message=text) for bounded, text in checks], value)


def checked(is_checked, checks, value):
    """`value`; if `is_checked`, a tensor that runs the assertions before it. `checks` is a function that builds them.

    `is_checked` is the distribution's `validate_args`.
    """
    if not is_checked:
        return value
    return control.with_dependencies(checks(), value)
