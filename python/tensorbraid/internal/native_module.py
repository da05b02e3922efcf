"""Loads the C++ module _core. The package imports this module before all others."""

import os
import sys

from tensorbraid.internal import processor_check

__all__ = []


def _load():
    """Imports _core such that it uses the protobuf library that it was built with.

    If TensorFlow has been imported, it has put its own protobuf, of another version, before all libraries that are
    loaded later.
    """
    processor_check.check()
    flags = sys.getdlopenflags()
    if "tensorflow" in sys.modules:
        sys.setdlopenflags(flags | os.RTLD_DEEPBIND)
    try:
        from tensorbraid import _core  # noqa: F401
    finally:
        sys.setdlopenflags(flags)


_load()
