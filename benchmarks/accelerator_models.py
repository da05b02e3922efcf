"""Writes the training steps of three models: those of Tensorbraid as GraphDefs, those of JAX as programs in StableHLO.

    PYTHONPATH=build/release/python python benchmarks/accelerator_models.py tensorbraid DIR [BATCH]
    python benchmarks/accelerator_models.py jax DIR [BATCH]

accelerator_marks compares them. The models have the same layers, losses and optimizers on both sides: softmax
regression (batch 100, gradient descent), LeNet (batch 128, Adam) and ResNet-20 (batch 128, Momentum, weight decay,
averages of batch normalisation). BATCH is another batch for all of them.
"""

import os
import sys

STAGES = [(16, 3), (32, 3), (64, 3)]


def tensorbraid_models(directory, fixed_batch):
    import tensorbraid as tf

    def batch_norm_relu(x, relu=True):
        x = tf.layers.batch_normalization(x, training=True, momentum=0.9)
        return tf.nn.relu(x) if relu else x

    def convolution(x, filters, kernel, stride, relu=True):
        x = tf.layers.conv2d(x, filters, kernel, stride, padding="same", use_bias=False,
                             kernel_regularizer=lambda w: 1e-4 * tf.nn.l2_loss(w))
        return batch_norm_relu(x, relu)

    def softmax():
        batch = fixed_batch or 100
        x = tf.placeholder(tf.float32, [batch, 784], "images")
        return tf.layers.dense(x, 10), batch, tf.train.GradientDescentOptimizer(0.5)

    def lenet():
        batch = fixed_batch or 128
        x = tf.placeholder(tf.float32, [batch, 28, 28, 1], "images")
        x = tf.layers.max_pooling2d(tf.layers.conv2d(x, 32, 5, padding="same", activation=tf.nn.relu), 2, 2)
        x = tf.layers.max_pooling2d(tf.layers.conv2d(x, 64, 5, padding="same", activation=tf.nn.relu), 2, 2)
        x = tf.layers.dense(tf.reshape(x, [batch, 7 * 7 * 64]), 1024, tf.nn.relu)
        return tf.layers.dense(x, 10), batch, tf.train.AdamOptimizer(1e-4)

    def resnet():
        batch = fixed_batch or 128
        x = convolution(tf.placeholder(tf.float32, [batch, 32, 32, 3], "images"), 16, 3, 1)
        for stage, (filters, blocks) in enumerate(STAGES):
            for i in range(blocks):
                stride = 2 if stage and not i else 1
                shortcut = convolution(x, filters, 1, stride, relu=False) if stride > 1 else x
                y = convolution(convolution(x, filters, 3, stride), filters, 3, 1, relu=False)
                x = tf.nn.relu(y + shortcut)
        return tf.layers.dense(tf.reduce_mean(x, [1, 2]), 10), batch, tf.train.MomentumOptimizer(0.05, 0.9)

    for model in (softmax, lenet, resnet):
        with tf.Graph().as_default() as graph, tf.device("/gpu:0"):
            logits, batch, optimizer = model()
            labels = tf.placeholder(tf.int64, [batch], "labels")
            loss = tf.losses.sparse_softmax_cross_entropy(labels, logits) + tf.losses.get_regularization_loss()
            with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
                train = optimizer.minimize(loss, name="train")
            init = tf.global_variables_initializer()
            assert (train.name, init.name) == ("train", "init")
        tf.train.write_graph(graph, directory, model.__name__ + ".pb", as_text=False)


