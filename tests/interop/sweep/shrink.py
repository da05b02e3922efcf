"""Removes parts of a program as long as the rest still fails."""
import copy

from sweep.order import Undetermined, check
from sweep.predict import predict
from sweep.program import all_statements

_CONSTANT = ("c", [1, 2, 3])


def _blocks(program):
    """The lists of statements, innermost last."""
    lists = [program.statements]
    for s in all_statements(program.statements):
        lists += [b.statements for b in s.blocks]
    return lists


def _forget(program, names, after):
    """Removes the uses of a removed statement. An operand that is one of the results `names` becomes a constant or a
    variable. `after` are the edges to the statements that the removed statement waited for. Statements that waited for
    the removed one wait for these instead."""
    for s in all_statements(program.statements):
        for i, (kind, what) in enumerate(s.operands):
            if kind == "s" and what in names:
                s.operands[i] = ("v", s.variable) if s.kind == "update" and i == 0 else _CONSTANT
        if any(name in names for name, _ in s.after):
            kept = [edge for edge in s.after if edge[0] not in names]
            s.after = kept + [edge for edge in after if edge[0] not in [n for n, _ in kept]]
    program.steps = [[n for n in step if n not in names] for step in program.steps]


def _without_statements(program):
    for where, statements in reversed(list(enumerate(_blocks(program)))):
        for i in reversed(range(len(statements))):
            p = copy.deepcopy(program)
            here = _blocks(p)[where]
            s = here.pop(i)
            _forget(p, set(s.results) | {s.name}, s.after)
            yield p


def _flattened(program):
    """Replaces a statement with blocks by the statements of one of these blocks."""
    for where, statements in enumerate(_blocks(program)):
        for i, s in enumerate(statements):
            for b in range(len(s.blocks)):
                p = copy.deepcopy(program)
                here = _blocks(p)[where]
                removed = here.pop(i)
                inside = removed.blocks[b].statements
                for x in inside:
                    x.after += [e for e in removed.after if e not in x.after]
                here[i:i] = inside
                values = dict(zip(removed.results, removed.blocks[b].results))
                for x in all_statements(p.statements):
                    x.operands = [("s", values[what]) if kind == "s" and what in values else
                                  _CONSTANT if kind == "s" and what in removed.blocks[b].parameters else (kind, what)
                                  for kind, what in x.operands]
                    x.after = [(r, path) for name, path in x.after
                               for r in (removed.blocks[b].results if name == removed.name else [name])]
                p.steps = [[values.get(n, n) for n in step] for step in p.steps]
                yield p


def _changed(program, change):
    """Yields a copy of the program, changed by change(copy). Yields nothing if change returns False."""
    p = copy.deepcopy(program)
    if change(p) is not False:
        yield p


def _statement_changes(program):
    count = len(list(all_statements(program.statements)))
    tasks = {v.task for v in program.variables}

    def nth(p, i):
        return list(all_statements(p.statements))[i]

    for i in range(count):
        s = nth(program, i)
        for j in range(len(s.after)):
            yield from _changed(program, lambda p: nth(p, i).after.pop(j))
            if s.after[j][1]:
                name, path = s.after[j]
                yield from _changed(program, lambda p: nth(p, i).after.__setitem__(j, (name, path[1:])))
        for j, operand in enumerate(s.operands):
            if operand[0] != "c" and not (s.kind == "update" and j == 0) and s.function != "read_value":
                yield from _changed(program, lambda p: nth(p, i).operands.__setitem__(j, _CONSTANT))
        if s.kind == "update":
            if s.function != "assign_add":
                yield from _changed(program, lambda p: nth(p, i).__dict__.update(function="assign_add", numbers=None))
            if s.operands[0][0] == "s":
                yield from _changed(program, lambda p: nth(p, i).operands.__setitem__(0, ("v", s.variable)))
        if s.kind in ("math", "gather", "lookup", "array"):
            operands = s.operands or [("v", s.variable)]
            for operand in operands:
                yield from _changed(program, lambda p: nth(p, i).__dict__.update(
                    kind="read", function="identity", operands=[operand], variable=None))
        if s.kind == "read" and s.function == "read_value":
            yield from _changed(program, lambda p: nth(p, i).__dict__.update(function="identity"))
        if s.kind == "while":
            for trips in range(s.numbers[0] if s.numbers else 0):
                yield from _changed(program, lambda p: nth(p, i).__dict__.update(numbers=[trips]))
            if s.collects:
                yield from _changed(program, lambda p: nth(p, i).__dict__.update(collects=False))
            if s.variable:
                yield from _changed(program, lambda p: nth(p, i).__dict__.update(variable=None))
        if s.beside:
            yield from _changed(program, lambda p: nth(p, i).__dict__.update(beside=None))
        elif s.kind not in ("update", "lookup"):
            for task in sorted(tasks | {"W0"}):
                if s.task != task and (s.task not in tasks or s.task != "W0" and task != "W0"):
                    yield from _changed(program, lambda p: nth(p, i).__dict__.update(task=task))


def _program_changes(program):
    for i in range(len(program.steps)):
        if len(program.steps) > 1:
            yield from _changed(program, lambda p: p.steps.pop(i))
        for j in range(len(program.steps[i])):
            yield from _changed(program, lambda p: p.steps[i].pop(j))
    used = {what for s in all_statements(program.statements) for kind, what in s.operands if kind in "vr"}
    used |= {s.variable for s in all_statements(program.statements)} | {
        s.beside for s in all_statements(program.statements)}
    for i, v in enumerate(program.variables):
        if v.name not in used:
            yield from _changed(program, lambda p: p.variables.pop(i))
        elif v.resource:
            yield from _changed(program, lambda p: p.variables[i].__dict__.update(resource=False))
        if v.initial != [0, 0, 0]:
            yield from _changed(program, lambda p: p.variables[i].__dict__.update(initial=[0, 0, 0]))
    if program.rows != 3:
        yield from _changed(program, lambda p: p.__dict__.update(rows=3))
    if program.dtype != "float32":
        yield from _changed(program, lambda p: p.__dict__.update(dtype="float32"))


def _size(program):
    return len(repr(program))


def shrink(program, fails, attempts=600):
    """The smallest failing program that is found within this number of attempts. fails(program) runs a program."""
    while True:
        for candidates in (_without_statements, _flattened, _statement_changes, _program_changes):
            found = None
            for p in candidates(program):
                attempts -= 1
                if attempts <= 0:
                    return program
                try:
                    check(p)
                    predict(p)
                    if p.steps and fails(p):
                        found = p
                        break
                except (Undetermined, IndexError, KeyError, StopIteration):
                    continue
            if found:
                break
        if not found:
            return program
        program = found
