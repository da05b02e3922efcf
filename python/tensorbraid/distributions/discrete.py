"""Distributions of classes and of counts."""

import tensorbraid as tf
from tensorbraid.distributions.base import NOT_REPARAMETERIZED, Distribution, arguments, checked
from tensorbraid.distributions.divergences import RegisterKL

__all__ = ["Bernoulli", "Categorical", "Multinomial"]


def categorical_parameter(value):
    """ValueError if it is known to have less than two classes."""
    if value.shape.ndims == 0:
        raise ValueError("A categorical-distribution parameter must have at least 1 dimension.")
    classes = None if value.shape.ndims is None else value.shape.as_list()[-1]
    if classes is not None:
        if classes < 2:
            raise ValueError("A categorical-distribution parameter must have at least 2 events.")
        return value
    return checked(True, lambda: [tf.assert_greater_equal(tf.shape(value)[-1], 2)], value)


def counts_of(value):
    """The counts, which are checked to be whole numbers of at least 0."""
    checks = [lambda: tf.assert_non_negative(value)]
    if not value.dtype.is_integer:
        checks.append(lambda: tf.assert_equal(value, tf.round(value), message="counts cannot have fractions"))
    return checked(True, lambda: [check() for check in checks], value)


def _logits_and_probs(logits, probs, validate_args, name, has_classes):
    """Both, of which one is given."""
    with tf.name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = tf.convert_to_tensor(logits, name="logits")
            if not logits.dtype.is_floating:
                raise TypeError("logits must have a floating type.")
            if not has_classes:
                return logits, tf.sigmoid(logits, name="probs")
            logits = categorical_parameter(logits) if validate_args else logits
            return logits, tf.nn.softmax(logits, name="probs")
        probs = tf.convert_to_tensor(probs, name="probs")
        if not probs.dtype.is_floating:
            raise TypeError("probs must have a floating type.")
        if validate_args:
            with tf.name_scope("validate_probs"):
                probs = _checked_probs(probs, has_classes)
        with tf.name_scope("logits"):
            return (tf.log(probs) if has_classes else tf.log(probs) - tf.log1p(-1.0 * probs)), probs


def _checked_probs(probs, has_classes):
    one = tf.constant(1.0, probs.dtype)
    if not has_classes:
        return checked(True, lambda: [
            tf.assert_non_negative(probs),
            tf.assert_less_equal(probs, one, message="probs has components greater than 1.")], probs)
    probs = categorical_parameter(probs)
    return checked(True, lambda: [
        tf.assert_non_negative(probs),
        tf.debugging.assert_near(tf.reduce_sum(probs, -1), one, message="probs does not sum to 1.")], probs)


class Bernoulli(Distribution):
    """0 or 1."""

    def __init__(self, logits=None, probs=None, dtype=tf.int32, validate_args=False, allow_nan_stats=True,
                 name="Bernoulli"):
        given = arguments(locals())
        with tf.name_scope(name) as name:
            self._logits, self._probs = _logits_and_probs(logits, probs, validate_args, name, False)
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, [self._logits, self._probs],
                         name)

    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    @staticmethod
    def _param_shapes(sample_shape):
        return {"logits": tf.convert_to_tensor(sample_shape, dtype=tf.int32)}

    def _batch_shape(self):
        return self.logits.shape

    def _batch_shape_tensor(self):
        return tf.shape(self.logits)

    def _sample_n(self, n, seed=None):
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        return tf.cast(tf.random_uniform(shape, seed=seed, dtype=self.probs.dtype) < self.probs, self.dtype)

    def _log_prob(self, event):
        if self.validate_args:
            event = checked(True, lambda: [tf.assert_less_equal(event, tf.ones([], event.dtype))], counts_of(event))
        event, logits = tf.cast(event, self.logits.dtype), self.logits
        if not (event.shape.is_fully_defined() and event.shape == logits.shape):
            event, logits = tf.ones_like(logits) * event, tf.ones_like(event) * logits
        return -tf.nn.sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self):
        return -self.logits * (tf.sigmoid(self.logits) - 1) + tf.nn.softplus(-self.logits)

    def _mean(self):
        return tf.identity(self.probs)

    def _variance(self):
        return self._mean() * (1.0 - self.probs)

    def _mode(self):
        return tf.cast(self.probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(a, b, name=None):
    with tf.name_scope(name, "kl_bernoulli_bernoulli", [a.logits, b.logits]):
        softplus = tf.nn.softplus
        return (tf.sigmoid(a.logits) * (softplus(-b.logits) - softplus(-a.logits))
                + tf.sigmoid(-a.logits) * (softplus(b.logits) - softplus(a.logits)))


class Categorical(Distribution):
    """The number of a class."""

    def __init__(self, logits=None, probs=None, dtype=tf.int32, validate_args=False, allow_nan_stats=True,
                 name="Categorical"):
        given = arguments(locals())
        with tf.name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = _logits_and_probs(logits, probs, validate_args, name, True)
            known = self._logits.shape.with_rank_at_least(1)
            dims = tf.shape(self._logits, name="logits_shape")
            classes = None if known.ndims is None else known.as_list()[-1]
            self._event_size = dims[-1] if classes is None else tf.constant(classes, tf.int32, name="event_size")
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given, [self._logits, self._probs],
                         name)

    event_size = property(lambda self: self._event_size)
    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    def _batch_shape(self):
        return self.logits.shape[:-1]

    def _batch_shape_tensor(self):
        return tf.shape(self.logits)[:-1]

    def _sample_n(self, n, seed=None):
        logits = self.logits if self.logits.shape.ndims == 2 else tf.reshape(self.logits, [-1, self.event_size])
        draws = tf.multinomial(logits, n, seed, output_dtype=tf.int64 if self.dtype.size > 4 else tf.int32)
        draws = tf.reshape(tf.transpose(draws), tf.concat([[n], self.batch_shape_tensor()], 0))
        return tf.cast(draws, self.dtype)

    def _both(self, classes, parameter):
        """The classes and the parameter with the shape that both are broadcast to."""
        if self.validate_args:
            classes = counts_of(classes)
        if classes.dtype.is_floating:
            classes = tf.cast(classes, tf.int32)
        elif not classes.dtype.is_integer:
            raise TypeError(f"`value` should have integer `dtype` or `self.dtype` ({self.dtype})")
        batch = parameter.shape[:-1]
        if not (batch.is_fully_defined() and classes.shape.is_fully_defined() and batch == classes.shape):
            parameter *= tf.ones_like(classes[..., tf.newaxis], dtype=parameter.dtype)
            classes *= tf.ones(tf.shape(parameter)[:-1], classes.dtype)
            if parameter.shape.ndims is not None:
                classes.set_shape(parameter.shape[:-1])
        return classes, parameter

    def _log_prob(self, k):
        labels, logits = self._both(k, self.logits)
        return -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    def _cdf(self, k):
        k, probs = self._both(k, self.probs)
        rows = tf.reshape(probs, [-1, self.event_size])
        summed = tf.where(tf.sequence_mask(tf.reshape(k, [-1]), self.event_size), rows, tf.zeros_like(rows))
        return tf.reshape(tf.reduce_sum(summed, -1), tf.shape(k))

    def _entropy(self):
        return -tf.reduce_sum(tf.nn.log_softmax(self.logits) * self.probs, -1)

    def _mode(self):
        mode = tf.cast(tf.argmax(self.logits, -1), self.dtype)
        mode.set_shape(self.batch_shape)
        return mode


