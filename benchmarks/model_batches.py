"""The batches of `tensorbraid bench lenet`, `bench lstm` and `bench crnn`, for the same models in other frameworks.

They are noise in [0, 0.3), in which ones tell the class.
"""

import numpy as np

CLASSES = 10


def _noise(shape):
    return np.random.RandomState(7).uniform(0, 0.3, shape).astype(np.float32)


def images(examples, width):
    """float32 [examples, width, width, 1] and int64 [examples]: a bright column tells the class."""
    classes = np.arange(examples) % CLASSES
    pixels = _noise((examples, width, width, 1))
    pixels[np.arange(examples), :, 2 + 2 * classes] = 1
    return pixels, classes


def sequences(examples, steps, features):
    """float32 [examples, steps, features] and int64 [examples]: the largest feature tells the class."""
    classes = np.arange(examples) % CLASSES
    values = _noise((examples, steps, features))
    values[np.arange(examples), :, classes] = 1
    return values, classes


def lines(count, height, width, digits):
    """Lines of digits with a bright column for each: float32 [count, height, width, 1], their lengths in steps of four
    columns (int32 [count]), and the digits as a sparse tensor (int64 [count * digits, 2], int32 [count * digits])."""
    line, place = np.arange(count)[:, None], np.arange(digits)[None, :]
    steps = width // 4 - line % 10
    values = (3 * line + 7 * place) % 10
    pixels = _noise((count, height, width, 1))
    pixels[line, :, 4 * steps * place // digits + 2 * values] = 1
    indices = np.stack(np.broadcast_arrays(line, place), axis=-1).reshape(-1, 2)
    return pixels, steps[:, 0].astype(np.int32), indices.astype(np.int64), values.reshape(-1).astype(np.int32)
