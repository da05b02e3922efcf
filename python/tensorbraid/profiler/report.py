"""The text of a report: what its columns mean, their names, and a line for each node, type or line of code."""

__all__ = []

_VIEWS = {
    "scope": "scope: each node is below the scopes that its name begins with, and a scope sums up what is below it.",
    "graph": "graph: the inputs of a node are below it, each node once, and a node sums up what is below it.",
    "op": "op: the nodes of a type are one line, whose first percentage has those of the lines after it, too.",
    "code": "code: the nodes are at the line of code that made them, which is below the line that called it.",
}
_MICROS = {
    "micros": "total execution time: the sum of the times on CPUs and on accelerators.",
    "cpu_micros": "cpu execution time: from the start of a node's computation to its end, with its waiting.",
    "accelerator_micros": "accelerator execution time: what the accelerator itself measured.",
}
_MEANINGS = {
    "bytes": "requested bytes: all memory that a node asked for, whether it released it or not.",
    "device": "device: where the node ran.",
    "float_ops": "flops: the floating point operations, of the types of nodes for which they are counted.",
    "input_shapes": "input shapes: the sizes of the inputs.",
    "occurrence": "occurrence: how often nodes ran, and how many there are.",
    "op_types": "op types: the type of the node, its device, and the groups that it was given.",
    "output_bytes": "output bytes: the size of the outputs, whether the node allocated them or not.",
    "params": "param: the number of elements of variables, and of other nodes that have an attribute for their shape.",
    "peak_bytes": "peak bytes: the most memory that the node held at a time.",
    "residual_bytes": "residual bytes: the memory that the node held after it had run.",
    **_MICROS, "micros": "\n".join(_MICROS.values()),
}
_MEMORY = {"bytes": "requested bytes", "peak_bytes": "peak bytes", "residual_bytes": "residual bytes",
           "output_bytes": "output bytes"}
_TIMES = {"micros": "total execution time", "accelerator_micros": "accelerator execution time",
          "cpu_micros": "cpu execution time"}
_FIELD = {"bytes": "requested_bytes", "micros": "exec_micros", "accelerator_micros": "accelerator_exec_micros",
          "cpu_micros": "cpu_exec_micros"}


def _short(number):
    for unit, name in ((10**9, "b"), (10**6, "m"), (10**3, "k")):
        if number >= unit:
            return f"{number / unit:.2f}{name}"
    return str(number)


def short_time(micros):
    """A time with its unit."""
    if micros < 1000:
        return f"{micros}us"
    return f"{micros / 1e3:.2f}ms" if micros < 10**6 else f"{micros / 1e6:.2f}sec"


def _memory(size):
    if size < 1000:
        return f"{size}B"
    return f"{size / 1e3:.2f}KB" if size < 10**6 else f"{size / 1e6:.2f}MB"


def _times(options):
    """The columns of times that the options select: "micros" stands for all of them."""
    return list(_TIMES) if "micros" in options.select else [name for name in _TIMES if name in options.select]


def heading(view, options):
    """What the view and the selected columns mean, each in a line."""
    return "\n".join(["\nDoc:", _VIEWS[view], *(_MEANINGS[name] for name in sorted(options.select)), "\nProfile:\n"])


def _legend(options, of_many):
    counts = [text for name, text in (("params", "# parameters"), ("float_ops", "# float_ops")) if name in options.select]
    sizes = [text for name, text in _MEMORY.items() if name in options.select]
    times = [_TIMES[name] for name in _times(options)]
    occurrence = "op occurrence (run|defined)" if of_many else "op count (run|defined)"
    rest = [text for name, text in (("device", "assigned devices"), ("op_types", "op types"), ("occurrence", occurrence),
                                    ("input_shapes", "input shapes")) if name in options.select]
    columns = sizes + times + counts + rest if of_many else counts + sizes + times + rest
    return f"node name | {' | '.join(columns)}\n"


def _pair(node, name, form, unit=""):
    own = form(node.own[name]) if node.counted else "--"
    return f"{own}/{form(node.total[name])}{unit}"


def _joined(sizes, between):
    return between.join(f"{i}:{'x'.join(map(str, dims)) or 'unknown'}" for i, dims in sorted(sizes.items()))


def _types_of(node):
    return "|".join(sorted({kind for record in node.counted_records for kind in record.types}))


