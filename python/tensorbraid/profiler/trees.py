"""The views that are trees: of the nodes by scope, of the nodes by inputs, and of the lines of code."""

from tensorbraid import proto
from tensorbraid.profiler.records import NUMBERS, Record

__all__ = []

ROOT = "_TFProfRoot"
# The number that each limit, and each order, of the options is about.
NUMBER_OF = {"bytes": "requested_bytes", "micros": "exec_micros", "accelerator_micros": "accelerator_exec_micros",
             "cpu_micros": "cpu_exec_micros", "params": "parameters", "occurrence": "run_count"}
_NO_NUMBERS = dict.fromkeys((*NUMBERS, "definition_count"), 0)
_GRADIENT = " (gradient)"


def run(call):
    """The result of a generator that yields other generators and is sent their results: calls of any depth."""
    calls, value = [call], None
    while calls:
        try:
            calls.append(calls[-1].send(value))
            value = None
        except StopIteration as done:
            calls.pop()
            value = done.value
    return value


class Shown:
    """What a line of a report is about: some records, the numbers of all of them, and the totals with what is below."""

    def __init__(self, name, records=()):
        self.name, self.records = name, {record.name: record for record in records}
        self.children, self.shown_children = [], []
        self.counted, self.counted_records = False, []
        self.own, self.total = _NO_NUMBERS, dict(_NO_NUMBERS)

    def count(self, options):
        """Sets the numbers of the records that the options count. Returns whether there are any."""
        self.counted_records = [record for _, record in sorted(self.records.items())
                                if any(map(options.accounted.matches, record.types))]
        self.counted = bool(self.counted_records) or options.accounted.everything
        numbers = [record.numbers(options.step) for record in self.counted_records]
        self.own = {name: sum(found[name] for found in numbers) for name in NUMBERS}
        self.own["definition_count"] = 1
        return self.counted

    def reset(self, with_own):
        """Sets the totals to the own numbers, or to 0."""
        self.total = dict(self.own if with_own else _NO_NUMBERS)

    def add(self, other):
        """Adds the totals of something below."""
        for name, number in other.total.items():
            self.total[name] += number


class ShownNode(Shown):
    """A node or a scope. It has its own numbers even if the options do not count it, as long as something below counts."""

    def __init__(self, record):
        super().__init__(record.name, [record])
        self.record = record

    def count(self, options):
        super().count(options)
        self.counted_records = [self.record]
        self.own = {**self.record.numbers(options.step), "definition_count": 1}
        return self.counted


def _passes(number, limit, names):
    return all(number[NUMBER_OF.get(name, name)] >= limit[name] for name in names)


def is_shown(node, options, depth, of_many):
    """Whether the options show a node; `of_many`, a type or a line of code, which has many nodes."""
    if node.name == ROOT:
        return True
    own = ("params", "float_ops", "occurrence")
    totals = [name for name in options.minimum if name not in own or of_many and name != "occurrence"]
    if depth > options.max_depth or not _passes(node.total, options.minimum, totals):
        return False
    if not of_many and not _passes(node.own, options.minimum, own):
        return False
    return options.show.matches(node.name) and not options.hide.matches(node.name)


def in_order(nodes, options, of_many):
    """The nodes in the order that the options want."""
    if options.order_by == "name" or options.order_by == "occurrence" and not of_many:
        return sorted(nodes, key=lambda node: node.name)
    if options.order_by == "occurrence":
        return sorted(nodes, key=lambda node: -len(node.counted_records))
    return sorted(nodes, key=lambda node: -node.total[NUMBER_OF.get(options.order_by, options.order_by)])


class Tree:
    """A view whose root and nodes are Shown with `children`."""

    of_many, keeps_parents, trims_node = False, True, False

    def __init__(self, root):
        self.root = root

    def select(self, options):
        """Counts the nodes and chooses those that are shown: the `shown_children` of the root and of each node."""
        self.root.reset(False)
        top = run(self._count(self.root.children, options, set()))
        for node in top:
            self.root.add(node)
        if not options.start.everything:
            top = run(self._starts(top, options, set()))
        self.root.shown_children = top
        if not run(self._show([self.root], options, 1, set())):
            self.root.shown_children = []  # max_depth is 0
        return self.root

    def _count(self, nodes, options, visited):
        found = []
        for node in nodes:
            if node in visited:
                continue
            visited.add(node)
            below = yield self._count(node.children, options, visited)
            counted = node.count(options)
            if counted or below and self.keeps_parents:
                node.reset(True)
                for child in below:
                    node.add(child)
                node.shown_children = below
                found.append(node)
            else:
                found += below
        return found

    def _starts(self, nodes, options, visited):
        found = []
        for node in nodes:
            if node in visited:
                continue
            visited.add(node)
            if options.start.matches(node.name):
                found.append(node)
            else:
                found += yield self._starts(node.shown_children, options, visited)
        return found

    def _show(self, nodes, options, depth, visited):
        found = []
        for node in nodes:
            if node in visited:
                continue
            visited.add(node)
            ends = options.trim.matches(node.name) or depth > options.max_depth
            if ends and self.trims_node:
                continue
            shown = is_shown(node, options, depth, self.of_many)
            below = [] if ends else (yield self._show(node.shown_children, options, depth + 1, visited))
            if not shown:
                found += below
                continue
            again = options.displayed_only and not self.of_many
            if again:
                node.reset(True)
            node.shown_children = in_order(below, options, self.of_many)
            for child in node.shown_children if again else ():
                node.add(child)
            found.append(node)
        return found


