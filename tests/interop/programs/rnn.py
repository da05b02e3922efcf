"""What tf.compat.v1.nn builds for recurrent networks: dynamic, static and bidirectional, with lengths, forward, backward
and in training; and TensorFlow's fused LSTM sequences."""
import numpy as np
import tensorflow as tf

from models import Basic, Gru, Lstm, Noise, Stack

tf1 = tf.compat.v1


BATCH, TIME, INPUTS, UNITS = 3, 6, 4, 5


def _inputs(known=True):
    x = np.random.RandomState(5).randn(BATCH, TIME, INPUTS).astype(np.float32)
    lengths = np.array([6, 2, 4], np.int32)
    shape = [BATCH, TIME, INPUTS] if known else [None, None, INPUTS]
    return tf1.placeholder(tf.float32, shape), tf1.placeholder(tf.int32, [None]), x, lengths


def _train(s, outputs, state, feeds, optimizer=None):
    """Runs outputs, gradients and five training steps."""
    flat = tf.nest.flatten(state)
    loss = tf.reduce_sum(tf.square(tf.concat(tf.nest.flatten(outputs), -1) - 0.1)) + tf.add_n([tf.reduce_sum(t) for t in flat])
    variables = tf1.trainable_variables()
    gradients = tf1.gradients(loss, variables)
    optimizer = optimizer or tf1.train.GradientDescentOptimizer(0.05)
    # Variables are read by reference, so no update may come before the last gradient.
    with tf.control_dependencies(gradients):
        step = optimizer.apply_gradients(zip(gradients, variables))
    s.init()
    s.run([outputs, state, loss], feeds, tolerance=1e-4)
    s.run(gradients, feeds, tolerance=1e-4)
    for _ in range(5):
        s.run([step, loss], feeds, tolerance=1e-3)
    s.run(variables, tolerance=1e-3)


def _cell(s, name):
    if name == "stack":
        return Stack([Lstm(s.ps, "below", INPUTS, UNITS), Gru(s.ps, "above", UNITS, UNITS)])
    return {"basic": Basic, "lstm": Lstm, "gru": Gru}[name](s.ps, name, INPUTS, UNITS)


def _dynamic(name, known=True, lengths=True, **kwargs):
    def run(s):
        x, count, values, counts = _inputs(known)
        with tf.device(s.worker(0)):
            outputs, state = tf1.nn.dynamic_rnn(_cell(s, name), x, sequence_length=count if lengths else None, dtype=tf.float32,
                                                **kwargs)
            _train(s, outputs, state, {x: values, count: counts})
    return run


dynamic_basic = _dynamic("basic")
dynamic_lstm = _dynamic("lstm")
dynamic_gru = _dynamic("gru")
dynamic_stack = _dynamic("stack")
dynamic_of_unknown_sizes = _dynamic("lstm", known=False)
dynamic_without_lengths = _dynamic("gru", lengths=False)
dynamic_with_swapped_memory = _dynamic("lstm", swap_memory=True, parallel_iterations=2)


def _static(name, lengths):
    def run(s):
        x, count, values, counts = _inputs()
        with tf.device(s.worker(1)):
            outputs, state = tf1.nn.static_rnn(_cell(s, name), tf.unstack(x, TIME, 1), dtype=tf.float32,
                                               sequence_length=count if lengths else None)
            _train(s, outputs, state, {x: values, count: counts})
    return run


static_lstm = _static("lstm", False)
static_lstm_with_lengths = _static("lstm", True)
static_gru_with_lengths = _static("gru", True)


def bidirectional(s):
    x, count, values, counts = _inputs(known=False)
    with tf.device(s.worker(0)):
        outputs, state = tf1.nn.bidirectional_dynamic_rnn(Lstm(s.ps, "fw", INPUTS, UNITS), Lstm(s.ps, "bw", INPUTS, UNITS), x, count,
                                                          dtype=tf.float32)
        _train(s, tf.concat(outputs, 2), state, {x: values, count: counts}, tf1.train.AdamOptimizer(0.01))


