"""Counts the names of a list of TensorFlow's names that the package has.

usage: count_names.py NAMES.tsv

A line of the file has a name, "tf.nn.relu" or "import tf.contrib.rnn", the number of its uses and of the programs that
use it, and keyword arguments with their counts: "axis:3 name:1". The part after a comment with "second part" is listed,
not counted.
"""

import inspect
import re
import sys

from tensorbraid.runner import api


def rows(path):
    """The rows of the first and of the second part: name, uses, names of keyword arguments."""
    parts = [[], []]
    part = 0
    with open(path) as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if line.startswith("#"):
                part = 1 if "second part" in line and parts[0] else part
            elif fields[0]:
                parts[part].append((fields[0], int(fields[1]), re.findall(r"(\w+):\d+", "\t".join(fields[3:]))))
    return parts


def problem(name, keywords):
    """Why the package does not have the name, or does not take one of its keyword arguments; None if it does."""
    path = name.removeprefix("import ").removeprefix("tf").removeprefix(".")
    reason = api.refusal(path)
    if reason:
        return f"refused: {reason}"
    try:
        value = api.find(path)
    except api.Missing as missing:
        near = api.nearest(path, missing)
        return "missing" + (f"; nearest: tf.{near}" if near else "")
    try:
        parameters = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return None
    lacking = [keyword for keyword in keywords if keyword not in parameters]
    return f"no keyword {', '.join(lacking)}" if lacking else None


def main():
    first, second = rows(sys.argv[1])
    found = uses = 0
    for name, count, keywords in first:
        why = problem(name, keywords)
        found += why is None
        uses += count * (why is None)
        if why:
            print(f"{name}\t{why}")
    print(f"{found} of {len(first)} names, {uses} of {sum(count for _, count, _ in first)} uses")
    present = [name for name, _, keywords in second if problem(name, keywords) is None]
    print(f"{len(present)} of {len(second)} names of the second part", *present)


if __name__ == "__main__":
    main()
