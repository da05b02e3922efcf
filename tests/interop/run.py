#!/usr/bin/env python3
"""Runs programs twice, in a plain TensorFlow session and on a cluster of ours, and compares what they record.

    python tests/interop/run.py [FAMILY[.PROGRAM] ...]

A family is a file in programs/, or "ops", the rows of tests/ops/cases. --v2_control_flow runs with TensorFlow 2's
control flow and resource variables.
"""
import argparse
import importlib.util
import inspect
import os
import random
import sys
import time
import traceback

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

from cluster import FOUR_CPUS, Cluster, program_path
from steps import Steps, compare

tf1 = tf.compat.v1
HERE = os.path.dirname(os.path.abspath(__file__))


def load(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def programs_of(family):
    """[(name, function)], in the order of the file."""
    if family == "ops":
        import op_rows
        return op_rows.programs()
    module = load(f"{HERE}/programs/{family}.py")
    return [(n, f) for n, f in vars(module).items()
            if inspect.isfunction(f) and f.__module__ == module.__name__ and not n.startswith("_")]


def families():
    return sorted(f[:-3] for f in os.listdir(f"{HERE}/programs") if f.endswith(".py"))


def record(function, target, seed):
    """What a program records, with what it raised itself as its last record."""
    graph = tf.Graph()
    random.seed(seed)
    np.random.seed(seed % 2**32)
    with graph.as_default():
        tf1.set_random_seed(seed)
        steps = Steps(target, graph, getattr(function, "config", None))
        try:
            function(steps)
        except Exception as e:  # pylint: disable=broad-except
            text = "Traceback: " + "".join(traceback.format_exception(type(e), e, e.__traceback__)[-3:])
            steps.records.append(("error", type(e).__name__, text))
        steps.close()
    return steps.records


class Runner:
    def __init__(self, seed):
        self.seed = seed
        self.cluster = Cluster(program_path(), config_text=FOUR_CPUS)
        self.failures = []
        self.passed = 0

    def run(self, name, function):
        theirs = record(function, "", self.seed)
        # A program whose own reference is an error of its own tests nothing.
        broken = theirs and theirs[-1][0] == "error" and "Traceback" in theirs[-1][2] or not theirs
        ours = record(function, self.cluster.target, self.seed)
        difference = compare(ours, theirs)
        if broken:
            difference = "the reference failed: " + (theirs[-1][2] if theirs else "nothing was recorded")
        dead = self.cluster.dead()
        if dead:
            difference = f"{difference}\n    {', '.join(dead)}; last lines:\n{self.cluster.log()}"
        if difference is None:
            self.passed += 1
        else:
            self.failures.append(name)
            print(f"FAILED {name} (seed {self.seed})\n    {difference}", flush=True)
        if dead:
            self.cluster.stop()
            self.cluster = Cluster(program_path(), config_text=FOUR_CPUS)
        else:
            tf1.Session.reset(self.cluster.target)

    def close(self):
        dead = self.cluster.dead()
        self.cluster.stop()
        for t in self.cluster.all_tasks():
            if t.process.returncode != 0 and not dead:
                self.failures.append(f"{t.job}/{t.index} ended with {t.process.returncode}")
                print(f"FAILED {self.failures[-1]}\n{self.cluster.log()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help="families, or family.program; all when none is given")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("INTEROP_SEED", "0")) or random.randrange(1, 2**31))
    parser.add_argument("--v2_control_flow", action="store_true")
    args = parser.parse_args()
    chosen = []
    for word in args.programs or families() + ["ops"]:
        family, _, program = word.partition(".")
        found = [(f"{family}.{n}", f) for n, f in programs_of(family) if not program or n == program]
        if not found:
            parser.error(f"there is no program {word}")
        chosen += found
    # Not before: rows may compute their inputs with TensorFlow.
    tf1.disable_eager_execution()
    if args.v2_control_flow:
        tf1.enable_control_flow_v2()
        tf1.enable_resource_variables()
    else:
        tf1.disable_control_flow_v2()
        tf1.disable_resource_variables()
    print(f"seed {args.seed}")
    start = time.time()
    runner = Runner(args.seed)
    try:
        for name, function in chosen:
            runner.run(name, function)
    finally:
        runner.close()
    print(f"{runner.passed} of {len(chosen)} programs agree, {time.time() - start:.0f} s")
    if runner.failures:
        print("failed: " + " ".join(runner.failures))
        sys.exit(1)


if __name__ == "__main__":
    main()
