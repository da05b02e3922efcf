"""Switches between TensorFlow 1 and 2. The package has the behaviour of TensorFlow 1; switches to 2 are refused."""

__all__ = [
    "control_flow_v2_enabled", "disable_control_flow_v2", "disable_eager_execution", "disable_resource_variables",
    "disable_tensor_equality", "disable_v2_behavior", "disable_v2_tensorshape", "enable_control_flow_v2",
    "enable_eager_execution", "enable_resource_variables", "enable_tensor_equality", "enable_v2_behavior",
    "enable_v2_tensorshape", "executing_eagerly", "executing_eagerly_outside_functions", "resource_variables_enabled"]


def executing_eagerly():
    """False: operations are added to a graph."""
    return False


def executing_eagerly_outside_functions():
    """False: operations are added to a graph."""
    return False


def control_flow_v2_enabled():
    """False: tf.cond and tf.while_loop make nodes such as Switch and Enter."""
    return False


def resource_variables_enabled():
    """Whether a program asked for resource variables. All variables are such, whatever it asks."""
    return _asked_for_resource_variables


_asked_for_resource_variables = False


def enable_resource_variables():
    """Notes that the program asked for resource variables."""
    global _asked_for_resource_variables
    _asked_for_resource_variables = True


def disable_resource_variables():
    """Notes that the program did not ask for them. Its variables are resource variables nevertheless.

    They differ from TensorFlow 1's only where one step reads a variable while another writes it.
    """
    global _asked_for_resource_variables
    _asked_for_resource_variables = False


def disable_v2_behavior():
    """Does nothing: the behaviour is that of version 1."""


def disable_eager_execution():
    """Does nothing, since there is no eager execution."""


def disable_v2_tensorshape():
    """Does nothing: shapes are those of version 1."""


def disable_control_flow_v2():
    """Does nothing: loops and conditionals are those of version 1."""


def disable_tensor_equality():
    """Does nothing: == compares tensors by identity."""


def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    """Raises an error, since there is no eager execution."""
    raise NotImplementedError("there is no eager execution; build a graph and run it in a tf.Session")


def enable_control_flow_v2():
    """Raises an error: loops and conditionals are those of version 1."""
    raise NotImplementedError("tf.cond and tf.while_loop make nodes such as Switch and Enter, as in TensorFlow 1")


def enable_tensor_equality():
    """Raises an error: == compares tensors by identity."""
    raise NotImplementedError("`==` compares whether two tensors are the same object, as in TensorFlow 1")


def enable_v2_behavior():
    """Raises an error, since there is no eager execution."""
    raise NotImplementedError("the package has the behaviour of TensorFlow 1 only")


def enable_v2_tensorshape():
    """Raises an error: shapes are those of version 1."""
    raise NotImplementedError("the dimensions of a TensorShape are Dimension objects, as in TensorFlow 1")
