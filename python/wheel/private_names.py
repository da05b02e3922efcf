"""Makes the names of what the libraries of a wheel share with each other private to this package.

A library takes a function from the first of the loaded libraries that has one of this name, and those that a process has
loaded for all (RTLD_GLOBAL, as TensorFlow is) come before its own. So another protobuf, of another version, would be used
instead of the wheel's. Variables of templates (STB_GNU_UNIQUE) are even one for the whole process. With a suffix, the
names of the wheel's libraries are those of no other library.
"""

import glob
import os
import re
import subprocess

SUFFIX = ".tensorbraid"  # c++filt and debuggers show it as "[clone .tensorbraid]"


def _output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


def defined_names(*libraries):
    """The names of what these shared libraries offer to others, without versions."""
    lines = _output("nm", "--dynamic", "--defined-only", "--format=posix", *libraries).splitlines()
    return {line.split()[0].partition("@")[0] for line in lines if line and not line.endswith(":")}


def bundled_libraries(root):
    """The system's libraries that a wheel, unpacked in `root`, has copies of."""
    return sorted(glob.glob(os.path.join(root, "tensorbraid.libs/*.so*")))


def binaries(root):
    """All libraries of a wheel, and its program."""
    return [*bundled_libraries(root), *sorted(glob.glob(os.path.join(root, "tensorbraid/*.so*"))),
            os.path.join(root, "tensorbraid/bin/tensorbraid")]


def outer_libraries(root):
    """The libraries of the system that the wheel uses. Raises if one is missing."""
    found = set()
    for file in binaries(root):
        text = _output("ldd", file)
        if "not found" in text:
            raise FileNotFoundError(f"{file} misses libraries:\n{text}")
        found.update(os.path.realpath(path) for path in re.findall(r"(/\S+) \(0x", text))
    inside = os.path.realpath(root) + os.sep
    return sorted(path for path in found if not path.startswith(inside))


def public_names(root):
    """The names of the bundled libraries that are not private, but for those that the system's libraries have, too."""
    names = defined_names(*bundled_libraries(root)) - defined_names(*outer_libraries(root))
    return {name for name in names if not name.endswith(SUFFIX)}


def make_private(root, run):
    """Adds the suffix to these names. `run` runs patchelf."""
    table = os.path.join(root, "names")
    with open(table, "w", encoding="utf-8") as file:
        file.writelines(f"{name} {name}{SUFFIX}\n" for name in sorted(public_names(root)))
    for binary in binaries(root):
        run("patchelf", "--rename-dynamic-symbols", table, binary)
    os.remove(table)
