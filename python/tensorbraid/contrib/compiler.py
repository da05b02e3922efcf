"""tf.contrib.compiler: scopes that ask for compilation by XLA. They have no effect, because this package has no XLA."""

import contextlib
import sys

__all__ = ["experimental_jit_scope"]

jit = sys.modules[__name__]  # TensorFlow has the function in this module


@contextlib.contextmanager
def experimental_jit_scope(compile_ops=True, separate_compiled_gradients=False):
    """A scope without effect: nodes in it run as all others do."""
    yield
