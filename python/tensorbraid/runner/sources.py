"""Reads Python source files in the encoding that they declare (PEP 263), and without a byte order mark."""

import io
import re
import tokenize

_DECLARED = re.compile(r"(coding[:=][ \t]*)[-\w.]+")


def read(path):
    """The text of a Python source file. SyntaxError, with the line, for bytes that are invalid in its encoding."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        if "unknown encoding" in error.msg:
            raise SyntaxError(error.msg, (path, 1, None, None)) from None
        encoding = "utf-8"  # the first two lines are not UTF-8 and declare no encoding
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        wrong = f"the byte 0x{data[error.start]:02x} is invalid in {encoding}"
        if encoding.startswith("utf-8"):
            wrong += ", and the file declares no other encoding; its first line may, as in '# -*- coding: latin-1 -*-'"
        raise SyntaxError(wrong, (path, data.count(b"\n", 0, error.start) + 1, None, None)) from None
    return io.IncrementalNewlineDecoder(None, translate=True).decode(text)


def declared_as_utf8(text):
    """The text with UTF-8 as its declared encoding, for a copy that is written as UTF-8."""
    lines = text.split("\n")
    for i, line in enumerate(lines[:2]):
        if not line.lstrip().startswith("#"):
            break
        lines[i] = _DECLARED.sub(r"\g<1>utf-8", line, count=1)
    return "\n".join(lines)
