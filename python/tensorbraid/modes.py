"""Switches between TensorFlow 1 and 2. The package has the behaviour of TensorFlow 1; switches to 2 are refused."""

__all__ = [
    "disable_control_flow_v2", "disable_eager_execution", "disable_tensor_equality", "disable_v2_behavior",
    "disable_v2_tensorshape", "enable_eager_execution", "enable_v2_behavior", "enable_v2_tensorshape",
    "executing_eagerly"]


def executing_eagerly():
    """False: operations are added to a graph."""
    return False


def disable_v2_behavior():
    """Has nothing to do. The functions below, too, switch off what the package does not have."""


def disable_eager_execution():
    """Does nothing, since there is no eager execution."""
    pass


def disable_v2_tensorshape():
    """Does nothing: shapes are those of version 1."""
    pass


def disable_control_flow_v2():
    """Does nothing: loops and conditionals are those of version 1."""
    pass


def disable_tensor_equality():
    """Does nothing: == compares tensors by identity."""
    pass


def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    """Raises an error, since there is no eager execution."""
    raise NotImplementedError("there is no eager execution; build a graph and run it in a tf.Session")


def enable_v2_behavior():
    """Raises an error, since there is no eager execution."""
    raise NotImplementedError("the package has the behaviour of TensorFlow 1 only")


def enable_v2_tensorshape():
    """Raises an error: shapes are those of version 1."""
    raise NotImplementedError("the dimensions of a TensorShape are Dimension objects, as in TensorFlow 1")
