"""The linear map of contrib's recurrent code: its weights are made in the open variable scope."""

import tensorbraid as tf

__all__ = []


def linear(values, size, bias=True):
    """concat(values) · kernel + bias, with the variables "kernel" and "bias" of the open variable scope."""
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    sizes = [value.shape.as_list()[-1] for value in values]
    if None in sizes or any(value.shape.ndims != 2 for value in values):
        raise ValueError(f"linear expects matrices with known numbers of columns: {[value.shape for value in values]}")
    kernel = tf.get_variable("kernel", [sum(sizes), size], values[0].dtype)
    product = tf.matmul(values[0] if len(values) == 1 else tf.concat(values, 1), kernel)
    if not bias:
        return product
    return tf.nn.bias_add(product, tf.get_variable("bias", [size], values[0].dtype, tf.zeros_initializer()))
