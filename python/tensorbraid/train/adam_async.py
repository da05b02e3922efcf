"""Adam whose powers of the betas belong to each variable, for workers that do not wait for each other."""

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import convert_to_tensor, make_op
from tensorbraid.ops.control import group
from tensorbraid.ops.node import op
from tensorbraid.train.global_step import get_global_step
from tensorbraid.train.optimizer import Optimizer

__all__ = ["AdamAsyncOptimizer"]


class AdamAsyncOptimizer(Optimizer):
    """Adam that counts the updates of each variable by itself. Source: DeepRec; TensorFlow has no such optimizer.

    The powers of `beta1` and `beta2` are slots of a variable, which each of its updates multiplies. An update by rows
    changes the means of these rows only. With `apply_sparse_rmsprop`, updates by rows are RMSProp's with the momentum
    `beta1` and the decay `beta2`, and do not change the powers.
    """

    _updates_tables = True

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False,
                 apply_sparse_rmsprop=False, name="AdamAsync"):
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon
        self._apply_sparse_rmsprop = apply_sparse_rmsprop

    def _create_slots(self, var_list):
        for var in var_list:
            for name in ("m", "v"):
                self._zeros_slot(var, name, self._name)
            for name, beta in (("beta1_power", self._beta1), ("beta2_power", self._beta2)):
                with var.graph.as_default():
                    value = graphs.constant(self._call_if_callable(beta), var.dtype.base_dtype)
                self._get_or_make_slot(var, value, name, self._name)

    def _prepare(self):
        self._given = [convert_to_tensor(self._call_if_callable(value), name=name) for name, value in (
            ("learning_rate", self._lr), ("beta1", self._beta1), ("beta2", self._beta2), ("epsilon", self._epsilon))]

    def _hyperparameters(self, var):
        """The learning rate, both betas and epsilon in the dtype of the variable."""
        kind = var.dtype.base_dtype
        return [value if value.dtype == kind else op("Cast", [value], DstT=kind) for value in self._given]

    def _slots(self, var):
        return [self.get_slot(var, name) for name in ("m", "v", "beta1_power", "beta2_power")]

    def _counted(self, update, var):
        """The update, after which the powers are multiplied."""
        _, beta1, beta2, _ = self._hyperparameters(var)
        _, _, power1, power2 = self._slots(var)
        with var.graph.control_dependencies([update]):
            return group(*[power.assign(power.read_value() * beta, read_value=False)
                           for power, beta in ((power1, beta1), (power2, beta2))])

    def _apply_dense(self, grad, var):
        mean, square, power1, power2 = self._slots(var)
        update = make_op("ResourceApplyAdam", [
            var.handle, mean.handle, square.handle, power1, power2, *self._hyperparameters(var), grad])
        return self._counted(update, var)

    def _apply_table(self, grad, var):
        """The update of a growing table: one operation finds each row once, and multiplies the powers."""
        rate, beta1, beta2, epsilon = self._hyperparameters(var)
        first, second, power1, power2 = self._slots(var)
        step = get_global_step(var.graph)
        step = graphs.constant(0, dtypes.int64) if step is None else step.value()
        return make_op("KvResourceSparseApplyAdamAsync", [
            var.handle, first.handle, second.handle, power1.handle, power2.handle, rate, beta1, beta2, epsilon,
            grad.values, grad.indices, step], use_locking=self._use_locking,
            apply_sparse_rmsprop=self._apply_sparse_rmsprop)

    def _apply_sparse(self, grad, var):
        if var._table is not None:
            return self._apply_table(grad, var)
        rate, beta1, beta2, epsilon = self._hyperparameters(var)
        first, second, power1, power2 = self._slots(var)
        rows, values = grad.indices, grad.values

        def of_rows(slot):
            return op("ResourceGather", [slot.handle, rows], dtype=slot.dtype.base_dtype)

        square = beta2 * of_rows(second) + (1 - beta2) * values * values
        if self._apply_sparse_rmsprop:
            mean = beta1 * of_rows(first) + rate * values * op("Rsqrt", [square + epsilon])
            step = mean
        else:
            mean = beta1 * of_rows(first) + (1 - beta1) * values
            step = rate * op("Sqrt", [1 - power2]) / (1 - power1) * mean / (op("Sqrt", [square]) + epsilon)
        update = group(*[make_op(f"ResourceScatter{kind}", [target.handle, rows, new]) for kind, target, new in (
            ("Update", first, mean), ("Update", second, square), ("Sub", var, step))])
        return update if self._apply_sparse_rmsprop else self._counted(update, var)
