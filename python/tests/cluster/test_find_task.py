"""tf.train.find_task: the task that the environment of a process describes."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest

PROGRAM = """
import sys
import tensorbraid as tf

task = tf.train.find_task()
if task is None:
    print("none")
    sys.exit()
again = tf.train.find_task()
assert (again.job_name, again.task_index, again.cluster) == (task.job_name, task.task_index, task.cluster)
server = task.server()
print(task.job_name, task.task_index, task.source, task.is_chief, task.device, server.target, flush=True)
if task.job_name == "ps":
    server.join()
with tf.device(tf.train.replica_device_setter(worker_device=task.device, cluster=task.cluster)):
    count = tf.get_variable("count", [], initializer=tf.zeros_initializer())
    add = count.assign_add(1.0, use_locking=True)
with tf.train.MonitoredTrainingSession(server.target, task.is_chief) as session:
    for _ in range(10):
        session.run(add)
"""


COUNTING = """
import sys
import tensorbraid as tf

task = tf.train.find_task()
server = task.server()
if task.job_name == "ps":
    print(server.target, flush=True)
    server.join()
with tf.device(tf.train.replica_device_setter(worker_device=task.device, cluster=task.cluster)):
    count = tf.get_variable("count", [], initializer=tf.zeros_initializer())
    add = count.assign_add(1.0, use_locking=True)
    tf.train.get_or_create_global_step()
with tf.train.MonitoredTrainingSession(server.target, task.is_chief, sys.argv[1]) as session:
    while True:
        print(int(session.run(add)), flush=True)
"""


def run(program, *variables):
    """Runs the program once for each environment, at the same time. Returns exit codes, outputs and errors."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program)
        token = os.path.join(folder, "token")
        with open(token, "w", encoding="utf-8") as file:
            file.write("0123456789abcdef0123\n")
        os.chmod(token, 0o600)
        tasks = [subprocess.Popen([sys.executable, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env=dict(os.environ, TENSORBRAID_TOKEN_FILE=token, TENSORBRAID_DISCOVERY_TIMEOUT="240",
                                           **each))
                 for each in variables]
        try:
            results = [(*task.communicate(timeout=300), task.returncode) for task in tasks]
        finally:
            for task in tasks:
                task.kill()
                task.communicate()
    return results


class FindTaskTest(unittest.TestCase):
    def test_a_process_alone_has_no_task(self):
        ((output, log, code),) = run(PROGRAM, {"TENSORBRAID_DISCOVERY": "none"})
        self.assertEqual((output, code), ("none\n", 0), log)

    def test_tf_config_is_found(self):
        config = {"cluster": {"worker": ["localhost:0"]}, "task": {"type": "worker", "index": 0}}
        ((output, log, code),) = run(PROGRAM, {"TF_CONFIG": json.dumps(config)})
        self.assertEqual(code, 0, log)
        self.assertTrue(output.startswith("worker 0 tf_config True /job:worker/task:0 grpc://localhost:"), output)

    def test_the_ranks_of_a_slurm_step_train_together(self):
        steps = {"SLURM_JOB_ID": str(os.getpid()), "SLURM_STEP_ID": "1", "SLURM_NTASKS": "3",
                 "SLURM_JOB_NODELIST": "localhost"}
        results = run(PROGRAM, *({**steps, "SLURM_PROCID": str(rank)} for rank in range(3)))
        for (output, log, code), start in zip(results, ("ps 0 slurm False", "worker 0 slurm True",
                                                        "worker 1 slurm False")):
            self.assertEqual(code, 0, log)
            self.assertTrue(output.startswith(start), output + log)

    @unittest.skipUnless("TENSORBRAID_PROGRAM" in os.environ, "needs the program tensorbraid")
    def test_a_worker_finds_a_parameter_server_at_another_address(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as started:
            token = os.path.join(folder, "token")
            with open(token, "w", encoding="utf-8") as file:
                file.write("0123456789abcdef0123\n")
            os.chmod(token, 0o600)

            def start(command, **variables):
                process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ, **variables))
                started.callback(process.communicate)
                started.callback(process.kill)
                return process

            def task(name):
                return start([sys.executable, "-c", COUNTING, folder], TENSORBRAID_REGISTRY=address,
                             TENSORBRAID_TASK=name, TENSORBRAID_TOKEN_FILE=token, TENSORBRAID_DISCOVERY_TIMEOUT="240")

            registry = start([os.environ["TENSORBRAID_PROGRAM"], "registry", "--ps=1", "--workers=1",
                              "--token_file=" + token])
            address = registry.stdout.readline().split()[-1]
            server, worker = task("ps/0"), task("worker/0")
            first = server.stdout.readline()
            while int(worker.stdout.readline()) < 50:
                pass
            server.kill()
            server.wait()
            with socket.socket() as held:  # so that the next process takes another port
                held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                held.bind(("", int(first.rsplit(":", 1)[1])))
                self.assertNotEqual(task("ps/0").stdout.readline(), first)
            # The values are those of the checkpoint with which the training began.
            while int(worker.stdout.readline()) >= 50:
                pass

    def test_errors_name_the_variable(self):
        ((_, log, code),) = run(PROGRAM, {"TF_CONFIG": "{"})
        self.assertEqual(code, 1)
        self.assertIn("InvalidArgumentError: TF_CONFIG: not JSON", log)
        ((_, log, code),) = run(PROGRAM, {"TENSORBRAID_REGISTRY": "localhost:1", "TENSORBRAID_TASK": "worker"})
        self.assertEqual(code, 1)
        self.assertIn("TENSORBRAID_TASK: 'worker' is not a task", log)


if __name__ == "__main__":
    unittest.main()
