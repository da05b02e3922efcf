"""Small TensorFlow 1 programs as data: statements on the tasks of a cluster, and their text in Python.

An operand is one of
    ("s", name)     the result of a statement, a parameter of a loop or a parameter of a function
    ("v", name)     a variable itself, which TensorFlow reads
    ("r", name)     the reference of a reference variable
    ("c", numbers)  a constant, made where it is used
"""
import dataclasses

TASKS = ("P0", "P1", "W0", "W1")
MATH = {  # each is one line with two operands
    "add": "tf.add({}, {})",
    "sub": "tf.subtract({}, {})",
    "max": "tf.maximum({}, {})",
    "min": "tf.minimum({}, {})",
    "add_mod": "tf.floormod(tf.add({}, {}), 64)",
    "add_sum": "tf.add({}, tf.floormod(tf.reduce_sum({}), 16))",
    "add_reversed": "tf.add({}, tf.reverse({}, [0]))",
}
# Functions of MATH whose first node takes both operands, so that one operand is read when the other has its value.
JOINT = ("add", "sub", "max", "min", "add_mod")


@dataclasses.dataclass
class Variable:
    name: str
    task: str
    resource: bool
    initial: list


@dataclasses.dataclass
class Block:
    """The inside of a branch, of a loop or of a function. The last statements, `results`, follow all others."""
    parameters: list
    statements: list
    results: list


@dataclasses.dataclass
class Statement:
    name: str
    kind: str  # const, feed, read, math, gather, lookup, update, no_op, cond, while, function, array
    task: str
    operands: list = dataclasses.field(default_factory=list)
    # What must have run before: [(name of a statement of the same block, tasks of the no_ops in between)].
    after: list = dataclasses.field(default_factory=list)
    beside: str = None  # placed with tf.colocate_with this variable or statement instead of with tf.device
    function: str = None  # which kind of read, math, update or function
    variable: str = None  # the variable of an update or lookup
    numbers: list = None  # the constants of the statement: values, indices or a limit
    second_generation: bool = False  # whether a cond or while uses control flow v2
    parallel: int = 10  # parallel_iterations of a while
    collects: bool = False  # whether a while writes its first variable to a tensor array in each iteration
    blocks: list = dataclasses.field(default_factory=list)

    @property
    def results(self):
        """The names that later statements can use."""
        if self.kind in ("cond", "while", "function"):
            return [f"{self.name}_{i}" for i in range(len(self.blocks[0].results) + self.collects)]
        return [] if self.kind == "no_op" else [self.name]


@dataclasses.dataclass
class Program:
    seed: int
    dtype: str
    rows: int
    variables: list
    statements: list
    steps: list  # for each step, the names that are fetched

    def variable(self, name):
        return next(v for v in self.variables if v.name == name)


def all_statements(statements):
    """These statements and those inside of them."""
    for s in statements:
        yield s
        for b in s.blocks:
            yield from all_statements(b.statements)


def producers(statements):
    """The statement that makes each result of one block: {result: statement}."""
    return {r: s for s in statements for r in s.results}


HEADER = '''\
import sys

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import function

tf.disable_v2_behavior()
P0, P1, W0, W1 = "/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0", "/job:worker/task:1"


'''
FOOTER = '''

if __name__ == "__main__":  # with the target of a session, for example grpc://localhost:2222
    results, feeds, variables = build()
    config = tf.ConfigProto(isolate_session_state=True, operation_timeout_in_ms=20000)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Session(sys.argv[1], config=config) as session:
        session.run(tf.global_variables_initializer())
        values = [session.run([results[n] for n in names], feeds) for names in STEPS] + [session.run(variables)]
    for got, expected in zip(values, EXPECTED):
        for x, y in zip(got, expected):
            print(x[:8], "" if y is None or np.array_equal(x[:8], y) else f"instead of {y}")
'''


