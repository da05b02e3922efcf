"""Python 2: finds its constructs in a script, with line and fix, and converts a script to Python 3."""

import ast
import functools
import re

from tensorbraid.runner import division, scan
from tensorbraid.runner.python2_tokens import Tokens

_RENAMED = {"xrange": "range", "raw_input": "input", "unicode": "str", "basestring": "str", "long": "int",
            "unichr": "chr"}
_METHODS = {"has_key": "__contains__", "iteritems": "items", "iterkeys": "keys", "itervalues": "values"}
_MODULES = {"cPickle": "pickle", "Queue": "queue", "StringIO": "io", "cStringIO": "io", "ConfigParser": "configparser",
            "urllib2": "urllib.request", "urlparse": "urllib.parse", "commands": "subprocess",
            "SocketServer": "socketserver", "__builtin__": "builtins", "Tkinter": "tkinter", "httplib": "http.client"}
_CALLED_BARE = {"iteritems", "iterkeys", "itervalues"}  # with arguments they are functions of six
_LISTS = {"map", "filter", "zip"}  # functions that returned lists
_VIEWS = {"keys", "values", "items"}  # methods that returned lists

# What converted code uses without an import, so that its lines keep their numbers.
HELPERS = {"_divide": division.divide, "reduce": functools.reduce}
_IMPORTS = {"_divide": "from tensorbraid.runner.division import divide as _divide",
            "reduce": "from functools import reduce"}


_USES_KERAS = re.compile(r"^\s*(from|import)\s+(tensorflow\.([a-z.]+\.)?)?keras\b|\btf\.keras\b", re.MULTILINE)


class Finding:
    """A construct of Python 2: its line, what it is, and what Python 3 has instead."""

    def __init__(self, line, what, fix):
        self.line, self.what, self.fix = line, what, fix


def _parses(text):
    try:
        ast.parse(text)
        return True
    except (SyntaxError, ValueError):
        return False


