"""tf.contrib.gan.features: conditions for generators and discriminators, and a pool of generated data."""

import tensorbraid as tf

__all__ = ["condition_tensor", "condition_tensor_from_onehot", "tensor_pool"]


def condition_tensor(tensor, conditioning):
    """`tensor` [batch, ...] plus a dense layer of `conditioning` [batch, ...], reshaped to the shape of `tensor`."""
    tensor.shape[1:].assert_is_fully_defined()
    if conditioning.shape.ndims < 2:
        raise ValueError(f"conditioning must be at least 2D, but saw shape: {conditioning.shape}")
    mapped = tf.layers.dense(tf.layers.flatten(conditioning), tensor.shape[1:].num_elements(),
                             kernel_initializer=tf.glorot_uniform_initializer())
    if not mapped.shape.is_compatible_with(tensor.shape):
        mapped = tf.reshape(mapped, tf.shape(tensor))
    return tensor + mapped


def condition_tensor_from_onehot(tensor, one_hot_labels, embedding_size=256):
    """condition_tensor with embeddings of one-hot labels [batch, classes]; the variable is "embedding"."""
    one_hot_labels.shape.assert_has_rank(2)
    one_hot_labels.shape[1:].assert_is_fully_defined()
    embedding = tf.get_variable("embedding", [one_hot_labels.shape.as_list()[1], embedding_size])
    return condition_tensor(tensor, tf.nn.embedding_lookup(embedding, tf.argmax(one_hot_labels, 1),
                                                           name="token_to_embedding"))


def tensor_pool(input_values, pool_size=50, pooling_probability=0.5, name="tensor_pool"):
    """Mixes inputs with a pool of earlier ones. Source: Shrivastava et al., 2016.

    `input_values` is a tensor, or a structure of tensors that stay together. Until the pool has `pool_size` inputs,
    each is added and returned. From then on, each input takes the place of a random one in the pool. The result is that
    earlier input with `pooling_probability`, and otherwise the new one. Without a pool, `pool_size` 0, each input is
    returned. ValueError if `pool_size` is negative.
    """
    pool_size = int(pool_size)
    if pool_size < 0:
        raise ValueError("`pool_size` is negative.")
    if pool_size == 0:
        return input_values
    values = [tf.convert_to_tensor(value) for value in tf.nest.flatten(input_values)]
    with tf.name_scope(f"{name}_pool_queue", values=values):
        pool = tf.RandomShuffleQueue(pool_size, 0, [value.dtype for value in values])

        def fill():
            with tf.control_dependencies([pool.enqueue(values)]):
                return [tf.identity(value) for value in values]

        def exchange():
            kept = pool.dequeue()
            kept = [kept] if isinstance(kept, tf.Tensor) else list(kept)
            with tf.control_dependencies(kept):
                enqueued = pool.enqueue(values)
            with tf.control_dependencies([enqueued]):
                return tf.cond(tf.random_uniform([]) < pooling_probability,
                               lambda: [tf.identity(value) for value in kept],
                               lambda: [tf.identity(value) for value in values])

        outputs = tf.cond(pool.size() < pool_size, fill, exchange)
        outputs = [outputs] if isinstance(outputs, tf.Tensor) else list(outputs)
    for value, output in zip(values, outputs):
        output.set_shape(value.shape)
    return tf.nest.pack_sequence_as(input_values, outputs)
