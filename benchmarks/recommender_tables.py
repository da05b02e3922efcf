"""Steps that look up and update growing tables: this package, and tensorflow-recommenders-addons (TFRA) beside it.

  python benchmarks/recommender_tables.py --tfra_python=PATH

PATH is a Python that has TFRA 0.8.1 and TensorFlow 2.16.2. A step looks up 2,048 keys in each of 26 tables with rows of
16 numbers, and updates the rows by Adagrad. Keys follow Zipf's law with the exponent 1.05 over 1e8 keys. The tables are on
a parameter server, and the worker is another process. The two libraries alternate, with new processes each time. The
same steps run twice: from empty tables, and then with known keys. Prints the median step of each, the time of processors
for a step in both processes together, and ratios.
"""

import argparse
import json
import socket
import statistics
import subprocess
import sys
import time

import numpy as np

from click_models import processor_seconds

TABLES, BATCH, DIM, EXPONENT, KEYS = 26, 2048, 16, 1.05, 1e8
TITLES = {"empty": "from empty tables", "known": "with known keys"}


def batches(count, seed):
    """Keys for `count` steps, each int64 [TABLES, BATCH]."""
    random = np.random.RandomState(seed)
    for _ in range(count):
        u = random.uniform(size=(TABLES, BATCH))
        yield (((KEYS ** (1 - EXPONENT) - 1) * u + 1) ** (1 / (1 - EXPONENT))).astype(np.int64)


def session_of(tf, cluster):
    """A session of this worker in the cluster, or of this process if there is none."""
    if cluster is None:
        return tf.Session()
    server = tf.train.Server(cluster, job_name="worker", task_index=0)
    return tf.Session(server.target)


def step_of_ours(cluster):
    """A function that makes a step with the keys it is given."""
    import tensorbraid as tf

    keys = tf.placeholder(tf.int64, [TABLES, BATCH])
    with tf.device(cluster and tf.train.replica_device_setter(cluster=cluster)):
        tables = [tf.get_embedding_variable(f"table_{i}", DIM) for i in range(TABLES)]
        rows = [tf.nn.embedding_lookup(tables[i], keys[i]) for i in range(TABLES)]
        train = tf.train.AdagradOptimizer(0.01).minimize(tf.add_n([tf.reduce_sum(tf.square(x)) for x in rows]))
    session = session_of(tf, cluster)
    session.run(tf.global_variables_initializer())
    return session.make_callable(train, [keys])


def step_of_tfra(cluster):
    """The same with TFRA, in TensorFlow's graph mode."""
    import tensorflow as tf2
    from tensorflow_recommenders_addons import dynamic_embedding as de

    tf = tf2.compat.v1
    tf.disable_eager_execution()
    keys = tf.placeholder(tf.int64, [TABLES, BATCH])
    rows = []
    with tf.device(cluster and tf.train.replica_device_setter(cluster=cluster)):
        for i in range(TABLES):
            table = de.get_variable(f"table_{i}", dim=DIM, initializer=tf.truncated_normal_initializer(),
                                    init_size=1 << 20, devices=["/job:ps/task:0/CPU:0" if cluster else "/CPU:0"])
            unique, places = tf.unique(keys[i])
            rows.append(tf.gather(de.embedding_lookup(table, unique, name=f"lookup_{i}"), places))
        optimizer = de.DynamicEmbeddingOptimizer(tf.train.AdagradOptimizer(0.01))
        train = optimizer.minimize(tf.add_n([tf.reduce_sum(tf.square(x)) for x in rows]))
    session = session_of(tf, cluster)
    session.run(tf.global_variables_initializer())
    return session.make_callable(train, [keys])


def serve(library, cluster):
    """Is the parameter server, until it is killed."""
    if library == "tensorbraid":
        import tensorbraid as tf
    else:
        import tensorflow.compat.v1 as tf
        import tensorflow_recommenders_addons  # noqa: F401, whose ops the server needs
    tf.train.Server(cluster, job_name="ps", task_index=0).join()


def measure(library, steps, cluster, server):
    """Prints the medians of the steps' times, from empty tables and with known keys, as a line of JSON. The first fifth of
    the steps is not counted. `server` is the process of the server, if there is one."""
    step = {"tensorbraid": step_of_ours, "tfra": step_of_tfra}[library](cluster)
    results = {}
    all_keys = list(batches(steps, seed=1))
    for name in TITLES:
        times = []
        processors = -time.process_time() - (processor_seconds(server) if server else 0)
        for keys in all_keys:
            begin = time.perf_counter()
            step(keys)
            times.append(time.perf_counter() - begin)
        processors += time.process_time() + (processor_seconds(server) if server else 0)
        counted = times[steps // 5:]
        results[name] = {"ms": 1e3 * statistics.median(counted), "longest_ms": 1e3 * max(counted),
                         "processors_ms": 1e3 * processors / steps}
    print(json.dumps(results), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tfra_python", help="a Python that has TFRA; without it, this package alone is measured")
    parser.add_argument("--rounds", type=int, default=3, help="how often each library runs")
    parser.add_argument("--steps", type=int, default=200, help="steps of each run")
    parser.add_argument("--local", action="store_true", help="without a parameter server, in one process")
    parser.add_argument("--library", choices=["tensorbraid", "tfra"], help="is one process of a measurement")
    parser.add_argument("--cluster", type=json.loads, help="the addresses, for a process of a measurement")
    parser.add_argument("--server", type=int, help="the process of the parameter server, for the worker")
    parser.add_argument("--serve", action="store_true", help="whether this process is the parameter server")
    flags = parser.parse_args()
    if flags.library and flags.serve:
        serve(flags.library, flags.cluster)
    elif flags.library:
        measure(flags.library, flags.steps, flags.cluster, flags.server)
    else:
        compare(flags)


def free_address():
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return f"localhost:{listener.getsockname()[1]}"


def compare(flags):
    """Measures both libraries alternately, and prints the ratio."""
    pythons = {"tensorbraid": sys.executable}
    if flags.tfra_python:
        pythons["tfra"] = flags.tfra_python
    ms = {(library, name): [] for library in pythons for name in TITLES}
    for _ in range(flags.rounds):
        for library, python in pythons.items():
            command = [python, __file__, f"--library={library}", f"--steps={flags.steps}"]
            server = None
            if not flags.local:
                command.append("--cluster=" + json.dumps({"ps": [free_address()], "worker": [free_address()]}))
                server = subprocess.Popen(command + ["--serve"], stderr=subprocess.DEVNULL)
                command.append(f"--server={server.pid}")
            try:
                run = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            finally:
                if server is not None:
                    server.kill()
                    server.wait()
            for name, result in json.loads(run.stdout.splitlines()[-1]).items():
                ms[library, name].append(result["ms"])
                print(f"{library:>12}, {TITLES[name]:>17}: {result['ms']:7.2f} ms a step, of processors "
                      f"{result['processors_ms']:.1f} ms, the longest {result['longest_ms']:.1f} ms", flush=True)
    if flags.tfra_python:
        for name, title in TITLES.items():
            ratio = statistics.median(ms["tfra", name]) / statistics.median(ms["tensorbraid", name])
            print(f"{title}, TFRA takes {ratio:.2f} times as long")


if __name__ == "__main__":
    main()
