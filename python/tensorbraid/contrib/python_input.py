"""tf.contrib.training.python_input: the elements of a generator of Python as tensors, for queues."""

import threading

import numpy as np

import tensorbraid as tf

__all__ = ["python_input"]


def python_input(generator, features, name=None):
    """A dictionary of tensors, which have the values of the generator's next dictionary in each step.

    `features` is a dictionary of tf.FixedLenFeatures and tf.FixedLenSequenceFeatures. A value that the generator leaves
    out is the default of its feature, or an empty sequence. A step fails with OutOfRangeError after the last element.
    TypeError or ValueError for features of another kind, NotImplementedError for sparse ones.
    """
    if not callable(generator):
        raise TypeError(f"generator must be callable, saw: {generator}")
    if not isinstance(features, dict):
        raise TypeError(f"features must be a dict, saw: {type(features).__name__}")
    shapes = {key: _shape(key, feature) for key, feature in features.items()}
    kinds = {key: tf.as_dtype(feature.dtype) for key, feature in features.items()}
    elements, lock = iter(generator()), threading.Lock()
    count = 0

    def following():
        nonlocal count
        with lock:
            try:
                values = next(elements)
            except StopIteration as end:
                raise StopIteration(f"Iteration finished.  Processed {count} entries ({end})") from None
            count += 1
        if not isinstance(values, dict):
            raise TypeError(f"generator must return dict, saw: {values}")
        return [_value(key, feature, values.get(key), kinds[key], shapes[key]) for key, feature in features.items()]

    with tf.name_scope(name, "python_input"):
        made = tf.py_func(following, [], list(kinds.values()))
    tensors = dict(zip(features, made))
    for key, shape in shapes.items():
        tensors[key].set_shape(shape)
    return tensors


def _shape(key, feature):
    if isinstance(feature, tf.FixedLenFeature):
        if feature.default_value is not None:
            return tf.TensorShape(np.shape(feature.default_value))
        shape = tf.TensorShape(feature.shape)
        shape.assert_is_fully_defined()
        return shape
    if isinstance(feature, (tf.VarLenFeature, tf.SparseFeature)):
        raise NotImplementedError(f"{type(feature).__name__} not supported")
    if not isinstance(feature, tf.FixedLenSequenceFeature):
        raise TypeError(f"Expected value for features key '{key}' to be one of FixedLenFeature, VarLenFeature, "
                        f"SparseFeature, or FixedLenSequenceFeature.  Got: {feature}")
    if feature.default_value is not None:
        raise ValueError("FixedLenSequenceFeature with default value not supported")
    if not feature.allow_missing:
        raise ValueError("FixedLenSequenceFeature with allow_missing=False not supported")
    shape = tf.TensorShape(feature.shape)
    shape.assert_is_fully_defined()
    return tf.TensorShape([None]).concatenate(shape)


def _value(key, feature, value, dtype, shape):
    """The value as an array, or what stands for one that the generator left out."""
    if value is None and isinstance(feature, tf.FixedLenSequenceFeature):
        return np.empty([0, *shape.as_list()[1:]], dtype.as_numpy_dtype)
    value = feature.default_value if value is None else value
    if value is None:
        raise ValueError(f"Expected generator to return key '{key}' with non-empty value")
    array = np.asarray(value, dtype.as_numpy_dtype)
    if not shape.is_compatible_with(array.shape):
        raise ValueError(f"Feature '{key}' has shape {array.shape} that is incompatible with declared shape: {shape}")
    return array
