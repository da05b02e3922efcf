"""Checks whether control and data edges determine what a program computes, and finds the missing control edges.

TensorFlow reads a reference variable when the consumer of its reference starts. On the variable's own task, Identity,
Switch, Merge, Enter and Exit hand on the variable's buffer, so that their consumers see later updates, too. A tensor
that shares the buffer and crosses to another task is copied at some time between its producer and its consumer. A
program is determined if each update of a variable is ordered with each read, and if no update can meet a tensor that
crosses.
"""
import dataclasses

from sweep.program import JOINT, all_statements


class Undetermined(Exception):
    """The values of a program depend on time, or TensorFlow refuses the program. No control edge can change that."""


@dataclasses.dataclass
class _Value:
    task: str = None
    depth: int = 0  # of the block in which the value is made
    shares: dict = dataclasses.field(default_factory=dict)  # {variable: its version}, for a tensor that shares a buffer
    reference: str = None  # a reference to this variable
    unread: str = None  # a resource variable, which each consumer reads by a node of its own
    before: int = 0  # mask of the statements that have run when the value is available

    @property
    def is_plain(self):
        return not (self.shares or self.reference or self.unread)


@dataclasses.dataclass
class _Scope:
    """An open block: its statements are being checked."""
    kind: str
    statement: object
    before: int  # mask of the statements that have run before the first statement of the block
    updates: dict  # like `versions`, as it was when the block was entered
    versions: dict
    updated: set
    names: set = dataclasses.field(default_factory=set)
    read: set = dataclasses.field(default_factory=set)


