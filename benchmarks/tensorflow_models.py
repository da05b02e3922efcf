"""The TensorFlow side of `tensorbraid bench lenet` and `bench lstm`: the same models, optimizers and batch sizes, in
TensorFlow's fastest form for the CPU (one op for the whole LSTM; variables by reference)."""

import numpy as np
import tensorflow as tensorflow2

tf = tensorflow2.compat.v1

CLASSES = 10


def _variable(name, shape, initializer=None):
    return tf.get_variable(name, shape, initializer=initializer, use_resource=False)


def _dense(x, units, name):
    weights = _variable(name + "/kernel", [x.shape[-1], units])
    return tf.nn.bias_add(tf.matmul(x, weights), _variable(name + "/bias", [units], tf.zeros_initializer()))


def _loss(logits, examples):
    labels = tf.placeholder(tf.int64, [examples])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    return loss, labels, np.arange(examples) % CLASSES


def lenet():
    """Returns (train, loss, {placeholder: value})."""
    examples, width = 128, 28
    images = tf.placeholder(tf.float32, [examples, width, width, 1])
    x = images
    for i, filters in enumerate((32, 64)):
        kernel = _variable(f"conv{i}/kernel", [5, 5, x.shape[-1], filters])
        bias = _variable(f"conv{i}/bias", [filters], tf.zeros_initializer())
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, strides=1, padding="SAME"), bias))
        x = tf.nn.max_pool2d(x, 2, 2, "SAME")
    x = tf.nn.relu(_dense(tf.reshape(x, [examples, -1]), 1024, "dense0"))
    loss, labels, classes = _loss(_dense(x, CLASSES, "dense1"), examples)
    pixels = np.random.RandomState(7).uniform(0, 0.3, (examples, width, width, 1)).astype(np.float32)
    pixels[np.arange(examples), :, 2 + 2 * classes] = 1
    return tf.train.AdamOptimizer(1e-3).minimize(loss), loss, {images: pixels, labels: classes}


def lstm():
    """Returns (train, loss, {placeholder: value})."""
    examples, steps, units = 32, 20, 200
    sequences = tf.placeholder(tf.float32, [examples, steps, units])
    zeros = tf.zeros([examples, units])
    peephole = tf.zeros([units])
    out = tf.raw_ops.BlockLSTM(
        seq_len_max=tf.constant(steps, tf.int64), x=tf.transpose(sequences, [1, 0, 2]), cs_prev=zeros, h_prev=zeros,
        w=_variable("kernel", [2 * units, 4 * units]), wci=peephole, wcf=peephole, wco=peephole,
        b=_variable("bias", [4 * units], tf.zeros_initializer()), forget_bias=1.0, cell_clip=-1.0, use_peephole=False)
    loss, labels, classes = _loss(_dense(out.h[-1], CLASSES, "dense"), examples)
    values = np.random.RandomState(7).uniform(0, 0.3, (examples, steps, units)).astype(np.float32)
    values[np.arange(examples), :, classes] = 1
    return tf.train.GradientDescentOptimizer(0.5).minimize(loss), loss, {sequences: values, labels: classes}
