"""The base class of the optimizers."""

from tensorbraid import _core, graphs, nest
from tensorbraid.graphs import GraphKeys
from tensorbraid.train.new_variables import collected

__all__ = ["Optimizer"]


class Optimizer:
    """Turns a loss into the operation that trains. Source: tf.train.Optimizer.

    The classes in `rules` say which optimizer of the library is used. A class of the user may derive from one of them
    and replace compute_gradients or apply_gradients.
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking, name, use_own_namescope_for_non_slot_vars=False):
        if not name:
            raise ValueError("Must specify the optimizer name")
        if use_own_namescope_for_non_slot_vars:
            raise NotImplementedError("use_own_namescope_for_non_slot_vars")
        self._name = name
        self._use_locking = use_locking
        self._native = None
        self._variables = []

    def _make(self):
        """The optimizer of the library. Subclasses define it; it is called once, when the optimizer is first used."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it updates variables: derive from an "
                                  "optimizer such as tf.train.GradientDescentOptimizer")

    @property
    def _optimizer(self):
        if self._native is None:
            self._native = self._make()
        return self._native

    def get_name(self):
        """The name of the optimizer."""
        return self._name

    def compute_gradients(self, loss, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        """A list of pairs of a gradient and its variable. The gradient is None if the loss does not depend on it."""
        if callable(loss):
            raise RuntimeError("`loss` passed to Optimizer.compute_gradients should be a function only when eager "
                               "execution is enabled.")
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError("gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                             f"Optimizer.GATE_GRAPH.  Not {gate_gradients}")
        loss = graphs.convert_to_tensor(loss)
        if not (loss.dtype.is_floating or loss.dtype.is_complex):
            raise ValueError(f"Invalid type {loss.dtype!r} for {loss.name}: an optimizer needs a floating loss")
        with loss.graph.as_default():
            variables = graphs.trainable_variables() if var_list is None else nest.flatten(var_list)
            for variable in variables:
                if not isinstance(variable, _core.Variable):
                    raise TypeError(f"Argument is not a tf.Variable: {variable}")
            if not variables:
                raise ValueError("No variables to optimize.")
            grads = graphs.gradients(loss, variables, grad_ys=None if grad_loss is None else [grad_loss])
        return list(zip(grads, variables))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The operation that updates the variables, and then increments `global_step`."""
        pairs = [(_checked(grad), variable) for grad, variable in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        if all(grad is None for grad, _ in pairs):
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        if global_step is not None and not isinstance(global_step, _core.Variable):
            raise TypeError(f"global_step must be a tf.Variable, got {global_step!r}")
        graph = pairs[0][1].graph
        with collected(graph) as made:
            train = self._optimizer._apply_gradients(pairs, global_step, name or "")
        self._variables += made
        if train not in graph.get_collection(GraphKeys.TRAIN_OP):
            graph.add_to_collection(GraphKeys.TRAIN_OP, train)
        return train

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
                 colocate_gradients_with_ops=False, name=None, grad_loss=None):
        """The operation that does one training step."""
        pairs = self.compute_gradients(loss, var_list=var_list, gate_gradients=gate_gradients,
                                       aggregation_method=aggregation_method,
                                       colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        if all(grad is None for grad, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {[str(v) for _, v in pairs]} and loss {loss}.")
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def get_slot(self, var, name):
        """The variable in which the optimizer keeps `name` for `var`; None if there is none."""
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self):
        """The names of the slots."""
        return sorted(self._optimizer.get_slot_names())

    def variables(self):
        """The variables of the optimizer in the default graph, by name: its slots, and what all slots share."""
        graph = graphs.get_default_graph()
        return sorted((v for v in self._variables if v.graph is graph), key=lambda v: v.name)

    def _call_if_callable(self, param):
        return param() if callable(param) else param


def _checked(grad):
    """The gradient as C++ takes it: a tensor, or the three tensors of slices."""
    if grad is None:
        return None
    if not isinstance(grad, graphs.IndexedSlices):
        try:
            return graphs.convert_to_tensor(grad)
        except TypeError:
            raise TypeError(f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {grad}") from None
    if grad.dense_shape is None:
        raise ValueError("the IndexedSlices of a gradient need a dense_shape")
    return grad.values, grad.indices, grad.dense_shape
