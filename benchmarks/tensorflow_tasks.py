"""The TensorFlow side of compare_tensorflow: one task of a cluster of TensorFlow servers, a local session, or a client
of servers in other processes, whose address is in the configuration. `python -m tensorbraid` runs it unchanged with our
package.

Reads lines of JSON: its configuration, then {"do": "measure"}. Writes {} when it is ready, then its results. The
workloads are those of `tensorbraid bench`. Each is measured in two ways: "run" is session.run, as scripts call it, and
"callable" is make_callable, TensorFlow's fastest way to repeat a step.
"""

import functools
import json
import statistics
import sys
import threading
import time

import numpy as np
import tensorflow as tensorflow2

import tensorflow_models

tf = tensorflow2.compat.v1
tf.disable_v2_behavior()
MODELS = ("lenet", "lstm", "crnn")

BATCH, PIXELS, CLASSES, BATCHES, WARM_UP = 100, 784, 10, 32, 50


def say(message):
    print(json.dumps(message), flush=True)


def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def timed(step, count):
    times = []
    for _ in range(count):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return times


def figures(times):
    return {"median_ms": statistics.median(times) * 1e3, "min_ms": min(times) * 1e3,
            "median_us": statistics.median(times) * 1e6, "steps_per_s": len(times) / sum(times)}


