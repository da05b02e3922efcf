"""The base class of the optimizers."""

from tensorbraid import _core, dtypes, nest
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.ops import derivatives
from tensorbraid.train import own_rule
from tensorbraid.train.new_variables import collected

__all__ = ["Optimizer"]


class Optimizer(own_rule.OwnRule):
    """Turns a loss into the operation that trains. Source: tf.train.Optimizer.

    The classes in `rules` say which optimizer of the library is used. A class of the program may derive from one of
    them, or from this class, and replace compute_gradients, apply_gradients or methods of OwnRule.
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2
    _updates_tables = False  # whether the class has a rule of its own for the rows of growing tables

    def __init__(self, use_locking, name, use_own_namescope_for_non_slot_vars=False):
        if not name:
            raise ValueError("Must specify the optimizer name")
        if use_own_namescope_for_non_slot_vars:
            raise NotImplementedError("use_own_namescope_for_non_slot_vars")
        self._name = name
        self._use_locking = use_locking
        self._made_library = None
        self._made_variables = []
        self._non_slot_dict = {}

    def _make_library(self):
        """The optimizer of the library. Called once, when the optimizer is first used."""
        return _core.no_rule(self._owner(), self._name)

    @property
    def _library(self):
        if self._made_library is None:
            self._made_library = self._make_library()
        return self._made_library

    def _replaces(self, method):
        return getattr(type(self), method) is not getattr(Optimizer, method)

    def _owner(self):
        """For C++: this optimizer, and the names of the methods that its class overrides."""
        rules = {"dense rule": own_rule.DENSE, "sparse rule": own_rule.SPARSE}
        replaced = [method for method in own_rule.OTHER if self._replaces(method)]
        if self._updates_tables:
            replaced.append("rule of tables")
        return self, replaced + [rule for rule, methods in rules.items() if any(map(self._replaces, methods))]

    def _note(self, variables):
        """Remembers variables that belong to the optimizer."""
        self._made_variables += [variable for variable in variables if variable not in self._made_variables]

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
        self._assert_valid_dtypes([loss])
        with loss.graph.as_default():
            variables = graphs.trainable_variables() if var_list is None else nest.flatten(var_list)
            for variable in variables:
                if not isinstance(variable, _core.Variable):
                    raise TypeError(f"Argument is not a tf.Variable: {variable}")
            if not variables:
                raise ValueError("No variables to optimize.")
            grads = derivatives.gradients(loss, variables, grad_ys=None if grad_loss is None else [grad_loss])
        self._assert_valid_dtypes([v for grad, v in zip(grads, variables) if grad is not None])
        return list(zip(grads, variables))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The operation that updates the variables, and then increments `global_step`."""
        pairs = []
        for pair in arguments.items("grads_and_vars", grads_and_vars, "a list of pairs of a gradient and a variable"):
            is_pair = isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[1], _core.Variable)
            arguments.check(is_pair, "grads_and_vars", "a list of pairs of a gradient and a variable", pair)
            pairs.append((_checked(pair[0]), pair[1]))
        if not pairs:
            raise ValueError("No variables provided.")
        if all(grad is None for grad, _ in pairs):
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        if global_step is not None and not isinstance(global_step, _core.Variable):
            raise TypeError(arguments.must_be("global_step", "a tf.Variable", global_step))
        graph = pairs[0][1].graph
        with collected(graph) as made:
            train = self._library._apply_gradients(pairs, global_step, name or "")
        self._note(made)
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
        return self._library.get_slot(var, name)

    def get_slot_names(self):
        """The names of the slots."""
        return sorted(self._library.get_slot_names())

    def variables(self):
        """The variables of the optimizer in the default graph, by name: its slots, and what all slots share."""
        graph = graphs.get_default_graph()
        return sorted((v for v in self._made_variables if v.graph is graph), key=lambda v: v.name)

    def _valid_dtypes(self):
        """The dtypes that losses and variables may have."""
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _assert_valid_dtypes(self, tensors):
        valid = self._valid_dtypes()
        for tensor in tensors:
            if tensor.dtype.base_dtype not in valid:
                raise ValueError(f"Invalid type {tensor.dtype.base_dtype!r} for {tensor.name}, expected: "
                                 f"{list(valid)}.")

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
