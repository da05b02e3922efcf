"""Checks before the C++ module is loaded that the processor has all instructions for which the module was compiled.

Without the check, the first unknown instruction would kill the process ("illegal instruction"). This file imports no
other module of the package, because these load the C++ module.
"""

import os

__all__ = []

# What gcc -march=NAME uses beyond the first 64-bit processors, as /proc/cpuinfo writes it. Others, such as "native",
# are not checked.
_V2 = ["cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"]
_V3 = _V2 + ["abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"]
_V4 = _V3 + ["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"]
_NEEDED = {"x86-64-v2": _V2, "x86-64-v3": _V3, "x86-64-v4": _V4}


def _first_line(path, start=""):
    """The first line of a file that begins with `start`; empty if there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return next((line.strip() for line in file if line.startswith(start)), "")
    except OSError:
        return ""


def check(compiled_for=os.path.join(os.path.dirname(os.path.dirname(__file__)), "processor.txt"),
          cpuinfo="/proc/cpuinfo"):
    """Raises ImportError if the processor lacks what the build has written into `processor.txt`."""
    name = _first_line(compiled_for)
    flags = _first_line(cpuinfo, "flags").partition(":")[2].split()
    missing = [flag for flag in _NEEDED.get(name, []) if flag not in flags]
    if flags and missing:
        raise ImportError(
            f"This copy of tensorbraid is compiled for {name} and later processors. This processor lacks "
            f"{', '.join(missing)}. Build the package on this machine, in a clone: "
            "pip install . --config-settings=cmake.define.TENSORBRAID_ARCH=native")
