"""tf.contrib.compiler: marks of what XLA is to compile. There is no XLA: steps compute the same without it."""

import contextlib
import sys

__all__ = ["experimental_jit_scope"]

jit = sys.modules[__name__]  # TensorFlow has the function in this module


@contextlib.contextmanager
def experimental_jit_scope(compile_ops=True, separate_compiled_gradients=False):
    """A scope that changes nothing."""
    yield
