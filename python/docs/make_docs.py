"""Writes the comments of the public headers as a table of C++: python make_docs.py INCLUDE_FOLDER OWN_TEXTS OUTPUT.

The binding gives them to Python as docstrings, so that there is one text for both languages. A row has a name, such as
"Session::Run", "Relu" or "raw_ops::MatMul", and the comment before the declaration. Of the namespaces only raw_ops is
named. A comment also describes the declarations that follow without an empty line and have none of their own.

OWN_TEXTS has texts for what only Python has, one in a line: "Session._run: ..."; its row is "python::Session._run".
A text "=NAME" stands for the comment about NAME.
"""

import os
import re
import sys

DECLARED_CLASS = re.compile(r"^(?:template <.*> *)?(?:class|struct|enum class) (\w+)\b[^;]*$")
DECLARED_FUNCTION = re.compile(r"^(?!return\b|using\b|friend\b|explicit operator|if\b|for\b|while\b|switch\b|else\b)"
                               r"(?:[\w:<>,&*\s\[\]\"]+?[\s&*>])?(~?\w+)\(")


def headers(folder):
    for path, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith(".h"):
                yield os.path.join(path, name)


def sentence(text):
    """A comment behind a declaration as a sentence; "" for a note to a tool."""
    if not text or text.startswith("NOLINT"):
        return ""
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


class Header:
    """The documented names of one header."""

    def __init__(self, path):
        self.docs = {}
        self._scopes = []  # a name, or None, for each open brace
        self._comment = []
        self._shared = ""  # the comment of the declaration before, if no empty line came since
        with open(path, encoding="utf-8") as file:
            for line in file:
                self._line(line.rstrip("\n"))

    def _line(self, line):
        text = line.strip()
        if not text:
            self._comment, self._shared = [], ""
        elif text.startswith("//"):
            self._comment.append(text[2:].removeprefix(" "))
        elif not text.startswith(("#", "[[", "requires", "template")):
            code, _, after = text.partition(" //")
            self._code(re.sub(r'"(\\.|[^"\\])*"', '""', code).strip(), sentence(after.strip()))

    def _code(self, code, after):
        space = re.match(r"^namespace ([\w:]+) \{$", code)
        declared = DECLARED_CLASS.match(code) or DECLARED_FUNCTION.match(code)
        if declared and not space and None not in self._scopes:
            doc = "\n".join(self._comment) or after or self._shared
            name = "::".join([s for s in self._scopes if s] + [declared[1]])
            if doc and name not in self.docs and not declared[1].endswith("_") and not declared[1].startswith("~"):
                self.docs[name] = doc
            self._shared = "" if DECLARED_CLASS.match(code) else doc
        self._comment = []
        for i, sign in enumerate(re.findall(r"[{}]", code)):
            if sign == "}":
                if self._scopes:
                    self._scopes.pop()
            elif space:
                self._scopes.append("raw_ops" if space[1].endswith("::raw_ops") else "")
            else:
                is_class = i == 0 and DECLARED_CLASS.match(code)
                self._scopes.append(is_class[1] if is_class else None)


def literal(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def paragraphs(text):
    """The text with lines as they are; a header's notes for tools are left out."""
    return "\n".join(line for line in text.split("\n") if not line.startswith(("NOLINT", "clang-format")))


def own_texts(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, text = line.strip().split(": ", 1)
                yield "python::" + name, text


def main(folder, own, target):
    docs = {}
    for path in headers(folder):
        for name, doc in Header(path).docs.items():
            docs.setdefault(name, paragraphs(doc))
    for name, text in own_texts(own):
        if text.startswith("=") and text[1:] not in docs:
            sys.exit(f"{own}: no header has a comment about {text[1:]}")
        if name in docs:
            sys.exit(f"{own}: {name.removeprefix('python::')} has two texts")
        docs[name] = docs[text[1:]] if text.startswith("=") else text
    rows = [f"    {{{literal(name)}, {literal(docs[name])}}},\n" for name in sorted(docs, key=str.encode)]
    text = "// Written by python/docs/make_docs.py; do not edit.\n" + "".join(rows)
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
