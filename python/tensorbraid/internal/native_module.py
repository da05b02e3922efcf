"""Loads the C++ module _core. The package imports this module before all others."""

import os
import sys

from tensorbraid.internal import processor_check

__all__ = []


def _load():
    """Imports _core such that it uses the protobuf library that it was built with.

    If TensorFlow has been imported, its functions come before those of all libraries that are loaded later, among them
    its own protobuf, of another version. A package that was built from source uses the system's libraries, so it is
    loaded with RTLD_DEEPBIND: each of its libraries looks for a function among its own dependencies first. A wheel does
    not need that, because the names of its libraries are private (python/wheel/private_names.py), but bears it.
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
