"""Shapes of tensors, and conditions that may be known while the graph is built."""

import tensorbraid as tf

__all__ = ["get_graph_from_inputs", "get_name_scope", "get_placeholders", "reduce_sum_n",
           "remove_squeezable_dimensions", "smart_cond", "smart_constant_value", "with_same_shape", "with_shape"]


def get_graph_from_inputs(op_input_list, graph=None):
    """The graph of the inputs, or the default graph."""
    from tensorbraid.internal import graphs

    return graph or graphs.graph_of(list(op_input_list))


def get_name_scope():
    """The open name scope of the default graph."""
    return tf.get_default_graph().get_name_scope()


def get_placeholders(graph):
    """The placeholders of the graph."""
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


def reduce_sum_n(tensors, name=None):
    """The sum of all elements of all tensors."""
    if not tensors:
        raise ValueError("No tensors provided.")
    with tf.name_scope(name, "reduce_sum_n", tensors):
        sums = [value if value.shape.ndims == 0 else tf.reduce_sum(value)
                for value in map(tf.convert_to_tensor, tensors)]
        return sums[0] if len(sums) == 1 else tf.add_n(sums)


def remove_squeezable_dimensions(predictions, labels, name=None):
    """Predictions and labels of the same rank: the one of greater rank loses its last dimension of size 1."""
    with tf.name_scope(name, "remove_squeezable_dimensions", [predictions, labels]):
        predictions, labels = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
        if predictions.shape.ndims is None or labels.shape.ndims is None:
            raise NotImplementedError("remove_squeezable_dimensions of tensors of unknown rank")
        difference = predictions.shape.ndims - labels.shape.ndims
        if difference == 1 and predictions.shape.as_list()[-1] in (None, 1):
            predictions = tf.squeeze(predictions, [-1])
        elif difference == -1 and labels.shape.as_list()[-1] in (None, 1):
            labels = tf.squeeze(labels, [-1])
        return predictions, labels


def with_shape(expected_shape, tensor):
    """The tensor, whose shape a step checks if it is not known."""
    expected = tf.TensorShape(expected_shape)
    if not tensor.shape.is_compatible_with(expected):
        raise ValueError(f"Invalid shape for {tensor.name}: {tensor.shape}, expected {expected}.")
    return tensor if tensor.shape.is_fully_defined() else tf.ensure_shape(tensor, expected)


def with_same_shape(expected_tensor, tensor):
    """The tensor, which must have the shape of the other."""
    if not expected_tensor.shape.is_fully_defined():
        raise NotImplementedError("with_same_shape for a tensor whose shape is not known before a step")
    return with_shape(expected_tensor.shape, tensor)


def smart_constant_value(pred):
    """The bool that `pred` is or that the constant holds; None if it is not known before a step."""
    if isinstance(pred, bool) or pred in (0, 1):
        return bool(pred)
    if not isinstance(pred, tf.Tensor):
        raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}")
    value = pred._constant()
    return None if value is None else bool(value)


def smart_cond(pred, fn1, fn2, name=None):
    """fn1() or fn2() if `pred` is known, else tf.cond."""
    value = smart_constant_value(pred)
    if value is None:
        return tf.cond(pred, fn1, fn2, name=name)
    return fn1() if value else fn2()
