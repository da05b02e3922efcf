"""Draws a program from a seed."""
import random

from sweep.order import Undetermined, repair
from sweep.predict import largest, predict
from sweep.program import MATH, TASKS, Block, Program, Statement, Variable

# Numbers above this are not exact in every dtype.
LARGEST = 2**20


class _Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        r = self.r
        self.count = 0
        variables = []
        for i in range(r.randint(1, 4)):
            task = r.choice(("P0", "P1", "P0", "P1", r.choice(TASKS)))
            variables.append(Variable(f"v{i}", task, r.random() < 0.3, self.numbers()))
        self.p = Program(seed, r.choice(("float32", "float32", "float64", "int32", "int64")),
                         r.choice((1, 3, 3, 3, 5, 40, 3000)), variables, [], [])
        # The control flow of TensorFlow 1, that of TensorFlow 2, or both.
        self.control = r.choice(("first", "first", "second", "both"))

    def numbers(self):
        return [self.r.randint(-9, 9) for _ in range(3)]

    def path(self):
        r = self.r
        return [r.choice(TASKS) for _ in range(r.choice((0, 0, 0, 1, 1, 2)))]

    def name(self):
        self.count += 1
        return f"s{self.count}"

    def operand(self, known, references=True):
        """Draws an operand. `known` are the results that can be used here, the latest one last."""
        r = self.r
        kind = r.choice("sssvvvrc")
        if kind == "s" and known:
            return ("s", r.choice(known[-6:] if r.random() < 0.8 else known))
        v = r.choice(self.p.variables)
        if kind == "r" and references and not v.resource:
            return ("r", v.name)
        return ("c", self.numbers()) if kind == "c" or kind == "s" else ("v", v.name)

    def task(self):
        return self.r.choice(TASKS)

    def simple(self, known, depth):
        r = self.r
        kind = r.choices(("read", "math", "gather", "lookup", "update", "no_op", "array", "const", "feed"),
                         (6, 6, 2, 1, 10, 1, 2, 1, 1 if depth == 0 else 0))[0]
        s = Statement(self.name(), kind, self.task())
        if kind == "read":
            s.operands = [self.operand(known)]
            kind, what = s.operands[0]
            s.function = "read_value" if kind == "v" and r.random() < 0.5 else "identity"
        elif kind == "math":
            s.function = r.choice(list(MATH))
            s.operands = [self.operand(known), self.operand(known)]
        elif kind == "gather":
            s.operands = [self.operand(known)]
            s.numbers = self.rows(3)
        elif kind == "lookup":
            v = r.choice(self.p.variables)
            s.variable, s.task, s.numbers = v.name, v.task, self.rows(3)
        elif kind == "update":
            self.update(s, known)
        elif kind == "array":
            s.operands = [self.operand(known) for _ in range(r.randint(2, 4))]
            s.operands = [o if o[0] == "s" else ("c", self.numbers()) for o in s.operands]
            s.numbers = [r.randrange(len(s.operands))]
        elif kind in ("const", "feed"):
            s.numbers = self.numbers()
        if kind not in ("update", "lookup") and r.random() < 0.12:
            self.place_beside(s)
        return s

    def place_beside(self, s):
        v = self.r.choice(self.p.variables)
        s.beside, s.task = v.name, v.task

    def rows(self, count):
        return [self.r.randrange(self.p.rows) for _ in range(count)]

    def update(self, s, known):
        r = self.r
        v = r.choice(self.p.variables)
        s.variable, s.task = v.name, v.task
        s.function = r.choice(("assign", "assign_add", "assign_add", "assign_sub", "scatter_add", "scatter_sub",
                               "scatter_update"))
        if s.function.startswith("scatter"):
            s.numbers = self.rows(r.randint(1, 3))
            if s.function == "scatter_update":
                s.numbers = sorted(set(s.numbers))
            s.numbers = s.numbers[:self.p.rows]
        target = ("v", v.name)
        earlier = [u for u in self.updates if u.variable == v.name and u.name in known and not v.resource]
        if earlier and r.random() < 0.4:
            target = ("s", r.choice(earlier).name)
        s.operands = [target, self.operand(known)]
        self.updates.append(s)

    def results(self, statements, known, count):
        """Draws the statements that end a block and make its results."""
        ends = []
        for _ in range(count):
            s = Statement(self.name(), "read", self.task(), [self.operand(known)], function="identity")
            if self.r.random() < 0.4:
                s.kind, s.function = "math", "add_mod"
                s.operands.append(self.operand(known))
            ends.append(s)
        return statements + ends, [s.name for s in ends]

    def block(self, parameters, known, results, depth, size):
        statements, here = [], known + parameters
        for _ in range(self.r.randint(0, size)):
            s = self.statement(here, depth)
            statements.append(s)
            here = here + s.results
            if s.kind == "no_op" or self.r.random() < 0.2:
                self.extra_edge(s, statements[:-1])
        statements, names = self.results(statements, here, results)
        return Block(parameters, statements, names)

    def extra_edge(self, s, earlier):
        if earlier and s.kind != "feed":
            s.after.append((self.r.choice(earlier).name, self.path()))

    def statement(self, known, depth):
        r = self.r
        if depth >= 2 or r.random() < (0.45 if depth == 0 else 0.85):
            return self.simple(known, depth)
        kind = r.choice(("cond", "cond", "while", "while", "while", "function"))
        s = Statement(self.name(), kind, self.task())
        if depth == 0:
            self.second = self.control == "second" or self.control == "both" and r.random() < 0.5
        s.second_generation = self.second
        outside = self.updates
        self.updates = list(outside)
        count = r.choice((1, 1, 2))
        if kind == "cond":
            s.operands, s.numbers = [self.operand(known)], [r.randint(-20, 40)]
            s.blocks = [self.block([], known, count, depth + 1, 3) for _ in range(2)]
        elif kind == "while":
            if r.random() < 0.7:
                s.numbers = [r.choice((0, 1, 2, 3, 3, 4))]
            s.operands = [self.operand(known) for _ in range(count + (not s.numbers))]
            s.parallel = r.choice((1, 2, 10))
            if r.random() < 0.3:
                s.variable = r.choice(self.p.variables).name
            if r.random() < 0.4:  # a loop on the task of a variable can read and update it
                s.task = r.choice(self.p.variables).task
            s.collects = bool(s.numbers) and s.numbers[0] > 0 and not s.variable and r.random() < 0.3
            s.blocks = [self.block([f"{s.name}_p{i}" for i in range(count)], known, count, depth + 1, 4)]
        else:
            s.function = r.choice(("tf.function", "defun"))
            s.operands = [("s", r.choice(known)) if known and r.random() < 0.8 else ("c", self.numbers())
                          for _ in range(count)]
            parameters = [f"{s.name}_p{i}" for i in range(count)]
            s.blocks = [self.function_block(s, parameters, count)]
        self.updates = outside
        return s

    def function_block(self, s, parameters, count):
        """Draws the block of a function. A function runs on one task, and can use resource variables of that task."""
        resources = [v for v in self.p.variables if v.resource]
        statements, here = [], list(parameters)
        if s.function == "tf.function" and resources and self.r.random() < 0.7:
            v = self.r.choice(resources)
            s.task = v.task
            u = Statement(self.name(), "update", v.task, [("v", v.name), ("s", parameters[0])],
                          function=self.r.choice(("assign", "assign_add", "assign_sub")), variable=v.name)
            x = Statement(self.name(), "read", v.task, [("v", v.name)], function="identity")
            statements = self.r.choice(([u, x], [x, u], [u], [x]))
            here += [i.name for i in statements if i is x]
        for _ in range(self.r.randint(0, 2)):
            m = Statement(self.name(), "math", s.task, function=self.r.choice(list(MATH)),
                          operands=[("s", self.r.choice(here)), ("s", self.r.choice(here))])
            statements.append(m)
            here.append(m.name)
        ends = [Statement(self.name(), "math", s.task, [("s", self.r.choice(here)), ("s", self.r.choice(here))],
                          function="add_mod") for _ in range(count)]
        return Block(parameters, statements + ends, [e.name for e in ends])

    def program(self):
        p, r = self.p, self.r
        known, self.updates = [], []
        wanted = r.randint(3, 14)
        for _ in range(12 * wanted):
            if len(p.statements) >= wanted:
                break
            updates = list(self.updates)
            s = self.statement(known, 0)
            if s.kind == "no_op" or r.random() < 0.2:
                self.extra_edge(s, p.statements)
            p.statements.append(s)
            try:
                repair(p, self.path)
                p.steps = [s.results or [s.name]]
                predicted = largest(predict(p)) <= LARGEST
            except Undetermined:
                predicted = False
            finally:
                p.steps = []
            if not predicted:
                p.statements.pop()
                self.updates = updates
            else:
                known += s.results
        self.choose_fetches()
        return p

    def choose_fetches(self):
        """Draws the fetches. The first step fetches all that can be fetched, the second one some of it."""
        p, r = self.p, self.r
        names = []
        for s in p.statements:
            for name in s.results or [s.name]:
                p.steps = [[name]]
                try:
                    repair(p, self.path)
                    names.append(name)
                except Undetermined:
                    pass
        p.steps = [names] if names else []
        if names and r.random() < 0.7:
            p.steps.append(sorted(r.sample(names, r.randint(1, len(names)))))
        if r.random() < 0.3:
            p.steps.reverse()


def generate(seed):
    while True:
        program = _Generator(seed).program()
        if program.steps and largest(predict(program)) <= LARGEST:
            return program
        seed += 1 << 40
