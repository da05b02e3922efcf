"""Jobs of functions for the test `ray`: ray_functions.py FUNCTION [ARGUMENTS]."""

import os
import signal
import sys

import tensorbraid as tf
import tensorbraid.ray


def run_job(function, *arguments, **options):
    options.setdefault("grace_s", 2)
    print("results:", tensorbraid.ray.run(function, arguments, **options), flush=True)


def name_of(task):
    return "%s/%d" % (task.job_name, task.task_index)


def results():
    task = tf.train.find_task()
    return "served" if task.job_name == "ps" else "%s of %d" % (name_of(task), task.cluster.num_tasks("worker"))


def secrets():
    """What is in the file of the key, if no environment variable has it and the file is on no disk."""
    path = os.environ["TENSORBRAID_TLS_KEY"]
    with open(path, encoding="utf-8") as file:
        key = file.read()
    assert not any("PRIVATE" in value for value in os.environ.values())
    assert os.readlink(path).startswith("/memfd:"), os.readlink(path)
    assert os.stat(path).st_mode & 0o777 == 0o600
    return key.split("-----")[1].split()[0]


def mistake():
    task = tf.train.find_task()
    if name_of(task) == "worker/1":
        raise KeyError("no such column")


def crash():
    if name_of(tf.train.find_task()) == "worker/1":
        os.kill(os.getpid(), signal.SIGKILL)


def until_told(folder):
    """Counts with a checkpoint until the file `stop` is there."""
    task = tf.train.find_task()
    server = task.server()
    if task.job_name == "ps":
        server.join()
    with tf.device(tf.train.replica_device_setter(worker_device=task.device, cluster=task.cluster)):
        step = tf.train.get_or_create_global_step()
        add = step.assign_add(1, use_locking=True)
    checkpoints = os.path.join(folder, "checkpoints")
    with tf.train.MonitoredTrainingSession(server.target, task.is_chief, checkpoints, save_checkpoint_steps=20,
                                           save_checkpoint_secs=None) as session:
        print(name_of(task), "counts from", session.run(step), flush=True)
        said = not task.is_chief
        while not os.path.exists(os.path.join(folder, "stop")):
            session.run(add)
            if not said and not (tf.train.latest_checkpoint(checkpoints) or "-0").endswith("-0"):
                said = True
                print("the chief has saved step 20 or a later one", flush=True)
        return int(session.run(step))


if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    if name == "too_much":
        run_job(results, resources={"GPU": 1}, ps_resources={"CPU": 1}, wait_s=2)
    elif name == "until_told":
        run_job(until_told, *arguments, restarts=1)
    else:
        run_job(globals()[name], *arguments)
