"""tf.flags: definitions of the flags of a program. tf.app.flags is the same."""

from tensorbraid.flags.definitions import *  # noqa: F401,F403
from tensorbraid.flags.flag import (  # noqa: F401
    BooleanFlag as BooleanFlag, DuplicateFlagError as DuplicateFlagError, Error as Error, Flag as Flag,
    IllegalFlagValueError as IllegalFlagValueError, MultiFlag as MultiFlag,
    UnparsedFlagAccessError as UnparsedFlagAccessError, UnrecognizedFlagError as UnrecognizedFlagError,
    ValidationError as ValidationError)
from tensorbraid.flags.parsers import *  # noqa: F401,F403
from tensorbraid.flags.values import FlagValues as FlagValues  # noqa: F401
