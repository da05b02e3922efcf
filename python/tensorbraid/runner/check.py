"""Checks a script before it runs: finds Python 2, names that the package lacks, and names that NumPy has removed.

The script is refused for a missing name that every run uses. A missing name in a branch, or in a function that is never
called, is only a warning, because a run may not need it. A branch on the role of a task (job_name, is_chief, ...) does
not count as a branch, because the tasks of a cluster together take all of them.
"""

import ast

from tensorbraid.runner import api, numpy_names, python2, scan, sources


class Report:
    """The problems (`lines`) and the warnings of a script, as lines of text.

    `python2` is the number of problems that are Python 2. `runs` is False if the script has a syntax error.
    """

    def __init__(self):
        self.lines, self.warnings = [], []
        self.python2 = 0
        self.runs = True

    def add(self, file, line, text):
        entry = f"{file}:{line}: {text}"
        if entry not in self.lines:
            self.lines.append(entry)

    def warn(self, file, line, text):
        entry = f"{file}:{line}: warning: {text}"
        if entry not in self.warnings:
            self.warnings.append(entry)


def check(file, text, converts=False, root=None):
    """The Report on a script and on the files that it imports from its folder or from the folder `root`.

    With `converts`, Python 2 is not a problem, because it is converted.
    """
    report, seen, waiting, scanned = Report(), {file}, [(file, text)], []
    while waiting:
        checked = _check(*waiting.pop(0), converts, report, is_main=not scanned)
        if checked is None:
            continue
        scanned.append(checked)
        for other in scan.local_files(checked.file, checked.imports, root):
            if other not in seen:
                seen.add(other)
                try:
                    waiting.append((other, sources.read(other)))
                except SyntaxError as error:
                    report.runs = False
                    report.add(other, error.lineno, f"syntax error: {error.msg}")
    _check_names(scanned, report)
    return report


def _check_names(scanned, report):
    """Reports missing names: as problems if every run uses them, otherwise as warnings."""
    for found in scanned:
        for package, path in found.modules:
            if package == "tensorflow":
                api.declare_module(path)
    run = scan.surely_run([code for found in scanned for code in found.codes])
    own = {f"{package}.{path}" for found in scanned for package, path in found.assigned}
    for use in (use for found in scanned for use in found.uses):
        if any(f"{use.package}.{use.path}.".startswith(name + ".") for name in own):
            continue
        problem = numpy_names.problem(use.path) if use.package == "numpy" else _problem(use.path)
        if problem and use.code in run and not use.conditional:
            report.add(use.file, use.line, problem)
        elif problem:
            report.warn(use.file, use.line, problem)


def _check(file, text, converts, report, is_main):
    """Checks the syntax of one file. Returns its Scanner, or None if it cannot be read."""
    old = [] if converts else python2.findings(text)
    for finding in old:
        report.add(file, finding.line, f"Python 2: {finding.what}; {finding.fix}")
    report.python2 += len(old)
    try:
        tree = ast.parse(text, file)
    except SyntaxError as error:
        report.runs = False
        try:
            tree = ast.parse(python2.convert(text)[0])
        except (SyntaxError, ValueError):
            tree = None
        if converts and tree is None:
            report.add(file, error.lineno or 1, "cannot be converted to Python 3")
        elif not converts and (tree is None or not old):
            report.add(file, error.lineno or 1, f"syntax error: {error.msg}")
        if tree is None:
            return None
    return scan.scan(file, tree, is_main)


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
