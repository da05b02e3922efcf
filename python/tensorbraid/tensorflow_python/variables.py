"""tensorflow.python.ops.variables and resource_variable_ops. All variables of this package are resource variables."""

from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.partitioned_variables import PartitionedVariable
from tensorbraid.internal.variables import Variable

__all__ = ["BaseResourceVariable", "PartitionedVariable", "RefVariable", "ResourceVariable", "Variable",
           "is_resource_variable", "variable_accessed"]

RefVariable = VariableV1 = ResourceVariable = BaseResourceVariable = Variable


def is_resource_variable(var):
    """Whether the object is a variable. All variables are resource variables."""
    return isinstance(var, Variable)


def variable_accessed(variable):
    """Has no effect: it is for eager execution."""


def _set_handle_shapes_and_types(tensor, handle_data, graph_mode):
    """Notes in a handle what it refers to, a CppShapeInferenceResult.HandleData.

    The shapes of what is read do not depend on it: the operation that made the handle knows them.
    """
    tensor._handle_data = handle_data


def _all_saveable_objects(scope=None):
    """The global variables and the collection "saveable_objects": the state that a Saver saves by default."""
    return (graphs.get_collection(GraphKeys.GLOBAL_VARIABLES, scope)
            + graphs.get_collection(GraphKeys.SAVEABLE_OBJECTS, scope))