class _Converter(Tokens):
    def __init__(self, text):
        self.findings = []
        super().__init__(self._without_tabs(text))
        self._print_function = bool(re.search(r"^from __future__ import .*print_function", text, re.MULTILINE))
        self._defined = self._names_defined_by_script()
        self._is_python3 = _parses(text)
        # The script's own classes have the method `next`, or Keras's generators of images may be called.
        self._has_next = "def next(" in text or self._is_python3 and bool(_USES_KERAS.search(text))

    def _found(self, token, what, fix):
        self.findings.append(Finding(token.line, what, fix))

    def _without_tabs(self, text):
        """Expands the tabs of indentations, if the script mixes them with spaces so that Python 3 does not take it."""
        indents = [(i, re.match(r"[ \t]*", line).group()) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
        tabs = [i for i, indent in indents if "\t" in indent]
        if not tabs or not any(indent.startswith(" ") or " \t" in indent for _, indent in indents) or _parses(text):
            return text
        self.findings.append(Finding(tabs[0], "tabs and spaces in indentations", "use spaces only; a tab is 8 columns"))
        lines = [re.sub(r"^[ \t]+", lambda match: match.group().expandtabs(8), line) for line in text.split("\n")]
        return "\n".join(lines)

    def _names_defined_by_script(self):
        """Names that the script binds, so that they are not those of Python 2."""
        names, tokens = set(), [token for token in self.tokens if not token.blank]
        for i, token in enumerate(tokens[:-1]):
            after = tokens[i + 1].text
            if token.kind != "name":
                continue
            if after == "=" and (i == 0 or tokens[i - 1].kind == "newline" or tokens[i - 1].text in (";", ":")):
                names.add(token.text)
            if token.text in ("def", "class", "as", "import") or (token.text == "for" and tokens[i + 1].kind == "name"):
                names.add(after)
        for match in re.finditer(r"^\s*from\s+[\w.]+\s+import\s+\(?([^\n#]*)", self.joined(), re.MULTILINE):
            names.update(part.split()[-1] for part in match.group(1).strip("()").split(",") if part.split())
        return names

    # Statements.

    def run(self):
        for i, token in enumerate(self.tokens):
            if token.kind == "name":
                self._name(i, token)
            elif token.kind == "number":
                self._number(token)
            elif token.kind == "string":
                self._string(token)
            elif token.text == "<>":
                self._found(token, "<>", "write !=")
                token.text = "!="
            elif token.text == "`":
                self._backtick(i, token)
        self.findings.sort(key=lambda finding: finding.line)
        return self.joined()

    def _name(self, i, token):
        before, after = self.text(self.previous(i)), self.text(self.next(i))
        starts = self.starts_statement(i)
        if token.text == "print" and starts and not self._print_function and after not in ("=", ".", "+=", ")"):
            self._print(i, token)
        elif token.text == "exec" and starts and after != "(":
            self._exec(i, token)
        elif token.text == "except" and starts:
            self._except(i, token)
        elif token.text == "raise" and starts:
            self._raise(i, token)
        elif token.text in ("import", "from") and starts:
            self._import(i, token)
        elif before == ".":
            self._method(i, token, after)
        elif token.text in self._defined or before in ("def", "class", "import", "from") or after == "=":
            return
        elif token.text in _RENAMED:
            self._found(token, token.text, f"write {_RENAMED[token.text]}")
            token.text = _RENAMED[token.text]
        elif token.text == "reduce" and after == "(":
            self._found(token, "reduce", "import it from functools")
        elif token.text in _LISTS and after == "(" and before != "in" and not self._is_python3:
            self._wrap_list(i, self.match(self.next(i)))

    def _wrap_list(self, start, end):
        """Makes a list of what Python 3 returns lazily. This changes no name, so it is no finding of its own."""
        is_argument = self.text(self.previous(start)) == "(" and self.text(self.next(end)) == ")"
        if is_argument and self.text(self.previous(self.previous(start))) in (
                "list", "tuple", "dict", "sorted", "set", "sum", "max", "min"):
            return
        self.tokens[start].open("list(")
        self.tokens[end].close(")")

    def _method(self, i, token, after):
        if after != "(":
            return
        close = self.match(self.next(i))
        if token.text in _CALLED_BARE and self.next(self.next(i)) != close:
            return
        if token.text in _METHODS:
            self._found(token, f".{token.text}()", "write `key in d`" if token.text == "has_key" else
                        f"write .{_METHODS[token.text]}()")
            token.text = _METHODS[token.text]
        elif token.text == "next" and self.next(self.next(i)) == close and not self._has_next:
            self._found(token, ".next()", "write next(iterator)")
            token.text = "__next__"
        elif token.text in _VIEWS and self.next(self.next(i)) == close:
            self._view(i, token, close)

    def _view(self, i, token, close):
        """Makes a list of d.keys(), which was one, where the script may use it as a list."""
        start = self.primary_start(self.previous(self.previous(i)))
        if self.text(self.next(close)) in ("[", "+") or self.text(self.previous(start)) == "+":
            self._found(token, f".{token.text}() used as a list", f"write list(d.{token.text}())")
        elif self._is_python3 or self.text(self.previous(start)) == "in":
            return
        self._wrap_list(start, close)

    def _print(self, i, token):
        end = self.end(i)
        last = self.previous(end)
        first = self.next(i)
        if last <= i:
            self._found(token, "print statement", "write print()")
            token.text = "print()"
            return
        if self.text(first) == "(" and self.match(first) == last:
            if self.commas(self.next(first), last) and not self._is_python3:
                self._found(token, "print of a tuple, or print with several arguments", "write print(a, b)")
                self.tokens[first].open("(")
                self.tokens[last].close(")")
            return
        self._found(token, "print statement", "write print(...)")
        ending = ""
        if self.text(last) == ",":
            self.tokens[last].text, ending = "", ', end=" "'
            last = self.previous(last)
        if self.text(first) == ">>":
            comma = next(iter(self.commas(first, end)), None)
            stop = last + 1 if comma is None else comma
            target = "".join(t.text for t in self.tokens[first + 1:stop]).strip()
            for j in range(first, stop if comma is None else stop + 1):
                self.tokens[j].text = ""
            ending += f", file={target}" if comma is not None else f"file={target}"
        for j in range(i + 1, end):  # the call's brackets join the lines, so the blank after "print" goes
            if self.tokens[j].text and self.tokens[j].kind != "space":
                break
            self.tokens[j].text = ""
        token.text = "print("
        if self.text(last):
            self.tokens[last].close(ending + ")")
        else:
            token.text = f"print({ending.lstrip(', ')})"

    def _exec(self, i, token):
        self._found(token, "exec statement", "write exec(code, globals)")
        end = self.end(i)
        last = self.previous(end)
        for j in range(self.next(i), end):
            if self.text(j) == "in":
                self.tokens[j].text = ","
        token.text = "exec("
        self.tokens[last].close(")")

    def _except(self, i, token):
        end = next((j for j in range(i, len(self.tokens)) if self.text(j) == ":"), len(self.tokens))
        commas = self.commas(i, end)
        if len(commas) == 1:
            self._found(token, "except X, e", "write except X as e")
            space = self.tokens[commas[0] + 1].kind == "space"
            self.tokens[commas[0]].text = " as" if space else " as "

    def _raise(self, i, token):
        end = self.end(i)
        commas = self.commas(i, end)
        if not commas:
            return
        self._found(token, "raise X, value", "write raise X(value)")
        stop = commas[1] if len(commas) > 1 else end
        self.tokens[commas[0]].text = "("
        self.tokens[self.previous(stop)].close(")")
        if len(commas) > 1:
            self.tokens[commas[1]].text = ".with_traceback("
            self.tokens[self.previous(end)].close(")")

    def _import(self, i, token):
        """Modules that have other names now: `import a, b as c` and `from a import b`."""
        starts = [self.next(i)]
        if token.text == "import":
            starts += [self.next(comma) for comma in self.commas(i, self.end(i))]
        for j in starts:
            name, after = self.tokens[j], self.text(self.next(j))
            if name.text in _MODULES and after != ".":
                new = _MODULES[name.text]
                self._found(name, f"module {name.text}", f"import {new}")
                name.text = new if token.text == "from" or after == "as" else f"{new} as {name.text}"

    def _string(self, token):
        prefix = re.match(r"\w*", token.text).group().lower()
        if prefix == "ur":
            self._found(token, 'ur"..." string', 'write r"..."')
            token.text = token.text[1:]
        elif not prefix and not self._is_python3:  # \u is no escape in a string of bytes
            token.text = re.sub(r"\\(.)", lambda match: "\\" * (match.group(1) in "uUN") + match.group(), token.text,
                                flags=re.DOTALL)

    def _number(self, token):
        if token.text[-1] in "lL":
            self._found(token, f"long integer {token.text}", f"write {token.text[:-1]}")
            token.text = token.text[:-1]
        if re.fullmatch(r"0\d+", token.text) and token.text.strip("0"):
            self._found(token, f"octal integer {token.text}", f"write 0o{token.text[1:]}")
            token.text = "0o" + token.text[1:]

    def _backtick(self, i, token):
        other = next((j for j in range(i + 1, len(self.tokens)) if self.text(j) == "`"), None)
        if other is not None:
            self._found(token, "`x`", "write repr(x)")
            token.text, self.tokens[other].text = "repr(", ")"


def findings(text):
    """The constructs of Python 2 in a script that Python 3 may meet, in the order of their lines."""
    converter = _Converter(text)
    try:
        converter.run()
    except SyntaxError:  # of what the conversion made; the findings are those before
        pass
    unmet = _guarded_lines(text)
    return [finding for finding in converter.findings if finding.line not in unmet]


_VERSIONS = {"PY2", "PY3", "version_info", "python_version", "hexversion"}


def _guarded_lines(text):
    """The lines of a script for both versions that depend on Python's version, or on what a `try` catches."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return frozenset()
    parts = []
    for node in nodes:
        if isinstance(node, ast.Try) and scan.catches_missing_names(node):
            parts += [*node.body, *node.handlers]
        elif isinstance(node, ast.If) and _asks_for_version(node.test):
            parts += [*node.body, *node.orelse]
        elif isinstance(node, ast.IfExp) and _asks_for_version(node.test):
            parts.append(node)
    return {line for part in parts for line in range(part.lineno, part.end_lineno + 1)}


def _asks_for_version(test):
    return any(getattr(node, "attr", getattr(node, "id", None)) in _VERSIONS for node in ast.walk(test))


def convert(text):
    """The script in Python 3, and the findings. Divisions of integers give integers, as in Python 2.

    The result uses HELPERS; with_imports() makes a script of it that runs by itself.
    """
    converter = _Converter(text)
    converted = converter.run()
    if not re.search(r"^from __future__ import .*division", text, re.MULTILINE):
        converted = division.replace_divisions(converted)
    return converted, converter.findings


def with_imports(converted, findings):
    """A converted script with imports of the helpers that it uses, after its docstring and imports from __future__."""
    used = {"_divide": "_divide(" in converted, "reduce": any(finding.what == "reduce" for finding in findings)}
    position = 0
    for node in ast.parse(converted).body:
        is_docstring = position == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        position = node.end_lineno
    lines = converted.split("\n")
    if position == 0:  # a comment with the encoding must stay in the first two lines
        position = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
    imports = [_IMPORTS[name] for name in HELPERS if used[name]]
    return "\n".join(lines[:position] + imports + lines[position:])
