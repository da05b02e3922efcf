"""Views as traces for Chrome's trace viewer."""

import json

__all__ = []


def _process(number, name):
    return {"args": {"name": name}, "name": "process_name", "ph": "M", "pid": number}


def _region(process, thread, start, duration, name, **more):
    return {"args": {"name": name, **more}, "cat": "Op", "dur": duration, "name": name, "ph": "X", "pid": process,
            "tid": thread, "ts": start}


def _of_tree(root):
    """The totals as if the nodes below a node ran one after the other: a process for each depth."""
    events, named, waiting = [], set(), [(root, 0, 0)]
    while waiting:
        node, start, depth = waiting.pop()
        if not node.total["exec_micros"]:
            continue
        if depth not in named:
            named.add(depth)
            events.append(_process(depth, f"Scope:{depth}"))
        events.append(_region(depth, 0, start, node.total["exec_micros"], node.name, op=node.name))
        below = []
        for child in node.shown_children:
            below.append((child, start, depth + 1))
            start += child.total["exec_micros"]
        waiting += reversed(below)
    return events


def _of_runs(root, step):
    """When the nodes of a step ran: a process for each device, with as many threads as ran at a time."""
    runs, waiting = {}, list(root.shown_children)
    while waiting:
        node = waiting.pop()
        waiting += node.shown_children
        execs = node.record.node.execs
        if step in execs and node.record.device:
            for devices in (execs[step].accelerator_execs, execs[step].cpu_execs):
                for device, times in devices.items():
                    runs.setdefault(device, []).extend((*time.int64_values, node.name) for time in times.times)
    events = []
    for process, (device, times) in enumerate(sorted(runs.items())):
        kind = "execution" if "stream" in device else "scheduling"
        events.append(_process(process, f"Op {kind} threads: {device}"))
        ends = []
        for start, duration, name in sorted(times):
            thread = next((i for i, end in enumerate(ends) if end <= start), len(ends))
            ends[thread:thread + 1] = [start + duration]
            events.append(_region(process, thread, start, duration, name))
    return events


def write(view, root, step, path):
    """Writes the trace of a view to the file `path`_`step`, and prints its name."""
    events = _of_runs(root, step) if view == "graph" else _of_tree(root)
    path = f"{path}_{step}"
    with open(path, "w") as file:
        json.dump({"traceEvents": events}, file, separators=(",", ":"))
    print(f"The timeline is in the file {path}; chrome://tracing of the browser Chrome shows it.")