class _Writer:
    def __init__(self, program):
        self._program = program
        self._lines = []
        self._no_ops = 0
        self._second = False
        self._updates = {s.name for s in all_statements(program.statements) if s.kind == "update"}

    def line(self, depth, text):
        self._lines.append("    " * depth + text)

    def operand(self, operand):
        kind, what = operand
        if kind == "c":
            return f"full({', '.join(map(str, what))})"
        return f"{what}._ref()" if kind == "r" else what

    def op(self, name):
        """The text of the operation from which a control edge starts."""
        return f"{name}.op" if name in self._updates else name

    def dependencies(self, s, depth, statements):
        """Writes the no_ops of the control edges to s, and returns the operations that must be control inputs of s."""
        by_name = {p.name: p for p in statements}
        edges = []
        for name, tasks in s.after:
            p = by_name[name]
            edge = [self.op(r) for r in p.results] or [name]
            for task in tasks:
                self._no_ops += 1
                self.line(depth, f"with tf.device({task}), tf.control_dependencies([{', '.join(edge)}]):")
                edge = [f"n{self._no_ops}"]
                self.line(depth + 1, f"{edge[0]} = tf.no_op()")
            edges += edge
        return edges

    def block(self, name, block, depth):
        self.line(depth, f"def {name}({', '.join(block.parameters)}):")
        for s in block.statements:
            self.statement(s, depth + 1, block.statements)
        self.line(depth + 1, f"return [{', '.join(block.results)}]")

    def statement(self, s, depth, statements):
        p, a = self._program, [self.operand(o) for o in s.operands]
        edges = self.dependencies(s, depth, statements)
        if s.kind in ("cond", "while"):
            if s.second_generation != self._second and depth == 1:
                self._second = s.second_generation
                self.line(depth, f"tf.{'enable' if self._second else 'disable'}_control_flow_v2()")
        scopes = [f"tf.colocate_with({s.beside}.op)" if s.beside else f"tf.device({s.task})"]
        if edges:
            scopes.append(f"tf.control_dependencies([{', '.join(edges)}])")
        if s.kind == "function":
            self.line(depth, "@tf.function(autograph=False)" if s.function == "tf.function" else
                      f"@function.Defun({', '.join(['tf.' + p.dtype] * len(a))}, func_name='{s.name}_function')")
            self.block(f"{s.name}_function", s.blocks[0], depth)
        self.line(depth, f"with {', '.join(scopes)}:")
        depth += 1
        if s.kind == "no_op":
            text = "tf.no_op()"
        elif s.kind == "const":
            text = f"tf.constant(full({', '.join(map(str, s.numbers))}))"
        elif s.kind == "feed":
            text = f"tf.placeholder(tf.{p.dtype}, [{p.rows}])"
            self._feeds.append(f"{s.name}: full({', '.join(map(str, s.numbers))})")
        elif s.kind == "read":
            text = f"{a[0]}.read_value()" if s.function == "read_value" else f"tf.identity({a[0]})"
        elif s.kind == "math":
            text = MATH[s.function].format(*a)
        elif s.kind == "gather":
            text = f"tf.gather({a[0]}, np.resize({s.numbers}, {p.rows}))"
        elif s.kind == "lookup":
            text = f"tf.nn.embedding_lookup({s.variable}, np.resize({s.numbers}, {p.rows}))"
        elif s.kind == "update":
            n = f"{s.numbers}, {a[1]}[:{len(s.numbers)}]" if s.numbers else a[1]
            text = f"tf.{s.function}({a[0]}, {n})"
        elif s.kind == "array":
            self.line(depth, f"{s.name}_array = tf.TensorArray(tf.{p.dtype}, {len(a)}, clear_after_read=False)")
            for i, x in enumerate(a):
                self.line(depth, f"{s.name}_array = {s.name}_array.write({i}, {x})")
            text = f"tf.reduce_sum({s.name}_array.stack(), 0) - {s.name}_array.read({s.numbers[0]})"
        elif s.kind == "function":
            text = f"{s.name}_function({', '.join(a)})"
        elif s.kind == "cond":
            self.block(f"{s.name}_then", s.blocks[0], depth)
            self.block(f"{s.name}_else", s.blocks[1], depth)
            text = f"tf.cond(tf.reduce_sum({a[0]}) < {s.numbers[0]}, {s.name}_then, {s.name}_else)"
        elif s.kind == "while":
            self.loop(s, a, depth)
            return
        if s.blocks:
            self.line(depth, f"{', '.join(s.results)}{',' * (len(s.results) == 1)} = tf.nest.flatten({text})")
            if s.function == "defun":  # its results have no shapes
                for r in s.results:
                    self.line(depth, f"{r}.set_shape([{p.rows}])")
        else:
            self.line(depth, f"{s.name} = {text}")

    def loop(self, s, operands, depth):
        p, b = self._program, s.blocks[0]
        array = ["array"] if s.collects else []
        head = ", ".join(["i"] + b.parameters + array)
        self.line(depth, f"def {s.name}_test({head}):")
        test = "i < " + (str(s.numbers[0]) if s.numbers else
                         f"tf.cast(tf.floormod(tf.reduce_sum({operands[0]}), 4), tf.int32)")
        if s.variable:
            self.line(depth + 1, f"with tf.device({p.variable(s.variable).task}):")
            self.line(depth + 2, f"return tf.logical_and({test}, tf.reduce_sum({s.variable}) < 80)")
        else:
            self.line(depth + 1, f"return {test}")
        self.line(depth, f"def {s.name}_body({head}):")
        for inner in b.statements:
            self.statement(inner, depth + 1, b.statements)
        self.line(depth + 1, f"with tf.device({s.task}), tf.control_dependencies([{', '.join(b.results)}]):")
        write = [f"array.write(i, {b.results[0]})"] if s.collects else []
        self.line(depth + 2, f"return [{', '.join(['i + 1'] + b.results + write)}]")
        initial = ["0"] + (operands if s.numbers else operands[1:])
        results = ["_"] + s.results
        if s.collects:
            initial.append(f"tf.TensorArray(tf.{p.dtype}, {s.numbers[0]}, colocate_with_first_write_call=False, "
                           f"element_shape=[{p.rows}])")
            results[-1] = f"{s.name}_array"
        self.line(depth, f"{', '.join(results)} = tf.while_loop({s.name}_test, {s.name}_body, [{', '.join(initial)}], "
                         f"parallel_iterations={s.parallel})")
        if s.collects:
            self.line(depth, f"{s.results[-1]} = tf.reduce_sum({s.name}_array.stack(), 0)")

    def text(self):
        p = self._program
        self._feeds = []
        self._lines = [f"STEPS = {p.steps}", "", "", "def full(*numbers):",
                       f"    return np.resize(np.array(numbers, np.{p.dtype}), {p.rows})", "", "", "def build():"]
        for v in p.variables:
            self.line(1, f"with tf.device({v.task}):")
            self.line(2, f"{v.name} = tf.get_variable('{v.name}', initializer=full({', '.join(map(str, v.initial))}), "
                         f"use_resource={v.resource})")
        for s in p.statements:
            self.statement(s, 1, p.statements)
        if self._second:
            self.line(1, "tf.disable_control_flow_v2()")
        made = {r: self.op(r) for s in p.statements for r in s.results or [s.name]}
        fetched = sorted({n for names in p.steps for n in names})
        resource = {s.name for s in p.statements if s.kind == "update" and p.variable(s.variable).resource}
        self.line(1, "results = {" + ", ".join(f"'{n}': {made[n] if n in resource else n}" for n in fetched) + "}")
        variables = ", ".join(v.name for v in p.variables)
        self.line(1, f"return results, {{{', '.join(self._feeds)}}}, [{variables}]")
        return "\n".join(self._lines) + "\n"


def source(program):
    """The text that builds the graph. Its function `build()` returns the results by name, the feeds and the
    variables."""
    return _Writer(program).text()


def standalone(program, explanation, values):
    """The text of a program that can be run alone. It also contains the beginnings of the values that it must fetch."""
    expected = [[None if v is None else v[:8].tolist() for v in step] for step in values]
    lines = "".join(f"    {step},\n" for step in expected)
    return f'"""{explanation}"""\n{HEADER}{source(program)}\n\nEXPECTED = [\n{lines}]\n{FOOTER}'