def static_bidirectional(s):
    x, count, values, counts = _inputs()
    with tf.device(s.worker(0)):
        outputs, first, second = tf1.nn.static_bidirectional_rnn(Gru(s.ps, "fw", INPUTS, UNITS), Gru(s.ps, "bw", INPUTS, UNITS),
                                                                 tf.unstack(x, TIME, 1), dtype=tf.float32, sequence_length=count)
        _train(s, outputs, (first, second), {x: values, count: counts})


def cells_on_two_tasks(s):
    x, count, values, counts = _inputs()
    with tf.device(s.worker(0)):
        below, _ = tf1.nn.static_rnn(Lstm(s.ps, "below", INPUTS, UNITS), tf.unstack(x, TIME, 1), dtype=tf.float32)
    with tf.device(s.worker(1)):
        above, state = tf1.nn.static_rnn(Lstm(s.ps, "above", UNITS, UNITS), below, dtype=tf.float32, scope="second")
    _train(s, above, state, {x: values, count: counts})


def raw_loop(s):
    x, count, values, counts = _inputs()
    cell = Gru(s.ps, "gru", INPUTS, UNITS)
    steps = tf.TensorArray(tf.float32, TIME).unstack(tf.transpose(x, [1, 0, 2]))

    def loop(time, output, state, loop_state):
        state = cell.zero_state(BATCH, tf.float32) if output is None else state
        done = time >= count
        following = tf1.cond(tf.reduce_all(done), lambda: tf.zeros([BATCH, INPUTS]), lambda: steps.read(time))
        return done, following, state, output, None

    with tf.device(s.worker(0)):
        array, state, _ = tf1.nn.raw_rnn(cell, loop)
        _train(s, array.stack(), state, {x: values, count: counts})


def no_step_at_all(s):
    x, count, values, counts = _inputs(known=False)
    with tf.device(s.worker(0)):
        outputs, state = tf1.nn.dynamic_rnn(Lstm(s.ps, "lstm", INPUTS, UNITS), x, count, dtype=tf.float32)
    s.init()
    s.run([outputs, state], {x: values, count: [0, 0, 0]})
    s.run([outputs, state], {x: values[:, :0], count: [0, 0, 0]})
    s.run([outputs, state], {x: values[:0], count: []})
    s.run([outputs, state], {x: values, count: [1, 2]})


def _fused(op):
    def run(s):
        with tf.device(s.ps):
            w = tf1.get_variable("w", [INPUTS + UNITS, 4 * UNITS], initializer=Noise(1))
            b = tf1.get_variable("b", [4 * UNITS], initializer=Noise(2))
            peepholes = [tf1.get_variable(f"p{i}", [UNITS], initializer=Noise(3 + i)) for i in range(3)]
        x, count, values, counts = _inputs()
        steps = tf1.placeholder(tf.int64, [])
        zeros = tf.zeros([BATCH, UNITS])
        with tf.device(s.worker(0)):
            out = op(seq_len_max=steps, x=tf.transpose(x, [1, 0, 2]), cs_prev=zeros, h_prev=zeros + 0.3, w=w, wci=peepholes[0],
                     wcf=peepholes[1], wco=peepholes[2], b=b, use_peephole=True, cell_clip=0.9)
            feeds = {x: values, steps: TIME}
            _train(s, out.h, out.cs, feeds, tf1.train.AdadeltaOptimizer(1.0))
            s.run([out.h, out.cs], {x: values, steps: 4})
            s.run(tf1.gradients(out.h[:4], [w, b, x]), {x: values, steps: 4}, tolerance=1e-4)
    return run


fused_sequence = _fused(tf.raw_ops.BlockLSTM)
fused_sequence_version_2 = _fused(tf.raw_ops.BlockLSTMV2)
