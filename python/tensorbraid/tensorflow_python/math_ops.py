"""tensorflow.python.ops.math_ops: names that tf does not have."""

import tensorbraid as tf

__all__ = ["reduced_shape"]


def reduced_shape(input_shape, axes):
    """The shape of a reduction with keepdims=True: `input_shape`, a vector, with 1 at the reduced axes."""
    known = tf.get_static_value(tf.convert_to_tensor(input_shape)), tf.get_static_value(tf.convert_to_tensor(axes))
    if known[0] is not None and known[1] is not None:
        sizes = [int(size) for size in known[0]]
        for axis in known[1].ravel():
            sizes[axis] = 1
        return sizes
    input_shape, axes = tf.cast(input_shape, tf.int32), tf.cast(axes, tf.int32)
    rank = tf.size(input_shape)
    axes = tf.reshape((axes + rank) % rank, [-1])
    return tf.dynamic_stitch([tf.range(rank), axes], [input_shape, tf.ones_like(axes)])
