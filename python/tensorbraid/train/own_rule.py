"""The methods of tf.train.Optimizer that a class of the program overrides to define its update rule."""

from tensorbraid import _core, dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.internal.variables import make_variable
from tensorbraid.ops.control import group
from tensorbraid.train.new_variables import collected

DENSE = ("_apply_dense", "_resource_apply_dense")
SPARSE = ("_apply_sparse_duplicate_indices", "_resource_apply_sparse_duplicate_indices", "_apply_sparse",
          "_resource_apply_sparse")
OTHER = ("compute_gradients", "apply_gradients", "_create_slots", "_prepare", "_finish")


def as_slices(grad):
    """The gradient as methods of Python get it; C++ gives slices as a tuple of their tensors."""
    return graphs.IndexedSlices(*grad) if isinstance(grad, tuple) else grad


class OwnRule:
    """The methods of tf.train.Optimizer that a subclass replaces. C++ calls those that are replaced.

    By default they do what the library's optimizer does. All variables are resource variables, and are given to
    `_apply_dense` as to `_resource_apply_dense`. The first is called if the class replaces both. The rows of slices
    are distinct, unless the class replaces a method whose name ends with `_duplicate_indices`.
    """

    def _create_slots(self, var_list):
        """Creates the slots of the variables, by _zeros_slot and the like."""
        for var in var_list:
            with collected(var.graph) as made:
                self._library._library_create_slots(var)
            self._note(made)

    def _prepare(self):
        """Makes tensors that the updates of all variables use, such as the learning rate."""
        self._library._library_prepare(graphs.get_default_graph())

    def _apply_dense(self, grad, var):
        """An operation that updates `var`."""
        return self._library._library_apply(graphs.convert_to_tensor(grad), var)

    def _resource_apply_dense(self, grad, handle):
        """As _apply_dense; `handle` is the variable."""
        return self._library._library_apply(graphs.convert_to_tensor(grad), handle)

    def _apply_sparse(self, grad, var):
        """An operation that updates rows of `var`; `grad` is an IndexedSlices with distinct rows."""
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad, handle, indices):
        """As _apply_sparse, for the values and the indices of the slices; `handle` is the variable."""
        return self._library._library_apply(_tensors(grad, indices, handle), handle)

    def _apply_sparse_duplicate_indices(self, grad, var):
        """As _apply_sparse, but a row of `grad` may occur several times. By default such rows are summed."""
        return self._apply_sparse(_distinct(grad.values, grad.indices, var), var)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        """As _apply_sparse_duplicate_indices, for the values and the indices of the slices."""
        slices = _distinct(grad, indices, handle)
        return self._resource_apply_sparse(slices.values, handle, slices.indices)

    def _finish(self, update_ops, name_scope):
        """An operation that runs all updates, and what comes after them."""
        graph = graphs.graph_of(update_ops)
        with graph.control_dependencies(list(update_ops)):
            more = self._library._library_finish(graph)
        return group(*update_ops, *more, name=name_scope)

    # What the methods above may call.

    def _get_or_make_slot(self, var, val, slot_name, op_name):
        """The slot of `var`, which begins with the value of a tensor and has its shape."""
        val = graphs.convert_to_tensor(val)
        return self._slot(var, slot_name, lambda *unused: val, op_name, val.shape, val.dtype)

    def _get_or_make_slot_with_initializer(self, var, initializer, shape, dtype, slot_name, op_name):
        """The slot of `var`, which begins with what the initializer returns for the shape and the dtype."""
        def initial(dims, number, part):
            return initializer(dims, dtype=dtype)

        return self._slot(var, slot_name, initial, op_name, TensorShape(shape), dtypes.as_dtype(dtype))

    def _zeros_slot(self, var, slot_name, op_name):
        """The slot of `var`, which begins with zeros."""
        if var._table is not None:
            with var.graph.as_default(), collected(var.graph) as made:
                slot = self._library._table_slot(var, slot_name, 0.0, op_name)
            self._note(made)
            return slot
        dtype = var.dtype.base_dtype

        def zeros(dims, number, part):
            return graphs.make_op("Fill", [graphs.constant(dims, dtypes.int32), graphs.constant(0, dtype)]).outputs[0]

        return self._slot(var, slot_name, zeros, op_name, var.shape, dtype)

    def _slot(self, var, slot_name, initial, op_name, shape, dtype):
        with var.graph.as_default(), collected(var.graph) as made:
            slot = self._library._slot(var, slot_name, initial, op_name, shape._dims, dtype.as_datatype_enum)
        self._note(made)
        return slot

    def _create_non_slot_variable(self, initial_value, name, colocate_with):
        """A variable that the updates of all variables share, such as a power of a decay."""
        key = name, colocate_with.graph
        if key not in self._non_slot_dict:
            with colocate_with.graph.colocate_with(colocate_with.op):
                self._non_slot_dict[key] = make_variable(initial_value, trainable=False, name=name)
            self._note([self._non_slot_dict[key]])
        return self._non_slot_dict[key]

    def _get_non_slot_variable(self, name, graph=None):
        """The variable that _create_non_slot_variable has made in the graph, or None."""
        return self._non_slot_dict.get((name, graph))

    def _non_slot_variables(self):
        """All variables that _create_non_slot_variable has made."""
        return list(self._non_slot_dict.values())

    # C++ calls the following methods.

    def _update(self, grad, var):
        """The operation that updates the variable by the class's rule and then applies the variable's constraint."""
        constraint = var.constraint
        if constraint is None:
            return self._update_freely(grad, var)
        if isinstance(grad, tuple):
            raise RuntimeError(f"Cannot use a constraint function on a sparse variable: the gradient of '{var.name}' "
                               "is an IndexedSlices.")
        with var.graph.control_dependencies([self._update_freely(grad, var)]):
            return var.assign(constraint(var), read_value=False)

    def _update_freely(self, grad, var):
        if not isinstance(grad, tuple):
            update = self._apply_dense if self._replaces("_apply_dense") else self._resource_apply_dense
            return update(grad, var)
        slices = as_slices(grad)
        if self._replaces("_resource_apply_sparse_duplicate_indices") and not (
                self._replaces("_apply_sparse") or self._replaces("_apply_sparse_duplicate_indices")):
            return self._resource_apply_sparse_duplicate_indices(slices.values, var, slices.indices)
        return self._apply_sparse_duplicate_indices(slices, var)

    def _compute_for_library(self, loss, var_list):
        return [(_given(grad), var) for grad, var in self.compute_gradients(loss, var_list=var_list or None)]

    def _apply_for_library(self, pairs, global_step, name):
        return self.apply_gradients([(as_slices(grad), var) for grad, var in pairs], global_step=global_step, name=name)


def _given(grad):
    return (grad.values, grad.indices, grad.dense_shape) if isinstance(grad, graphs.IndexedSlices) else grad


def _tensors(values, indices, var):
    """The gradient of rows of a variable in the form that C++ takes."""
    if var._table is None:
        shape = graphs.make_op("VariableShape", [var.handle]).outputs[0]
    else:
        shape = graphs.make_op("KvVariableShape", [var.handle], out_type=dtypes.int64).outputs[0]
    return graphs.convert_to_tensor(values), graphs.convert_to_tensor(indices), shape


def _distinct(values, indices, var):
    return as_slices(_core.Optimizer._distinct_rows(_tensors(values, indices, var)))
