"""Cells of tf.contrib.rnn whose step, or whose loop over all steps, is one op."""

import tensorbraid as tf
from tensorbraid.internal.graphs import make_op
from tensorbraid.nn.cells import LSTMStateTuple, RNNCell

__all__ = ["GRUBlockCellV2", "LSTMBlockCell", "LSTMBlockFusedCell", "TimeReversedFusedRNN"]

_PEEPHOLES = ("w_i_diag", "w_f_diag", "w_o_diag")


class LSTMBlockCell(RNNCell):
    """An LSTM cell whose step is one op. Its variables are those of a BasicLSTMCell."""

    def __init__(self, num_units, forget_bias=1.0, cell_clip=None, use_peephole=False, dtype=None, reuse=None,
                 name="lstm_cell"):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._peephole = num_units, use_peephole
        self._options = {"forget_bias": forget_bias, "cell_clip": -1.0 if cell_clip is None else cell_clip,
                         "use_peephole": use_peephole}

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))
    output_size = property(lambda self: self._num_units)

    def build(self, input_shape):
        units = self._num_units
        self._kernel = self.add_weight("kernel", [input_shape.as_list()[-1] + units, 4 * units])
        self._bias = self.add_weight("bias", [4 * units], initializer=tf.zeros_initializer())
        if self._peephole:
            self._peepholes = [self.add_weight(name, [units]) for name in _PEEPHOLES]
        self.built = True

    def call(self, inputs, state):
        c, h = state
        peepholes = self._peepholes if self._peephole else [tf.zeros([self._num_units], c.dtype)] * 3
        made = make_op("LSTMBlockCell", [inputs, c, h, self._kernel, *peepholes, self._bias], **self._options).outputs
        return made[6], LSTMStateTuple(made[1], made[6])


class LSTMBlockFusedCell:
    """An LSTM that runs over inputs [time, batch, features] as one op. It returns the outputs and the last state."""

    def __init__(self, num_units, forget_bias=1.0, cell_clip=None, use_peephole=False, reuse=None,
                 name="lstm_fused_cell"):
        self._num_units, self._peephole, self._reuse, self._name = num_units, use_peephole, reuse, name
        self._options = {"forget_bias": forget_bias, "cell_clip": -1.0 if cell_clip is None else cell_clip,
                         "use_peephole": use_peephole}
        self._scope = None

    num_units = property(lambda self: self._num_units)

    def _variables(self, features, scope, dtype):
        """The weights. The first call opens a scope of its own, later ones use its variables again."""
        units = self._num_units
        if self._scope is not None:
            opened = tf.variable_scope(self._scope, reuse=True)
        elif self._reuse:
            opened = tf.variable_scope(scope or self._name, reuse=True)
        else:
            opened = tf.variable_scope(scope, default_name=self._name)
        with opened as self._scope:
            kernel = tf.get_variable("kernel", [features + units, 4 * units], dtype)
            bias = tf.get_variable("bias", [4 * units], dtype, tf.zeros_initializer())
            if self._peephole:
                return kernel, bias, [tf.get_variable(name, [units], dtype) for name in _PEEPHOLES]
            return kernel, bias, [tf.zeros([units], dtype)] * 3

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        if isinstance(inputs, list):
            inputs = tf.stack(inputs)
        inputs = tf.convert_to_tensor(inputs)
        if initial_state is None and dtype is None:
            raise ValueError("Either initial_state or dtype needs to be specified")
        shape = inputs.shape.with_rank(3).as_list()
        time, batch = (known if known is not None else tf.shape(inputs)[i] for i, known in enumerate(shape[:2]))
        if initial_state is None:
            zeros = tf.zeros(tf.stack([batch, self._num_units]), dtype)
            initial_state = zeros, zeros
        first_c, first_h = initial_state
        kernel, bias, peepholes = self._variables(shape[2], scope, inputs.dtype)
        longest = time if sequence_length is None else tf.reduce_max(sequence_length)
        made = make_op("BlockLSTM", [tf.cast(longest, tf.int64), inputs, first_c, first_h, kernel, *peepholes, bias],
                       **self._options).outputs
        c, h = made[1], made[6]
        if sequence_length is None:
            return h, LSTMStateTuple(c[-1], h[-1])
        lengths = tf.cast(sequence_length, tf.int32)
        mask = tf.transpose(tf.sequence_mask(lengths, time, h.dtype))
        h = h * tf.expand_dims(mask, 2)
        places = tf.stack([lengths, tf.range(batch)], 1)
        last = [tf.gather_nd(tf.concat([tf.expand_dims(first, 0), values], 0), places)
                for first, values in ((first_c, c), (first_h, h))]
        return h, LSTMStateTuple(*last)


class TimeReversedFusedRNN:
    """Runs a fused cell from the end of each sequence to its beginning."""

    def __init__(self, cell):
        self._cell = cell

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        outputs, state = self._cell(_reversed(inputs, sequence_length), initial_state=initial_state, dtype=dtype,
                                    sequence_length=sequence_length, scope=scope)
        return _reversed(outputs, sequence_length), state


def _reversed(inputs, lengths):
    if lengths is None:
        return tf.reverse(tf.convert_to_tensor(inputs), [0])
    return tf.reverse_sequence(inputs, lengths, seq_axis=0, batch_axis=1)


class GRUBlockCellV2(RNNCell):
    """A GRU cell whose step is one op."""

    def __init__(self, num_units=None, cell_size=None, reuse=None, name="gru_cell"):
        super().__init__(_reuse=reuse, name=name)
        if (num_units is None) == (cell_size is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._size = num_units if cell_size is None else cell_size

    state_size = output_size = property(lambda self: self._size)

    def build(self, input_shape):
        rows = input_shape.as_list()[-1] + self._size
        self._gate_kernel = self.add_weight("gates/kernel", [rows, 2 * self._size])
        self._gate_bias = self.add_weight("gates/bias", [2 * self._size], initializer=tf.constant_initializer(1.0))
        self._candidate_kernel = self.add_weight("candidate/kernel", [rows, self._size])
        self._candidate_bias = self.add_weight("candidate/bias", [self._size], initializer=tf.zeros_initializer())
        self.built = True

    def call(self, inputs, state):
        new = make_op("GRUBlockCell", [inputs, state, self._gate_kernel, self._candidate_kernel, self._gate_bias,
                                       self._candidate_bias]).outputs[3]
        return new, new
