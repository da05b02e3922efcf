"""Training: optimizers, clusters and servers."""

from tensorbraid import _core, graphs


class Optimizer:
    """Base of the optimizers. `_core` is the optimizer of the library."""

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, optimizer, name):
        self._optimizer = optimizer
        self._name = name

    def get_name(self):
        return self._name

    def compute_gradients(self, loss, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        """A list of pairs of a gradient, or None, and its variable."""
        if grad_loss is not None:
            raise NotImplementedError("grad_loss")
        with loss.graph.as_default():
            pairs = self._optimizer._compute_gradients(loss, list(var_list or graphs.trainable_variables()))
        return [(graphs.IndexedSlices(*grad) if isinstance(grad, tuple) else grad, var) for grad, var in pairs]

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The operation that updates the variables, and then increments `global_step`."""
        pairs = [((g.values, g.indices, g.dense_shape) if isinstance(g, graphs.IndexedSlices) else g, v)
                 for g, v in grads_and_vars]
        if all(grad is None for grad, _ in pairs):
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        train = self._optimizer._apply_gradients(pairs, global_step, name or "")
        train.graph.add_to_collection(graphs.GraphKeys.TRAIN_OP, train)
        return train

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
                 colocate_gradients_with_ops=False, name=None, grad_loss=None):
        """The operation that does one training step."""
        grads = self.compute_gradients(loss, var_list, grad_loss=grad_loss)
        return self.apply_gradients(grads, global_step, name)

    def get_slot(self, var, name):
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self):
        return self._optimizer.get_slot_names()


class GradientDescentOptimizer(Optimizer):
    """Subtracts the gradient times the learning rate."""

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(_core.gradient_descent(learning_rate), name)


def get_or_create_global_step(graph=None):
    """The int64 variable "global_step" of the graph, made if it does not exist."""
    graph = graph or graphs.get_default_graph()
    step = _core.get_or_create_global_step(graph)
    for key in (graphs.GraphKeys.GLOBAL_VARIABLES, graphs.GraphKeys.GLOBAL_STEP):
        if step not in graph.get_collection(key):
            graph.add_to_collection(key, step)
    return step


class ClusterSpec:
    """The tasks of a cluster and their addresses. Source: tf.train.ClusterSpec."""

    def __init__(self, cluster):
        if isinstance(cluster, ClusterSpec):
            cluster = cluster._jobs
        self._jobs = {job: dict(tasks) if isinstance(tasks, dict) else dict(enumerate(tasks))
                      for job, tasks in cluster.items()}
        self._core = _core.ClusterSpec(self._jobs)

    @property
    def jobs(self):
        return self._core.jobs

    def num_tasks(self, job_name):
        return self._core.num_tasks(job_name)

    def task_indices(self, job_name):
        return self._core.task_indices(job_name)

    def task_address(self, job_name, task_index):
        return self._core.task_address(job_name, task_index)

    def job_tasks(self, job_name):
        return [self._jobs[job_name][i] for i in sorted(self._jobs[job_name])]

    def as_dict(self):
        return {job: self.job_tasks(job) for job in self._jobs}

    def __eq__(self, other):
        return isinstance(other, ClusterSpec) and self._core == other._core


class Server:
    """The server of a task. Source: tf.train.Server."""

    def __init__(self, server_or_cluster_def, job_name=None, task_index=None, protocol=None, config=None, start=True):
        if protocol not in (None, "grpc") or config is not None:
            raise NotImplementedError("a protocol other than grpc, and a config, of a Server")
        self._cluster = ClusterSpec(server_or_cluster_def)
        self._server = _core.Server._make(self._cluster._core, job_name or "", task_index or 0, start)

    @property
    def target(self):
        return self._server.target

    def start(self):
        self._server.start()

    def join(self):
        """Blocks until the work of the cluster is over."""
        self._server.join()

    @staticmethod
    def create_local_server(config=None, start=True):
        return Server({"local": ["localhost:0"]}, "local", 0, config=config, start=start)


def replica_device_setter(ps_tasks=0, ps_device="/job:ps", worker_device="/job:worker", merge_devices=True, cluster=None,
                          ps_ops=None, ps_strategy=None):
    """A device function that places variables on the parameter servers in turn, and all else on the worker."""
    spec = _core.ClusterSpec({}) if cluster is None else ClusterSpec(cluster)._core
    return _core.replica_device_setter(spec, ps_tasks, ps_device, worker_device or "")
