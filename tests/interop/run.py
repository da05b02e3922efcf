#!/usr/bin/env python3
"""Runs programs twice, in a plain TensorFlow session and on a cluster of ours, and compares what they record.

    python tests/interop/run.py [FAMILY[.PROGRAM] ...]

FAMILY is the name of a file in programs/, "programs" for all files there, "ops" for the rows of tests/ops/cases, or
"ops_apart" for the same rows with the inputs of each op on another task.
With --v2_control_flow, programs use TensorFlow 2's control flow and resource variables. Several processes share the
programs; each process has a cluster of its own.
"""
import argparse
import functools
import importlib.util
import inspect
import os
import random
import re
import sys
import time
import traceback

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

import op_rows
from cluster import FOUR_CPUS, Cluster, program_path
from steps import Steps, compare
from workers import share

tf1 = tf.compat.v1
HERE = os.path.dirname(os.path.abspath(__file__))
OPS = ("ops", "ops_apart")


def load(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def family(name):
    """The programs of a file as {name: function}, in the order of the file."""
    module = load(f"{HERE}/programs/{name}.py")
    return {n: f for n, f in vars(module).items()
            if inspect.isfunction(f) and f.__module__ == module.__name__ and not n.startswith("_")}


def families():
    return sorted(f[:-3] for f in os.listdir(f"{HERE}/programs") if f.endswith(".py"))


def pieces(word):
    """Divides FAMILY or FAMILY.PROGRAM into the pieces that processes take: single programs, or the rows of one
    file."""
    name, _, program = word.partition(".")
    if word == "programs":
        return [piece for name in families() for piece in pieces(name)]
    if name in OPS:
        return [f"{name}.{program or f}" for f in op_rows.files()
                if not program or re.fullmatch(rf"{f}(_\d+)?", program)]
    return [f"{name}.{p}" for p in family(name) if program in ("", p)] if name in families() else []


def programs(piece):
    """The programs of a piece, as [(name, function)]."""
    name, _, program = piece.partition(".")
    if name in OPS:
        file = re.sub(r"_\d+$", "", program)
        return [(f"{name}.{p}", f) for p, f in op_rows.programs(file, name == "ops_apart") if program in (file, p)]
    return [(piece, family(name)[program])]


def record(function, target, seed, expected=None):
    """Runs a program and returns its records. If the program raises an exception, the last record is this exception.
    `expected` has the records that are expected, if they are known."""
    graph = tf.Graph()
    random.seed(seed)
    np.random.seed(seed % 2**32)
    with graph.as_default():
        tf1.set_random_seed(seed)
        steps = Steps(target, graph, getattr(function, "config", None), expected)
        try:
            function(steps)
        except Exception as e:  # pylint: disable=broad-except
            text = "Traceback: " + "".join(traceback.format_exception(type(e), e, e.__traceback__)[-3:])
            steps.records.append(("error", type(e).__name__, text))
        steps.close()
    return steps.records


class Runner:
    """Runs programs on a cluster of its own."""

    def __init__(self, seed):
        self.seed = seed
        self.cluster = Cluster(program_path(), config_text=FOUR_CPUS)

    def run(self, function):
        """How the records of the two runs differ, or None."""
        theirs = record(function, "", self.seed)
        # If the program itself raises an exception in plain TensorFlow, or records nothing, it tests nothing.
        broken = theirs and theirs[-1][0] == "error" and "Traceback" in theirs[-1][2] or not theirs
        ours = record(function, self.cluster.target, self.seed, theirs)
        difference = compare(ours, theirs)
        if broken:
            difference = "the reference failed: " + (theirs[-1][2] if theirs else "nothing was recorded")
        dead = self.cluster.dead()
        if dead:
            difference = f"{difference}\n    {', '.join(dead)}; last lines:\n{self.cluster.log()}"
            self.cluster.stop()
            self.cluster = Cluster(program_path(), config_text=FOUR_CPUS)
        else:
            tf1.Session.reset(self.cluster.target)
        return difference

    def close(self):
        """Ends the cluster. Returns what is wrong with how it ended, or None."""
        dead = self.cluster.dead()
        self.cluster.stop()
        wrong = dead or [f"{t.job}/{t.index} ended with {t.process.returncode}" for t in self.cluster.all_tasks()
                         if t.process.returncode != 0]
        return f"{', '.join(wrong)}; last lines:\n{self.cluster.log()}" if wrong else None


def run_pieces(seed, chosen, report):
    """Calls report(name, difference, seconds) for each program. Runs in a process of its own."""
    tf1.disable_eager_execution()
    runner = Runner(seed)
    try:
        for piece in chosen:
            found = programs(piece)
            for name, function in found:
                start = time.time()
                report(name, runner.run(function), time.time() - start)
            if not found:
                report(piece, "there is no such program")
    finally:
        difference = runner.close()
        if difference:
            report("the end of a cluster", difference)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help="families, or family.program; all when none is given")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("INTEROP_SEED", "0")) or random.randrange(1, 2**31))
    parser.add_argument("--jobs", type=int, default=min(len(os.sched_getaffinity(0)), 4),
                        help="processes that share the programs (default: %(default)s)")
    parser.add_argument("--v2_control_flow", action="store_true")
    args = parser.parse_args()
    if args.v2_control_flow:
        tf1.enable_control_flow_v2()
        tf1.enable_resource_variables()
    else:
        tf1.disable_control_flow_v2()
        tf1.disable_resource_variables()
    chosen = []
    # The files of rows are the largest pieces. They come first, so that the processes end at about the same time.
    for word in args.programs or [*OPS, "programs"]:
        found = pieces(word)
        if not found:
            parser.error(f"there is no program {word}")
        chosen += found
    print(f"seed {args.seed}", flush=True)
    start = time.time()
    passed, failed, times = [], [], []

    def report(name, difference, seconds=0.0):
        (failed if difference else passed).append(name)
        times.append((seconds, name))
        if difference:
            print(f"FAILED {name} (seed {args.seed})\n    {difference}", flush=True)

    serve = functools.partial(run_pieces, args.seed)
    for piece, reason in share(chosen, min(args.jobs, len(chosen)), serve, report):
        report(piece or "the end of a process", reason)
    print(f"{len(passed)} of {len(passed) + len(failed)} programs agree, {time.time() - start:.0f} s; the slowest:")
    for seconds, name in sorted(times, reverse=True)[:10]:
        print(f"{seconds:8.1f} s  {name}")
    if failed:
        print("failed: " + " ".join(failed))
        sys.exit(1)


if __name__ == "__main__":
    main()
