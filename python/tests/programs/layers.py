"""tf.layers: values, gradients, names of variables, sharing, regularizers, updates of batch normalization."""

import numpy as np


def show(session, tensors, feed=None):
    for value in session.run(tensors, feed):
        if value is not None:
            print(*[repr(float(number)) for number in np.asarray(value).ravel()])


def glorot(tf, seed):
    return tf.glorot_uniform_initializer(seed=seed)


def square_sum(tf, scale):
    return lambda value: scale * tf.reduce_sum(value * value)


def convolutions(tf, image):
    layers = tf.layers
    sequence = tf.reshape(image, [-1, 36, 3])
    volume = tf.reshape(image, [-1, 3, 2, 6, 3])
    return [
        layers.conv2d(image, 4, 3, activation=tf.nn.relu, kernel_initializer=glorot(tf, 1)),
        layers.conv2d(image, 4, [3, 2], strides=(2, 1), padding="same", kernel_initializer=glorot(tf, 2), use_bias=False),
        layers.conv2d(image, 2, 2, dilation_rate=2, kernel_initializer=glorot(tf, 3), name="atrous"),
        layers.conv1d(sequence, 2, 3, strides=2, padding="same", kernel_initializer=glorot(tf, 4)),
        layers.conv3d(volume, 2, 2, padding="same", kernel_initializer=glorot(tf, 5)),
        layers.conv2d_transpose(image, 4, 3, strides=2, kernel_initializer=glorot(tf, 6)),
        layers.conv2d_transpose(image, 4, 2, strides=3, padding="same", kernel_initializer=glorot(tf, 7)),
        layers.conv3d_transpose(volume, 2, 2, strides=2, kernel_initializer=glorot(tf, 8)),
        layers.separable_conv2d(image, 4, 3, depth_multiplier=2, depthwise_initializer=glorot(tf, 9),
                                pointwise_initializer=glorot(tf, 10)),
        layers.separable_conv1d(sequence, 4, 3, padding="same", depthwise_initializer=glorot(tf, 11),
                                pointwise_initializer=glorot(tf, 12)),
        layers.max_pooling2d(image, 2, 2), layers.max_pooling2d(image, [3, 2], [1, 2], "same"),
        layers.average_pooling2d(image, 2, 1), layers.max_pooling1d(sequence, 2, 2), layers.average_pooling1d(sequence, 3, 2),
        layers.max_pooling3d(volume, 2, 1), layers.average_pooling3d(volume, 1, 2), layers.flatten(image),
    ]


def dense(tf, x):
    layers = tf.layers
    first = layers.dense(x, 4, tf.nn.tanh, kernel_initializer=glorot(tf, 20), kernel_regularizer=square_sum(tf, 0.1),
                         bias_initializer=tf.ones_initializer(), activity_regularizer=square_sum(tf, 0.5))
    second = layers.dense(first, 3, kernel_initializer=glorot(tf, 21), name="logits")
    again = layers.dense(first, 3, name="logits", reuse=True)
    cube = layers.dense(tf.reshape(x, [-1, 1, 3]), 2, kernel_initializer=glorot(tf, 22))
    shared = layers.Dense(3, kernel_initializer=glorot(tf, 23), name="shared")
    twice = shared(shared(x))
    with tf.variable_scope("scope", initializer=tf.ones_initializer(), regularizer=square_sum(tf, 1.0)):
        inside = layers.dense(x, 2)
    return [first, second, again, cube, twice, inside, shared.kernel, layers.dropout(x), layers.dropout(x, 0.4, seed=3,
                                                                                                         training=True)]


def own_layer(tf, x):
    class Scale(tf.layers.Layer):
        def build(self, input_shape):
            self.factor = self.add_weight(name="factor", shape=[int(input_shape[-1])],
                                          initializer=tf.constant_initializer(3.0))
            super().build(input_shape)

        def call(self, inputs):
            self.add_loss(tf.reduce_sum(self.factor), inputs=True)
            return inputs * self.factor

    layer = Scale()
    result = layer(x)
    return [result, layer.factor], [len(layer.trainable_variables), len(layer.losses), layer.count_params(),
                                    len(layer.variables[0].name)]


def batch_norms(tf, x, image, training):
    layers = tf.layers
    return [layers.batch_normalization(x, training=True, momentum=0.9), layers.batch_normalization(x),
            layers.batch_normalization(image, training=True), layers.batch_normalization(image, training=False),
            layers.batch_normalization(image, training=training, momentum=0.5, name="either"),
            layers.batch_normalization(x, training=training, scale=False), layers.batch_normalization(image, 2, training=True),
            layers.batch_normalization(x, training=True, center=False, gamma_regularizer=square_sum(tf, 0.1))]


def run(tf, target=""):
    rng = np.random.RandomState(0)
    x = tf.placeholder(tf.float32, [None, 3])
    image = tf.placeholder(tf.float32, [None, 6, 6, 3])
    training = tf.placeholder(tf.bool, [])
    own, numbers = own_layer(tf, x)
    groups = [convolutions(tf, image), dense(tf, x), own, batch_norms(tf, x, image, training)]
    names = sorted(v.name for v in tf.global_variables())
    gradients = [g for group in groups for t in group for g in tf.gradients(t * t, [x, image]) if g is not None]
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    moving = sorted((v for v in tf.global_variables() if "moving" in v.name), key=lambda v: v.name)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        for train in (True, False):
            feed = {x: rng.randn(4, 3), image: rng.randn(2, 6, 6, 3), training: train}
            for group in groups:
                show(session, group, feed)
            show(session, gradients, feed)
            session.run(updates, feed)
            show(session, moving)
        show(session, tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES), feed)
    print(*numbers, len(names), len(updates), len(tf.trainable_variables()),
          len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)))
    for name in names:  # numbers that differ if a name differs
        print(sum((i + 1) * ord(letter) for i, letter in enumerate(name)))