def measure(steps, count):
    """Results for each of `steps`, a dict of functions by name. For tasks that no other task waits for."""
    for step in steps.values():
        timed(step, max(3, count // 10))
    say({})
    hear()
    return {name: figures(timed(step, count)) for name, step in steps.items()}


def local_step(config):
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=False)
    add = v.assign_add(1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        steps = {"run": lambda: session.run(add), "callable": session.make_callable(add)}
        say(measure(steps, 200 if config["smoke"] else 5000))


def feed(config):
    """What a feed costs: steps that use one element of an array, less the time of steps that use a small one."""
    with tf.Session() as session:
        values = tf.placeholder(tf.float32, [None])
        last = values[-1]
        large, small = (np.ones(n, np.float32) for n in (config["bytes"] // 4, 1))
        called = session.make_callable(last, feed_list=[values])
        ways = {"run": lambda array: session.run(last, {values: array}), "callable": called}
        say(measure_difference({way: (functools.partial(f, large), functools.partial(f, small))
                                for way, f in ways.items()},
                               3 if config["smoke"] else 30))


def fetch(config):
    """What a fetch costs: steps that make an array and fetch it, less the time of steps that only make it."""
    with tf.Session() as session:
        start = tf.placeholder_with_default(1.0, [])
        made = tf.fill([config["bytes"] // 4], start)
        ways = {"run": (lambda: session.run(made), lambda: session.run(made.op)),
                "callable": (session.make_callable(made), session.make_callable(made.op))}
        say(measure_difference(ways, 3 if config["smoke"] else 30))


def measure_difference(ways, count):
    """As measure, for pairs of functions: the times of the first less the median of the second, and at least 1 us."""
    for pair in ways.values():
        for function in pair:
            timed(function, 3)
    say({})
    hear()
    result = {}
    for way, (whole, rest) in ways.items():
        without = statistics.median(timed(rest, count))
        result[way] = figures([max(time - without, 1e-6) for time in timed(whole, count)])
    return result


def build(config):
    """10,000 nodes, operators of Python half of them and constants the others."""
    def chain():
        with tf.Graph().as_default():
            x = tf.constant(1.0)
            for _ in range(5000):
                x = x * 2.0

    say({})
    hear()
    result = figures(timed(chain, 1 if config["smoke"] else 5))
    say({"run": result, "callable": result})


def batches(seed):
    teacher = np.random.RandomState(7).normal(size=(PIXELS, CLASSES))
    random = np.random.RandomState(seed)
    made = []
    for _ in range(BATCHES):
        x = np.where(random.rand(BATCH, PIXELS) < 0.2, random.rand(BATCH, PIXELS), 0).astype(np.float32)
        labels = np.argmax(x @ teacher, axis=1)
        wrong = random.rand(BATCH) < 0.1
        labels[wrong] = random.randint(CLASSES, size=wrong.sum())
        made.append((x, np.eye(CLASSES, dtype=np.float32)[labels]))
    return made


def softmax(config, target):
    index, cluster = config["index"], config["cluster"]
    is_chief, is_sync = index == 0, config["mode"] == "sync"
    setter = (tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}",
                                             cluster=tf.train.ClusterSpec(cluster))
              if cluster else None)
    hooks = []
    with tf.device(setter):
        x = tf.placeholder(tf.float32, [BATCH, PIXELS])
        y = tf.placeholder(tf.float32, [BATCH, CLASSES])
        w = tf.get_variable("w", [PIXELS, CLASSES], initializer=tf.zeros_initializer(), use_resource=False)
        b = tf.get_variable("b", [CLASSES], initializer=tf.zeros_initializer(), use_resource=False)
        step = tf.train.get_or_create_global_step()
        loss = -tf.reduce_sum(y * tf.log(tf.nn.softmax(tf.matmul(x, w) + b)))
        optimizer = tf.train.GradientDescentOptimizer(0.001)
        if is_sync:
            workers = len(cluster["worker"])
            optimizer = tf.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=workers,
                                                       total_num_replicas=workers)
            hooks.append(optimizer.make_session_run_hook(is_chief))
        train = optimizer.minimize(loss, global_step=step)
    data = batches(100 + index)
    count = 100 if config["smoke"] else 2000
    with tf.train.MonitoredTrainingSession(master=target, is_chief=is_chief, hooks=hooks,
                                           save_checkpoint_secs=None, save_summaries_steps=None,
                                           log_step_count_steps=None,
                                           max_wait_secs=60) as monitored:
        # The plain session below the monitored one: the cost of the hooks is not to be measured.
        session = monitored._tf_sess()
        called = session.make_callable([train, step], feed_list=[x, y])
        turn = 0

        def batch():
            nonlocal turn
            turn += 1
            return data[turn % BATCHES]

        def run():
            images, labels = batch()
            session.run([train, step], {x: images, y: labels})

        def call():
            called(*batch())

        # Training continues before and after the measured steps, so that all workers are measured while all run.
        go = threading.Event()
        threading.Thread(target=lambda: (hear(), go.set()), daemon=True).start()
        timed(run, WARM_UP)
        timed(call, WARM_UP)
        say({})
        while not go.is_set():
            run()
        # The same number of steps of each kind. A worker that finishes early continues with steps of the second kind.
        measured = {"run": figures(timed(run, count)), "callable": figures(timed(call, count))}
        if not np.isfinite(session.run(loss, {x: data[0][0], y: data[0][1]})):
            raise RuntimeError("the loss is not finite")
        say(measured)
        while True:
            call()


def transfer(config, target):
    is_push, ps = config["bench"] == "push", len(config["cluster"]["ps"])
    elements = max(config["bytes"] // 4 // ps, 1)
    adds, reads, shards = [], [], []
    for i in range(ps):
        with tf.device(f"/job:ps/task:{i}"):
            shard = tf.get_variable(f"shard_{i}", [elements], initializer=tf.zeros_initializer(), use_resource=False)
        with tf.device("/job:worker/task:0" if is_push else f"/job:ps/task:{i}"):
            delta = tf.get_variable(f"delta_{i}", [elements], initializer=tf.ones_initializer(), use_resource=False)
        adds.append(tf.assign_add(shard, delta).op)
        with tf.device("/job:worker/task:0"):
            reads.append((tf.reduce_sum(shard) if config["sum"] else tf.identity(shard)).op)
        shards.append(shard)
    megabytes = config["bytes"] / 1e6
    count = 5 if config["smoke"] else 1000 if megabytes < 1 else 100 if megabytes < 50 else 30
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        add = tf.group(*adds) if len(adds) > 1 else adds[0]
        read = tf.group(*reads) if len(reads) > 1 else reads[0]
        adders = {"run": lambda: session.run(add), "callable": session.make_callable(add)}
        readers = {"run": lambda: session.run(read), "callable": session.make_callable(read)}
        done = 0

        def push(way):
            nonlocal done
            done += 1
            adders[way]()

        def pull(way):
            push("callable")  # so that each read gets a new value
            start = time.perf_counter()
            readers[way]()
            return time.perf_counter() - start

        if is_push:
            result = measure({way: functools.partial(push, way) for way in adders}, count)
        else:
            for way in readers:
                pull(way)
            say({})
            hear()
            result = {way: figures([pull(way) for _ in range(count)]) for way in readers}
        if session.run(shards[0])[-1] != done:
            raise RuntimeError("the variable does not hold what was added to it")
        say(result)


def sparse(config, target):
    """Gradient descent on the rows of a large table that a batch of ids selects; the loss is fetched."""
    rows, width, k, count = 1000000, 64, config["k"], 20 if config["smoke"] else 300
    with tf.device("/job:ps/task:0"):
        table = tf.get_variable("table", [rows, width], initializer=tf.zeros_initializer(), use_resource=False)
    with tf.device("/job:worker/task:0"):
        ids = tf.placeholder(tf.int64, [k])
        loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(table, ids) - 1.0))
    train = tf.train.GradientDescentOptimizer(100.0).minimize(loss)
    data = [np.random.RandomState(i).randint(rows, size=k) for i in range(BATCHES)]
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        called = session.make_callable([train, loss], feed_list=[ids])
        turn = 0

        def batch():
            nonlocal turn
            turn += 1
            return data[turn % BATCHES]

        result = measure({"run": lambda: session.run([train, loss], {ids: batch()}),
                          "callable": lambda: called(batch())},
                         count)
        if not session.run(loss, {ids: data[0]}) < 1.0:
            raise RuntimeError("the loss has not fallen")
        say(result)


def model(config):
    train, loss, feeds = getattr(tensorflow_models, config["bench"])()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run(loss, feeds)
        called = session.make_callable([train, loss], feed_list=list(feeds))
        values = list(feeds.values())
        result = measure({"run": lambda: session.run([train, loss], feeds), "callable": lambda: called(*values)},
                         20 if config["smoke"] else 60)
        if not session.run(loss, feeds) < first:
            raise RuntimeError("the loss has not fallen")
        say(result)


def main():
    config = hear()
    target = config.get("target", "")
    if config["cluster"] and not target:
        server = tf.train.Server(tf.train.ClusterSpec(config["cluster"]), job_name=config["job"],
                                 task_index=config["index"])
        target = server.target
    if config["job"] == "ps" or config["bench"] == "serve":
        say({})
        server.join()
    elif config["bench"] in ("step", "feed", "fetch", "build"):
        {"step": local_step, "feed": feed, "fetch": fetch, "build": build}[config["bench"]](config)
    elif config["bench"] in MODELS:
        model(config)
    else:
        {"softmax": softmax, "push": transfer, "pull": transfer, "sparse": sparse}[config["bench"]](config, target)


if __name__ == "__main__":
    main()
