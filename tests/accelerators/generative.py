"""Trains a network that makes images: `generative.py autoencoder STEPS BATCH` or `generative.py gan STEPS BATCH`."""

import sys

import numpy as np
import tensorbraid as tf

SIZE, CODE = 28, 16


def encoder(images, units, training):
    x = images
    for filters in (32, 64):
        x = tf.layers.conv2d(x, filters, 5, 2, padding="same")
        x = tf.nn.leaky_relu(tf.layers.batch_normalization(x, training=training))
    return tf.layers.dense(tf.layers.flatten(x), units)


def decoder(code, training):
    """The logits of images."""
    x = tf.reshape(tf.layers.dense(code, SIZE // 4 * (SIZE // 4) * 64), [-1, SIZE // 4, SIZE // 4, 64])
    x = tf.nn.relu(tf.layers.batch_normalization(x, training=training))
    x = tf.layers.conv2d_transpose(x, 32, 5, 2, padding="same")
    x = tf.nn.relu(tf.layers.batch_normalization(x, training=training))
    return tf.layers.conv2d_transpose(x, 1, 5, 2, padding="same")


def autoencoder(images):
    """A variational autoencoder."""
    mean, log_variance = tf.split(encoder(images, 2 * CODE, True), 2, axis=1)
    logits = decoder(mean + tf.exp(log_variance / 2) * tf.random_normal(tf.shape(mean), seed=1), True)
    rebuilt = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=images, logits=logits), [1, 2, 3])
    distance = -0.5 * tf.reduce_sum(1 + log_variance - mean ** 2 - tf.exp(log_variance), 1)
    loss = tf.reduce_mean(rebuilt + distance)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        return [loss], tf.train.RMSPropOptimizer(0.001).minimize(loss)


def gan(images):
    """A GAN with convolutions (DCGAN). One step trains both networks."""
    with tf.variable_scope("generator"):
        made = tf.sigmoid(decoder(tf.random_uniform([tf.shape(images)[0], CODE], -1.0, 1.0, seed=1), True))

    def judge(x, label):
        with tf.variable_scope("judge", reuse=tf.AUTO_REUSE):
            logits = encoder(x, 1, True)
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.fill(tf.shape(logits), label),
                                                                      logits=logits))

    losses = [judge(images, 0.9) + judge(made, 0.0), judge(made, 1.0)]
    train = []
    for scope, loss in zip(("judge", "generator"), losses):
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)):
            optimizer = tf.train.AdamOptimizer(0.0002, beta1=0.5)
            train.append(optimizer.minimize(loss, var_list=tf.trainable_variables(scope)))
    return losses, tf.group(*train)


def main():
    model, steps, batch = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with tf.device("/gpu:0"):
        images = tf.placeholder(tf.float32, [None, SIZE, SIZE, 1])
        losses, train = {"autoencoder": autoencoder, "gan": gan}[model](images)
    random = np.random.RandomState(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            values = session.run([train, *losses], {images: random.rand(batch, SIZE, SIZE, 1)})[1:]
        print(*values)


if __name__ == "__main__":
    main()
