"""The TensorFlow side of `tensorbraid bench lenet`, `bench lstm` and `bench crnn`.

The models, optimizers and batch sizes are the same, in TensorFlow's fastest form for the CPU: one op for a whole LSTM,
fused batch normalization, variables by reference.
"""

import tensorflow as tensorflow2

import model_batches as batches

tf = tensorflow2.compat.v1

CLASSES = batches.CLASSES


def _variable(name, shape, initializer=None):
    return tf.get_variable(name, shape, initializer=initializer, use_resource=False)


def _dense(x, units, name):
    weights = _variable(name + "/kernel", [x.shape[-1], units])
    return tf.nn.bias_add(tf.matmul(x, weights), _variable(name + "/bias", [units], tf.zeros_initializer()))


def _loss(logits, examples):
    labels = tf.placeholder(tf.int64, [examples])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    return loss, labels


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
    loss, labels = _loss(_dense(x, CLASSES, "dense1"), examples)
    pixels, classes = batches.images(examples, width)
    return tf.train.AdamOptimizer(1e-3).minimize(loss), loss, {images: pixels, labels: classes}


def _block_lstm(x, units, name):
    """`x` and the result are [steps, batch, features]."""
    zeros, peephole = tf.zeros([x.shape[1], units]), tf.zeros([units])
    return tf.raw_ops.BlockLSTM(
        seq_len_max=tf.constant(int(x.shape[0]), tf.int64), x=x, cs_prev=zeros, h_prev=zeros,
        w=_variable(name + "/kernel", [int(x.shape[2]) + units, 4 * units]), wci=peephole, wcf=peephole, wco=peephole,
        b=_variable(name + "/bias", [4 * units], tf.zeros_initializer()), forget_bias=1.0, cell_clip=-1.0,
        use_peephole=False).h


def lstm():
    """Returns (train, loss, {placeholder: value})."""
    examples, steps, units = 32, 20, 200
    sequences = tf.placeholder(tf.float32, [examples, steps, units])
    h = _block_lstm(tf.transpose(sequences, [1, 0, 2]), units, "lstm")
    loss, labels = _loss(_dense(h[-1], CLASSES, "dense"), examples)
    values, classes = batches.sequences(examples, steps, units)
    return tf.train.GradientDescentOptimizer(0.1).minimize(loss), loss, {sequences: values, labels: classes}


def _block(x, filters, pool, name):
    """A convolution with batch normalization, then pooling."""
    kernel = _variable(name + "/kernel", [3, 3, x.shape[-1], filters])
    y = tf.nn.conv2d(x, kernel, strides=1, padding="SAME")
    gamma = _variable(name + "/gamma", [filters], tf.ones_initializer())
    beta = _variable(name + "/beta", [filters], tf.zeros_initializer())
    y, mean, variance = tf.nn.fused_batch_norm(y, gamma, beta, epsilon=1e-3, is_training=True)
    for moving, batch in (("mean", mean), ("variance", variance)):
        start = tf.zeros_initializer() if moving == "mean" else tf.ones_initializer()
        average = tf.get_variable(f"{name}/moving_{moving}", [filters], initializer=start, trainable=False,
                                  use_resource=False)
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_sub(average, (average - batch) * 0.01))
    return tf.nn.max_pool2d(tf.nn.relu(y), pool, pool, "VALID")


def crnn():
    """Returns (train, loss, {placeholder: value})."""
    lines, height, width, units, digits, classes = 32, 32, 144, 64, 5, 11
    steps = width // 4
    images = tf.placeholder(tf.float32, [lines, height, width, 1])
    lengths = tf.placeholder(tf.int32, [lines])
    indices, values = tf.placeholder(tf.int64, [lines * digits, 2]), tf.placeholder(tf.int32, [lines * digits])
    labels = tf.SparseTensor(indices, values, tf.constant([lines, digits], tf.int64))
    x = _block(images, 16, [2, 2], "block0")
    x = _block(x, 32, [2, 2], "block1")
    x = _block(x, 64, [2, 1], "block2")
    kernel = _variable("column/kernel", [height // 8, 1, 64, 96])
    x = tf.nn.conv2d(x, kernel, strides=1, padding="VALID")
    x = tf.nn.relu(tf.nn.bias_add(x, _variable("column/bias", [96], tf.zeros_initializer())))
    x = tf.transpose(tf.squeeze(x, [1]), [1, 0, 2])
    # What an LSTM computes beyond the end of a line has no effect: the loss does not look there.
    backward = tf.reverse_sequence(x, lengths, seq_axis=0, batch_axis=1)
    backward = tf.reverse_sequence(_block_lstm(backward, units, "backward"), lengths, seq_axis=0, batch_axis=1)
    x = tf.concat([_block_lstm(x, units, "forward"), backward], 2)
    logits = tf.reshape(_dense(tf.reshape(x, [steps * lines, 2 * units]), classes, "logits"), [steps, lines, classes])
    loss = tf.reduce_mean(tf.nn.ctc_loss(labels, logits, lengths))
    optimizer = tf.train.AdadeltaOptimizer(1.0, epsilon=1e-6)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 10.0)
    train = tf.group(optimizer.apply_gradients(zip(gradients, variables)), *tf.get_collection(tf.GraphKeys.UPDATE_OPS))
    return train, loss, dict(zip((images, lengths, indices, values), batches.lines(lines, height, width, digits)))
