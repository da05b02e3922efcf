"""Switches between TensorFlow 1 and 2. The package has the behaviour of TensorFlow 1; switches to 2 are refused."""

__all__ = [
    "disable_control_flow_v2", "disable_eager_execution", "disable_tensor_equality", "disable_v2_behavior",
    "disable_v2_tensorshape", "enable_eager_execution", "enable_v2_behavior", "enable_v2_tensorshape",
    "executing_eagerly"]


def executing_eagerly():
    return False


def disable_v2_behavior():
    """Has nothing to do. The functions below, too, switch off what the package does not have."""


def disable_eager_execution():
    pass


def disable_v2_tensorshape():
    pass


def disable_control_flow_v2():
    pass


def disable_tensor_equality():
    pass


def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    raise NotImplementedError("there is no eager execution; build a graph and run it in a tf.Session")


def enable_v2_behavior():
    raise NotImplementedError("the package has the behaviour of TensorFlow 1 only")


def enable_v2_tensorshape():
    raise NotImplementedError("the dimensions of a TensorShape are Dimension objects, as in TensorFlow 1")
