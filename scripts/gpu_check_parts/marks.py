"""The table of marks of gpu_check: what is asked of a card, and what the stages have measured."""

DTYPES = ["float32", "bfloat16"]
# The stage that measures our steps, and what its input is called in the results of the other libraries.
OURS = {("float32", "device"): "resnet50_float32", ("bfloat16", "device"): "resnet_bfloat16",
        ("float32", "host"): "resnet50_fed_float32", ("bfloat16", "host"): "resnet50_fed_bfloat16"}
INPUTS = {"device": "one batch on the device", "host": "a batch from the host in each step"}


def stage_data(report, stage):
    """The data of a stage, and why it has none: "" if it passed."""
    entry = report["stages"].get(stage)
    if entry is None:
        return {}, f"the stage {stage} has not run"
    data = entry.get("data", {})
    if "absent" in data:
        return {}, data["absent"]
    if entry["result"] != "passed":
        return {}, f"the stage {stage} failed: {entry.get('why', '')}"
    return data, ""


def at_least(report, what, ours, other, mark, unit="steps/s"):
    """A row of the table: our speed divided by another speed must reach the mark.

    `ours` and `other` are pairs of a speed, or None, and the reason why there is none.
    """
    row = {"what": what, "unit": unit, "ours": ours[0], "other": other[0], "mark": f">= {mark:g} x"}
    why = "; ".join(dict.fromkeys(reason for reason in (ours[1], other[1]) if reason))
    if why or not ours[0] or not other[0]:
        return {**row, "ratio": None, "result": "not measured", "note": why or "a value is 0"}
    ratio = ours[0] / other[0]
    return {**row, "ratio": round(ratio, 3), "result": judged(report, ratio >= mark)}


def at_most(report, what, value, why, mark, unit):
    row = {"what": what, "unit": unit, "ours": value, "other": None, "ratio": None, "mark": f"<= {mark:g} {unit}"}
    if value is None:
        return {**row, "result": "not measured", "note": why}
    return {**row, "result": judged(report, value <= mark)}


def judged(report, holds):
    # A rehearsal has small sizes and no card.
    return "rehearsed" if report["rehearsal"] else "met" if holds else "missed"


def ours(report, stage, key="steps_per_s"):
    data, why = stage_data(report, stage)
    return data.get(key), why or ("" if key in data else f"the stage {stage} has no {key}")


def of_library(report, stage, key):
    data, why = stage_data(report, stage)
    return data.get("steps_per_s", {}).get(key), why


def resnet_rows(report, key):
    rows = []
    for dtype in DTYPES:
        for library, stage, mark in [("PyTorch, eager, the faster layout", "pytorch", 1.0), ("JAX", "jax", 0.95)]:
            what = f"ResNet-50, {dtype}, {INPUTS[key]}, beside {library}"
            rows.append(at_least(report, what, ours(report, OURS[dtype, key]),
                                 of_library(report, f"{stage}_{dtype}", key), mark))
    return rows


def softmax_rows(report):
    data, why = stage_data(report, "speeds")
    speeds = {row["key"]: row for row in data.get("rows", []) if "key" in row}

    def speed(key):
        row = speeds.get(key, {})
        return row.get("value"), why or row.get("note", "the stage speeds has no such row")

    rows = []
    for key, what, mark in [("softmax_device", "one batch on the device", 60),
                            ("softmax_fed", "a batch from the host in each step", 150)]:
        value, reason = speed(key)
        us = None if value is None else round(1000 * value, 1)
        rows.append(at_most(report, f"softmax regression, one process, {what}, median step", us, reason, mark, "us"))
    one, two = speed("softmax_workers_1"), speed("softmax_workers_2")
    none = [(value, "" if value is not None else reason) for value, reason in (two, one)]
    return rows, at_least(report, "softmax regression, two workers on one card, sum, beside one alone", *none, 0.85)


def marks(report):
    """The rows of the table: what, unit, ours, other, ratio, mark, result (met, missed, not measured, or rehearsed) and
    perhaps a note."""
    softmax, softmax_workers = softmax_rows(report)
    server = ours(report, "server_resnet50")
    return [*resnet_rows(report, "device"), *resnet_rows(report, "host"), *softmax,
            at_least(report, "ResNet-50, float32, asynchronous, server on the CPU and one worker, beside one process",
                     server, ours(report, "resnet50_float32"), 0.6),
            at_least(report, "ResNet-50, float32, two workers on one card, sum, beside one alone",
                     ours(report, "two_workers_resnet50"), server, 0.85),
            softmax_workers]


def number(value):
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def markdown(rows):
    lines = ["", "| asked for | ours | other | unit | ratio | mark | result |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        result = row["result"] + (": " + " ".join(row["note"].split()) if "note" in row else "")
        cells = [row["what"], number(row["ours"]), number(row["other"]), row["unit"], number(row["ratio"]), row["mark"],
                 result.replace("|", "/")]
        lines.append("| " + " | ".join(cells) + " |")
    return lines
