"""The task of this process in a cluster, which the environment variable TF_CONFIG or an engine describes."""

import json
import os

from tensorbraid.train.cluster import ClusterSpec, find_task

__all__ = ["TaskType"]

# Each of these says that the processes which an engine has started belong together. Without them, a program under
# mpirun or srun is alone, as in TensorFlow: it may be a run of its own, and must not wait for others.
_ENGINE_VARIABLES = ("TENSORBRAID_REGISTRY", "TENSORBRAID_SERVICE", "TENSORBRAID_DISCOVERY", "TENSORBRAID_PS",
                     "TENSORBRAID_WORKERS")


class TaskType:
    """The jobs of a cluster that trains an Estimator."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


class Task:
    """The task of this process by TF_CONFIG, a JSON object with "cluster" and "task".

    Without these, it is the only task. Members: cluster_spec, type, id, is_chief, master (the target of training
    sessions), evaluation_master, num_ps, num_workers (with the chief), global_id (chief first, then other tasks that
    work, then parameter servers), service, model_dir.
    """

    def __init__(self, config):
        self.service = config.get("service")
        if self.service is not None and not isinstance(self.service, dict):
            raise TypeError('If "service" is set in TF_CONFIG, it must be a dict. Given %s' % type(self.service))
        self.model_dir = config.get("model_dir")
        self.evaluation_master = config.get("eval_session_master", "")
        described = config.get("task", {})
        cluster = ClusterSpec(config.get("cluster", {}))
        if cluster.jobs:
            self._in_cluster(cluster, described, config)
        else:
            self._alone(described, config)

    def __deepcopy__(self, memo):
        return self  # nothing changes it

    @classmethod
    def of_environment(cls):
        """The task that TF_CONFIG describes, or else tf.train.find_task() if one of _ENGINE_VARIABLES is set."""
        text = os.environ.get("TF_CONFIG")
        found = None
        if not text and any(os.environ.get(name) for name in _ENGINE_VARIABLES):
            found = find_task()
        return cls(json.loads(text or "{}") if found is None else _config_of(found))

    def _alone(self, described, config):
        self.type = described.get("type", TaskType.WORKER)
        self.id = int(described.get("index", 0))
        if self.type != TaskType.WORKER:
            raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
        if self.id != 0:
            raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
        self.cluster_spec = ClusterSpec({})
        self.is_chief, self.global_id, self.num_ps, self.num_workers = True, 0, 0, 1
        self.master = config.get("session_master", "")

    def _in_cluster(self, cluster, described, config):
        chief = _chief_of(cluster)
        self.type, self.id = described.get("type"), described.get("index")
        if not self.type:
            raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
        if self.id is None:
            raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
        self.id = int(self.id)
        if self.id < 0:
            raise ValueError("Task index must be non-negative number.")
        if self.type == TaskType.EVALUATOR:  # it reads checkpoints, and does not take part in steps of the cluster
            self.cluster_spec = ClusterSpec({})
            self.is_chief, self.global_id, self.num_ps, self.num_workers, self.master = False, None, 0, 0, ""
            return
        if self.type not in cluster.jobs:
            raise ValueError(f"{self.type} is not a valid task_type in the cluster_spec: {cluster.as_dict()}. The "
                             "environment variable TF_CONFIG says so.")
        if self.id >= len(cluster.job_tasks(self.type)):
            raise ValueError(f"{self.id} is not a valid task_id for task_type {self.type} in the cluster_spec: "
                             f"{cluster.as_dict()}. The environment variable TF_CONFIG says so.")
        self.cluster_spec = cluster
        self.is_chief = self.type == chief
        self.num_ps = _count(cluster, TaskType.PS)
        self.num_workers = _count(cluster, TaskType.WORKER) + 1
        order = [chief] + sorted(job for job in cluster.jobs if job not in (chief, TaskType.PS)) + [TaskType.PS]
        self.global_id = sum(_count(cluster, job) for job in order[:order.index(self.type)]) + self.id
        alone = len(cluster.jobs) == 1 and _count(cluster, chief) == 1
        target = "" if alone else "grpc://" + cluster.job_tasks(self.type)[self.id]
        self.master = config.get("session_master", target)


def _config_of(found):
    """The TF_CONFIG of a task that find_task has found: worker 0 is the chief, worker 1 is worker 0, and so on."""
    cluster, job, index = found.cluster.as_dict(), found.job_name, found.task_index
    if TaskType.CHIEF not in cluster and TaskType.MASTER not in cluster:
        workers = found.cluster.job_tasks(TaskType.WORKER)
        cluster[TaskType.CHIEF], cluster[TaskType.WORKER] = workers[:1], workers[1:]
        if job == TaskType.WORKER:
            job, index = (TaskType.CHIEF, 0) if index == 0 else (TaskType.WORKER, index - 1)
    return {"cluster": {name: tasks for name, tasks in cluster.items() if tasks},
            "task": {"type": job, "index": index}}


def _count(cluster, job):
    return len(cluster.job_tasks(job)) if job in cluster.jobs else 0


def _chief_of(cluster):
    """The job of the chief: "chief", or "master" in older programs."""
    if TaskType.MASTER in cluster.jobs:
        if TaskType.CHIEF in cluster.jobs:
            raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
        chief = TaskType.MASTER
    else:
        chief = TaskType.CHIEF
    count = _count(cluster, chief)
    if count == 0:
        raise ValueError(f'If "cluster" is set in TF_CONFIG, it must have one "{chief}" node.')
    if count > 1:
        raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{chief}" node.')
    return chief
