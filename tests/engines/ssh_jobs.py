"""What the tests of `tensorbraid launch --on=ssh` have in common: three machines with real SSH servers, and jobs on
them."""

import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import machines
import ssh_servers

BUILD = os.path.abspath(os.environ.get("TENSORBRAID_BUILD", "build/release"))
PROGRAM = os.path.join(BUILD, "src/cli/tensorbraid")
SOFTMAX = os.path.join(BUILD, "examples/mnist_softmax")
DATA = os.path.abspath("examples/data/mnist")
NAMES = ("alpha", "beta", "gamma")


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class SshJobs(unittest.TestCase):
    """Three machines, of which alpha is also called first, and jobs on them. Derive tests from it."""

    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(dir=BUILD, prefix="ssh_test"))
        cls.machines = cls.enterClassContext(machines.Machines(NAMES, cls.folder))
        cls.servers = ssh_servers.SshServers(cls.machines, cls.folder, "Host first\n  HostName alpha\n")

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def launch(self, options, command, **popen):
        arguments = [PROGRAM, "launch", "--on=ssh", "--ssh=" + self.servers.client()] + options + ["--"] + command
        return subprocess.Popen(arguments, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **popen)

    def run_job(self, options, command, code=0, **popen):
        """Runs a job to its end, and returns its output."""
        launch = self.launch(options, command, **popen)
        output = launch.communicate(timeout=200)[0]
        self.assertEqual(launch.returncode, code, output)
        return output

    def training(self, steps, *options):
        logs = "--log_dir=" + self.path("logs")
        return [SOFTMAX, "--data_dir=" + DATA, "--train_steps=%d" % steps, logs] + list(options)

    def await_line(self, launch, pattern):
        """Reads output until a line matches, and returns all that was read."""
        text = ""
        for line in launch.stdout:
            text += line
            if re.search(pattern, line):
                return text
        self.fail("no line matches %r:\n%s" % (pattern, text))

    def plug_in(self, name):
        """Connects a machine again, and waits until it can be reached."""
        self.machines.plug_in(name)
        give_up = time.monotonic() + 60
        while subprocess.run(self.servers.client().split() + [name, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.assertLess(time.monotonic(), give_up)
            time.sleep(0.1)

    def setUp(self):
        self.addCleanup(shutil.rmtree, "/tmp/job dir", ignore_errors=True)

    def left_on(self, name):
        """The processes and files of jobs on a machine."""
        left = [line for line in self.machines.processes(name) if "tensorbraid" in line or "mnist" in line]
        return left + self.machines.run(name, ["sh", "-c", "ls -d /tmp/tensorbraid* /dev/shm/* || true"],
                                        stderr=subprocess.DEVNULL).splitlines()

    def check_nothing_is_left(self, names=NAMES, limit_s=60):
        give_up = time.monotonic() + limit_s
        for name in names:
            while left := self.left_on(name):
                self.assertLess(time.monotonic(), give_up, left)
                time.sleep(0.05)


def main(limit_s=1700, **options):
    """Runs the tests of the program with these options of unittest, on machines of their own. Ends after `limit_s`."""
    machines.enter(limit_s)
    # In a /tmp of its own, so that what is left on the machines is seen there.
    subprocess.run(["sh", "-ec", machines.own_tmp()], check=True)
    os.chdir(os.getcwd())  # the same directory, in the new /tmp
    unittest.main(**options)
