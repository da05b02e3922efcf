"""Checks that the binding uses only what Python's stable ABI has in version 3.12, without compiling it.

usage: python check_stable_abi.py, in a virtual environment that has abi3audit

The wheel for Python 3.12 and all later versions needs that (README.md). The compiler and abi3audit find the same
mistakes, but only when such a wheel is made, which takes a newer Python than Debian's. In a part of `#ifdef
Py_LIMITED_API`, the code after `#else` is for other wheels, and may use anything.
"""

import glob
import os
import re
import sys

import abi3info

BINDING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../binding")
VERSION = (3, 12)
# Macros of names that the stable ABI has.
MACROS = {"PyBool_Check", "PyFloat_CheckExact", "PyLong_Check", "PyLong_CheckExact"}


def stable_names():
    tables = (abi3info.FUNCTIONS, abi3info.DATAS, abi3info.MACROS, abi3info.STRUCTS, abi3info.TYPEDEFS)
    entries = [(getattr(key, "name", key), entry.added) for table in tables for key, entry in table.items()]
    return {name for name, added in entries if (added.major, added.minor) <= VERSION}


def names_used(text):
    text = re.sub(r"(#ifdef Py_LIMITED_API\n.*?)#else\n.*?#endif", r"\1#endif", text, flags=re.DOTALL)
    text = re.sub(r"//.*", "", text)
    return set(re.findall(r"\b_?Py[A-Z][A-Za-z]*_\w+", text))


def main():
    allowed = stable_names() | MACROS
    files = glob.glob(os.path.join(BINDING, "*.cc")) + glob.glob(os.path.join(BINDING, "*.h"))
    assert files, BINDING
    wrong = []
    for path in sorted(files):
        with open(path, encoding="utf-8") as file:
            wrong += [f"{os.path.relpath(path)}: {name}" for name in sorted(names_used(file.read()) - allowed)]
    if wrong:
        sys.exit("not in the stable ABI of Python %d.%d:\n%s" % (*VERSION, "\n".join(wrong)))


main()
