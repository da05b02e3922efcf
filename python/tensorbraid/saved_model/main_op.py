"""Operations to run when a SavedModel has been loaded."""

from tensorbraid import lookup
from tensorbraid.internal import graphs, variables
from tensorbraid.ops import control

__all__ = ["main_op", "main_op_with_restore"]


def main_op():
    """The operation that initialises all variables and tables of the default graph."""
    return control.group(variables.global_variables_initializer(), variables.local_variables_initializer(),
                         lookup.tables_initializer())


def main_op_with_restore(restore_op_name):
    """The operation that does what main_op does, then runs the operation with this name, then fills the tables."""
    with graphs.control_dependencies([main_op()]):
        restored = control.group(graphs.get_default_graph().as_graph_element(restore_op_name))
    with graphs.control_dependencies([restored]):
        return control.group(variables.local_variables_initializer(), lookup.tables_initializer())
