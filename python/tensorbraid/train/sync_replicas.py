"""Synchronous training: replicas apply the mean of their gradients together."""

import functools

from tensorbraid import _core
from tensorbraid.internal import graphs
from tensorbraid.train.cluster import ClusterSpec
from tensorbraid.train.hooks import NativeHook
from tensorbraid.train.optimizer_wrapper import OptimizerWrapper
from tensorbraid.train.queue_runner import QueueRunner
from tensorbraid.train.scaffold import _readiness

__all__ = ["SyncReplicasOptimizer"]


class SyncReplicasOptimizer(OptimizerWrapper):
    """Wraps an optimizer so that each step uses gradients of several replicas. Source: tf.train.SyncReplicasOptimizer.

    In a MonitoredTrainingSession every worker needs the hook of make_session_run_hook. Under a Supervisor, the chief
    starts the queue runner of get_chief_queue_runner and then runs get_init_tokens_op. `replica_id` is an argument of
    TensorFlow 0.12 and has no effect.

    With `variable_averages`, a tf.train.ExponentialMovingAverage, the chief also updates the averages of
    `variables_to_average`, or else of the trainable variables, in each step.

    With `sum_per_host`, which TensorFlow does not have, the gradients of the workers of a host are summed on that host.
    In each step, one sum per host is sent to the parameter servers, and the variables' values are sent to each host
    once. This needs the `cluster`, the `worker_device` of this worker ("/job:worker/task:1"), and the hook. Workers
    share a host if their addresses have the same host.
    """

    def __init__(self, opt, replicas_to_aggregate, total_num_replicas=None, variable_averages=None,
                 variables_to_average=None, use_locking=False, name="sync_replicas", replica_id=None, *,
                 sum_per_host=False, cluster=None, worker_device=""):
        super().__init__(opt, use_locking, name)
        self._replicas = replicas_to_aggregate, total_num_replicas or replicas_to_aggregate
        self._sum_per_host, self._worker_device = sum_per_host, worker_device
        self._averages, self._averaged = variable_averages, variables_to_average
        self._cluster = ClusterSpec({} if cluster is None else cluster)
        self._applied = False

    def _make_library(self):
        update = None if self._averages is None else functools.partial(self._averages.apply, self._averaged)
        return _core.SyncReplicasOptimizer._make(self._opt._library, *self._replicas, self._use_locking, self._name,
                                                 self._sum_per_host, self._cluster._core, self._worker_device,
                                                 update)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The operation of a worker's step: it hands in its gradients, and waits until the step is complete."""
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        if name is not None:
            raise NotImplementedError("the name of a SyncReplicasOptimizer's training operation")
        train = super().apply_gradients(grads_and_vars, global_step, name)
        self._applied, self._readiness = True, _readiness(graphs.get_default_graph())
        self._opt._note(self._made_variables)
        return train

    def make_session_run_hook(self, is_chief, num_tokens=-1):
        """The hook that initialises this replica and, on the chief, runs the chief's part of the steps.

        `num_tokens` is the number of tokens with which the chief begins; -1: replicas_to_aggregate. Each of them lets
        a worker go on to its next step before the first update. With 0, each session.run returns after the update that
        its gradients are for.
        """
        return NativeHook(self._library.make_session_run_hook(is_chief, num_tokens))

    def get_chief_queue_runner(self):
        """The queue runner that runs the chief's part of the steps."""
        self._check_applied("apply_gradients() should be called before get_chief_queue_runner().")
        return QueueRunner._wrap(self._library.chief_queue_runner, graphs.get_default_graph())

    def get_init_tokens_op(self, num_tokens=-1):
        """The operation with which the chief lets the workers take their first step."""
        self._check_applied("get_init_tokens_op() should be called after apply_gradients().")
        return self._library.init_tokens_op(num_tokens)

    def _check_applied(self, message):
        if not self._applied:
            raise ValueError(message)

    @property
    def chief_init_op(self):
        """The operation that the chief runs before the first step."""
        self._check_applied("chief_init_op is known after apply_gradients().")
        return self._library.chief_init_op

    @property
    def local_step_init_op(self):
        """The operation that each worker runs before its first step."""
        self._check_applied("local_step_init_op is known after apply_gradients().")
        return self._library.local_step_init_op

    @property
    def ready_for_local_init_op(self):
        """The names of variables that the chief has still to initialize."""
        self._check_applied("ready_for_local_init_op is known after apply_gradients().")
        return self._library.ready_for_local_init_op if self._readiness is None else self._readiness[0]
