"""Moving averages of variables and tensors."""

from tensorbraid import _core
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.train.new_variables import collected

__all__ = ["ExponentialMovingAverage"]


class ExponentialMovingAverage:
    """average = decay * average + (1 - decay) * value. Source: tf.train.ExponentialMovingAverage."""

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        arguments.number("decay", decay)
        self._name = name
        self._arguments = (decay, num_updates, zero_debias, name)
        self._native = None

    @property
    def name(self):
        """The name of the averages."""
        return self._name

    def apply(self, var_list=None):
        """The operation that updates the averages; makes those that do not exist. Default: trainable variables."""
        values = graphs.trainable_variables() if var_list is None else arguments.items(
            "var_list", var_list, "a list of variables and tensors")
        if not values:
            raise ValueError("there is nothing to average: var_list is empty")
        for value in values:
            arguments.check(isinstance(value, (_core.Variable, graphs.Tensor)), "var_list",
                            "a list of variables and tensors", value)
            if not value.dtype.is_floating:
                raise TypeError(f"The variables must be half, float, or double: {value}")
        graph = values[0].graph
        variables = [value for value in values if isinstance(value, _core.Variable)]
        tensors = [value for value in values if not isinstance(value, _core.Variable)]
        updates = []
        with collected(graph), graph.as_default():
            if self._native is None:
                # Not before, so that num_updates is read under the control dependencies of this call.
                self._native = _core.ExponentialMovingAverage(*self._arguments)
            if variables:
                updates.append(self._native._apply_to_variables(variables))
            if tensors:
                updates.append(self._native._apply_to_tensors(tensors))
        for variable in variables:
            if variable not in graph.get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES):
                graph.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, variable)
        if len(updates) == 1:
            return updates[0]
        with graph.control_dependencies(updates):
            return graphs.make_op("NoOp", [], self._name)

    def average(self, var):
        """The variable that holds the average; None before apply."""
        return None if self._native is None else self._native.average(var)

    def average_name(self, var):
        """The name under which a checkpoint has the average; before apply, a name that no node has."""
        average = self.average(var)
        return _unused(f"{var.op.name}/{self._name}") if average is None else average.op.name

    def variables_to_restore(self, moving_avg_variables=None):
        """A dict for Saver, which restores averaged and trainable variables from their averages, others as they are."""
        averaged = moving_avg_variables
        if averaged is None:
            averaged = graphs.trainable_variables() + graphs.get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES)
        names = {self.average_name(v): v for v in dict.fromkeys(averaged)}
        own = {v.name for v in names.values()}
        for variable in graphs.global_variables():
            if variable.name not in own:
                names.setdefault(variable.op.name, variable)
        return names


def _unused(name):
    """The first of "name", "name_1", ... that no node has, in the open name scope."""
    graph = graphs.get_default_graph()
    name = f"{graph._scope_name}/{name}" if graph._scope_name else name
    free, number = name, 0
    while _exists(graph, free):
        number += 1
        free = f"{name}_{number}"
    return free


def _exists(graph, name):
    try:
        return graph.get_operation_by_name(name) is not None
    except KeyError:
        return False
