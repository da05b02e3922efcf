"""tf.contrib.distributions.bijectors: invertible functions, and how they change densities."""

import tensorbraid as tf
from tensorbraid.distributions.base import Distribution, arguments

__all__ = ["AffineScalar", "Bijector", "Chain", "Exp", "Identity", "Invert", "Sigmoid", "Softplus",
           "TransformedDistribution"]


def _sum_of_last(x, axes):
    """The sum of x over its last `axes` axes."""
    return tf.reduce_sum(x, axis=list(range(-axes, 0))) if axes else x


class Bijector:
    """The base class of invertible functions y = f(x).

    A derived class defines `_forward(x)`, `_inverse(y)`, and `_forward_log_det_jacobian(x)`, which is log |det dy/dx|,
    or `_inverse_log_det_jacobian(y)`, which is log |det dx/dy|. The Jacobian is the one of an event with
    `forward_min_event_ndims` dimensions. It may be a scalar if it does not depend on x (`is_constant_jacobian`).

    If the bijector has a `dtype`, its methods raise TypeError for arguments of another one.
    """

    def __init__(self, graph_parents=None, is_constant_jacobian=False, validate_args=False, dtype=None,
                 forward_min_event_ndims=0, inverse_min_event_ndims=None, name=None):
        self._graph_parents, self._is_constant = list(graph_parents or []), is_constant_jacobian
        self._validate_args, self._dtype = validate_args, dtype and tf.as_dtype(dtype)
        self._forward_ndims = forward_min_event_ndims
        self._inverse_ndims = forward_min_event_ndims if inverse_min_event_ndims is None else inverse_min_event_ndims
        self._name = name or type(self).__name__.lower()

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    graph_parents = property(lambda self: self._graph_parents)
    validate_args = property(lambda self: self._validate_args)
    is_constant_jacobian = property(lambda self: self._is_constant)
    forward_min_event_ndims = property(lambda self: self._forward_ndims)
    inverse_min_event_ndims = property(lambda self: self._inverse_ndims)

    def _value(self, x):
        x = tf.convert_to_tensor(x, None if hasattr(x, "dtype") else self._dtype)
        if self._dtype is not None and x.dtype != self._dtype:
            raise TypeError(f"Input had dtype {x.dtype} but expected {self._dtype}.")
        return x

    def forward(self, x, name="forward"):
        """f(x)."""
        with tf.name_scope(self.name), tf.name_scope(name, values=[x]):
            return self._forward(self._value(x))

    def inverse(self, y, name="inverse"):
        """The value x for which f(x) = y."""
        with tf.name_scope(self.name), tf.name_scope(name, values=[y]):
            return self._inverse(self._value(y))

    def _summed(self, jacobian, x, event_ndims, min_ndims):
        """The log Jacobian of events with `event_ndims` dimensions: the sum over their parts with `min_ndims` each."""
        event_ndims = int(event_ndims)
        if event_ndims < min_ndims:
            raise ValueError(f"event_ndims ({event_ndims}) must be larger than min_event_ndims ({min_ndims})")
        axes = event_ndims - min_ndims
        if axes and self._is_constant:
            jacobian += tf.zeros_like(x) if min_ndims == 0 else tf.zeros_like(_sum_of_last(x, min_ndims))
        return _sum_of_last(jacobian, axes)

    def forward_log_det_jacobian(self, x, event_ndims, name="forward_log_det_jacobian"):
        """log |det dy/dx|, for events of `event_ndims` dimensions. ValueError if these are less than the minimum."""
        with tf.name_scope(self.name), tf.name_scope(name, values=[x]):
            x = self._value(x)
            if hasattr(self, "_forward_log_det_jacobian"):
                return self._summed(self._forward_log_det_jacobian(x), x, event_ndims, self._forward_ndims)
            return -self._summed(self._inverse_log_det_jacobian(self._forward(x)), x, event_ndims, self._forward_ndims)

    def inverse_log_det_jacobian(self, y, event_ndims, name="inverse_log_det_jacobian"):
        """log |det dx/dy|, for events of `event_ndims` dimensions. ValueError if these are less than the minimum."""
        with tf.name_scope(self.name), tf.name_scope(name, values=[y]):
            y = self._value(y)
            if hasattr(self, "_inverse_log_det_jacobian"):
                return self._summed(self._inverse_log_det_jacobian(y), y, event_ndims, self._inverse_ndims)
            return -self._summed(self._forward_log_det_jacobian(self._inverse(y)), y, event_ndims, self._inverse_ndims)

    def forward_event_shape(self, input_shape):
        """The static shape of f(x) for an x with this static shape: the same, unless a derived class says otherwise."""
        return tf.TensorShape(input_shape)

    def inverse_event_shape(self, output_shape):
        """The static shape of x for a y = f(x) with this static shape."""
        return tf.TensorShape(output_shape)

    def forward_event_shape_tensor(self, input_shape, name="forward_event_shape_tensor"):
        """The shape of f(x), an int32 vector, for an x with this shape."""
        return tf.identity(tf.convert_to_tensor(input_shape, tf.int32), name=name)

    def inverse_event_shape_tensor(self, output_shape, name="inverse_event_shape_tensor"):
        """The shape of x, an int32 vector, for a y = f(x) with this shape."""
        return tf.identity(tf.convert_to_tensor(output_shape, tf.int32), name=name)


