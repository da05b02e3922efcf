"""Shared code of the examples in this folder: the flags of a task, its server, and the path of the data.

An example runs in one process, or as the tasks of a cluster. A task is described by the flags below, or by the engine
that started it, such as `tensorbraid launch` or mpirun.
"""

import os
import sys

import tensorbraid as tf

flags = tf.app.flags
flags.DEFINE_list("ps_hosts", [], "host:port of each parameter server, with commas between them")
flags.DEFINE_list("worker_hosts", [], "host:port of each worker")
flags.DEFINE_enum("job_name", "worker", ["ps", "worker"], "the job of this task")
flags.DEFINE_integer("task_index", 0, "the index of this task in its job")
flags.DEFINE_string("device", "", "where a worker computes, such as /gpu:0; empty: on the CPU")
flags.DEFINE_bool("issync", False, "each step uses the gradients of all workers")
FLAGS = flags.FLAGS
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # of the source tree
MNIST = os.path.join(ROOT, "examples", "data", "mnist")


def start(argv, config=None):
    """Starts the server of this task, if it is one. A parameter server serves until the workers have ended, and exits.

    A worker gets the target of its sessions, the device function for its model, and whether it is the chief. `argv` are
    the arguments that are not flags; the program exits if there are any. `config` is for the server of a worker.
    """
    if argv[1:]:
        sys.stderr.write("unknown arguments: %s\n" % " ".join(argv[1:]))
        sys.exit(2)
    task = None if FLAGS.worker_hosts else tf.train.find_task()
    if task:
        hosts = {job: task.cluster.job_tasks(job) if job in task.cluster.jobs else [] for job in ("ps", "chief", "worker")}
        FLAGS.ps_hosts, FLAGS.worker_hosts = hosts["ps"], hosts["chief"] + hosts["worker"]
        FLAGS.job_name = "ps" if task.job_name == "ps" else "worker"  # a chief is worker 0
        FLAGS.task_index = task.task_index + (len(hosts["chief"]) if task.job_name == "worker" else 0)
    if not FLAGS.worker_hosts:
        return "", FLAGS.device or None, True
    spec = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts, "worker": FLAGS.worker_hosts})
    server = tf.train.Server(spec, job_name=FLAGS.job_name, task_index=FLAGS.task_index,
                             config=None if FLAGS.job_name == "ps" else config)
    if FLAGS.job_name == "ps":
        server.join()
        sys.exit()
    worker = "/job:worker/task:%d%s" % (FLAGS.task_index, FLAGS.device)
    return server.target, tf.train.replica_device_setter(worker_device=worker, cluster=spec), FLAGS.task_index == 0


def synchronous(optimizer):
    """The optimizer that waits for the gradients of all workers; None without --issync or without a cluster."""
    workers = len(FLAGS.worker_hosts)
    return tf.train.SyncReplicasOptimizer(optimizer, workers, workers) if FLAGS.issync and workers else None
