"""A cluster of `tensorbraid serve` processes on this machine."""
import json
import os
import signal
import socket
import subprocess
import tempfile


def hold_ports(count):
    """Sockets with free ports, which no other process gets while they are open.

    They do not listen, so a server that sets SO_REUSEADDR, as ours and TensorFlow's do, can listen there meanwhile.
    """
    sockets = []
    for _ in range(count):
        held = socket.socket()
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        sockets.append(held)
    return sockets


# A ConfigProto for servers with four CPU devices.
FOUR_CPUS = "device_count { key: 'CPU' value: 4 }"


class Task:
    """One server. `target` is the address for sessions."""

    def __init__(self, program, spec, job, index, log, config=None, flags=()):
        self.job, self.index = job, index
        self.target = f"grpc://{spec[job][index]}"
        self._command = [*program, "serve", "--cluster_spec=" + json.dumps(spec), f"--job_name={job}",
                         f"--task_index={index}", *flags]
        if config is not None:
            self._command.append("--config=" + config)
        self._log = log
        self.start()

    def start(self):
        self.process = subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=self._log, text=True)
        line = self.process.stdout.readline()
        if "serves at" not in line:
            raise RuntimeError(f"{self.job}/{self.index} did not start (said {line!r})")

    def kill(self):
        self.process.kill()
        self.wait()

    def wait(self, seconds=None):
        self.process.wait(seconds)
        self.process.stdout.close()

    def restart(self):
        self.kill()
        self.start()


class Cluster:
    """By default 1 PS and 2 workers. Sessions usually have the target of worker 0. `program` is a path or the words of
    a command. `flags` are further flags of `tensorbraid serve`."""

    def __init__(self, program, jobs=None, config_text=None, flags=()):
        program = [program] if isinstance(program, str) else program
        jobs = jobs or {"ps": 1, "worker": 2}
        self._held = hold_ports(sum(jobs.values()))
        ports = iter([held.getsockname()[1] for held in self._held])
        self.spec = {job: [f"localhost:{next(ports)}" for _ in range(n)] for job, n in jobs.items()}
        self._log = tempfile.NamedTemporaryFile(mode="w+", prefix="interop_", suffix=".log")
        config = None
        if config_text is not None:
            self._config = tempfile.NamedTemporaryFile(mode="w", suffix=".pbtxt")
            self._config.write(config_text)
            self._config.flush()
            config = self._config.name
        self.tasks = {}
        try:
            for job, n in jobs.items():
                self.tasks[job] = [Task(program, self.spec, job, i, self._log, config, flags) for i in range(n)]
        except BaseException:
            self.stop()
            raise

    @property
    def target(self):
        return self.tasks["worker"][0].target

    def all_tasks(self):
        return [t for tasks in self.tasks.values() for t in tasks]

    def dead(self):
        """A text for each process that has ended by itself."""
        return [f"{t.job}/{t.index} ended with {t.process.returncode}" for t in self.all_tasks()
                if t.process.poll() is not None]

    def log(self, last=4000):
        self._log.flush()
        with open(self._log.name, errors="replace") as f:
            return f.read()[-last:]

    def stop(self):
        for t in self.all_tasks():
            if t.process.poll() is None:
                t.process.send_signal(signal.SIGTERM)
        for t in self.all_tasks():
            try:
                t.wait(10)
            except subprocess.TimeoutExpired:
                t.kill()
        for held in self._held:
            held.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stop()


def program_path():
    """The `tensorbraid` program under test: TENSORBRAID_PROGRAM, or that of the release build."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return os.environ.get("TENSORBRAID_PROGRAM", f"{root}/build/release/src/cli/tensorbraid")
