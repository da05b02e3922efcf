"""How fast lines of the Criteo format are read, shuffled, batched and parsed, on one core, here and by TensorFlow.

    PYTHONPATH=build/release/python build/release/python_venv/bin/python benchmarks/criteo_lines.py \\
        --tensorflow=build/release/interop_venv/bin/python

A line has a label, 13 integers and 26 hexadecimal strings, any of which may be missing, with tabs between them. Both
packages run the same program. Each runs --rounds times, in turn, in a process of its own, and its fastest run counts. The
seconds are those of the processor, which depend little on what else the machine does. The sums of what they have read
must be equal. Without --tensorflow, only this package runs.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time


def write(path, lines):
    """Makes a file. Its numbers and strings are random, and a fifth of the numbers and a tenth of the strings missing."""
    draw = random.Random(1)
    with open(path, "w") as file:
        for _ in range(lines):
            numbers = ["" if draw.random() < 0.2 else str(int(draw.expovariate(0.01)) - 1) for _ in range(13)]
            words = ["" if draw.random() < 0.1 else "%08x" % draw.getrandbits(32) for _ in range(26)]
            file.write("\t".join([str(draw.randint(0, 1)), *numbers, *words]) + "\n")


def read(package, path, lines):
    """Reads the file with a package, and prints the speed and the sums of the values."""
    if package == "tensorflow":
        import tensorflow
        tf = tensorflow.compat.v1
        tf.disable_v2_behavior()
    else:
        import tensorbraid as tf
    defaults = [[0]] + [[0.0]] * 13 + [[""]] * 26
    batches = tf.data.TextLineDataset(path).shuffle(20000, seed=1).batch(2048)
    batches = batches.map(lambda line: tf.io.decode_csv(line, defaults, field_delim="\t"))
    values = tf.data.make_one_shot_iterator(batches).get_next()
    sums = [tf.reduce_sum(values[0]), tf.reduce_sum(tf.add_n(values[1:14])), tf.reduce_sum(
        tf.cast(tf.strings.length(values[39]), tf.int64)), tf.group(*values)]
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    totals = [0, 0, 0]
    with tf.Session(config=config) as session:
        begin = time.process_time()
        try:
            while True:
                totals = [total + float(part) for total, part in zip(totals, session.run(sums)[:3])]
        except tf.errors.OutOfRangeError:
            pass
        seconds = time.process_time() - begin
    print(json.dumps({"lines_per_s": lines / seconds, "sums": totals}))


def run(python, package, path, lines):
    """The result of `read` in a new process on one core."""
    core = sorted(os.sched_getaffinity(0))[0]
    program = [python, __file__, "--read", package, "--file", path, "--lines", str(lines)]
    done = subprocess.run(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    if done.returncode:
        sys.exit(f"{package} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", help="a Python that has TensorFlow")
    parser.add_argument("--lines", type=int, default=200000, help="how many lines the file has")
    parser.add_argument("--rounds", type=int, default=3, help="how often each package runs")
    parser.add_argument("--file", help=argparse.SUPPRESS)
    parser.add_argument("--read", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        read(options.read, options.file, options.lines)
        return
    pythons = {"tensorbraid": sys.executable}
    if options.tensorflow:
        pythons["tensorflow"] = options.tensorflow
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log.tsv")
        write(path, options.lines)
        found = {package: [] for package in pythons}
        for _ in range(options.rounds):
            for package, python in pythons.items():
                found[package].append(run(python, package, path, options.lines))
    best = {package: max(result["lines_per_s"] for result in results) for package, results in found.items()}
    for package, speed in best.items():
        print(f"{package}: {speed:,.0f} lines/s on one core")
    if options.tensorflow:
        sums = [results[0]["sums"] for results in found.values()]
        if any(abs(a - b) > 1e-6 * max(1.0, abs(b)) for a, b in zip(*sums)):
            sys.exit(f"the packages have read different values: {sums}")
        print(f"ratio {best['tensorbraid'] / best['tensorflow']:.2f}")


if __name__ == "__main__":
    main()
