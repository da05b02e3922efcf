"""tensorflow.python.ops.variables and resource_variable_ops: kinds of variables. All are resource variables here."""

from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.partitioned_variables import PartitionedVariable
from tensorbraid.internal.variables import Variable

__all__ = ["BaseResourceVariable", "PartitionedVariable", "RefVariable", "ResourceVariable", "Variable",
           "is_resource_variable", "variable_accessed"]

RefVariable = VariableV1 = ResourceVariable = BaseResourceVariable = Variable


def is_resource_variable(var):
    """Whether this is a variable."""
    return isinstance(var, Variable)


def variable_accessed(variable):
    """Does nothing: it belongs to eager execution."""


def _all_saveable_objects(scope=None):
    """The global variables, and what else a Saver saves."""
    return (graphs.get_collection(GraphKeys.GLOBAL_VARIABLES, scope)
            + graphs.get_collection(GraphKeys.SAVEABLE_OBJECTS, scope))