def _root(kind):
    root = ShownNode(Record(ROOT, kind))
    root.own = {**_NO_NUMBERS, "definition_count": 1}
    return root


def by_scope(profile):
    """The tree of the nodes by scope."""
    nodes = {name: ShownNode(record) for name, record in profile.records.items()}
    for name in profile.records:
        while "/" in name:
            name = name.rpartition("/")[0]
            if name not in nodes:
                nodes[name] = ShownNode(Record(name, "_kTFScopeParent"))
    root = _root("_kTFScopeParent")
    for name, node in sorted(nodes.items()):
        (nodes[name.rpartition("/")[0]] if "/" in name else root).children.append(node)
    return Tree(root)


def by_inputs(profile):
    """The tree of the nodes by inputs: below each node those whose outputs it takes, each of them once."""
    nodes = {name: ShownNode(record) for name, record in sorted(profile.records.items())}
    used = set()
    for node in nodes.values():
        names = list(node.record.inputs.values())
        used.update(names)
        node.children = [nodes[name] for name in names if name in nodes]
    root = _root("_TFGraphParent")
    root.children = [node for name, node in nodes.items() if name not in used]
    tree = Tree(root)
    tree.keeps_parents = False
    return tree


def by_code(profile):
    """The tree of the lines of code, in calls of calls, with the nodes that each last line made."""
    root = Shown(ROOT)
    forward, gradients = {}, []
    for name, record in sorted(profile.records.items()):
        if record.node.trace.traces:
            before, found, after = name.partition("gradients/")
            made_for = after.partition("_grad/")[0] if found and "_grad/" in after else ""
            if made_for:
                gradients.append((made_for, record))
            else:
                forward[name] = record
    places = {}

    def place(record, suffix):
        node, key = root, ()
        for trace in record.node.trace.traces:
            key += (_call(trace, profile.strings) + suffix,)
            if key not in places:
                places[key] = Shown(key[-1])
                node.children.append(places[key])
            node = places[key]
        return node

    for record in forward.values():
        place(record, "").records[record.name] = record
    for name, record in gradients:
        if name in forward:
            place(forward[name], _GRADIENT).records[record.name] = record
    tree = Tree(root)
    tree.of_many = tree.trims_node = True
    return tree


def _call(trace, strings):
    function = strings.get(trace.function_id, "")
    function = function if len(function) < 20 else function[:17] + "..."
    return f"{strings.get(trace.file_id, '').rpartition('/')[2]}:{trace.lineno}:{function}"


def _fill(message, node, without=()):
    message.name = node.name
    for name in NUMBERS:
        if name not in without:
            setattr(message, name, node.own[name])
            setattr(message, f"total_{name}", node.total[name])


def fill_node(message, node, records):
    """Sets the fields of a GraphNodeProto, except for the children."""
    _fill(message, node)
    message.total_definition_count = node.total["definition_count"]
    if node.record.device:
        message.devices.append(node.record.device)
    for i, sizes in node.record.input_shapes(records).items():
        message.input_shapes[i].unknown_rank = not sizes
        for size in sizes:
            message.input_shapes[i].dim.add(size=size)


def fill_many(message, node, options, records):
    """Sets the fields of a MultiGraphNodeProto, except for the children."""
    _fill(message, node, without=("run_count",))
    for record in node.counted_records:
        shown = ShownNode(record)
        shown.count(options)
        shown.reset(True)
        fill_node(message.graph_nodes.add(), shown, records)


def message_of(tree, options, records):
    """The GraphNodeProto or, of lines of code, the MultiGraphNodeProto of a tree after select()."""
    result = proto.MultiGraphNodeProto() if tree.of_many else proto.GraphNodeProto()

    def fill(message, node):
        if tree.of_many:
            fill_many(message, node, options, records)
        else:
            fill_node(message, node, records)
        for child in node.shown_children:
            yield fill(message.children.add(), child)

    run(fill(result, tree.root))
    return result
