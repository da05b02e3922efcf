"""Asynchronous training with measures against stale gradients, and with sums of gradients per host."""

from tensorbraid import _core
from tensorbraid.train.cluster import ClusterSpec
from tensorbraid.train.hooks import NativeHook
from tensorbraid.train.optimizer_wrapper import OptimizerWrapper

__all__ = ["AsyncReplicasOptimizer"]


class AsyncReplicasOptimizer(OptimizerWrapper):
    """Wraps an optimizer so that stale gradients of asynchronous training are dropped or scaled. Not in TensorFlow.

    `staleness` has the form of the examples' flag: "max_age=8,gradient_decay=1". `replica` is the task index of this
    worker. With `sum_per_host`, the gradients of the workers of a host meet there: one sum of those that are ready
    leaves the host at a time, and the values of the variables are sent to each host once per sum. It needs the `cluster`
    and the `worker_device` of this worker ("/job:worker/task:1"). Workers share a host if their addresses have the same
    host. In a MonitoredTrainingSession every worker needs the hook of make_session_run_hook.
    """

    def __init__(self, opt, staleness="", replica=0, use_locking=False, name="async_replicas", *, sum_per_host=False,
                 cluster=None, worker_device=""):
        super().__init__(opt, use_locking, name)
        self._options = staleness, replica, name, sum_per_host
        self._cluster, self._worker_device = ClusterSpec({} if cluster is None else cluster), worker_device

    def _make_library(self):
        return _core.AsyncReplicasOptimizer._make(self._opt._library, *self._options, self._cluster._core,
                                                  self._worker_device)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The operation of a worker's step: it pushes the gradients, which are applied, scaled or dropped."""
        if global_step is None:
            raise ValueError("Global step is required to count the updates")
        train = super().apply_gradients(grads_and_vars, global_step, name)
        self._opt._note(self._made_variables)
        return train

    def make_session_run_hook(self):
        """The hook that counts stale gradients and lets this worker join and leave the others."""
        return NativeHook(self._library.make_session_run_hook())

    @property
    def outcomes(self):
        """An int64 vector to fetch with the training operation: for each gradient its age, or -1 - age if dropped."""
        return self._library.outcomes
