"""Accumulators: they sum or average gradients of several steps, and drop those that are too old."""

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import IndexedSlices, make_op
from tensorbraid.internal.op_results import results_class
from tensorbraid.internal.shapes import TensorShape

__all__ = ["ConditionalAccumulator", "ConditionalAccumulatorBase", "SparseConditionalAccumulator"]

_Taken = results_class("SparseAccumulatorTakeGradient", "indices values shape")


class ConditionalAccumulatorBase:
    """The base class of accumulators. Source: tf.ConditionalAccumulatorBase."""

    _op_prefix = "Accumulator"

    def __init__(self, dtype, shape, accumulator_ref):
        self._dtype, self._shape = dtypes.as_dtype(dtype), TensorShape(shape)
        self._accumulator_ref = accumulator_ref

    accumulator_ref = property(lambda self: self._accumulator_ref)
    name = property(lambda self: self._accumulator_ref.op.name.split("/")[-1])
    dtype = property(lambda self: self._dtype)

    def num_accumulated(self, name=None):
        """How many gradients have been added since the last one was taken."""
        return make_op(f"{self._op_prefix}NumAccumulated", [self._accumulator_ref],
                       name or f"{self.name}_NumAccumulated").outputs[0]

    def set_global_step(self, new_global_step, name=None):
        """The operation after which gradients of earlier steps are dropped."""
        step = graphs.convert_to_tensor(new_global_step, dtypes.int64)
        return make_op(f"{self._op_prefix}SetGlobalStep", [self._accumulator_ref, step], name)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Accumulates dense gradients. `reduction_type` is "MEAN" or "SUM"."""

    _op_prefix = "ResourceAccumulator"

    def __init__(self, dtype, shape=None, shared_name=None, name="conditional_accumulator", reduction_type="MEAN"):
        made = make_op("ResourceConditionalAccumulator", [], name, dtype=dtypes.as_dtype(dtype),
                       shape=TensorShape(shape), shared_name=shared_name, reduction_type=reduction_type)
        super().__init__(dtype, shape, made.outputs[0])

    def apply_grad(self, grad, local_step=0, name=None):
        """The operation that adds a gradient, which was computed in this step."""
        grad = graphs.convert_to_tensor(grad, self._dtype)
        _check(self._shape, grad.shape)
        return make_op("ResourceAccumulatorApplyGradient",
                       [self._accumulator_ref, graphs.convert_to_tensor(local_step, dtypes.int64), grad], name)

    def take_grad(self, num_required, name=None):
        """The accumulated gradient; the step waits until so many have been added."""
        taken = make_op("ResourceAccumulatorTakeGradient", [self._accumulator_ref, num_required], name,
                        dtype=self._dtype).outputs[0]
        taken.set_shape(self._shape)
        return taken


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Accumulates gradients that are IndexedSlices."""

    def __init__(self, dtype, shape=None, shared_name=None, name="sparse_conditional_accumulator",
                 reduction_type="MEAN"):
        made = make_op("SparseConditionalAccumulator", [], name, dtype=dtypes.as_dtype(dtype), shape=TensorShape(shape),
                       shared_name=shared_name, reduction_type=reduction_type)
        super().__init__(dtype, shape, made.outputs[0])

    def apply_indexed_slices_grad(self, grad, local_step=0, name=None):
        """The operation that adds IndexedSlices."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(self, grad_indices, grad_values, grad_shape=None, local_step=0, name=None):
        """The operation that adds the rows of a gradient."""
        values = graphs.convert_to_tensor(grad_values, self._dtype)
        shape = graphs.constant([], dtypes.int64) if grad_shape is None else graphs.convert_to_tensor(
            grad_shape, dtypes.int64)
        return make_op(
            "SparseAccumulatorApplyGradient",
            [self._accumulator_ref, graphs.convert_to_tensor(local_step, dtypes.int64),
             graphs.convert_to_tensor(grad_indices, dtypes.int64), values, shape], name,
            has_known_shape=grad_shape is not None)

    def take_grad(self, num_required, name=None):
        """The indices, values and shape of the accumulated gradient."""
        return _Taken(*make_op("SparseAccumulatorTakeGradient", [self._accumulator_ref, num_required], name,
                               dtype=self._dtype).outputs)

    def take_indexed_slices_grad(self, num_required, name=None):
        """The accumulated gradient as IndexedSlices."""
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(values, indices, shape)


def _check(wanted, given):
    if not wanted.is_compatible_with(given):
        raise ValueError(f"Shapes {wanted} and {given} are not compatible")
