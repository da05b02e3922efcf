"""Clusters, servers, and the placement of a replica's variables."""

import numbers
import os
import sys

from tensorbraid import _core, errors
from tensorbraid.internal import arguments, credentials, session_config
from tensorbraid.internal.device_spec import DeviceSpec

__all__ = ["ClusterSpec", "Server", "Task", "find_task", "replica_device_setter"]


class ClusterSpec:
    """The tasks of a cluster and their addresses. Source: tf.train.ClusterSpec."""

    def __init__(self, cluster):
        if isinstance(cluster, ClusterSpec):
            cluster = cluster._jobs
        elif hasattr(cluster, "DESCRIPTOR"):  # a ClusterDef
            cluster = {job.name: dict(job.tasks) for job in cluster.job}
        if not hasattr(cluster, "items"):
            raise TypeError("`cluster` must be a dictionary of one or more jobs, a ClusterDef or a ClusterSpec: "
                            f"{cluster!r}")
        for job, tasks in cluster.items():
            addresses = tasks.values() if isinstance(tasks, dict) else [tasks] if isinstance(tasks, str) else tasks
            is_list = hasattr(addresses, "__iter__") and all(isinstance(address, (str, bytes)) for address in addresses)
            if not isinstance(job, str) or not is_list:
                raise TypeError("ClusterSpec: the argument 'cluster' must have the addresses of its tasks, strings, for "
                                f"the name of each job, but has {job!r}: {tasks!r}")
        self._jobs = {job: dict(tasks) if isinstance(tasks, dict) else dict(enumerate(tasks))
                      for job, tasks in cluster.items()}
        self._core = _core.ClusterSpec(self._jobs)

    @property
    def jobs(self):
        """The names of the jobs."""
        return self._core.jobs

    def num_tasks(self, job_name):
        """How many tasks a job has."""
        self._check_job(job_name)
        return self._core.num_tasks(job_name)

    def task_indices(self, job_name):
        """The numbers of a job's tasks."""
        self._check_job(job_name)
        return self._core.task_indices(job_name)

    def task_address(self, job_name, task_index):
        """The address of a task, "host:port"."""
        self._check_job(job_name)
        if task_index not in self._jobs[job_name]:
            raise ValueError(f"No task with index {task_index} in job '{job_name}'")
        return self._core.task_address(job_name, task_index)

    def _check_job(self, job_name):
        if job_name not in self._jobs:
            raise ValueError(f"No such job in cluster: '{job_name}'")

    def job_tasks(self, job_name):
        """The addresses of a job's tasks."""
        self._check_job(job_name)
        return [self._jobs[job_name][i] for i in sorted(self._jobs[job_name])]

    def as_dict(self):
        """The addresses by job: a list, or a dict if numbers are missing."""
        return {job: self.job_tasks(job) if sorted(tasks) == list(range(len(tasks))) else dict(tasks)
                for job, tasks in self._jobs.items()}

    def as_cluster_def(self):
        """The message ClusterDef."""
        from tensorbraid.internal.protobuf_messages import find

        make_job = find("tensorbraid.train", "JobDef")
        jobs = [make_job(name=name, tasks=tasks) for name, tasks in sorted(self._jobs.items())]
        return find("tensorbraid.train", "ClusterDef")(job=jobs)

    def __reduce__(self):
        return type(self), (self._jobs,)

    def __bool__(self):
        return bool(self._jobs)

    def __eq__(self, other):
        return isinstance(other, ClusterSpec) and self._core == other._core


# Programs keep the target of a server and forget the server, so a server that was started serves until they end.
_started = []


def stop_servers():
    """Stops the servers of this process, so its task leaves the cluster although the process goes on."""
    while _started:
        _started.pop()._stop()


