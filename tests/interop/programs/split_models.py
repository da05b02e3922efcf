"""Models whose parts are computed by different tasks. Each task has the variables of its part."""
import numpy as np
import tensorflow as tf

from models import Gru, Lstm, OnDevice, Stack, batch_norm, conv, dense, train_op

tf1 = tf.compat.v1


def layers_on_two_tasks(s):
    random = np.random.RandomState(2)
    x = tf1.placeholder(tf.float32, [None, 8, 8, 2])
    labels = tf1.placeholder(tf.int64, [None])
    with tf1.device(s.worker(0)):
        step = tf1.train.get_or_create_global_step()
        hidden = tf.nn.relu(batch_norm(conv(x, "conv1", 6), "norm1", tf.constant(True)))
        hidden = tf.nn.max_pool2d(hidden, 2, 2, "SAME")
    with tf1.device(s.worker(1)):
        hidden = tf.nn.relu(conv(hidden, "conv2", 8))
        hidden = tf.nn.relu(dense(tf.reshape(hidden, [-1, 4 * 4 * 8]), "dense", 12))
    with tf1.device(s.worker(0)):
        logits = dense(hidden, "logits", 4)
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
        train, norm = train_op(loss, tf1.train.AdamOptimizer(0.01), 3.0, step)
    s.init()
    for _ in range(6):
        feeds = {x: random.rand(10, 8, 8, 2).astype(np.float32), labels: random.randint(0, 4, 10)}
        s.run([train, loss, norm], feeds, tolerance=1e-3)
    s.run(tf1.global_variables(), tolerance=1e-3)


BATCH, TIME, INPUTS, UNITS = 3, 7, 4, 5


def _cells(s):
    return [OnDevice(s.worker(0), Lstm(s.worker(0), "below", INPUTS, UNITS)),
            OnDevice(s.worker(1), Gru(s.worker(1), "above", UNITS, UNITS))]


def _train_rnn(s, x, outputs, state, loss_device, feeds, colocate):
    """Trains in five steps. TensorFlow's servers refuse some gradients of loops. If the loop is on another task than
    the loss, the gradients must be colocated. If the body of the loop is on two tasks, they must not be."""
    target = np.random.RandomState(6).rand(BATCH, TIME, 1).astype(np.float32)
    with tf1.device(loss_device):
        step = tf1.train.get_or_create_global_step()
        flat = tf.reshape(outputs, [-1, int(outputs.shape[-1])])
        loss = tf.reduce_mean(tf.square(tf.reshape(dense(flat, "out", 1), [BATCH, TIME, 1]) - target))
        train, norm = train_op(loss, tf1.train.AdadeltaOptimizer(1.0, epsilon=1e-4), 3.0, step, colocate)
    s.init()
    for _ in range(5):
        s.run([train, outputs, state, loss, norm], feeds, tolerance=1e-3)
    s.run(tf1.gradients(loss, [x], colocate_gradients_with_ops=colocate), feeds, tolerance=1e-3)
    s.run(tf1.global_variables(), tolerance=1e-3)


def _sequence():
    random = np.random.RandomState(5)
    x, lengths = tf1.placeholder(tf.float32, [BATCH, TIME, INPUTS]), tf1.placeholder(tf.int32, [None])
    return x, lengths, {x: random.randn(BATCH, TIME, INPUTS).astype(np.float32), lengths: np.array([7, 2, 4], np.int32)}


def cells_of_one_loop_on_two_tasks(s):
    x, lengths, feeds = _sequence()
    with tf1.device(s.worker(0)):
        outputs, state = tf1.nn.dynamic_rnn(Stack(_cells(s)), x, sequence_length=lengths, dtype=tf.float32)
    _train_rnn(s, x, outputs, state, s.worker(1), feeds, colocate=False)


def a_loop_on_each_task(s):
    x, lengths, feeds = _sequence()
    cells = _cells(s)
    with tf1.device(s.worker(0)):
        outputs, first = tf1.nn.dynamic_rnn(cells[0], x, sequence_length=lengths, dtype=tf.float32, scope="below")
    with tf1.device(s.worker(1)):
        outputs, second = tf1.nn.dynamic_rnn(cells[1], outputs, sequence_length=lengths, dtype=tf.float32, scope="above")
    _train_rnn(s, x, outputs, (first, second), s.worker(1), feeds, colocate=True)


def unrolled_cells_on_two_tasks(s):
    x, lengths, feeds = _sequence()
    with tf1.device(s.worker(0)):
        outputs, state = tf1.nn.static_rnn(Stack(_cells(s)), tf.unstack(x, TIME, 1), dtype=tf.float32, sequence_length=lengths)
        outputs = tf.stack(outputs, 1)
    _train_rnn(s, x, outputs, state, s.ps, feeds, colocate=False)


def directions_on_two_tasks(s):
    x, lengths, feeds = _sequence()
    forward = OnDevice(s.worker(0), Lstm(s.worker(0), "forward", INPUTS, UNITS))
    backward = OnDevice(s.worker(1), Lstm(s.worker(1), "backward", INPUTS, UNITS))
    outputs, state = tf1.nn.bidirectional_dynamic_rnn(forward, backward, x, lengths, dtype=tf.float32)
    _train_rnn(s, x, tf.concat(outputs, 2), state, s.worker(0), feeds, colocate=True)