def _devices_of(node):
    return "|".join(sorted({record.device for record in node.counted_records}))


def _numbers(node, options):
    """The columns of numbers of a node or a line of code, in three groups."""
    counts = []
    if "params" in options.select:
        counts.append(_pair(node, "parameters", _short, " params"))
    if "float_ops" in options.select:
        counts.append(_pair(node, "float_ops", _short, " flops"))
    sizes = [_pair(node, _FIELD.get(name, name), _memory) for name in _MEMORY if name in options.select]
    return counts, sizes, [_pair(node, _FIELD[name], short_time) for name in _times(options)]


def _node_words(node, options, records):
    counts, sizes, times = _numbers(node, options)
    shape = node.record.node.shape
    words = ["x".join(map(str, shape))] if shape and "params" in options.select else []
    words += counts + sizes + times
    if "device" in options.select and node.record.device:
        words.append(node.record.device)
    if "op_types" in options.select:
        words.append("|".join(sorted(node.record.types)))
    if "occurrence" in options.select:
        words.append(_pair(node, "run_count", _short) + "|" + ("1" if node.counted else "--")
                     + f"/{_short(node.total['definition_count'])}")
    if "input_shapes" in options.select:
        words.append(_joined(node.record.input_shapes(records), "|"))
    return words


def _code_words(node, options, records):
    counts, sizes, times = _numbers(node, options)
    words = sizes + times + counts
    if "device" in options.select and node.counted_records:
        words.append(_devices_of(node))
    if "op_types" in options.select:
        words.append(_types_of(node))
    return words + [f"{name} N/A in code view" for name in ("occurrence", "input_shapes") if name in options.select]


def tree_text(tree, options, records):
    """The lines of a tree after select()."""
    words = _code_words if tree.of_many else _node_words
    lines, waiting = [_legend(options, tree.of_many)], [(tree.root, 0)]
    while waiting:
        node, depth = waiting.pop()
        lines.append(f"{'  ' * depth}{node.name} ({', '.join(words(node, options, records))})\n")
        waiting += [(child, depth + 1) for child in reversed(node.shown_children)]
    return "".join(lines)


def _share(node, root, name, text, counts):
    """A column of a type: its number, and the percentages of the total with the types after it, and of its own."""
    whole = root.total[name]
    percents = (100.0 * node.total[name] / whole, 100.0 * node.own[name] / whole) if counts and whole else (0.0, 0.0)
    return f"{text} ({percents[0]:.2f}%, {percents[1]:.2f}%)".rjust(30)


def _input_shapes(node, options, records):
    found = {}
    for record in node.counted_records:
        text = f"input_type: {_joined(record.input_shapes(records), ',' + chr(9))}"
        numbers = record.numbers(options.step)
        runs, count, micros = found.get(text, (0, 0, 0))
        found[text] = (runs + numbers["run_count"], count + 1, micros + numbers["exec_micros"])
    return "\n".join(f"{text}\t(run*{runs}|defined*{count})\texec_time: {short_time(micros)}" for text, (runs, count, micros)
                     in sorted(sorted(found.items()), key=lambda item: -item[1][0]))


def _type_line(node, root, options, records):
    words = []
    for name in _MEMORY:
        if name in options.select:
            field = _FIELD.get(name, name)
            words.append(_share(node, root, field, _memory(node.own[field]), node.own[field]))
    for name in _times(options):
        field = _FIELD[name]
        words.append(_share(node, root, field, short_time(node.own[field]), node.total[field]))
    for name, field, unit in (("params", "parameters", "params"), ("float_ops", "float_ops", "float_ops")):
        if name in options.select:
            words.append(_share(node, root, field, f"{_short(node.own[field])} {unit}", node.total[field]))
    if "device" in options.select:
        words.append(_devices_of(node))
    if "op_types" in options.select:
        words.append(_types_of(node))
    if "occurrence" in options.select:
        words.append(f"{node.own['run_count']}|{len(node.counted_records)}".rjust(10))
    line = f"{node.name:<25}{', '.join(words)}\n"
    shapes = _input_shapes(node, options, records) if "input_shapes" in options.select else ""
    return f"{line}\n{shapes}\n\n" if shapes else line


def types_text(root, shown, options, records):
    """The lines of the types."""
    return _legend(options, True) + "".join(_type_line(node, root, options, records) for node in shown)