class Identity(Bijector):
    """y = x."""

    def __init__(self, validate_args=False, name="identity"):
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, name=name)

    def _forward(self, x):
        return x

    _inverse = _forward

    def _forward_log_det_jacobian(self, x):
        return tf.constant(0.0, x.dtype)


class Exp(Bijector):
    """y = exp(x)."""

    def __init__(self, validate_args=False, name="exp"):
        super().__init__(validate_args=validate_args, name=name)

    def _forward(self, x):
        return tf.exp(x)

    def _inverse(self, y):
        return tf.log(y)

    def _forward_log_det_jacobian(self, x):
        return x

    def _inverse_log_det_jacobian(self, y):
        return -tf.log(y)


class Softplus(Bijector):
    """y = c log(1 + exp(x / c)). The constant c is `hinge_softness`; its default is 1."""

    def __init__(self, hinge_softness=None, validate_args=False, name="softplus"):
        with tf.name_scope(name):
            self._softness = None if hinge_softness is None else tf.convert_to_tensor(hinge_softness)
        super().__init__([] if hinge_softness is None else [self._softness], validate_args=validate_args, name=name)

    hinge_softness = property(lambda self: self._softness)

    def _forward(self, x):
        if self._softness is None:
            return tf.nn.softplus(x)
        softness = tf.cast(self._softness, x.dtype)
        return softness * tf.nn.softplus(x / softness)

    def _scaled(self, y):
        return y if self._softness is None else y / tf.cast(self._softness, y.dtype)

    def _inverse(self, y):
        scaled = self._scaled(y)
        # log(exp(y) - 1) = y + log(1 - exp(-y)), which does not overflow for a large y
        x = scaled + tf.log(-tf.expm1(-scaled))
        return x if self._softness is None else x * tf.cast(self._softness, y.dtype)

    def _forward_log_det_jacobian(self, x):
        return -tf.nn.softplus(-self._scaled(x))

    def _inverse_log_det_jacobian(self, y):
        return -tf.log(-tf.expm1(-self._scaled(y)))


class Sigmoid(Bijector):
    """y = 1 / (1 + exp(-x))."""

    def __init__(self, validate_args=False, name="sigmoid"):
        super().__init__(validate_args=validate_args, name=name)

    def _forward(self, x):
        return tf.sigmoid(x)

    def _inverse(self, y):
        return tf.log(y) - tf.log1p(-y)

    def _forward_log_det_jacobian(self, x):
        return -tf.nn.softplus(-x) - tf.nn.softplus(x)

    def _inverse_log_det_jacobian(self, y):
        return -tf.log(y) - tf.log1p(-y)


class AffineScalar(Bijector):
    """y = scale * x + shift. By default, `scale` is 1 and `shift` is 0."""

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_scalar"):
        with tf.name_scope(name):
            self._shift, self._scale = (None if value is None else tf.convert_to_tensor(value, name=part)
                                        for value, part in ((shift, "shift"), (scale, "scale")))
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, name=name)

    shift = property(lambda self: self._shift)
    scale = property(lambda self: self._scale)

    def _forward(self, x):
        y = x if self._scale is None else self._scale * x
        return y if self._shift is None else y + self._shift

    def _inverse(self, y):
        x = y if self._shift is None else y - self._shift
        return x if self._scale is None else x / self._scale

    def _forward_log_det_jacobian(self, x):
        return tf.constant(0.0, x.dtype) if self._scale is None else tf.log(tf.abs(self._scale))


