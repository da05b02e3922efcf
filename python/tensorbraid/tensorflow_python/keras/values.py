"""Variables, constants, placeholders and random numbers of Keras, in its default dtype."""

import numpy as np
import tensorbraid as tf
from tensorbraid.tensorflow_python.keras.sessions import get_session
from tensorbraid.tensorflow_python.keras.settings import floatx

__all__ = ["batch_get_value", "batch_set_value", "constant", "placeholder", "random_binomial", "random_normal",
           "random_uniform", "set_value", "truncated_normal", "variable"]


def sparse_parts(matrix):
    """The indices, the values and the shape of a sparse matrix of SciPy."""
    matrix = matrix.tocoo()
    return np.stack([matrix.row, matrix.col], 1).astype(np.int64), matrix.data, matrix.shape


def variable(value, dtype=None, name=None, constraint=None):
    """A variable with this initial value; for a sparse matrix of SciPy, a SparseTensor."""
    if hasattr(value, "tocoo"):
        return tf.SparseTensor(*sparse_parts(value))
    return tf.Variable(value, dtype=tf.as_dtype(dtype or floatx()), name=name, constraint=constraint)


def constant(value, dtype=None, shape=None, name=None):
    """A constant."""
    return tf.constant(value, dtype or floatx(), shape, name or "Const")


def placeholder(shape=None, ndim=None, dtype=None, sparse=False, name=None):
    """A placeholder of this shape, or with this number of dimensions."""
    if not shape and ndim:
        shape = [None] * ndim
    make = tf.sparse_placeholder if sparse else tf.placeholder
    return make(tf.as_dtype(dtype or floatx()), shape=shape, name=name)


def batch_get_value(tensors):
    """The values of the tensors, from one step."""
    return get_session(tensors).run(tensors) if tensors else []


def _assignment(x):
    """A placeholder, and the operation that sets the variable to its value. They are made once."""
    if not hasattr(x, "_assign_placeholder"):
        with x.graph.as_default():
            x._assign_placeholder = tf.placeholder(x.dtype.base_dtype, shape=x.shape)
            x._assign_op = x.assign(x._assign_placeholder, read_value=False)
    return x._assign_placeholder, x._assign_op


def set_value(x, value):
    """Sets a variable."""
    batch_set_value([(x, value)])


def batch_set_value(tuples):
    """Sets the variable of each pair to its value, in one step."""
    feeds, updates = {}, []
    for x, value in tuples:
        fed, update = _assignment(x)
        feeds[fed] = np.asarray(value, x.dtype.base_dtype.as_numpy_dtype)
        updates.append(update)
    if updates:
        get_session().run(updates, feeds)


def _seed(seed):
    """A seed. Without one, NumPy's generator chooses it, so that np.random.seed fixes a program's numbers."""
    return np.random.randint(10_000_000) if seed is None else seed


def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Random numbers of a normal distribution."""
    return tf.random_normal(shape, mean, stddev, dtype or floatx(), _seed(seed))


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Random numbers of a normal distribution without those that are more than two deviations from the mean."""
    return tf.truncated_normal(shape, mean, stddev, dtype or floatx(), _seed(seed))


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Random numbers between two others."""
    return tf.random_uniform(shape, minval, maxval, dtype or floatx(), _seed(seed))


def random_binomial(shape, p=0.0, dtype=None, seed=None):
    """Ones with the probability `p`, and zeros."""
    dtype = dtype or floatx()
    return tf.cast(tf.random_uniform(shape, dtype=dtype, seed=_seed(seed)) <= p, dtype)
