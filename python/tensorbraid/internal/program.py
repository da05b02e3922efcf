"""The command `tensorbraid`, which the package brings with it: servers, launch, certificates, checkpoints."""

import os
import sys


def path():
    """The file of the program; None in a build folder, where it is not part of the package."""
    file = os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin", "tensorbraid")
    return file if os.path.exists(file) else None


def main():
    """Becomes the program."""
    file = path()
    if file is None:
        sys.exit("this copy of the package has no program `tensorbraid`; it is in the build folder, "
                 "src/cli/tensorbraid")
    os.execv(file, [file, *sys.argv[1:]])
