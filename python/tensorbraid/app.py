"""tf.app: runs a program's main function with its flags."""

import difflib
import sys

from tensorbraid import flags as flags
from tensorbraid.flags.values import parse_program
from tensorbraid.internal import arguments

__all__ = []


def run(main=None, argv=None):
    """Parses the flags, calls main(argv) and ends the program with its result.

    As in TensorFlow, `main` gets the arguments that are no defined flags. A warning names those that look like flags.
    """
    argv = list(sys.argv if argv is None else argv)
    arguments.check(main is None or callable(main), "main", "a function", main)
    main = main or getattr(sys.modules["__main__"], "main", None)
    if main is None:
        raise AttributeError("tf.app.run() calls the function main of the program, which does not exist")
    try:
        rest = parse_program(flags.FLAGS, argv, known_only=True)
    except (flags.Error, ValueError) as error:
        sys.stderr.write(f"FATAL Flags parsing error:\n  {error}\nPass --help to see help on flags.\n")
        sys.exit(1)
    for arg in rest[1:]:
        _warn(arg)
    sys.exit(main(rest))


def _warn(arg):
    name = arg.lstrip("-").partition("=")[0]
    near = difflib.get_close_matches(name, list(flags.FLAGS), 1) if arg.startswith("-") else []
    if near:
        sys.stderr.write(f"warning: the flag --{name} is not defined, and goes to main; did you mean --{near[0]}?\n")