@RegisterKL(Categorical, Categorical)
def _kl_categorical_categorical(a, b, name=None):
    with tf.name_scope(name, "kl_categorical_categorical", [a.logits, b.logits]):
        difference = tf.nn.log_softmax(a.logits) - tf.nn.log_softmax(b.logits)
        return tf.reduce_sum(tf.nn.softmax(a.logits) * difference, -1)


def log_combinations(n, counts):
    """The logarithm of the number of orders of n things, of which these counts are equal."""
    with tf.name_scope("log_combinations"):
        return tf.lgamma(n + 1) - tf.reduce_sum(tf.lgamma(counts + 1), [-1])


def checked_counts(distribution, counts):
    """The counts, which sum to the distribution's total if it validates its arguments."""
    if not distribution.validate_args:
        return counts
    return checked(True, lambda: [tf.assert_equal(distribution.total_count, tf.reduce_sum(counts, -1),
                                                  message="counts must sum to `self.total_count`")], counts_of(counts))


class Multinomial(Distribution):
    """How often each class is drawn in `total_count` draws."""

    def __init__(self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True,
                 name="Multinomial"):
        given = arguments(locals())
        with tf.name_scope(name, values=[total_count, logits, probs]) as name:
            self._total_count = tf.convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = counts_of(self._total_count)
            self._logits, self._probs = _logits_and_probs(logits, probs, validate_args, name, True)
            self._mean_value = self._total_count[..., tf.newaxis] * self._probs
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, given,
                         [self._total_count, self._logits, self._probs], name)

    total_count = property(lambda self: self._total_count)
    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    def _batch_shape(self):
        return self._mean_value.shape.with_rank_at_least(1)[:-1]

    def _batch_shape_tensor(self):
        return tf.shape(self._mean_value)[:-1]

    def _event_shape(self):
        return self._mean_value.shape.with_rank_at_least(1)[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self._mean_value)[-1:]

    def _sample_n(self, n, seed=None):
        classes = self.event_shape_tensor()[0]
        draws = tf.ones_like(self.logits[..., 0], dtype=tf.int32) * tf.cast(self.total_count, tf.int32)
        logits = tf.ones_like(draws[..., tf.newaxis], dtype=self.logits.dtype) * self.logits

        def one(row):
            drawn = tf.reshape(tf.multinomial(row[0][tf.newaxis], row[1], seed), [n, -1])
            return tf.reduce_sum(tf.one_hot(drawn, classes, dtype=self.dtype), -2)

        counts = tf.map_fn(one, [tf.reshape(logits, [-1, classes]), n * tf.reshape(draws, [-1])], dtype=self.dtype)
        return tf.reshape(tf.transpose(counts, [1, 0, 2]), tf.concat([[n], self.batch_shape_tensor(), [classes]], 0))

    def _log_prob(self, counts):
        counts = checked_counts(self, counts)
        return tf.reduce_sum(counts * tf.nn.log_softmax(self.logits), -1) + log_combinations(self.total_count, counts)

    def _all_probs(self):
        return self.probs * tf.ones_like(self.total_count)[..., tf.newaxis]

    def _mean(self):
        return tf.identity(self._mean_value)

    def _variance(self):
        return self._mean_value - self._mean_value * self._all_probs()

    def _covariance(self):
        products = tf.matmul(self._mean_value[..., tf.newaxis], self._all_probs()[..., tf.newaxis, :])
        return tf.matrix_set_diag(-products, self._variance())
