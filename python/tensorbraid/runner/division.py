"""Python 2's division, in which two integers have an integer quotient, for converted scripts."""

import ast
import numbers

import numpy as np


def divide(a, b):
    """a / b of Python 2: rounded down if both are integers, arrays of integers or integer tensors."""
    return a // b if _is_integer(a) and _is_integer(b) else a / b


def _is_integer(value):
    if isinstance(value, numbers.Integral):
        return True
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "iu"
    return bool(getattr(getattr(value, "dtype", None), "is_integer", False))


def replace_divisions(text):
    """A script of Python 3 in which `a / b` is `_divide(a, b)`, unless a number shows that the result is no integer."""
    edits = []  # (offset, bytes to replace, text)
    starts = [0]
    for line in text.encode().split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    data = text.encode()

    def at(line, column):
        return starts[line - 1] + column

    def call(left, right, begin, end):
        operator = _slash(data, at(left.end_lineno, left.end_col_offset), at(right.lineno, right.col_offset))
        edits.extend([(begin, 0, b"_divide("), (operator, 1, b","), (end, 0, b")")])

    for node in ast.walk(ast.parse(text)):
        if not isinstance(getattr(node, "op", None), ast.Div):
            continue
        if isinstance(node, ast.BinOp) and not (_is_real(node.left) or _is_real(node.right)):
            call(node.left, node.right, at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset))
        elif isinstance(node, ast.AugAssign) and not _is_real(node.value):
            target = data[at(node.target.lineno, node.target.col_offset):
                          at(node.target.end_lineno, node.target.end_col_offset)]
            operator = _slash(data, at(node.target.end_lineno, node.target.end_col_offset),
                              at(node.value.lineno, node.value.col_offset))
            edits.append((operator, 2, b"= _divide(" + target + b", "))
            edits.append((at(node.end_lineno, node.end_col_offset), 0, b")"))
    for offset, length, new in sorted(edits, reverse=True):
        data = data[:offset] + new + data[offset + length:]
    return data.decode()


def _is_real(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def _slash(data, begin, end):
    """The offset of the "/" between two operands, which is in no comment."""
    in_comment = False
    for offset in range(begin, end):
        character = data[offset:offset + 1]
        in_comment = (in_comment or character == b"#") and character != b"\n"
        if character == b"/" and not in_comment:
            return offset
    raise ValueError("there is no division")
