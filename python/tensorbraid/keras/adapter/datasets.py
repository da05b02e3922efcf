"""Datasets of tf.data for fit, evaluate and predict: their batches as arrays."""

import numpy as np
import tensorbraid as tf
from tensorbraid import nest
from tensorbraid.keras.adapter.loaded import loaded

__all__ = []


def is_dataset(value):
    """Whether the value is a dataset, or an iterator of one."""
    return isinstance(value, (tf.data.Dataset, tf.data.Iterator))


def check_alone(**arguments):
    """Refuses arguments that a dataset has no use for."""
    for name, value in arguments.items():
        if value is not None and value != 0.0:
            raise ValueError(f"The `{name}` argument is not supported when the input is a dataset, whose elements are "
                             "batches of inputs, targets and weights.")


def _values(source, session):
    """The elements of a dataset or of an iterator."""
    if isinstance(source, tf.data.Dataset):
        iterator = source.make_initializable_iterator()
        session.run(iterator.initializer)
    else:
        iterator = source
    element = iterator.get_next()
    while True:
        try:
            yield nest.pack_sequence_as(element, session.run(nest.flatten(element)))
        except tf.errors.OutOfRangeError:
            return


def _count(dataset, argument):
    """The number of elements, which one step counts."""
    if not isinstance(dataset, tf.data.Dataset):
        raise ValueError(f"An iterator needs `{argument}`.")
    session = loaded("backend").get_session()
    if session.run(tf.data.experimental.cardinality(dataset)) == tf.data.experimental.INFINITE_CARDINALITY:
        raise ValueError(f"When passing an infinitely repeating dataset, you must specify the `{argument}` argument.")
    return int(session.run(dataset.reduce(np.int64(0), lambda count, *_: count + 1)))


def batches(source, steps, argument):
    """A generator of the batches, and the number of steps of an epoch.

    Without a number, an epoch is the whole dataset, which begins anew with the next one. With one, the dataset goes on
    in the next epoch, except in a validation, which begins anew each time.
    """
    begins_anew = steps is None or argument == "validation_steps" and isinstance(source, tf.data.Dataset)
    steps = _count(source, argument) if steps is None else steps

    def generate():
        session = loaded("backend").get_session()
        taken = 0
        while True:
            taken = 0 if begins_anew else taken
            for value in _values(source, session):
                taken += 1
                yield _as_arguments(value)
                if begins_anew and taken == steps:
                    break
            if not begins_anew or taken < steps:
                raise ValueError(f"The dataset ran out of data after {taken} batches. It must have at least "
                                 f"`{argument}` batches for each epoch, which are {steps}; `repeat()` repeats it.")

    return generate(), steps


def _as_arguments(value):
    """Inputs, targets and weights. Several inputs or targets are a list."""
    if not isinstance(value, tuple):
        return value
    return value[0] if len(value) == 1 else tuple(list(part) if isinstance(part, tuple) else part for part in value)


def arrays(dataset, steps):
    """The dataset's batches as one."""
    session = loaded("backend").get_session()
    found = []
    for value in _values(dataset, session):
        found.append(_as_arguments(value))
        if len(found) == steps:
            break
    return tuple(nest.map_structure(lambda *parts: np.concatenate(parts), *found))


def zeros(source):
    """An element of zeros in the shapes of the dataset's elements, with one sample."""
    def array(dtype, shape):
        sizes = [1 if size is None else size for size in shape.as_list()]
        return np.full([1, *sizes[1:]], b"" if dtype == tf.string else 0, dtype.as_numpy_dtype)

    return nest.map_structure(array, source.output_types, source.output_shapes)