class Server:
    """The server of a task. It serves until the program ends. Source: tf.train.Server.

    Raises InvalidArgumentError for a job or task that the cluster does not have and for an address that it cannot
    listen on, and AlreadyExistsError if the port is taken. It listens for other machines only with certificates
    (docs/from_tensorflow.md).
    """

    def __init__(self, server_or_cluster_def, job_name=None, task_index=None, protocol=None, config=None, start=True):
        if hasattr(server_or_cluster_def, "default_session_config"):  # a ServerDef
            server = server_or_cluster_def
            job_name = server.job_name if job_name is None else job_name
            task_index = server.task_index if task_index is None else task_index
            protocol = server.protocol or None if protocol is None else protocol
            config = server.default_session_config if config is None else config
            server_or_cluster_def = server.cluster
        if protocol not in (None, "grpc", "grpc++", "star_server"):  # the latter two are DeepRec's
            raise NotImplementedError("a protocol other than grpc of a Server")
        self._cluster = ClusterSpec(server_or_cluster_def)
        arguments.check(job_name is None or isinstance(job_name, str), "job_name", "a string", job_name)
        arguments.check(task_index is None or isinstance(task_index, numbers.Integral), "task_index", "an integer",
                        task_index)
        self._place = job_name or "", task_index or 0
        try:
            self._server = _core.Server._make(self._cluster._core, *self._place,
                                              session_config.text_of(config), start, credentials.of_server())
        except errors.OpError as error:
            raise type(error)(None, None, credentials.in_words_of_python(error.message)) from None
        if start:
            _started.append(self._server)

    @property
    def server_def(self):
        """The message ServerDef."""
        from tensorbraid.internal.protobuf_messages import find

        job, task = self._place
        return find("tensorbraid.train", "ServerDef")(cluster=self._cluster.as_cluster_def(), job_name=job,
                                                      task_index=task, protocol="grpc")

    @property
    def target(self):
        """The target for sessions of this server's cluster, "grpc://host:port"."""
        return self._server.target

    def start(self):
        """Starts the server, if it was made with start=False."""
        self._server.start()
        if self._server not in _started:
            _started.append(self._server)

    def join(self):
        """Blocks until the work of the cluster is over, and then ends the program with SystemExit.

        The work is over when the tasks that work have left, or cannot be reached. Parameter servers do not count.
        Raises UnavailableError if tasks were lost or have left with an error. In TensorFlow this never returns, so many
        programs have the workers' part after the join, without an `else`.
        """
        self._server.join()
        sys.exit(0)

    @staticmethod
    def create_local_server(config=None, start=True):
        """A server that is a cluster of its own, on a free port."""
        return Server({"localhost": ["localhost:0"]}, "localhost", 0, config=config, start=start)


class Task:
    """The task of a cluster that this process is, as find_task has found it."""

    def __init__(self, job_name, task_index, cluster, source):
        self.job_name = job_name
        self.task_index = task_index
        self.cluster = cluster
        self.source = source  # what named the task: "tf_config", "kubernetes", "mpi", "slurm", ...

    @property
    def device(self):
        """The device of this task, such as "/job:worker/task:1"."""
        return f"/job:{self.job_name}/task:{self.task_index}"

    @property
    def is_chief(self):
        """Whether this task initialises the variables: task 0 of the job "chief" or "master" if there is one, else of
        "worker"."""
        chief = next((job for job in ("chief", "master") if job in self.cluster.jobs), "worker")
        return (self.job_name, self.task_index) == (chief, 0)

    def server(self, config=None):
        """Starts the server of this task."""
        return Server(self.cluster, self.job_name, self.task_index, config=config)


def find_task():
    """The task of the cluster that this process is: a Task, or None if it belongs to no cluster.

    The environment variable TF_CONFIG describes it, or the engine that has started this process does: Kubernetes, MPI
    or Slurm (docs/discovery.md). Under MPI and Slurm this waits until all tasks of the job have called it. All of them
    must run the same program. Raises InvalidArgumentError for a variable that is wrong, FailedPreconditionError if
    tasks run different programs, and DeadlineExceededError if tasks are missing.

    task = tf.train.find_task() server = task.server() if task.job_name == "ps": server.join()
    """
    script = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    try:
        found = _core.find_task(script if os.path.isfile(script) else "", credentials.of_server())
    except errors.OpError as error:
        raise type(error)(None, None, credentials.in_words_of_python(error.message)) from None
    if found is None:
        return None
    job_name, task_index, cluster, source = found
    jobs = {job: {index: cluster.task_address(job, index) for index in cluster.task_indices(job)}
            for job in cluster.jobs}
    return Task(job_name, task_index, ClusterSpec(jobs), source)


def replica_device_setter(ps_tasks=0, ps_device="/job:ps", worker_device="/job:worker", merge_devices=True,
                          cluster=None, ps_ops=None, ps_strategy=None, *, wire=None):
    """A device function that places variables on the parameter servers in turn, and all else on the worker.

    `ps_ops` are the types of nodes that are placed like variables. ps_strategy(op) is the number of a node's server.

    With `wire`, which TensorFlow does not have, tasks send each other the variables' values and gradients in another
    type than float32. It is "float32", "float16", "bfloat16", "int8", "1bit" or "topk", or a pair: the
    type of the values and the type of the gradients, as ("bfloat16", "topk"). One type alone is for the gradients; if it
    is one of the first three, it is for the values, too. By default the option --wire of the servers decides.
    """
    if ps_strategy is not None and not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    types = [] if wire is None else [wire] if isinstance(wire, str) else wire
    is_pair = isinstance(types, (list, tuple)) and len(types) < 3 and all(isinstance(kind, str) for kind in types)
    arguments.check(is_pair, "wire", "the name of a type, or a pair of names", wire)
    if cluster is not None:
        ps_tasks = len(ClusterSpec(cluster)._jobs.get(DeviceSpec.from_string(ps_device).job, {}))
    if not ps_tasks:
        return None
    spec = _core.ClusterSpec({}) if cluster is None else ClusterSpec(cluster)._core
    return _core.replica_device_setter(spec, ps_tasks, ps_device, worker_device or "",
                                       None if ps_ops is None else list(ps_ops), ps_strategy, list(types))
