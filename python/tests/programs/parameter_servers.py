"""A parameter server and two workers in processes of their own, which train asynchronously, then synchronously.

The asynchronous workers take turns, and all synchronous gradients of a step are equal, so that the losses are the same
each time. The program prints them, and the weights at the end.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np

STEPS = 20
RUN_PROGRAM = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run_program.py")


def model(tf):
    features, labels = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.float32, [None, 3])
    weights = tf.get_variable("weights", [8, 3], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(
        labels=labels, logits=tf.matmul(features, weights)))
    return features, labels, weights, loss, tf.train.get_or_create_global_step()


def batch(seed):
    random = np.random.RandomState(seed)
    features = random.rand(32, 8)
    return features, np.eye(3)[np.argmax(features[:, :3], 1)]


def start(tf, target, index, ready, hooks=()):
    """A training session. A worker that looks for the chief's variables too early waits for 30 s, so it comes second."""
    while index > 0 and not os.path.exists(ready):
        time.sleep(0.02)
    session = tf.train.MonitoredTrainingSession(target, index == 0, hooks=list(hooks))
    open(ready, "w").close()
    return session


def asynchronous(tf, target, index, ready):
    """Each worker waits for its turn. Returns pairs of a step and its loss, and the weights."""
    features, labels, weights, loss, step = model(tf)
    train = tf.train.MomentumOptimizer(0.5, 0.9).minimize(loss, global_step=step)
    losses = []
    with start(tf, target, index, ready) as session:
        now = session.run(step)
        while now < STEPS:
            if now % 2 == index:
                losses.append((int(now), float(session.run([loss, train], dict(zip((features, labels), batch(now))))[0])))
            time.sleep(0.002)
            now = session.run(step)
        return losses, session.run(weights).ravel().tolist()


def synchronous(tf, target, index, ready):
    """All gradients of a step are those of the same batch. Returns the losses."""
    features, labels, _, loss, step = model(tf)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 2, 2)
    train = optimizer.minimize(loss, global_step=step)
    hooks = [optimizer.make_session_run_hook(index == 0), tf.train.StopAtStepHook(last_step=STEPS)]
    feeds = dict(zip((features, labels), batch(0)))
    losses = []
    with start(tf, target, index, ready, hooks) as session:
        while not session.should_stop():
            losses.append(float(session.run([loss, train], feeds)[0]))
    return losses


def task(tf, job, index, hosts, folder):
    """A task of the cluster. A worker prints its results."""
    index, hosts = int(index), json.loads(hosts)
    spec = tf.train.ClusterSpec({"ps": hosts[:1], "worker": hosts[1:]})
    server = tf.train.Server(spec, job_name=job, task_index=index)
    if job == "ps":
        server.join()
        return
    results = []
    for part in (asynchronous, synchronous):
        with tf.Graph().as_default():
            worker = "/job:worker/task:%d" % index
            device = tf.train.replica_device_setter(worker_device=worker, cluster=spec)
            with tf.device(device), tf.variable_scope(part.__name__):  # the global steps differ, too
                results.append(part(tf, server.target, index, os.path.join(folder, part.__name__)))
    print(json.dumps(results), flush=True)


def held_sockets(count):
    """Sockets with ports that no other program gets while they are open. Servers that set SO_REUSEADDR can listen there."""
    sockets = [socket.socket() for _ in range(count)]
    for held in sockets:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("localhost", 0))
    return sockets


def distinct(losses):
    """The losses in decreasing order, each once: several workers see the loss of a step."""
    result = []
    for loss in sorted(losses, reverse=True):
        if not result or result[-1] - loss > 1e-6:
            result.append(loss)
    return result


def run(tf, *of_task):
    if of_task:
        task(tf, *of_task)
        return
    sockets, folder = held_sockets(3), tempfile.mkdtemp()
    hosts = json.dumps(["localhost:%d" % held.getsockname()[1] for held in sockets])
    package = "tensorbraid" if tf.__name__ == "tensorbraid" else "tensorflow"
    tasks = [subprocess.Popen([sys.executable, RUN_PROGRAM, package, "parameter_servers", job, index, hosts, folder],
                              stdout=subprocess.PIPE, text=True)
             for job, index in (("ps", "0"), ("worker", "0"), ("worker", "1"))]
    try:
        results = [json.loads(worker.communicate(timeout=300)[0].splitlines()[-1]) for worker in tasks[1:]]
    finally:
        shutil.rmtree(folder)
        for process in tasks:
            process.kill()
            process.communicate()
        for held in sockets:
            held.close()
    (first, weights), (second, _) = results[0][0], results[1][0]
    for step, loss in sorted(first + second):
        print(step, repr(loss))
    print(*[repr(weight) for weight in weights])
    for loss in distinct(results[0][1] + results[1][1]):
        print(repr(loss))
