"""What tf.compat.v1.nn builds for recurrent networks: dynamic, static and bidirectional, with lengths, forward, backward
and in training; and TensorFlow's fused LSTM sequences. tf.compat.v1.nn.rnn_cell needs Keras 2, so the cells are written
here, with the interface that tf.compat.v1.nn asks for."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


class _Cell:
    """A cell with its variables on the parameter server."""

    def __init__(self, s, name, inputs, units, columns, state):
        self.units, self._state, self._name = units, state, name
        with tf.device(s.ps), tf1.variable_scope(name):
            self.kernel = tf1.get_variable("kernel", [inputs + units, columns], initializer=_Noise(inputs + columns))
            self.bias = tf1.get_variable("bias", [columns], initializer=_Noise(units))

    @property
    def state_size(self):
        return (self.units,) * self._state if self._state > 1 else self.units

    @property
    def output_size(self):
        return self.units

    def zero_state(self, batch_size, dtype):
        zeros = lambda: tf.zeros(tf.stack([batch_size, self.units]), dtype)
        return tuple(zeros() for _ in range(self._state)) if self._state > 1 else zeros()

    def __call__(self, inputs, state, scope=None):
        with tf1.name_scope(self._name):
            return self.call(inputs, state)


class _Noise:
    """An initializer with the same values in every run."""

    def __init__(self, seed):
        self._seed = seed

    def __call__(self, shape, dtype=None, partition_info=None):
        return tf.constant(np.random.RandomState(self._seed).uniform(-0.6, 0.6, list(shape)).astype(np.float32))


class _Basic(_Cell):
    def __init__(self, s, name, inputs, units):
        super().__init__(s, name, inputs, units, units, 1)

    def call(self, inputs, state):
        output = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), self.kernel) + self.bias)
        return output, output


class _Lstm(_Cell):
    def __init__(self, s, name, inputs, units):
        super().__init__(s, name, inputs, units, 4 * units, 2)

    def call(self, inputs, state):
        c, h = state
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, h], 1), self.kernel), self.bias)
        i, j, f, o = tf.split(gates, 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return h, (c, h)


class _Gru(_Cell):
    def __init__(self, s, name, inputs, units):
        super().__init__(s, name, inputs, units, 2 * units, 1)
        with tf.device(s.ps), tf1.variable_scope(name):
            self.candidate = tf1.get_variable("candidate", [inputs + units, units], initializer=_Noise(91))

    def call(self, inputs, state):
        gates = tf.sigmoid(tf.matmul(tf.concat([inputs, state], 1), self.kernel) + self.bias)
        r, u = tf.split(gates, 2, 1)
        c = tf.tanh(tf.matmul(tf.concat([inputs, r * state], 1), self.candidate))
        h = u * state + (1 - u) * c
        return h, h


class _Stack(_Cell):
    """Cells on top of each other, as MultiRNNCell."""

    def __init__(self, cells):
        self.cells, self._name = cells, "stack"

    @property
    def state_size(self):
        return tuple(c.state_size for c in self.cells)

    @property
    def output_size(self):
        return self.cells[-1].output_size

    def zero_state(self, batch_size, dtype):
        return tuple(c.zero_state(batch_size, dtype) for c in self.cells)

    def call(self, inputs, state):
        new = []
        for cell, old in zip(self.cells, state):
            inputs, now = cell(inputs, old)
            new.append(now)
        return inputs, tuple(new)


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
        return _Stack([_Lstm(s, "below", INPUTS, UNITS), _Gru(s, "above", UNITS, UNITS)])
    return {"basic": _Basic, "lstm": _Lstm, "gru": _Gru}[name](s, name, INPUTS, UNITS)


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
        outputs, state = tf1.nn.bidirectional_dynamic_rnn(_Lstm(s, "fw", INPUTS, UNITS), _Lstm(s, "bw", INPUTS, UNITS), x, count,
                                                          dtype=tf.float32)
        _train(s, tf.concat(outputs, 2), state, {x: values, count: counts}, tf1.train.AdamOptimizer(0.01))


def static_bidirectional(s):
    x, count, values, counts = _inputs()
    with tf.device(s.worker(0)):
        outputs, first, second = tf1.nn.static_bidirectional_rnn(_Gru(s, "fw", INPUTS, UNITS), _Gru(s, "bw", INPUTS, UNITS),
                                                                 tf.unstack(x, TIME, 1), dtype=tf.float32, sequence_length=count)
        _train(s, outputs, (first, second), {x: values, count: counts})


def cells_on_two_tasks(s):
    x, count, values, counts = _inputs()
    with tf.device(s.worker(0)):
        below, _ = tf1.nn.static_rnn(_Lstm(s, "below", INPUTS, UNITS), tf.unstack(x, TIME, 1), dtype=tf.float32)
    with tf.device(s.worker(1)):
        above, state = tf1.nn.static_rnn(_Lstm(s, "above", UNITS, UNITS), below, dtype=tf.float32, scope="second")
    _train(s, above, state, {x: values, count: counts})


def raw_loop(s):
    x, count, values, counts = _inputs()
    cell = _Gru(s, "gru", INPUTS, UNITS)
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
        outputs, state = tf1.nn.dynamic_rnn(_Lstm(s, "lstm", INPUTS, UNITS), x, count, dtype=tf.float32)
    s.init()
    s.run([outputs, state], {x: values, count: [0, 0, 0]})
    s.run([outputs, state], {x: values[:, :0], count: [0, 0, 0]})
    s.run([outputs, state], {x: values[:0], count: []})
    s.run([outputs, state], {x: values, count: [1, 2]})


def _fused(op):
    def run(s):
        with tf.device(s.ps):
            w = tf1.get_variable("w", [INPUTS + UNITS, 4 * UNITS], initializer=_Noise(1))
            b = tf1.get_variable("b", [4 * UNITS], initializer=_Noise(2))
            peepholes = [tf1.get_variable(f"p{i}", [UNITS], initializer=_Noise(3 + i)) for i in range(3)]
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
