"""A program in the manner of those that run on DeepRec, with each filter, elimination and optimizer, alone and in clusters.

`make test_long` runs this, since it starts some forty processes.
"""

import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

from test_cluster_training import free_ports

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recommender.py")
LEAST_AUC = 0.6  # 0.65 to 0.74 are usual
ALONE = ["", "--ev", "--ev --ev_filter=counter --ev_elimination=gstep --optimizer=adagraddecay --smartstaged",
         "--ev --ev_filter=cbf --ev_elimination=l2 --optimizer=adamasync --micro_batch=2"]
CLUSTERS = ["--ev --ev_filter=counter --ev_elimination=l2 --optimizer=adam",
            "--ev --ev_filter=cbf --ev_elimination=gstep --optimizer=adagrad --smartstaged",
            "--ev --ev_elimination=gstep --optimizer=adamasync",
            "--ev --ev_filter=counter --ev_elimination=gstep --optimizer=ftrl",
            "--ev --ev_filter=cbf --optimizer=adagraddecay",
            "--ev --ev_elimination=l2 --optimizer=momentum --smartstaged",
            "--ev --ev_filter=cbf --ev_elimination=l2 --optimizer=sgd"]


class RecommendersTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.tasks = []
        self.addCleanup(self.kill)

    def kill(self):
        for task in self.tasks:
            task.kill()
            task.wait()
            task.stdout.close()

    def start(self, flags, checkpoint="checkpoint", cluster=None, job=None, index=0):
        """A process of the program; its messages are in the file LOG of its folder."""
        environment = dict(os.environ)
        if cluster:
            environment["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": job, "index": index}})
        with open(os.path.join(self.folder, f"{job}_{index}.log"), "a") as log:
            task = subprocess.Popen(
                [sys.executable, "-m", "tensorbraid", PROGRAM, f"--data_location={self.folder}",
                 f"--checkpoint={os.path.join(self.folder, checkpoint)}", *flags.split()],
                env=environment, text=True, stdout=subprocess.PIPE, stderr=log)
        self.tasks.append(task)
        return task

    def logs(self):
        """The ends of all logs."""
        texts = []
        for path in sorted(glob.glob(os.path.join(self.folder, "*.log"))):
            with open(path) as log:
                texts.append(log.read()[-3000:])
        return "\n".join(texts)

    def next_step(self, task):
        line = task.stdout.readline()
        self.assertRegex(line, r"^step \d+$", self.logs())
        return int(line.split()[1])

    def check_auc(self, task):
        output = task.communicate()[0]
        self.assertEqual(task.returncode, 0, self.logs())
        self.assertGreater(float(re.search(r"auc ([\d.]+)", output)[1]), LEAST_AUC)

    def test_alone(self):
        for number, flags in enumerate(ALONE):
            with self.subTest(flags=flags):
                self.check_auc(self.start(flags, f"checkpoint_{number}"))

    def test_clusters(self):
        self.check_auc(self.start(""))  # writes the data
        for number, flags in enumerate(CLUSTERS):
            with self.subTest(flags=flags):
                hosts = ["localhost:%d" % port for port in free_ports(4)]
                cluster = {"ps": hosts[:2], "chief": hosts[2:3], "worker": hosts[3:]}
                chief, *others = [self.start(flags + " --steps=200", f"cluster_{number}", cluster, job, index)
                                  for job, index in (("chief", 0), ("worker", 0), ("ps", 0), ("ps", 1))]
                self.check_auc(chief)
                for task in others:
                    task.communicate()
                    self.assertEqual(task.returncode, 0, self.logs())

    def test_a_killed_program_goes_on_from_its_last_increment(self):
        flags = "--ev --incremental_ckpt=0 --save_steps=100000 --tell_steps"
        for smart in ("", " --smartstaged"):
            with self.subTest(smart=smart):
                checkpoint = "killed" + smart.strip()
                task = self.start(flags + smart + " --steps=100000", checkpoint)
                step = 0
                while step < 40:
                    step = self.next_step(task)
                task.send_signal(signal.SIGKILL)
                task.communicate()
                task = self.start(flags + smart + f" --steps={step + 100}", checkpoint)
                self.assertGreater(self.next_step(task), step - 3)  # the save of the last step may have been killed
                self.check_auc(task)


if __name__ == "__main__":
    unittest.main()
