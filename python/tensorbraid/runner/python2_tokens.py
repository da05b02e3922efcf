"""The tokens of a script of Python 2. Python's own tokenizer refuses what Python 2 allows."""

import re

_TOKEN = re.compile(r"""
    (?P<string>(?i:[bu]?r?|rb)(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''
              |"(?:\\(?:.|\n)|[^\\"\n])*"|'(?:\\(?:.|\n)|[^\\'\n])*'))
  | (?P<comment>\#[^\n]*)
  | (?P<newline>\r?\n)
  | (?P<space>(?:[ \t\f]|\\\r?\n)+)
  | (?P<number>0[xX][0-9a-fA-F]+[lL]?|0[oObB][0-9]+[lL]?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?[jJlL]?)
  | (?P<name>[^\W\d]\w*)
  | (?P<op><>|<<=|>>=|\*\*=|//=|\*\*|//|<<|>>|<=|>=|==|!=|->|[-+*/%&|^]=|.)
""", re.VERBOSE | re.DOTALL)

_OPEN, _CLOSE = "([{", ")]}"
# Names before a bracket that is no call or subscript of them.
_NO_HEADS = {"in", "return", "print", "and", "or", "not", "if", "elif", "else", "lambda", "is", "yield", "while",
             "assert"}


class _Token:
    """A token, with what the conversion puts before and after it. Outer brackets are added before inner ones."""

    def __init__(self, kind, text, line):
        self.kind, self.text, self.line = kind, text, line
        self.before = self.after = ""

    def open(self, text):
        self.before += text

    def close(self, text):
        self.after = text + self.after

    @property
    def blank(self):
        return self.kind in ("space", "comment") or not self.text


class Tokens:
    """The tokens of a script, and where its expressions and statements begin and end."""

    def __init__(self, text):
        self.tokens, line = [], 1
        for match in _TOKEN.finditer(text):
            self.tokens.append(_Token(match.lastgroup, match.group(), line))
            line += match.group().count("\n")

    def joined(self):
        """The text of the script, with all changes."""
        return "".join(token.before + token.text + token.after for token in self.tokens)

    def next(self, i):
        """The index of the next token that is not blank."""
        i += 1
        while i < len(self.tokens) and self.tokens[i].blank:
            i += 1
        return i

    def previous(self, i):
        i -= 1
        while i >= 0 and self.tokens[i].blank:
            i -= 1
        return i

    def text(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def match(self, i):
        """The index of the bracket that closes the one at i."""
        depth = 0
        for j in range(i, len(self.tokens)):
            if self.tokens[j].kind == "op":
                depth += (self.text(j)[:1] in _OPEN) - (self.text(j)[-1:] in _CLOSE)
            if depth == 0:
                return j
        return len(self.tokens) - 1

    def end(self, i):
        """The index just after the statement that has token i: its newline, comment or semicolon."""
        depth = 0
        for j in range(i, len(self.tokens)):
            token = self.tokens[j]
            if token.kind == "op":
                depth += (token.text[:1] in _OPEN) - (token.text[-1:] in _CLOSE)
            if depth <= 0 and (token.kind in ("newline", "comment") or token.text == ";"):
                return j
        return len(self.tokens)

    def commas(self, i, end):
        """The indices of the commas in [i, end) that are in no brackets."""
        depth, found = 0, []
        for j in range(i, end):
            if self.tokens[j].kind == "op":
                depth += (self.text(j)[:1] in _OPEN) - (self.text(j)[-1:] in _CLOSE)
                if depth == 0 and self.text(j) == ",":
                    found.append(j)
        return found

    def starts_statement(self, i):
        before = self.previous(i)
        return before < 0 or self.tokens[before].kind == "newline" or self.text(before) in (";", ":")

    def primary_start(self, i):
        """The index where the expression begins whose last token is i: the "a" of "a.b(c).d"."""
        while True:
            if self.text(i)[-1:] in _CLOSE and self.tokens[i].kind == "op":
                depth = 0
                while True:
                    if self.tokens[i].kind == "op":
                        depth += (self.text(i)[-1:] in _CLOSE) - (self.text(i)[:1] in _OPEN)
                    if depth == 0 or i == 0:
                        break
                    i -= 1
            before = self.previous(i)
            is_name = self.tokens[before].kind == "name" and self.text(before) not in _NO_HEADS
            if self.text(before) == ".":
                i = self.previous(before)
            elif self.text(i) in ("(", "[") and before >= 0 and (is_name or self.text(before) in (")", "]")):
                i = before
            else:
                return i
