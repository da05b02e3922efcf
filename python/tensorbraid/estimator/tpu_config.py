"""The configuration of a TPUEstimator."""

import collections
import json
import os

from tensorbraid.estimator import run_config

__all__ = ["InputPipelineConfig", "RunConfig", "TPUConfig"]


class InputPipelineConfig:
    """How the hosts of TPUs read their input."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class TPUConfig(collections.namedtuple("TPUConfig", [
        "iterations_per_loop", "num_shards", "num_cores_per_replica", "per_host_input_for_training", "tpu_job_name",
        "initial_infeed_sleep_secs", "input_partition_dims", "eval_training_input_configuration",
        "experimental_host_call_every_n_steps"])):
    """How a model runs on TPUs. On CPUs it has no effect, as in TensorFlow."""

    def __new__(cls, iterations_per_loop=2, num_shards=None, num_cores_per_replica=None,
                per_host_input_for_training=True, tpu_job_name=None, initial_infeed_sleep_secs=None,
                input_partition_dims=None, eval_training_input_configuration=InputPipelineConfig.PER_HOST_V1,
                experimental_host_call_every_n_steps=1):
        _check_positive_integer(iterations_per_loop, "TPUConfig iterations_per_loop")
        if num_shards is not None:
            _check_positive_integer(num_shards, "TPUConfig num_shards")
        if num_cores_per_replica not in (None, 1, 2, 4, 8, 16):
            raise ValueError(f"num_cores_per_replica must be 1, 2, 4, 8, or 16; got {num_cores_per_replica}")
        if input_partition_dims is not None and num_cores_per_replica is None:
            raise ValueError("input_partition_dims requires setting num_cores_per_replica.")
        if initial_infeed_sleep_secs:
            _check_positive_integer(initial_infeed_sleep_secs, "TPUConfig initial_infeed_sleep_secs")
        if isinstance(per_host_input_for_training, bool):
            per_host_input_for_training = (InputPipelineConfig.PER_HOST_V1 if per_host_input_for_training
                                           else InputPipelineConfig.PER_SHARD_V1)
        service = json.loads(os.environ.get("TF_CONFIG") or "{}").get("service", {})
        return super().__new__(
            cls, iterations_per_loop, num_shards, num_cores_per_replica, per_host_input_for_training,
            tpu_job_name or service.get("tpu_worker_job_name"), initial_infeed_sleep_secs, input_partition_dims,
            eval_training_input_configuration, experimental_host_call_every_n_steps)


def _check_positive_integer(value, name):
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, got {value}")
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")


class RunConfig(run_config.RunConfig):
    """A tf.estimator.RunConfig with a TPUConfig. Source: tf.contrib.tpu.RunConfig.

    `master` is the target of training sessions, and `evaluation_master` that of evaluations: by default the same.
    """

    def __init__(self, tpu_config=None, evaluation_master=None, master=None, cluster=None, **kwargs):
        if cluster is not None:
            raise NotImplementedError("the argument cluster of RunConfig: there are no cluster resolvers; TF_CONFIG "
                                      "or `master` describes the cluster")
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        if master is not None:
            self._task.master = master
        if evaluation_master is not None:
            self._task.evaluation_master = evaluation_master
        elif not self._task.evaluation_master and self.task_type != run_config.TaskType.EVALUATOR:
            self._task.evaluation_master = self._task.master

    tpu_config = property(lambda self: self._tpu_config)
    cluster = property(lambda self: None)

    def replace(self, **kwargs):
        """A copy with other values for some of the arguments of the constructor."""
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        replaced = super().replace(**kwargs)
        replaced._tpu_config = tpu_config
        return replaced
