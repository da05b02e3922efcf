"""What TensorFlow computed when it was last run. A test that compares with these values need not run TensorFlow again.

Such a file, NAME.json.xz, has the version of TensorFlow and a digest of the source files from which the values
follow. `read` ends the process if the file is missing, if make_venv pins another version, or if a source file has
changed.
`xzcat FILE` shows what it has.
"""
import base64
import hashlib
import json
import lzma
import os
import re
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ARRAY, BYTES, COMPLEX, DICT, TUPLE = "array", "bytes", "complex", "dict", "tuple"


def pinned_version():
    with open(f"{HERE}/make_venv", encoding="utf-8") as file:
        return re.search(r"^version=(\S+)$", file.read(), re.MULTILINE)[1]


def sources(path, root, *others):
    """The files from which values follow: `path`, `others`, and what they import from the folder `root`."""
    found, rest = [], [os.path.abspath(p) for p in (path, *others)]
    while rest:
        file = rest.pop()
        if file not in found:
            found.append(file)
            with open(file, encoding="utf-8") as text:
                modules = re.findall(r"^\s*(?:from|import) ([\w.]+)", text.read(), re.MULTILINE)
            rest += filter(os.path.exists, (os.path.join(root, *m.split(".")) + ".py" for m in modules))
    return sorted(found)


def _digest(files, extra):
    result = hashlib.sha256(extra.encode())
    for file in files:
        with open(file, "rb") as source:
            result.update(os.path.basename(file).encode() + hashlib.sha256(source.read()).digest())
    return result.hexdigest()


def _encode(value):
    """A value of Python or NumPy as JSON. A dict has one key, which says what the value is."""
    if isinstance(value, np.generic):
        value = value.item() if value.dtype.kind in "SU" else np.asarray(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return [_encode(v) for v in value]
    if isinstance(value, tuple):
        return {TUPLE: [_encode(v) for v in value]}
    if isinstance(value, dict):
        return {DICT: [[_encode(k), _encode(v)] for k, v in value.items()]}
    if isinstance(value, bytes):
        return {BYTES: value.decode("latin-1")}
    if isinstance(value, complex):
        return {COMPLEX: [value.real, value.imag]}
    if isinstance(value, np.ndarray) and value.dtype.kind not in "OSUM":
        return {ARRAY: [value.dtype.name, list(value.shape), base64.b64encode(value.tobytes()).decode()]}
    if isinstance(value, np.ndarray):
        kind = "object" if value.dtype.kind == "O" else value.dtype.str
        return {ARRAY: [kind, list(value.shape), [_encode(v) for v in value.reshape(-1).tolist()]]}
    raise TypeError(f"a {type(value)} cannot be recorded")


def _decode(value):
    if isinstance(value, list):
        return [_decode(v) for v in value]
    if not isinstance(value, dict):
        return value
    (kind, content), = value.items()
    if kind == TUPLE:
        return tuple(_decode(v) for v in content)
    if kind == DICT:
        return {_decode(k): _decode(v) for k, v in content}
    if kind == BYTES:
        return content.encode("latin-1")
    if kind == COMPLEX:
        return complex(*content)
    dtype, shape, data = content
    if isinstance(data, str):
        return np.frombuffer(base64.b64decode(data), np.dtype(dtype)).reshape(shape).copy()
    array = np.empty(len(data), dtype)
    array[:] = [_decode(v) for v in data]
    return array.reshape(shape)


def write(path, files, version, values, extra=""):
    """Writes the values that this version of TensorFlow computed. They follow from `files` and the text `extra`."""
    if version != pinned_version():
        sys.exit(f"this is TensorFlow {version}; make_venv pins {pinned_version()}")
    content = {"tensorflow": version, "sources": _digest(files, extra), "values": _encode(values)}
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with lzma.open(path, "wt", preset=9, encoding="utf-8") as out:
        json.dump(content, out, separators=(",", ":"))


def _read(path, files, extra):
    """The recorded values as JSON, and why they cannot be used."""
    if not os.path.exists(path):
        return None, "it is missing"
    with lzma.open(path, "rt", encoding="utf-8") as text:
        content = json.load(text)
    if content["tensorflow"] != pinned_version():
        return None, f"it is of TensorFlow {content['tensorflow']}, but make_venv pins {pinned_version()}"
    if content["sources"] != _digest(files, extra):
        return None, "what it follows from has changed, such as " + ", ".join(map(os.path.basename, files))
    return content["values"], None


def is_current(path, files, extra=""):
    return _read(path, files, extra)[1] is None


def read(path, files, command, extra=""):
    """The recorded values. Ends the process if they cannot be used; `command` is what records them again."""
    values, reason = _read(path, files, extra)
    if reason is not None:
        sys.exit(f"{path} cannot be used: {reason}. Run: {command}")
    return _decode(values)
