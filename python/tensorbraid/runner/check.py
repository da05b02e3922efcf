"""Checks a script before it runs: for Python 2, names that the package lacks, and names that NumPy has removed."""

import ast

from tensorbraid.runner import api, numpy_names, python2, scan, sources


class Report:
    """The problems of a script, as lines of text, how many are Python 2, and whether Python takes the script."""

    def __init__(self):
        self.lines = []
        self.python2 = 0
        self.runs = True

    def add(self, file, line, text):
        entry = f"{file}:{line}: {text}"
        if entry not in self.lines:
            self.lines.append(entry)


def check(file, text, converts=False):
    """The Report of a script and of the files beside it that it imports. With `converts`, they may be in Python 2."""
    report, seen, waiting = Report(), {file}, [(file, text)]
    while waiting:
        for other in _check(*waiting.pop(0), converts, report):
            if other not in seen:
                seen.add(other)
                try:
                    waiting.append((other, sources.read(other)))
                except SyntaxError as error:
                    report.runs = False
                    report.add(other, error.lineno, f"syntax error: {error.msg}")
    return report


def _check(file, text, converts, report):
    """Checks one file. Returns the files beside it that it imports."""
    old = [] if converts else python2.findings(text)
    for finding in old:
        report.add(file, finding.line, f"Python 2: {finding.what}; {finding.fix}")
    report.python2 += len(old)
    try:
        tree = ast.parse(text, file)
    except SyntaxError as error:
        report.runs = False
        if not old and not converts:
            report.add(file, error.lineno or 1, f"syntax error: {error.msg}")
        try:
            tree = ast.parse(python2.convert(text)[0])
        except (SyntaxError, ValueError):
            if converts:
                report.add(file, error.lineno or 1, "cannot be converted to Python 3")
            return []
    scanned = scan.scan(file, tree)
    for package, path in scanned.modules:
        if package == "tensorflow":
            api.declare_module(path)
    for use in scanned.uses:
        problem = numpy_names.problem(use.path) if use.package == "numpy" else _problem(use.path)
        if problem:
            report.add(use.file, use.line, problem)
    return scan.local_files(file, scanned.imports)


def _problem(path):
    reason = api.refusal(path)
    if reason:
        return f"tf.{path}: {reason}"
    try:
        api.find(path)
    except api.Missing as missing:
        near = api.nearest(path, missing)
        hint = f"; the nearest name is tf.{near}" if near else ""
        return f"tf.{api.normal(path)} does not exist in this package{hint}"
    return None