def jax_models(directory, fixed_batch):
    import jax
    import jax.numpy as jnp
    from jax import lax

    def convolve(x, w, stride=1):
        return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def max_pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def cross_entropy(logits, labels):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))

    def zeros(*shape):
        return jnp.zeros(shape, jnp.float32)

    def softmax_loss(weights, averages, x, labels):
        return cross_entropy(x @ weights[0] + weights[1], labels), averages

    def lenet_loss(weights, averages, x, labels):
        w1, b1, w2, b2, w3, b3, w4, b4 = weights
        x = max_pool(jax.nn.relu(convolve(x, w1) + b1))
        x = max_pool(jax.nn.relu(convolve(x, w2) + b2))
        x = jax.nn.relu(x.reshape(x.shape[0], -1) @ w3 + b3)
        return cross_entropy(x @ w4 + b4, labels), averages

    # The weights of a convolution and its batch normalisation, in the order in which the network uses them.
    def resnet_weights():
        weights, averages = [], []

        def add(kernel, inputs, outputs):
            weights.extend([zeros(kernel, kernel, inputs, outputs), zeros(outputs), zeros(outputs)])
            averages.extend([zeros(outputs), zeros(outputs)])

        add(3, 3, 16)
        inputs = 16
        for stage, (filters, blocks) in enumerate(STAGES):
            for i in range(blocks):
                if stage and not i:
                    add(1, inputs, filters)
                add(3, inputs, filters)
                add(3, filters, filters)
                inputs = filters
        weights.extend([zeros(64, 10), zeros(10)])
        return weights, averages

    def resnet_loss(weights, averages, x, labels):
        weights, averages, moved, penalty = iter(weights), iter(averages), [], []

        def convolution(x, stride, relu=True):
            w, scale, offset = next(weights), next(weights), next(weights)
            penalty.append(1e-4 * 0.5 * jnp.sum(w * w))
            x = convolve(x, w, stride)
            mean = jnp.mean(x, (0, 1, 2))
            variance = jnp.mean(jnp.square(x - mean), (0, 1, 2))
            for value in (mean, variance):
                moved.append(next(averages) * 0.9 + lax.stop_gradient(value) * 0.1)
            x = (x - mean) * (lax.rsqrt(variance + 1e-3) * scale) + offset
            return jax.nn.relu(x) if relu else x

        x = convolution(x, 1)
        for stage, (_, blocks) in enumerate(STAGES):
            for i in range(blocks):
                stride = 2 if stage and not i else 1
                shortcut = convolution(x, stride, relu=False) if stride > 1 else x
                x = jax.nn.relu(convolution(convolution(x, stride), 1, relu=False) + shortcut)
        logits = jnp.mean(x, (1, 2)) @ next(weights) + next(weights)
        return cross_entropy(logits, labels) + sum(penalty), moved

    def descend(weights, slots, gradients):
        return [w - 0.5 * g for w, g in zip(weights, gradients)], slots

    def adam(weights, slots, gradients):
        power1, power2, first, second = slots
        rate = 1e-4 * jnp.sqrt(1 - power2) / (1 - power1)
        first = [m + 0.1 * (g - m) for m, g in zip(first, gradients)]
        second = [v + 0.001 * (g * g - v) for v, g in zip(second, gradients)]
        weights = [w - rate * m / (jnp.sqrt(v) + 1e-8) for w, m, v in zip(weights, first, second)]
        return weights, (power1 * 0.9, power2 * 0.999, first, second)

    def momentum(weights, slots, gradients):
        slots = [0.9 * s + g for s, g in zip(slots, gradients)]
        return [w - 0.05 * s for w, s in zip(weights, slots)], slots

    def copies(weights):
        return [jnp.zeros_like(w) for w in weights]

    softmax = [zeros(784, 10), zeros(10)]
    lenet = [zeros(5, 5, 1, 32), zeros(32), zeros(5, 5, 32, 64), zeros(64), zeros(3136, 1024), zeros(1024),
             zeros(1024, 10), zeros(10)]
    resnet, averages = resnet_weights()
    models = {
        "softmax": (softmax_loss, descend, softmax, [], [], (100, 784)),
        "lenet": (lenet_loss, adam, lenet, (zeros(), zeros(), copies(lenet), copies(lenet)), [], (128, 28, 28, 1)),
        "resnet": (resnet_loss, momentum, resnet, copies(resnet), averages, (128, 32, 32, 3)),
    }
    for name, (loss, update, weights, slots, averages, shape) in models.items():
        shape = (fixed_batch or shape[0], *shape[1:])
        def step(weights, slots, averages, x, labels, loss=loss, update=update):
            (_, averages), gradients = jax.value_and_grad(loss, has_aux=True)(weights, averages, x, labels)
            return (*update(weights, slots, gradients), averages)

        lowered = jax.jit(step, donate_argnums=(0, 1, 2)).lower(weights, slots, averages, zeros(*shape),
                                                                jnp.zeros(shape[0], jnp.int32))
        with open(os.path.join(directory, name + ".mlir"), "w") as file:
            file.write(lowered.as_text())


if __name__ == "__main__":
    os.makedirs(sys.argv[2], exist_ok=True)
    write = {"tensorbraid": tensorbraid_models, "jax": jax_models}[sys.argv[1]]
    write(sys.argv[2], int(sys.argv[3]) if sys.argv[3:] else None)
