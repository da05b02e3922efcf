"""Convolutional networks in training: convolution, pooling, batch normalization, dropout, dense layers, Adam."""
import numpy as np
import tensorflow as tf

from models import batch_norm, conv, dense, train_op

tf1 = tf.compat.v1

SIZE, CLASSES, BATCH = 12, 5, 16


def _images(seed):
    """Noisy images of CLASSES patterns, and their labels."""
    random = np.random.RandomState(seed)
    labels = random.randint(0, CLASSES, BATCH)
    patterns = np.random.RandomState(0).rand(CLASSES, SIZE, SIZE, 3)
    return (patterns[labels] + random.uniform(-0.3, 0.3, [BATCH, SIZE, SIZE, 3])).astype(np.float32), labels


def _training(network, optimizer, steps=8):
    """Trains `network`, which makes logits of images and the placeholder `training`; then uses it without training."""
    def run(s):
        x = tf1.placeholder(tf.float32, [None, SIZE, SIZE, 3])
        labels = tf1.placeholder(tf.int64, [None])
        training = tf1.placeholder(tf.bool, [])
        with tf1.device(s.setter):
            step = tf1.train.get_or_create_global_step()
            logits = network(x, training)
            loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
            train, norm = train_op(loss, optimizer(step), 5.0, step)
            accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
        s.init()
        for i in range(steps):
            images, classes = _images(i)
            s.run([loss, norm, train], {x: images, labels: classes, training: True}, tolerance=1e-3)
        images, classes = _images(100)
        s.run([logits, loss, accuracy, step], {x: images, labels: classes, training: False}, tolerance=2e-3)
        s.run(tf1.global_variables(), tolerance=2e-3)
    return run


def _dropout(x, training, rate, seed):
    return tf1.cond(training, lambda: tf1.nn.dropout(x, rate=rate, seed=seed), lambda: tf.identity(x))


def _with_batch_norm(x, training):
    x = tf.nn.relu(batch_norm(conv(x, "conv1", 8), "norm1", training))
    x = tf.nn.max_pool2d(x, 2, 2, "SAME")
    x = tf.nn.relu(batch_norm(conv(x, "conv2", 12), "norm2", training))
    x = tf.nn.max_pool2d(x, 3, 2, "VALID")
    x = tf.nn.relu(dense(tf.reshape(x, [-1, 2 * 2 * 12]), "dense", 16))
    return dense(x, "logits", CLASSES)


def _with_dropout(x, training):
    """A network with dropout, whose activations have no kink. Dropout depends on the seed of the run, and with some
    seeds a value of 1e-8 occurs. Rounding would decide on which side of a kink such a value lies."""
    x = tf.nn.elu(conv(x, "conv1", 8, size=5, strides=2))
    x = tf1.nn.lrn(x, 2, alpha=0.1, beta=0.75)
    x = _dropout(tf.nn.avg_pool2d(x, 2, 2, "SAME"), training, 0.25, 3)
    x = tf.nn.softplus(dense(tf.reshape(x, [-1, 3 * 3 * 8]), "dense", 16))
    return dense(_dropout(x, training, 0.5, 4), "logits", CLASSES)


def _residual(x, training):
    x = tf.nn.relu(batch_norm(conv(x, "conv1", 8), "norm1", training))
    for i in range(2):
        y = tf.nn.relu(batch_norm(conv(x, f"conv{i}a", 8), f"norm{i}a", training))
        x = tf.nn.relu(x + batch_norm(conv(y, f"conv{i}b", 8), f"norm{i}b", training))
    return dense(tf.reduce_mean(x, [1, 2]), "logits", CLASSES)


def _decayed_momentum(step):
    rate = tf1.train.exponential_decay(0.05, step, 3, 0.7, staircase=True)
    return tf1.train.MomentumOptimizer(rate, 0.9)


batch_norm_and_adam = _training(_with_batch_norm, lambda step: tf1.train.AdamOptimizer(0.01))
dropout_and_adam = _training(_with_dropout, lambda step: tf1.train.AdamOptimizer(0.01))
dropout_and_decayed_momentum = _training(_with_dropout, _decayed_momentum)
residual_blocks_and_rms_prop = _training(_residual, lambda step: tf1.train.RMSPropOptimizer(0.01, momentum=0.5, epsilon=0.01))