class Invert(Bijector):
    """The inverse of `bijector`: its `forward` is bijector.inverse, and the other way round."""

    def __init__(self, bijector, validate_args=False, name=None):
        self._bijector = bijector
        super().__init__(bijector.graph_parents, bijector.is_constant_jacobian, validate_args, bijector.dtype,
                         bijector.inverse_min_event_ndims, bijector.forward_min_event_ndims,
                         name or f"invert_{bijector.name}")

    bijector = property(lambda self: self._bijector)

    def forward(self, x, name="forward"):
        """bijector.inverse(x)."""
        return self._bijector.inverse(x)

    def inverse(self, y, name="inverse"):
        """bijector.forward(y)."""
        return self._bijector.forward(y)

    def forward_log_det_jacobian(self, x, event_ndims, name="forward_log_det_jacobian"):
        """bijector.inverse_log_det_jacobian(x, event_ndims)."""
        return self._bijector.inverse_log_det_jacobian(x, event_ndims)

    def inverse_log_det_jacobian(self, y, event_ndims, name="inverse_log_det_jacobian"):
        """bijector.forward_log_det_jacobian(y, event_ndims)."""
        return self._bijector.forward_log_det_jacobian(y, event_ndims)


class Chain(Bijector):
    """The composition of bijectors. The last one is applied first: Chain([f1, f2]) is y = f1(f2(x)).

    NotImplementedError for a bijector whose `forward_min_event_ndims` is not 0.
    """

    def __init__(self, bijectors=None, validate_args=False, name=None):
        self._bijectors = list(bijectors or [])
        if any(bijector.forward_min_event_ndims for bijector in self._bijectors):
            raise NotImplementedError("a Chain of bijectors whose forward_min_event_ndims is not 0")
        super().__init__(is_constant_jacobian=all(bijector.is_constant_jacobian for bijector in self._bijectors),
                         validate_args=validate_args, name=name or (
                             "_of_".join(["chain", *[bijector.name for bijector in self._bijectors]])
                             if self._bijectors else "identity"))

    bijectors = property(lambda self: self._bijectors)

    def _forward(self, x):
        for bijector in reversed(self._bijectors):
            x = bijector.forward(x)
        return x

    def _inverse(self, y):
        for bijector in self._bijectors:
            y = bijector.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x):
        total = tf.constant(0.0, x.dtype)
        for bijector in reversed(self._bijectors):
            total += bijector.forward_log_det_jacobian(x, 0)
            x = bijector.forward(x)
        return total


class TransformedDistribution(Distribution):
    """The distribution of y = f(x), where x has the distribution `distribution` and f is `bijector`, or else Identity.

    mean() and entropy() raise NotImplementedError unless the Jacobian is constant. The constructor raises it if
    `batch_shape` or `event_shape` is given.
    """

    def __init__(self, distribution, bijector=None, batch_shape=None, event_shape=None, validate_args=False, name=None):
        if batch_shape is not None or event_shape is not None:
            raise NotImplementedError("batch_shape and event_shape of a TransformedDistribution")
        given = arguments(locals())
        self._distribution, self._bijector = distribution, bijector or Identity()
        name = name or self._bijector.name + distribution.name
        super().__init__(distribution.dtype, distribution.reparameterization_type, validate_args,
                         distribution.allow_nan_stats, given, [], name)

    distribution = property(lambda self: self._distribution)
    bijector = property(lambda self: self._bijector)

    def _batch_shape(self):
        return self._distribution.batch_shape

    def _batch_shape_tensor(self):
        return self._distribution.batch_shape_tensor()

    def _event_shape(self):
        return self._bijector.forward_event_shape(self._distribution.event_shape)

    def _event_shape_tensor(self):
        return self._distribution.event_shape_tensor()

    def _sample_n(self, n, seed=None):
        return self._bijector.forward(self._distribution.sample(n, seed))

    def _jacobian(self, y):
        return self._bijector.inverse_log_det_jacobian(y, self._distribution.event_shape.ndims)

    def _log_prob(self, y):
        return self._distribution.log_prob(self._bijector.inverse(y)) + self._jacobian(y)

    def _prob(self, y):
        return self._distribution.prob(self._bijector.inverse(y)) * tf.exp(self._jacobian(y))

    def _cdf(self, y):
        return self._distribution.cdf(self._bijector.inverse(y))

    def _log_cdf(self, y):
        return self._distribution.log_cdf(self._bijector.inverse(y))

    def _survival_function(self, y):
        return self._distribution.survival_function(self._bijector.inverse(y))

    def _log_survival_function(self, y):
        return self._distribution.log_survival_function(self._bijector.inverse(y))

    def _quantile(self, value):
        return self._bijector.forward(self._distribution.quantile(value))

    def _of_constant_jacobian(self, what):
        if not self._bijector.is_constant_jacobian:
            raise NotImplementedError(f"{what} is not implemented for the bijector {self._bijector.name}")

    def _mean(self):
        self._of_constant_jacobian("mean")
        return self._bijector.forward(self._distribution.mean())

    def _entropy(self):
        self._of_constant_jacobian("entropy")
        entropy = self._distribution.entropy()
        return entropy - self._jacobian(tf.zeros(tf.concat([
            self.batch_shape_tensor(), self.event_shape_tensor()], 0), self.dtype))
