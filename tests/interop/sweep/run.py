#!/usr/bin/env python3
"""Runs random programs on a cluster of TensorFlow's own servers and on a cluster of ours.

    python tests/interop/sweep/run.py --count=300 --seed=7

A program is drawn from a seed, and what it must fetch is known beforehand (predict.py). A failure is cut down and
printed as a program of its own. Programs on which TensorFlow disagrees with the prediction are dropped and counted.
"""
import argparse
import collections
import dataclasses
import glob
import os
import random
import sys
import time
import traceback

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
# pylint: disable=wrong-import-position
import tensorflow as tf

from cluster import Cluster, program_path
from sweep.generate import generate
from sweep.predict import predict
from sweep.program import standalone
from sweep.servers import Built, build, difference
from sweep.shrink import shrink
from workers import share

JOBS = {"ps": 2, "worker": 2}
TENSORFLOW = [sys.executable, os.path.join(os.path.dirname(HERE), "tensorflow_server.py")]
# The timeout of a step on TensorFlow's own servers. They hang on some graphs with loops.
TENSORFLOW_TIMEOUT_MS = 5000
# The largest fraction of programs on which TensorFlow may disagree with the prediction. If it is exceeded, the
# predictions are too unreliable.
DROPPED_LIMIT = 0.02


@dataclasses.dataclass
class Options:
    tensorflow_every: int
    cut: int
    directory: str


class Runner:
    """Runs programs on a cluster of our servers and on a cluster of TensorFlow's."""

    def __init__(self, options):
        self._options = options
        self._cuts = 0
        self._ours = Cluster(program_path(), JOBS)
        self._theirs = None

    def ours(self, built):
        values = built.run(self._ours.target)
        dead = self._ours.dead()
        if dead:
            values = f"{', '.join(dead)}; last lines:\n{self._ours.log()}"
            self._ours.stop()
            self._ours = Cluster(program_path(), JOBS)
        return values

    def theirs(self, built):
        if self._theirs is not None and self._theirs.dead():
            self._theirs.stop()
            self._theirs = None
        if self._theirs is None:
            self._theirs = Cluster(TENSORFLOW, JOBS)
        return built.run(self._theirs.target, TENSORFLOW_TIMEOUT_MS)

    def _fails(self, program):
        """Whether TensorFlow's servers give the predicted values and our servers do not."""
        expected = predict(program)
        try:
            built = build(program)
        except Exception:  # pylint: disable=broad-except
            return False  # TensorFlow's client refuses the program, since too much was cut away
        wrong = any(difference(self.ours(built), expected) for _ in range(2))
        return wrong and not difference(self.theirs(built), expected)

    def sweep(self, seed, number):
        """Runs the program of this seed. Returns its outcome, and a text if the outcome is not agreement."""
        program = generate(seed)
        expected = predict(program)
        built = build(program)
        ours = difference(self.ours(built), expected)
        if not ours and number % self._options.tensorflow_every:
            return "agree", None
        theirs = [difference(self.theirs(built), expected) for _ in range(3 if ours else 1)]
        if any(theirs):
            return "dropped", f"TensorFlow: {next(filter(None, theirs))}"
        if not ours:
            return "agree with TensorFlow", None
        if self._cuts < self._options.cut:
            self._cuts += 1
            program = shrink(program, self._fails)
        expected = predict(program)
        now = difference(self.ours(build(program)), expected)
        text = standalone(program, f"Seed {seed}: {now or ours}", expected)
        if self._options.directory:
            with open(f"{self._options.directory}/{seed}.py", "w", encoding="utf-8") as f:
                f.write(text)
        return "failed", text

    def keep(self, path):
        """Runs a program that failed earlier. Returns its outcome and a text, as `sweep` does."""
        with open(path, encoding="utf-8") as f:
            built = Built(f.read())
        wrong = difference(self.ours(built), built.expected)
        if wrong:
            return "failed", wrong
        wrong = difference(self.theirs(built), built.expected)
        return ("failed", f"TensorFlow: {wrong}") if wrong else ("agree with TensorFlow", None)

    def close(self):
        self._ours.stop()
        if self._theirs is not None:
            self._theirs.stop()


def serve(options, items, report):
    """Calls report(seed or path, outcome, text) for each item. Runs in a process of its own."""
    tf.compat.v1.disable_v2_behavior()
    runner = Runner(options)
    try:
        for number, item in items:
            try:
                outcome = runner.keep(item) if isinstance(item, str) else runner.sweep(item, number)
            except Exception as e:  # pylint: disable=broad-except
                outcome = "failed", "".join(traceback.format_exception(type(e), e, e.__traceback__)[-4:])
            report(item, *outcome)
    finally:
        runner.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    seed = int(os.environ.get("INTEROP_SEED", "0")) or random.randrange(1, 2**31)
    parser.add_argument("--seed", type=int, default=seed, help="the first program's; the next ones have the next seeds")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=min(len(os.sched_getaffinity(0)), 4))
    parser.add_argument("--tensorflow_every", type=int, default=1,
                        help="run every so manieth program on TensorFlow's servers, and each that fails on ours")
    parser.add_argument("--cut", type=int, default=3, help="how many failures each process cuts down")
    parser.add_argument("--directory", help="write the programs that fail there")
    parser.add_argument("--no_kept", action="store_true", help="leave out the programs in kept/")
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    start = time.time()
    counts = collections.Counter()

    def report(item, outcome, text):
        counts[outcome] += 1
        if text:
            print(f"{outcome.upper()} {item}\n{text}", flush=True)

    items = [] if args.no_kept else sorted(glob.glob(f"{HERE}/kept/*.py"))
    items += range(args.seed, args.seed + args.count)
    options = Options(args.tensorflow_every, args.cut, args.directory)
    for item, reason in share(list(enumerate(items)), args.jobs, lambda i, r: serve(options, i, r), report):
        report(item and item[1], "failed", reason)
    print(f"{', '.join(f'{n} {outcome}' for outcome, n in sorted(counts.items()))}; {time.time() - start:.0f} s")
    if counts["dropped"] > max(2, DROPPED_LIMIT * (counts["dropped"] + counts["agree with TensorFlow"])):
        sys.exit("TensorFlow disagrees too often with what is predicted")
    sys.exit(1 if counts["failed"] else 0)


if __name__ == "__main__":
    main()
