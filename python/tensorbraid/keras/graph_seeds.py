"""Random numbers without a seed of their own follow from the graph's seed, as in TensorFlow.

The library draws their seeds from NumPy, so tf.set_random_seed would not be enough to repeat a training, and a layer
would change the numbers that a program draws from NumPy.
"""

import tensorbraid as tf

__all__ = []


class _Backend:
    """The library's backend for modules of it, with these functions in the place of its own."""

    def __init__(self, backend):
        self._backend = backend

    def __getattr__(self, name):
        return getattr(self._backend, name)

    def random_uniform(self, shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
        """Numbers of a uniform distribution."""
        return tf.random_uniform(shape, minval, maxval, dtype or self.floatx(), seed)

    def random_normal(self, shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
        """Numbers of a normal distribution."""
        return tf.random_normal(shape, mean, stddev, dtype or self.floatx(), seed)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
        """Numbers of a normal distribution within two standard deviations."""
        return tf.truncated_normal(shape, mean, stddev, dtype or self.floatx(), seed)

    def dropout(self, x, level, noise_shape=None, seed=None):
        """The tensor with some elements set to 0, and the others scaled up."""
        return tf.nn.dropout(x, rate=level, noise_shape=noise_shape, seed=seed)


def change(module):
    """Gives a module of the library the functions of this one."""
    module.K = _Backend(module.K)


def change_initializers(initializers):
    """Changes the library's module `initializers`."""
    change(initializers)
    initializers.Orthogonal.__call__ = lambda self, shape, dtype=None: tf.orthogonal_initializer(self.gain, self.seed)(
        shape, dtype or initializers.K.floatx())