class Order:
    """Checks a program statement by statement. Calls missing_edge(statement, name, local) for each missing edge:
    `statement` needs a control input from the statement `name`. If `local`, the path must not leave the task."""

    def __init__(self, program, missing_edge):
        self._p = program
        self._missing_edge = missing_edge
        self._names = []  # the names of the statements; bit i of a mask stands for statement i
        self._bit, self._control, self._end, self._values = {}, {}, {}, {}
        none = {v.name: 0 for v in program.variables}
        # Masks of statements, for each variable. A read must follow those in `_updates`. An update must follow those in
        # `_updates` and in `_reads`.
        self._updates, self._reads, self._versions = dict(none), dict(none), dict(none)
        self._clock = 0  # each update makes a version of its own
        self._stack = [_Scope("top", None, 0, dict(none), dict(none), set())]

    def run(self):
        self._statements(self._p.statements)
        for name in {name for names in self._p.steps for name in names}:
            self._check_fetch(self._values.get(name))

    def _check_fetch(self, value):
        # The value of a fetched tensor is sent at some time before the step ends.
        if value is None or value.unread:
            return
        if value.reference or any(self._versions[v] != version or self._updates[v] & ~value.before
                                  for v, version in value.shares.items()):
            raise Undetermined("a buffer that is fetched is updated later")

    def _need(self, s, depth, mask, extra=0):
        """Demands that the statements in `mask` run before s, a statement of the block at `depth`."""
        for i, name in enumerate(self._names):
            if not mask >> i & 1 or (self._control[s.name] | extra) >> i & 1:
                continue
            level = next(k for k in range(depth, -1, -1) if name in self._stack[k].names)
            local = any(scope.kind == "function" for scope in self._stack[:level + 1])
            self._missing_edge(s if level == depth else self._stack[level + 1].statement, name, local)
            for scope in self._stack[level + 1:]:
                scope.before |= self._end[name]
                self._control[scope.statement.name] |= self._end[name]
            self._control[s.name] |= self._end[name]

    def _new_version(self, variable):
        self._clock += 1
        self._versions[variable] = self._clock

    def _variable(self, kind, name):
        v = self._p.variable(name)
        if v.resource:
            return _Value(v.task, unread=name)
        return _Value(v.task, reference=name) if kind == "r" else _Value(v.task, shares={name: 0})

    def _operand(self, operand):
        kind, what = operand
        if kind == "c":
            return _Value()
        if kind != "s":
            return self._variable(kind, what)
        if what not in self._values:
            raise Undetermined(f"{what} is not known here")
        return self._values[what]

    def _enter(self, s, value):
        """Checks the blocks that a value enters on its way to s."""
        if s.beside and value.unread and value.task != s.task:
            raise Undetermined("a read of a resource that TensorFlow cannot place")
        for scope in self._stack[value.depth + 1:]:
            if scope.kind == "function" and (value.shares or value.reference):
                raise Undetermined("a reference variable enters a function")
            if scope.kind == "function" and value.unread and value.task != scope.statement.task:
                raise Undetermined("a function uses a resource of another task")  # TensorFlow refuses it
            if scope.kind == "while2" and value.reference:
                raise Undetermined("a reference enters a loop")  # TensorFlow's client makes no valid function of it
            if scope.kind == "while1" and (value.shares or value.reference) and value.task != s.task:
                # TensorFlow reads the variable at any time, or hangs.
                raise Undetermined("a reference enters a loop of another task")

    def _cross(self, value, variable):
        """Checks a tensor that shares the buffer of `variable` and crosses to another task."""
        version = value.shares[variable]
        for depth in range(value.depth + 1, len(self._stack)):
            scope = self._stack[depth]
            if scope.kind == "while1":
                if variable in scope.updated:
                    raise Undetermined("a shared buffer crosses in a loop that updates it")
            else:  # the tensor enters the block through a node on the variable's task, which sends it
                self._need(scope.statement, depth - 1, scope.updates[variable])
                version = scope.versions[variable]
        if version != self._versions[variable]:
            raise Undetermined("a shared buffer crosses after an update")

    def _consume(self, s, value, task, others=0):
        """Statement s uses the value of an operand. The statements in `others` have run before, too. Returns the
        variables that s reads."""
        if value.is_plain:
            return set()
        self._enter(s, value)
        depth = len(self._stack) - 1
        if value.unread:
            self._need(s, depth, self._updates[value.unread], value.before)
            return {value.unread}
        if value.reference:
            self._need(s, depth, self._updates[value.reference], value.before | others)
            return {value.reference}
        for v in value.shares:
            if value.task != task:
                self._cross(value, v)
            self._need(s, depth, self._updates[v], value.before | others)
        return set(value.shares)

    def _statements(self, statements):
        for s in statements:
            self._statement(s)
            self._stack[-1].names.add(s.name)

    def _statement(self, s):
        scope = self._stack[-1]
        if s.beside and (scope.kind not in ("top", "cond1", "while1") or
                         not any(v.name == s.beside for v in self._p.variables) and s.beside not in scope.names):
            raise Undetermined("colocation out of its block")
        self._bit[s.name] = 1 << len(self._names)
        self._names.append(s.name)
        control = scope.before
        for name, path in s.after:
            if name not in scope.names:
                raise Undetermined(f"{name} is not known here")
            if path or not _is_dropped(s, name):
                control |= self._end[name]
        self._control[s.name] = control
        if s.kind == "feed" and s.after:
            raise Undetermined("a node that is fed waits for nothing")
        if s.blocks:
            self._composite(s)
        elif s.kind == "update":
            self._update(s)
        else:
            self._simple(s)

    def _finish(self, s, values, read):
        self._end[s.name] = self._control[s.name] | self._bit[s.name]
        for value in values:
            self._end[s.name] |= value.before
        for v in read:
            self._reads[v] |= self._bit[s.name]
        for scope in self._stack:
            scope.read |= read

    def _others(self, values, i):
        """A mask of the statements that have run when a node with these inputs reads input i."""
        mask = 0
        for j, value in enumerate(values):
            if j == i or not value.reference:
                mask |= value.before
        return mask

    def _simple(self, s):
        values = [self._operand(o) for o in s.operands]
        if s.function == "read_value":  # an Identity of the reference
            values = [self._variable("r", s.operands[0][1])]
        if s.kind == "lookup":
            values = [self._variable("v", s.variable)]
        joint = s.kind == "math" and s.function in JOINT
        result, read = _Value(s.task, len(self._stack) - 1), set()
        for i, value in enumerate(values):
            same_task = value.task == s.task and not value.is_plain and not value.unread
            if s.kind == "array" and (same_task or not value.is_plain or i == 0 and value.task not in (None, s.task)):
                raise Undetermined("an array of shared buffers, or one that TensorFlow cannot place")
            if s.kind == "gather" and value.unread:
                if value.task != s.task:
                    raise Undetermined("a gather that TensorFlow cannot place")
                # TensorFlow gathers from the variable without waiting for the update whose result this is.
                self._need(s, len(self._stack) - 1, self._updates[value.unread])
            read |= self._consume(s, value, s.task, self._others(values, i) if joint else 0)
            if same_task and s.kind == "read":
                result.shares = {v: self._versions[v] for v in value.shares or [value.reference]}
        self._finish(s, values, read)
        result.before = self._end[s.name]
        self._values[s.name] = result

    def _update(self, s):
        v, (target, value) = self._p.variable(s.variable), map(self._operand, s.operands)
        self._enter(s, target)
        if not v.resource and any(scope.kind in ("cond2", "while2", "function") for scope in self._stack):
            raise Undetermined("a reference variable is updated in a function")
        if s.variable in (value.reference, *value.shares) and s.numbers:
            raise Undetermined("rows of a variable go to itself")
        if v.resource and (value.reference or value.shares) and value.task == v.task:
            raise Undetermined("a resource variable takes over a shared buffer")
        read = self._consume(s, value, v.task, value.before if s.numbers else value.before | target.before)
        self._need(s, len(self._stack) - 1, self._updates[v.name] | self._reads[v.name], target.before | value.before)
        self._finish(s, [target, value], read)
        self._updates[v.name], self._reads[v.name] = self._bit[s.name], 0
        self._new_version(v.name)
        result = _Value(v.task, len(self._stack) - 1, before=self._end[s.name])
        setattr(result, "unread" if v.resource else "reference", v.name)
        self._values[s.name] = result

    def _composite(self, s):
        kind = s.kind if s.kind == "function" else s.kind + ("2" if s.second_generation else "1")
        if any(scope.kind in ("cond1", "while1") and s.second_generation or
               scope.kind in ("cond2", "while2") and not s.second_generation for scope in self._stack):
            raise Undetermined("two generations of control flow in one statement")
        depth = len(self._stack)
        updated = {u.variable for b in s.blocks for u in all_statements(b.statements) if u.kind == "update"}
        values = [self._operand(o) for o in s.operands]
        # The first operand decides how a condition or a loop goes on. The others are what a loop starts with.
        first = 0 if s.kind == "function" or s.kind == "while" and s.numbers else 1
        read, parameters = set(), []
        for i, value in enumerate(values):
            inside = _Value(s.task, depth)
            if not value.is_plain and (kind == "function" or s.kind == "while" and i < first):
                raise Undetermined("a variable is the argument of a function or the count of a loop")
            if kind == "while1" and i >= first and value.shares and value.task == s.task:
                self._enter(s, value)
                inside.shares = dict(value.shares)
            elif s.kind == "while" and (value.reference or value.unread or value.shares and value.task == s.task):
                raise Undetermined("a shared buffer goes into a loop")
            else:
                read |= self._consume(s, value, s.task)
            if i >= first:
                parameters.append((inside, value.before))
        for value in values[:first]:
            self._control[s.name] |= value.before
        if s.kind == "while":
            for v in updated:
                self._new_version(v)
        entry = dict(self._updates), dict(self._reads), dict(self._versions)
        results = []
        for block in s.blocks:
            self._updates, self._reads, self._versions = (dict(x) for x in entry)
            scope = _Scope(kind, s, self._control[s.name], entry[0], entry[2], updated)
            self._stack.append(scope)
            for name, (value, before) in zip(block.parameters, parameters):
                value.before = scope.before | before
                self._values[name] = value
            if s.kind == "while" and s.variable:
                if kind == "while2" and s.variable in updated:
                    raise Undetermined("a loop tests what it updates")  # TensorFlow may read it too early
                self._need(s, depth - 1, entry[0][s.variable])
                scope.read.add(s.variable)
            self._statements(block.statements)
            self._check_results(block)
            results.append([self._values[r] for r in block.results])
            self._stack.pop()
            read |= scope.read
        self._updates, self._reads, self._versions = (dict(x) for x in entry)
        for v in updated:
            self._updates[v] |= self._bit[s.name]
            self._new_version(v)
        self._finish(s, [_Value(before=b) for _, b in parameters], read)
        if s.kind == "function" and not read and not updated:
            # If the call is expanded, each node of the function runs when the inputs of this node are available.
            self._end[s.name] = self._bit[s.name]
        if s.collects and results[0][0].shares:
            raise Undetermined("an array of shared buffers")
        for i, name in enumerate(s.results):
            merged = _Value(s.task, depth - 1, before=self._end[s.name])
            self._values[name] = merged
            if i == len(results[0]):
                continue
            if s.kind == "while":  # it leaves the loop without waiting for the other variables of the loop
                merged.before = self._control[s.name] | parameters[i][1] | (0 if read else self._bit[s.name])
            for value in [r[i] for r in results]:
                if value.shares and (value.task != s.task or kind not in ("cond1", "while1")):
                    raise Undetermined("a shared buffer leaves a function or its task")
                if s.kind == "while" and not set(value.shares) <= set(parameters[i][0].shares):
                    raise Undetermined("a loop variable becomes a shared buffer")
                merged.shares.update({v: self._versions[v] for v in value.shares})
            if s.kind == "while":
                merged.shares.update({v: self._versions[v] for v in parameters[i][0].shares})

    def _check_results(self, block):
        """Each result follows all that the block does, so that what comes after the block does so, too."""
        depth, mask = len(self._stack) - 1, 0
        for s in block.statements:
            if s.name not in block.results:
                mask |= self._bit[s.name]
        for s in block.statements:
            if s.name not in block.results:
                continue
            if s.kind not in ("read", "math"):
                raise Undetermined("a result must be a value")
            self._need(s, depth, mask, self._values[s.name].before)
            self._end[s.name] |= self._control[s.name]
            self._values[s.name].before = self._end[s.name]
            if len(block.results) > 1 and self._stack[-1].kind in ("cond1", "cond2"):
                # A step may need one of the results alone.
                if any(self._reads[v] & self._bit[s.name] for v in self._reads):
                    raise Undetermined("one of two results reads a variable")
                here = {r for x in block.statements if x.name not in block.results for r in x.results}
                if any(kind != "c" and (kind != "s" or what not in here) for kind, what in s.operands):
                    raise Undetermined("one of two results needs something else")


def _is_dropped(s, name):
    """Whether TensorFlow's client drops the control input from `name`, because s also has a data input from that
    operation."""
    return not s.blocks and ("s", name) in s.operands


def check(program):
    """Raises Undetermined if the values of the program depend on time."""
    def missing_edge(s, name, unused_local):
        raise Undetermined(f"{s.name} must follow {name}")

    Order(program, missing_edge).run()


def repair(program, path):
    """Adds the missing control edges. path() returns the tasks of the no_ops between the two statements of an edge."""
    def missing_edge(s, name, local):
        tasks = [] if local else path()
        s.after.append((name, tasks or [s.task] * _is_dropped(s, name)))

    Order(program, missing_edge).run()
