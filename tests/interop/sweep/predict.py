"""Predicts what a program must fetch, by running its statements one after another."""
import numpy as np

from sweep.program import all_statements, producers


class _Alias:
    """A tensor that shares a variable's buffer. It has the value that the variable has when it is used."""

    def __init__(self, variable):
        self.variable = variable


def needed(program, fetched):
    """The names of the statements of the outermost block that run when these results are fetched."""
    made = producers(program.statements)
    by_name = {s.name: s for s in program.statements}
    todo, names = [made[f].name if f in made else f for f in fetched], set()
    while todo:
        s = by_name[todo.pop()]
        if s.name in names:
            continue
        names.add(s.name)
        for inner in all_statements([s]):
            todo += [made[what].name for kind, what in inner.operands if kind == "s" and what in made]
            todo += [name for name, _ in inner.after if name in by_name]
    return names


class _Run:
    def __init__(self, program, state):
        self._p = program
        self._state = state
        self._type = np.dtype(program.dtype)

    def full(self, numbers):
        return np.resize(np.array(numbers, self._type), self._p.rows)

    def value(self, x):
        return self._state[x.variable] if isinstance(x, _Alias) else x

    def operand(self, operand, env):
        """The value that a node gets for an operand."""
        kind, what = operand
        if kind == "c":
            return self.full(what)
        if kind == "s":
            return env[what]
        return self._state[what] if self._p.variable(what).resource else _Alias(what)

    def passed_on(self, x, task):
        """The result of an Identity of x on `task`. On the task of the variable, the result shares the buffer of the
        variable."""
        if isinstance(x, _Alias):
            v = self._p.variable(x.variable)
            if v.task == task and not v.resource:
                return x
        return self.value(x)

    def block(self, block, values, env):
        env = {**env, **dict(zip(block.parameters, values))}
        for s in block.statements:
            self.statement(s, env)
        return [env[r] for r in block.results]

    def math(self, function, a, b):
        t = self._type.type
        if function == "add":
            return a + b
        if function == "sub":
            return a - b
        if function == "max":
            return np.maximum(a, b)
        if function == "min":
            return np.minimum(a, b)
        if function == "add_mod":
            return np.mod(a + b, t(64))
        if function == "add_sum":
            return a + np.mod(b.sum(dtype=self._type), t(16))
        return a + b[::-1]

    def update(self, s, x):
        old = self._state[s.variable]
        if s.numbers:
            new = old.copy()
            for i, row in zip(s.numbers, x):
                new[i] = {"scatter_add": new[i] + row, "scatter_sub": new[i] - row, "scatter_update": row}[s.function]
        else:
            new = {"assign": x, "assign_add": old + x, "assign_sub": old - x}[s.function]
        self._state[s.variable] = new

    def statement(self, s, env):
        raw = [self.operand(o, env) for o in s.operands]
        a = [self.value(x) for x in raw]
        if s.kind in ("const", "feed"):
            env[s.name] = self.full(s.numbers)
        elif s.kind == "read":
            env[s.name] = self.passed_on(raw[0], s.task)
        elif s.kind == "math":
            env[s.name] = self.math(s.function, *a)
        elif s.kind == "gather":
            env[s.name] = a[0][np.resize(s.numbers, self._p.rows)]
        elif s.kind == "lookup":
            env[s.name] = self._state[s.variable][np.resize(s.numbers, self._p.rows)]
        elif s.kind == "update":
            self.update(s, a[1])
            # Each use of the result of a resource variable's update is a read of its own.
            env[s.name] = _Alias(s.variable)
        elif s.kind == "array":
            env[s.name] = sum(a) - a[s.numbers[0]]
        elif s.kind == "function":
            env.update(zip(s.results, map(self.value, self.block(s.blocks[0], a, env))))
        elif s.kind == "cond":
            taken = s.blocks[0 if a[0].sum() < s.numbers[0] else 1]
            env.update(zip(s.results, (self.passed_on(x, s.task) for x in self.block(taken, [], env))))
        elif s.kind == "while":
            b = s.blocks[0]
            trips = s.numbers[0] if s.numbers else int(np.mod(a[0].sum(), 4))
            values = [self.passed_on(x, s.task) for x in raw[0 if s.numbers else 1:]]
            collected = []
            for _ in range(trips):
                if s.variable and not self._state[s.variable].sum() < 80:
                    break
                values = [self.passed_on(x, s.task) for x in self.block(b, values, env)]
                collected.append(self.value(values[0]))
            env.update(zip(s.results, values + [sum(collected)] * s.collects))

    def step(self, fetched):
        env = {}
        names = needed(self._p, fetched)
        for s in self._p.statements:
            if s.name in names:
                self.statement(s, env)
        resource = {s.name for s in self._p.statements if s.kind == "update" and self._p.variable(s.variable).resource}
        return [None if f not in env or f in resource else self.value(env[f]) for f in fetched]


def predict(program):
    """The values that each step fetches, and at last the values of the variables."""
    run = _Run(program, {})
    state = {v.name: run.full(v.initial) for v in program.variables}
    run = _Run(program, state)
    values = [run.step(names) for names in program.steps]
    return values + [[state[v.name] for v in program.variables]]


def largest(values):
    return max((float(np.max(np.abs(v))) for step in values for v in step if v is not None), default=0.0)
