"""train_and_evaluate on a cluster that TF_CONFIG describes: a chief, a worker, a parameter server and an evaluator."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from test_cluster_training import free_ports

TASK = """
import sys
import numpy as np
import tensorbraid as tf

random = np.random.RandomState(0)
x = random.rand(64, 2).astype(np.float32)
y = x @ np.array([[2.0], [-1.0]], np.float32) + 0.5


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    prediction = tf.matmul(features["x"], w) + b
    loss = tf.reduce_mean(tf.square(prediction - labels))
    step = tf.train.get_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    print("placed", mode, w.device, flush=True)
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, prediction)}
    return tf.estimator.EstimatorSpec(mode, prediction, loss, train, metrics)


config = tf.estimator.RunConfig(save_checkpoints_steps=50, experimental_max_worker_delay_secs=0)
estimator = tf.estimator.Estimator(model_fn, sys.argv[1], config)
inputs = tf.estimator.inputs.numpy_input_fn
result = tf.estimator.train_and_evaluate(
    estimator,
    tf.estimator.TrainSpec(inputs({"x": x}, y, 16, None, shuffle=True), max_steps=200),
    tf.estimator.EvalSpec(inputs({"x": x}, y, 16, 1, shuffle=False), steps=None, start_delay_secs=0, throttle_secs=1))
print("ended", config.task_type, result, flush=True)
if config.task_type == "evaluator":
    metrics = estimator.evaluate(inputs({"x": x}, y, 16, 1, shuffle=False))
    print(metrics["global_step"], metrics["loss"], flush=True)
"""


class EstimatorClusterTest(unittest.TestCase):
    def test_each_task_does_its_part_and_ends(self):
        ports = ["localhost:%d" % port for port in free_ports(3)]
        cluster = {"chief": ports[:1], "worker": ports[1:2], "ps": ports[2:]}
        jobs = ("ps", "chief", "worker", "evaluator")
        with tempfile.TemporaryDirectory() as folder:
            tasks = {
                job: subprocess.Popen(
                    [sys.executable, "-c", TASK, folder], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    env=dict(os.environ, TF_CONFIG=json.dumps({"cluster": cluster, "task": {"type": job, "index": 0}})))
                for job in jobs}
            try:
                outputs = {job: task.communicate(timeout=300) for job, task in tasks.items()}
            finally:
                for task in tasks.values():
                    task.kill()
                    task.communicate()
            for job, (output, log) in outputs.items():
                self.assertEqual(tasks[job].returncode, 0, log)
                self.assertNotIn("Traceback", log)
                if job == "ps":
                    self.assertEqual(output, "", "a parameter server's part ends the program")
                else:
                    self.assertIn("ended %s None" % job, output)
            self.assertTrue(os.listdir(os.path.join(folder, "eval")))
        for job in ("chief", "worker"):
            self.assertIn("placed train /job:ps/task:0", outputs[job][0])
        metrics = outputs["evaluator"][0].splitlines()[-1]
        self.assertGreaterEqual(int(metrics.split()[0]), 200)
        # It begins at 1.6. If a worker's first gradient is applied last, as on a busy machine, it ends at 0.2.
        self.assertLess(float(metrics.split()[1]), 0.5)


@unittest.skipUnless("TENSORBRAID_PROGRAM" in os.environ, "needs the program tensorbraid")
class LaunchTest(unittest.TestCase):
    def test_launch_makes_the_cluster_that_train_and_evaluate_expects(self):
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, "model")
            launch = [os.environ["TENSORBRAID_PROGRAM"], "launch", "--env-style=tf_config", "--ps=1", "--workers=2",
                      "--evaluator", "--log_dir=" + folder, "--", sys.executable, "-c", TASK, model]
            done = subprocess.run(launch, text=True, capture_output=True, timeout=300, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            logs = {}
            for task in ("ps-0", "chief-0", "worker-0", "evaluator-0"):
                with open(os.path.join(folder, task + ".log"), encoding="utf-8") as file:
                    logs[task.split("-")[0]] = file.read()
        for job in ("chief", "worker", "evaluator"):
            self.assertIn("ended %s None" % job, logs[job])
        for job in ("chief", "worker"):
            self.assertIn("placed train /job:ps/task:0", logs[job])
        self.assertNotIn("ended", logs["ps"])
        step, loss = logs["evaluator"].splitlines()[-1].split()
        self.assertGreaterEqual(int(step), 200)
        self.assertLess(float(loss), 0.5)


class EngineTest(unittest.TestCase):
    def run_step(self, **more):
        """Runs the program as the three ranks of a Slurm step. Returns their exit codes, outputs and logs."""
        with tempfile.TemporaryDirectory() as folder:
            path, token = os.path.join(folder, "program.py"), os.path.join(folder, "token")
            for name, text in ((path, TASK), (token, "0123456789abcdef\n")):
                with open(name, "w", encoding="utf-8") as file:
                    file.write(text)
            os.chmod(token, 0o600)
            step = {"SLURM_JOB_ID": str(os.getpid()), "SLURM_STEP_ID": "3", "SLURM_NTASKS": "3",
                    "SLURM_JOB_NODELIST": "localhost", "TENSORBRAID_TOKEN_FILE": token,
                    "TENSORBRAID_DISCOVERY_TIMEOUT": "240", **more}
            ranks = [
                subprocess.Popen([sys.executable, path, os.path.join(folder, "model" + ("" if more else str(rank)))],
                                 text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=dict(os.environ, SLURM_PROCID=str(rank), **step))
                for rank in range(3)]
            try:
                return [(*rank.communicate(timeout=300), rank.returncode) for rank in ranks]
            finally:
                for rank in ranks:
                    rank.kill()
                    rank.communicate()

    def test_the_ranks_of_a_step_train_together_if_a_variable_says_so(self):
        outputs = []
        for output, log, code in self.run_step(TENSORBRAID_PS="1"):
            self.assertEqual(code, 0, log)
            outputs.append(output)
        self.assertEqual(outputs[0], "", "rank 0 is the parameter server")
        for output, job in zip(outputs[1:], ("chief", "worker")):
            self.assertIn("placed train /job:ps/task:0", output)
            self.assertIn("ended %s None" % job, output)

    def test_otherwise_each_rank_trains_alone(self):
        for output, log, code in self.run_step():
            self.assertEqual(code, 0, log)
            self.assertIn("ended worker ({", output)
            self.assertNotIn("/job:ps", output)


if __name__ == "__main__":
    unittest.main()
