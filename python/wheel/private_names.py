"""Renames the dynamic symbols of a wheel's bundled libraries, so that no other library has the same names.

The dynamic linker binds a symbol to the first loaded library that defines it. Libraries that were loaded for the whole
process (RTLD_GLOBAL), as TensorFlow's are, come before the wheel's. So the wheel could be bound to another version of
protobuf. Variables of templates (STB_GNU_UNIQUE) exist once in a process in any case. With a suffix, the symbols of the
wheel's libraries have names that no other library has.
"""

import glob
import os
import re
import subprocess

SUFFIX = ".tensorbraid"  # c++filt and debuggers show it as "[clone .tensorbraid]"


def _output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


def defined_names(*libraries):
    """The dynamic symbols that these shared libraries define, without versions."""
    lines = _output("nm", "--dynamic", "--defined-only", "--format=posix", *libraries).splitlines()
    return {line.split()[0].partition("@")[0] for line in lines if line and not line.endswith(":")}


def bundled_libraries(root):
    """The copies of the system's libraries in a wheel that is unpacked in `root`."""
    return sorted(glob.glob(os.path.join(root, "tensorbraid.libs/*.so*")))


def binaries(root):
    """All libraries of an unpacked wheel, and its program."""
    return [*bundled_libraries(root), *sorted(glob.glob(os.path.join(root, "tensorbraid/*.so*"))),
            os.path.join(root, "tensorbraid/bin/tensorbraid")]


def outer_libraries(root):
    """The system's libraries that the wheel uses without bundling them. Raises an error if one is missing."""
    found = set()
    for file in binaries(root):
        text = _output("ldd", file)
        if "not found" in text:
            raise FileNotFoundError(f"{file} misses libraries:\n{text}")
        found.update(os.path.realpath(path) for path in re.findall(r"(/\S+) \(0x", text))
    inside = os.path.realpath(root) + os.sep
    return sorted(path for path in found if not path.startswith(inside))


def public_names(root):
    """The symbols of the bundled libraries without the suffix, except those that the system's libraries also define."""
    names = defined_names(*bundled_libraries(root)) - defined_names(*outer_libraries(root))
    return {name for name in names if not name.endswith(SUFFIX)}


def make_private(root, run):
    """Adds the suffix to all public_names. `run` runs a command, here patchelf."""
    table = os.path.join(root, "names")
    with open(table, "w", encoding="utf-8") as file:
        file.writelines(f"{name} {name}{SUFFIX}\n" for name in sorted(public_names(root)))
    for binary in binaries(root):
        run("patchelf", "--rename-dynamic-symbols", table, binary)
    os.remove(table)
