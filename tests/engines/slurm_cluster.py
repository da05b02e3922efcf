"""A Slurm cluster for tests: Debian's slurmctld, slurmd and munged on machines of machines.py.

The controller runs on the machine of the test itself (login), where `srun` and its like work, too. Times are short: a node
that dies is noticed after 5 to 10 s, and a job has 5 s between SIGTERM and SIGKILL.
"""

import os
import subprocess
import time

CONFIGURATION = """
ClusterName=test
SlurmctldHost=login(10.77.0.1)
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile=/run/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile=/run/slurmd.pid
SlurmdSpoolDir=/run/slurmd
SlurmdLogFile={folder}/slurmd-%h.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=8
KillWait=5
GresTypes=gpu
NodeName=alpha NodeAddr={alpha} CPUs=4
NodeName=beta NodeAddr={beta} CPUs=4
NodeName=gamma NodeAddr={gamma} CPUs=4 Gres=gpu:2
PartitionName=main Nodes=alpha,beta Default=YES MaxTime=INFINITE OverTimeLimit=0
PartitionName=gpu Nodes=gamma MaxTime=INFINITE
PartitionName=all Nodes=alpha,beta,gamma MaxTime=INFINITE
"""
NODES = ("alpha", "beta", "gamma")  # gamma alone has GPUs, so to speak: devices that every machine has


def await_true(condition, limit_s=60):
    give_up = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < give_up, "the cluster does not get ready"
        time.sleep(0.05)


class Cluster:
    """Starts the daemons on `machines`, which has NODES. Its files are in `folder`, which all machines see."""

    def __init__(self, machines, folder):
        self._machines = machines
        self._folder = folder
        self._key = os.path.join(folder, "munge.key")
        with open(self._key, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(os.urandom(128))
        with open(os.path.join(folder, "gres.conf"), "w", encoding="utf-8") as file:
            for device in ("/dev/null", "/dev/zero"):
                file.write("NodeName=gamma Name=gpu File=%s\n" % device)
        os.environ["SLURM_CONF"] = os.path.join(folder, "slurm.conf")
        with open(os.environ["SLURM_CONF"], "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(folder=folder, **machines.address))
        subprocess.run(["sh", "-ec", "mount -t tmpfs tmpfs /run; " + self._munge()], check=True)
        subprocess.run(["slurmctld"], check=True)
        for name in NODES:
            self.start(name)

    def _munge(self):
        return ("mkdir -m 755 /run/munge; munged --force --key-file=%s --log-file=/run/munge/log --seed-file=/run/munge/seed"
                " --pid-file=/run/munge/pid" % self._key)

    def start(self, name):
        """Starts the daemons of a node, after the start of its machine, and waits until it takes jobs."""
        self._machines.run(name, ["sh", "-ec", self._munge() + "; exec slurmd"])
        await_true(lambda: self.state(name) in ("idle", "mixed", "allocated"))

    def state(self, name):
        return self.output("sinfo", "--noheader", "--nodes=" + name, "--partition=gpu,main", "--format=%T")

    def jobs(self):
        """The jobs that have not ended, as `number state` lines."""
        return self.output("squeue", "--noheader", "--format=%i %T").splitlines()

    @staticmethod
    def output(*command):
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
