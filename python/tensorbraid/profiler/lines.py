"""The lines of the program that made nodes, as a log of profiles has them."""

import ast
import hashlib
import linecache

from tensorbraid import _core

__all__ = []


class Lines:
    """Writes the lines of nodes into a log, and collects the texts that they have: files, functions and lines.

    A node has one line, the last one of the program before the call of the package, but not the calls of this line.
    """

    def __init__(self):
        self.strings = {}
        self._functions = {}  # by file

    def write(self, op, code_def):
        """Adds the line of a node to a CodeDef, if the node has one: those of a GraphDef have none."""
        found = _core.line_of(op)
        if found is not None:
            file, line = found
            code_def.traces.add(file_id=self._number(file), lineno=line, function_id=self._number(self._name(file, line)),
                                line_id=self._number(linecache.getline(file, line).strip()))

    def _number(self, text):
        """The number of a text. It follows from the text, so that several logs of a profile agree."""
        number = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()[:6], "big")
        self.strings[number] = text
        return number

    def _name(self, file, line):
        """The name of the innermost function that has the line."""
        if file not in self._functions:
            self._functions[file] = _functions_of(file)
        inside = [(first, name) for first, last, name in self._functions[file] if first <= line <= last]
        return max(inside)[1] if inside else "<module>"


def _functions_of(file):
    """The first line, the last line and the name of each function in a file; none if it cannot be read."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return []
    return [(node.lineno, node.end_lineno, node.name) for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
