"""The initial rows of growing tables: numbers that C++ computes by key, or a matrix."""

import contextlib
import random
import zlib

import numpy as np

from tensorbraid import _core, dtypes, initializers
from tensorbraid.internal import graphs

__all__ = []


def initial_rows(graph, name, initializer, count, dim):
    """The initializer of C++ for the table `name`, and None; or None, and its matrix [count, dim].

    A matrix follows from the seed of the graph, the name of the table and the initializer alone, so all programs of a
    cluster have the same one, unless the initializer draws from a generator of its own.
    """
    if isinstance(initializer, type):
        initializer = initializer()
    if initializer is None:
        initializer = initializers.TruncatedNormal()
    if isinstance(initializer, (int, float)):
        initializer = initializers.Constant(initializer)
    if isinstance(initializer, initializers.Constant) and isinstance(initializer.value, (int, float)):
        return _core.constant_initializer(initializer.value), None
    kinds = (initializers.Zeros, initializers.Ones, initializers.RandomUniform, initializers.RandomNormal,
             initializers.TruncatedNormal, initializers.VarianceScaling)
    if isinstance(initializer, kinds) and type(initializer)._native in {kind._native for kind in kinds}:
        return initializer._native(), None
    return None, _matrix(graph.seed, name, initializer, count, dim)


@contextlib.contextmanager
def _seeded(seed):
    """While it is open, np.random and random draw the same numbers in all programs. Then they go on as before."""
    of_numpy, of_python = np.random.get_state(), random.getstate()
    np.random.seed(seed % 2**32)
    random.seed(seed)
    try:
        yield
    finally:
        np.random.set_state(of_numpy)
        random.setstate(of_python)


def _matrix(seed, name, initializer, count, dim):
    """The value of the initializer, or the given array or tensor, as an array [count, dim]."""
    from tensorbraid.internal.session import Session

    drawn = graphs.Graph()
    seed = (seed or 0) + zlib.crc32(name.encode())
    with drawn.as_default(), _seeded(seed):
        graphs.set_random_seed(seed)
        try:
            value = initializer
            if callable(initializer):
                value = initializer(shape=[count, dim], dtype=dtypes.float32)
            if not isinstance(value, np.ndarray):
                with Session(graph=drawn) as session:
                    value = session.run(graphs.convert_to_tensor(value, dtypes.float32))
        except (TypeError, ValueError) as error:
            raise ValueError(f"the initializer {initializer!r} of the growing table '{name}' cannot make its {count} "
                             f"initial rows ({error}); default_value_dim of tf.InitializerOption sets their number"
                             ) from error
    value = np.asarray(value, np.float32)
    if value.shape != (count, dim):
        raise ValueError(f"the initial rows of the growing table '{name}' have the shape {list(value.shape)}, but must "
                         f"have [{count}, {dim}]; default_value_dim of tf.InitializerOption sets the number of rows")
    if not np.isfinite(value).all():
        raise ValueError(f"the initial rows of the growing table '{name}' have a number that is not finite")
    return value
