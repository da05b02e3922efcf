"""Measures what a step from Python adds to a small program on an accelerator.

  TENSORBRAID_ACCELERATOR_PLUGIN=XLA_CPU=PLUGIN.so PYTHONPATH=build/release/python \
    python benchmarks/accelerator_steps.py build/release/benchmarks/accelerator_benchmark [RUNS [TYPE]]

Session.run and a callable of the session run the step of accelerator_benchmark with three variables. That program
measures the same program alone, which is executed, waited for and copied to the host, and the step in C++: once without
a break between two runs, and once with one of 10 us, which is about what Python itself takes between two steps. In this
time a thread of the plugin may have gone to sleep, and the next run wakes it. All take turns, five times. TYPE is the
type of the device: XLA_CPU, if it is not given, or GPU.
"""

import re
import statistics
import subprocess
import sys
import time

import numpy as np
import tensorbraid as tf

ROUNDS, VARIABLES, PAUSE_US = 5, 3, 10


def median_us(runs, step):
    """The median time of a call, in microseconds."""
    times = []
    for i in range(-min(100, runs), runs):
        began = time.perf_counter_ns()
        step()
        if i >= 0:
            times.append(time.perf_counter_ns() - began)
    return statistics.median(times) / 1000


def main(benchmark, runs="10000", kind="XLA_CPU"):
    runs = max(1, int(runs) // ROUNDS)
    with tf.device(f"/device:{kind}:0"):
        values = [tf.Variable(np.full((16, 16), 0.1 * i, np.float32)) for i in range(VARIABLES)]
        y = tf.negative(values[0] + values[1] + values[2])
    times = {name: [] for name in ("the program alone", "a step in C++", "the program alone, with breaks",
                                   "a step in C++, with breaks", "Session.run", "a callable")}  # fmt: skip
    with tf.Session(config=tf.ConfigProto(device_count={"XLA_CPU": 1})) as session:
        session.run(tf.global_variables_initializer())
        call = session.make_callable(y)
        np.testing.assert_allclose(call(), np.full((16, 16), -0.3, np.float32), rtol=1e-6)
        for _ in range(ROUNDS):
            for breaks, pause_us in (("", 0), (", with breaks", PAUSE_US)):
                text = subprocess.run([benchmark, str(runs), kind, str(pause_us)], check=True, capture_output=True,
                                      text=True).stdout
                alone, step = re.search(rf"with {VARIABLES} variables.*alone ([\d.]+), in a session ([\d.]+)",
                                        text).groups()
                times["the program alone" + breaks].append(float(alone))
                times["a step in C++" + breaks].append(float(step))
            times["Session.run"].append(median_us(runs, lambda: session.run(y)))
            times["a callable"].append(median_us(runs, call))
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, values in times.items():
        more = medians[name] - medians["the program alone"]
        more_than_with_breaks = medians[name] - medians["the program alone, with breaks"]
        print(f"{name}: {medians[name]:.1f} us ({more:+.1f} beyond the program alone, {more_than_with_breaks:+.1f} "
              f"beyond it with breaks), rounds {min(values):.1f} to {max(values):.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
