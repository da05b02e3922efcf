"""Recurrent cells and layers: outputs, states, gradients, names of variables."""

import numpy as np


def flat(value):
    return [leaf for part in value for leaf in flat(part)] if isinstance(value, (list, tuple)) else [value]


def own_cell(tf):
    class Sum(tf.nn.rnn_cell.RNNCell):
        def __init__(self):
            super().__init__()

        @property
        def state_size(self):
            return 3

        @property
        def output_size(self):
            return 3

        def call(self, inputs, state):
            state = state + inputs * tf.get_variable("factor", [], initializer=tf.constant_initializer(0.5))
            return state * 2.0, state

    return Sum()


def static(tf, steps, lengths):
    cells = tf.nn.rnn_cell
    made = [
        cells.BasicRNNCell(4), cells.BasicRNNCell(4, activation=tf.nn.relu), cells.GRUCell(4), cells.BasicLSTMCell(4),
        cells.BasicLSTMCell(4, forget_bias=0.5, state_is_tuple=False), cells.LSTMCell(4, use_peepholes=True, cell_clip=0.3),
        cells.LSTMCell(4, num_proj=2, proj_clip=0.1), cells.LSTMCell(4, initializer=tf.constant_initializer(0.2)),
        cells.MultiRNNCell([cells.BasicLSTMCell(4), cells.GRUCell(3)]), own_cell(tf),
        cells.MultiRNNCell([cells.BasicRNNCell(4), cells.GRUCell(3)], state_is_tuple=False),
        cells.ResidualWrapper(cells.BasicRNNCell(3)), cells.DeviceWrapper(cells.GRUCell(2), "/cpu:0"),
        cells.DropoutWrapper(cells.BasicLSTMCell(4), 0.5, 0.7, 0.8, seed=3),
    ]
    results = []
    for i, cell in enumerate(made):
        with tf.variable_scope(f"static{i}", initializer=tf.glorot_uniform_initializer(seed=i)):
            results.append(tf.nn.static_rnn(cell, steps, dtype=tf.float32))
            if i == 3:
                state = cell.zero_state(2, tf.float32)
                results.append(cell(steps[0], state))
    with tf.variable_scope("lengths", initializer=tf.glorot_uniform_initializer(seed=30)):
        results.append(tf.nn.static_rnn(cells.BasicLSTMCell(4), steps, sequence_length=lengths, dtype=tf.float32))
        results.append(tf.nn.static_bidirectional_rnn(cells.GRUCell(4), cells.BasicLSTMCell(4), steps, dtype=tf.float32))
        with tf.variable_scope("more"):
            results.append(tf.nn.static_bidirectional_rnn(cells.GRUCell(4), cells.GRUCell(4), steps, dtype=tf.float32,
                                                          sequence_length=lengths))
    return results


def dynamic(tf, x, lengths):
    cells = tf.nn.rnn_cell
    made = [
        cells.BasicRNNCell(num_units=4), cells.GRUCell(4), cells.BasicLSTMCell(4), cells.LSTMCell(4, use_peepholes=True),
        cells.MultiRNNCell([cells.BasicLSTMCell(4), cells.GRUCell(3)]),
        cells.LSTMCell(4, initializer=tf.constant_initializer(0.1)),
    ]
    results = []
    for i, cell in enumerate(made):
        with tf.variable_scope(f"dynamic{i}", initializer=tf.glorot_uniform_initializer(seed=10 + i)):
            results.append(tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, sequence_length=lengths if i % 2 else None))
    with tf.variable_scope("again", initializer=tf.glorot_uniform_initializer(seed=40)):
        results.append(tf.nn.dynamic_rnn(cells.GRUCell(3), tf.transpose(x, [1, 0, 2]), lengths, tf.ones([2, 3]),
                                         time_major=True))
        results.append(tf.nn.bidirectional_dynamic_rnn(cells.GRUCell(4), cells.BasicLSTMCell(4), x, lengths,
                                                       dtype=tf.float32))
    return results


def run(tf, target=""):
    rng = np.random.RandomState(0)
    x = tf.placeholder(tf.float32, [2, 3, 3])
    lengths = tf.placeholder(tf.int32, [2])
    steps = [tf.reshape(tf.matmul(np.eye(3, dtype=np.float32)[None, t:t + 1] * np.ones([2, 1, 1], np.float32), x), [2, 3])
             for t in range(3)]
    results = static(tf, steps, lengths) + dynamic(tf, x, lengths)
    tensors = [tensor for result in results for tensor in flat(result)]
    gradients = [gradient for result in results
                 for gradient in tf.gradients([t * t for t in flat(result)], [x])]
    names = sorted(v.name for v in tf.global_variables())
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        for value in session.run(tensors + gradients, {x: rng.randn(2, 3, 3), lengths: [1, 3]}):
            print(*[repr(float(number)) for number in np.asarray(value).ravel()])
    print(len(names), len(tf.trainable_variables()))
    for name in names:
        print(sum((i + 1) * ord(letter) for i, letter in enumerate(name)))
