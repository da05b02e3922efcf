"""How an Estimator runs: what it saves and logs, and its place in a cluster."""

import copy
import inspect

from tensorbraid.estimator.task import Task, TaskType
from tensorbraid.internal import arguments

__all__ = ["RunConfig"]

_DEFAULT = object()
_REPLACEABLE = (
    "model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
    "session_config", "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps",
    "train_distribute", "device_fn", "protocol", "eval_distribute", "experimental_distribute",
    "experimental_max_worker_delay_secs", "session_creation_timeout_secs", "checkpoint_save_graph_def")
_STRATEGIES = ("train_distribute", "eval_distribute", "experimental_distribute")


def default_session_config():
    """The ConfigProto of the sessions of an Estimator that is given none."""
    from tensorbraid import proto

    return proto.ConfigProto(allow_soft_placement=True)


class RunConfig:
    """The configuration of an Estimator. Source: tf.estimator.RunConfig.

    The environment variable TF_CONFIG gives the cluster and the task of this process, see Task. Without it, an engine
    may give them, if a variable of docs/discovery.md asks for that (`TENSORBRAID_PS=1 srun ...`): then this waits for
    the other tasks, as tf.train.find_task() does.
    """

    def __init__(self, model_dir=None, tf_random_seed=None, save_summary_steps=100, save_checkpoints_steps=_DEFAULT,
                 save_checkpoints_secs=_DEFAULT, session_config=None, keep_checkpoint_max=5,
                 keep_checkpoint_every_n_hours=10000, log_step_count_steps=100, train_distribute=None, device_fn=None,
                 protocol=None, eval_distribute=None, experimental_distribute=None,
                 experimental_max_worker_delay_secs=None, session_creation_timeout_secs=7200,
                 checkpoint_save_graph_def=True):
        if save_checkpoints_steps is _DEFAULT and save_checkpoints_secs is _DEFAULT:
            save_checkpoints_steps, save_checkpoints_secs = None, 600
        elif save_checkpoints_secs is _DEFAULT:
            save_checkpoints_secs = None
        elif save_checkpoints_steps is _DEFAULT:
            save_checkpoints_steps = None
        elif save_checkpoints_steps is not None and save_checkpoints_secs is not None:
            raise ValueError("`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.")
        self._task = Task.of_environment()
        if self._task.model_dir is not None:
            if model_dir is not None and model_dir != self._task.model_dir:
                raise ValueError("`model_dir` provided in RunConfig construct, if set, must have the same value as the "
                                 f"model_dir in TF_CONFIG. model_dir: {model_dir}\nTF_CONFIG[\"model_dir\"]: "
                                 f"{self._task.model_dir}.\n")
            model_dir = self._task.model_dir
        given = locals()
        self._set({name: given[name] for name in _REPLACEABLE})
        if self._session_config is None and self._task.cluster_spec.jobs:
            self._session_config = self._filtered_session_config()

    def _set(self, values):
        _check(values)
        for name, value in values.items():
            setattr(self, "_" + name, value)

    def _filtered_session_config(self):
        """Sessions of a task see its own devices and the parameter servers, and so wait for no other tasks."""
        config = default_session_config()
        own = {TaskType.MASTER: ["/job:master"], TaskType.CHIEF: ["/job:chief"],
               TaskType.WORKER: [f"/job:worker/task:{self.task_id}"],
               TaskType.PS: ["/job:worker", "/job:chief", "/job:master"]}
        if self.task_type in own:
            config.device_filters.extend(["/job:ps"] + own[self.task_type])
        return config

    def replace(self, **kwargs):
        """A copy with other values for some of the arguments of the constructor."""
        for name in kwargs:
            if name not in _REPLACEABLE:
                raise ValueError(f"Replacing {name} is not supported. Allowed properties are {list(_REPLACEABLE)}.")
        steps, seconds = kwargs.get("save_checkpoints_steps"), kwargs.get("save_checkpoints_secs")
        if steps is not None and seconds is not None:
            raise ValueError("`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.")
        if steps is not None:
            kwargs["save_checkpoints_secs"] = None
        elif seconds is not None:
            kwargs["save_checkpoints_steps"] = None
        replaced = copy.copy(self)
        replaced._set(kwargs)
        return replaced

    task_type = property(lambda self: self._task.type)
    task_id = property(lambda self: self._task.id)
    cluster_spec = property(lambda self: self._task.cluster_spec)
    is_chief = property(lambda self: self._task.is_chief)
    master = property(lambda self: self._task.master)
    evaluation_master = property(lambda self: self._task.evaluation_master)
    num_ps_replicas = property(lambda self: self._task.num_ps)
    num_worker_replicas = property(lambda self: self._task.num_workers)
    global_id_in_cluster = property(lambda self: self._task.global_id)
    service = property(lambda self: self._task.service)


for _name in _REPLACEABLE:
    if _name != "experimental_distribute":
        setattr(RunConfig, _name, property(lambda self, name="_" + _name: getattr(self, name)))


def _check(values):
    """Raises an error for a value that an Estimator cannot use."""
    def require(name, condition, message):
        value = values.get(name)
        if value is not None and not condition(value):
            raise ValueError(message)

    require("model_dir", bool, "model_dir should be non-empty.")
    for name in ("save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max"):
        require(name, lambda value, name=name: arguments.number(name, value) >= 0, f"{name} should be >= 0")
    for name in ("keep_checkpoint_every_n_hours", "log_step_count_steps", "session_creation_timeout_secs"):
        require(name, lambda value, name=name: arguments.number(name, value) > 0, f"{name} should be > 0")
    require("tf_random_seed", lambda seed: hasattr(seed, "__index__"), "tf_random_seed must be integer.")
    require("device_fn", _is_device_function, 'device_fn must be callable with exactly one argument "op".')
    require("protocol", lambda name: name in ("grpc", "grpc+verbs"), "protocol should be grpc or grpc+verbs")
    require("session_config", lambda config: hasattr(config, "device_filters"),
            "session_config must be instance of ConfigProto")
    for name in _STRATEGIES:
        if values.get(name) is not None:
            raise NotImplementedError(f"the argument {name} of RunConfig: there are no distribution strategies, and "
                                      "TF_CONFIG describes parameter servers")


def _is_device_function(function):
    return callable(function) and list(inspect.signature(function).parameters) == ["op"]
