"""Where the time of a step with a parameter server goes, from the traces that TENSORBRAID_STEP_PROFILE makes."""

import glob
import os
import statistics

# What the parts are called, in the order of a step. "by" is a time since the start of the step, the others are times in
# which at least one such thing went on. They overlap.
PARTS = ["variables at the worker by", "copies to the device", "programs on the device", "copies to the host",
         "gradients at the server by", "updates by the server", "step"]


def fields(data):
    """The fields of a message of protobuf, as pairs of number and value."""
    position = 0

    def varint():
        nonlocal position
        value = shift = 0
        while True:
            byte = data[position]
            position += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    while position < len(data):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, varint()
            continue
        size = varint() if kind == 2 else {1: 8, 5: 4}[kind]
        yield tag >> 3, data[position:position + size]
        position += size


def events(trace):
    """The events of a RunMetadata: device, name, label, start and end in microseconds."""
    found = []
    for _, stats in (field for field in fields(trace) if field[0] == 1):
        for _, device in (field for field in fields(stats) if field[0] == 1):
            parts = list(fields(device))
            name = next((value.decode() for number, value in parts if number == 1), "")
            for _, node in (field for field in parts if field[0] == 2):
                values = dict(fields(node))
                found.append((name, values.get(1, b"").decode(), values.get(8, b"").decode(), values.get(2, 0),
                              values.get(2, 0) + values.get(5, 0)))
    return found


def covered(intervals):
    """How long at least one of the intervals lasted, in milliseconds."""
    total = last = 0
    for start, end in sorted(intervals):
        total += max(0, end - max(start, last))
        last = max(last, end)
    return total / 1000


def parts_of_trace(all_events):
    begin = min(event[3] for event in all_events)
    runs, copies, updates, received = [], [], [], {"worker": [], "ps": []}
    for device, name, label, start, end in all_events:
        job = device.removeprefix("/job:").partition("/")[0]
        if device.endswith("/stream:all"):
            (copies if "_Copy" in label else runs).append((start, end))
        elif name == "RecvTensor" and job in received:
            received[job].append((start, end))
        elif job == "ps" and "_Send" not in label:
            updates.append((start, end))
    longest = max(runs, key=lambda run: run[1] - run[0], default=(begin, begin))

    def arrived(job, limit):
        return (max((end for _, end in received[job] if end <= limit), default=begin) - begin) / 1000

    whole = max(event[4] for event in all_events)
    # The program that needs the variables cannot start before they have come; what comes later, such as the number of
    # the step, is no variable of it.
    return dict(zip(PARTS, [arrived("worker", longest[1]), covered([c for c in copies if c[0] < longest[0]]),
                            covered(runs), covered([c for c in copies if c[0] >= longest[0]]), arrived("ps", whole),
                            covered(updates), (whole - begin) / 1000]))


def step_parts(directory):
    """The medians of the traced steps in milliseconds, and their number; "server_runs", if the server ran programs on a
    device, is their number in all steps. Empty without traces."""
    steps, server_runs = [], 0
    for path in sorted(glob.glob(os.path.join(directory, "step-*.trace-*.pb"))):
        with open(path, "rb") as file:
            all_events = events(file.read())
        parts = parts_of_trace(all_events)
        server_runs += sum(device.startswith("/job:ps/") and device.endswith("/stream:all") and "_Copy" not in label
                           for device, _, label, _, _ in all_events)
        if parts["programs on the device"] > 0:  # not a step that only reads or initializes
            steps.append(parts)
    if not steps:
        return {}
    return {**{name: round(statistics.median(step[name] for step in steps), 3) for name in PARTS}, "traced": len(steps),
            **({"server_runs": server_runs} if server_runs else {})}


def markdown(stages):
    """A table of the stages that have parts."""
    lines = []
    for name, stage in stages.items():
        parts = stage.get("data", {}).get("parts")
        if not parts:
            continue
        lines += ["", f"{stage['what']}: the parts of {parts['traced']} traced steps, medians. They overlap.", "",
                  "| part | ms |", "|---|---|"]
        lines += [f"| {part} | {parts[part]:g} |" for part in PARTS]
    return lines
