"""What accelerator_marks measures in processes of their own. Each prints a line of JSON.

    accelerator_process.py restart MODEL.pb    the first steps of a training on GPU:0
    accelerator_process.py sessions MODEL.pb   trains in two sessions; a line on standard error is between them
    accelerator_process.py unused STEPS        memory, import and steps of a program that uses the CPU only

MODEL.pb is a graph of accelerator_models.py.
"""

import json
import os
import statistics
import sys
import time


def model(path):
    """A graph, and what each of its steps is fed."""
    import numpy as np
    import tensorbraid as tf
    definition = tf.GraphDef()
    with open(path, "rb") as file:
        definition.ParseFromString(file.read())
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
    images = graph.get_tensor_by_name("images:0").shape.as_list()
    return tf, graph, {"images:0": np.linspace(0, 1, np.prod(images), dtype=np.float32).reshape(images),
                       "labels:0": np.arange(images[0]) % 10}


def restart(path):
    tf, graph, batch = model(path)
    times = [time.perf_counter()]
    with tf.Session(graph=graph) as session:
        session.run("init")
        for _ in range(4):
            times.append(time.perf_counter())
            session.run("train", batch)
        times.append(time.perf_counter())
    # From the beginning of the first step, of the later ones, and of the session.
    return {"first_step_s": times[2] - times[1], "later_step_s": (times[-1] - times[2]) / 3,
            "session_s": times[2] - times[0]}


def sessions(path):
    tf, graph, batch = model(path)
    for number in range(2):
        if number:
            print("second session", file=sys.stderr, flush=True)
        with tf.Session(graph=graph) as session:
            session.run("init")
            session.run("train", batch)
    return {}


def unused(steps):
    began = time.process_time()
    import tensorbraid as tf
    import_s = time.process_time() - began
    import numpy as np
    x = tf.placeholder(tf.float32, [100, 784])
    labels = tf.placeholder(tf.int64, [100])
    loss = tf.losses.sparse_softmax_cross_entropy(labels, tf.layers.dense(x, 10))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    batch = {x: np.full((100, 784), 0.1, np.float32), labels: np.arange(100) % 10}
    times = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(10):  # the median of ten parts
            began = time.process_time()
            for _ in range(max(1, int(steps) // 10)):
                session.run(train, batch)
            times.append((time.process_time() - began) / max(1, int(steps) // 10))
        with open("/proc/self/status", encoding="ascii") as file:
            status = dict(line.split(":", 1) for line in file)
    plugin = os.environ.get("TENSORBRAID_ACCELERATOR_PLUGIN", "").rpartition("=")[2]
    with open("/proc/self/maps", encoding="utf-8") as file:
        assert not plugin or os.path.realpath(plugin) not in file.read(), "the plugin has been loaded"
    return {"import_ms": 1e3 * import_s, "step_us": 1e6 * statistics.median(times),
            "memory_mb": int(status["VmRSS"].split()[0]) / 1024}


if __name__ == "__main__":
    print(json.dumps({"restart": restart, "sessions": sessions, "unused": unused}[sys.argv[1]](sys.argv[2])))
