"""Divergences of Kullback and Leibler, by the classes of two distributions."""

import tensorbraid as tf

__all__ = ["RegisterKL", "kl_divergence"]

_DIVERGENCES = {}


class RegisterKL:
    """A decorator of a function of two distributions of these classes and a name. It computes their divergence."""

    def __init__(self, dist_cls_a, dist_cls_b):
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn):
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _DIVERGENCES:
            a, b = self._key
            raise ValueError(f"KL({a.__name__} || {b.__name__}) has already been registered to: "
                             f"{_DIVERGENCES[self._key]}")
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn


def _registered(a, b):
    """The function of the classes that are nearest to a and b among their base classes."""
    pairs = sorted((i + j, i, _DIVERGENCES[base_a, base_b]) for i, base_a in enumerate(a.__mro__)
                   for j, base_b in enumerate(b.__mro__) if (base_a, base_b) in _DIVERGENCES)
    return pairs[0][2] if pairs else None


def kl_divergence(distribution_a, distribution_b, allow_nan_stats=True, name=None):
    """The divergence KL(a || b)."""
    a, b = type(distribution_a), type(distribution_b)
    compute = _registered(a, b)
    if compute is None:
        raise NotImplementedError("No KL(distribution_a || distribution_b) registered for distribution_a type "
                                  f"{a.__name__} and distribution_b type {b.__name__}")
    with tf.name_scope("KullbackLeibler"):
        value = compute(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return value
        value = tf.identity(value, name="kl")
        message = (f"KL calculation between {distribution_a.name} and {distribution_b.name} returned NaN values "
                   "(and was called with allow_nan_stats=False). Values:")
        with tf.control_dependencies([tf.Assert(tf.logical_not(tf.reduce_any(tf.is_nan(value))), [message, value])]):
            return tf.identity(value, name="checked_kl")
