"""tf.flags: definitions of the flags of a program. tf.app.flags is the same."""

from tensorbraid.flags.definitions import *  # noqa: F401,F403
from tensorbraid.flags.flag import (  # noqa: F401
    BooleanFlag, DuplicateFlagError, Error, Flag, IllegalFlagValueError, MultiFlag, UnparsedFlagAccessError,
    UnrecognizedFlagError, ValidationError)
from tensorbraid.flags.parsers import *  # noqa: F401,F403
from tensorbraid.flags.values import FlagValues  # noqa: F401

__all__ = []
