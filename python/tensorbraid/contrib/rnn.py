"""tf.contrib.rnn: the cells, wrappers of cells and the unrolled recurrent layers."""

import math
import sys

import tensorbraid as tf
from tensorbraid import nest
from tensorbraid.contrib.rnn_blocks import *  # noqa: F401,F403
from tensorbraid.contrib.rnn_nas import *  # noqa: F401,F403
from tensorbraid.internal import arguments
from tensorbraid.nn.cell_wrappers import *  # noqa: F401,F403
from tensorbraid.nn.cell_wrappers import _Wrapper
from tensorbraid.nn.cells import *  # noqa: F401,F403
from tensorbraid.nn.cells import LSTMStateTuple, RNNCell
from tensorbraid.nn.recurrent import (  # noqa: F401
    static_bidirectional_rnn as static_bidirectional_rnn, static_rnn as static_rnn,
    static_state_saving_rnn as static_state_saving_rnn)
from tensorbraid.tensorflow_python.rnn_cell import _linear, _Linear  # noqa: F401  # programs take them from here

core_rnn_cell = sys.modules[__name__]  # TensorFlow 1.0 had the cells in this module of tf.contrib.rnn


class _OwnWeights(_Wrapper):
    """A wrapper that has weights of its own besides those of the cell, in its own scope."""

    @property
    def trainable_weights(self):
        return [variable for variable, trains in self._weights if trains] + self._cell.trainable_weights

    def __call__(self, inputs, state, scope=None):
        return RNNCell.__call__(self, inputs, state, scope)


class OutputProjectionWrapper(_OwnWeights):
    """A cell whose output is projected to another size."""

    def __init__(self, cell, output_size, activation=None, reuse=None):
        super().__init__(cell)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._size, self._activation, self._reuse = output_size, activation, reuse

    output_size = property(lambda self: self._size)

    def build(self, input_shape):
        self._kernel = self.add_weight("kernel", [self._cell.output_size, self._size])
        self._bias = self.add_weight("bias", [self._size], initializer=tf.zeros_initializer())
        self.built = True

    def call(self, inputs, state):
        output, new = self._cell(inputs, state)
        projected = tf.nn.bias_add(tf.matmul(output, self._kernel), self._bias)
        return projected if self._activation is None else self._activation(projected), new


class InputProjectionWrapper(_OwnWeights):
    """A cell whose inputs are projected to another size first."""

    def __init__(self, cell, num_proj, activation=None, input_size=None, reuse=None):
        super().__init__(cell)
        if input_size is not None:
            raise NotImplementedError("input_size of InputProjectionWrapper: TensorFlow ignores it")
        self._size, self._activation, self._reuse = num_proj, activation, reuse

    def build(self, input_shape):
        self._kernel = self.add_weight("kernel", [input_shape.as_list()[-1], self._size])
        self._bias = self.add_weight("bias", [self._size], initializer=tf.zeros_initializer())
        self.built = True

    def call(self, inputs, state):
        projected = tf.nn.bias_add(tf.matmul(inputs, self._kernel), self._bias)
        return self._cell(projected if self._activation is None else self._activation(projected), state)


class EmbeddingWrapper(_OwnWeights):
    """A cell whose inputs are integer symbols, which are embedded."""

    def __init__(self, cell, embedding_classes, embedding_size, initializer=None, reuse=None):
        super().__init__(cell)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, "
                             f"{embedding_size}.")
        self._classes, self._size = embedding_classes, embedding_size
        self._initializer, self._reuse = initializer, reuse

    def __call__(self, inputs, state, scope=None):
        self._dtype = nest.flatten(state)[0].dtype
        return super().__call__(tf.convert_to_tensor(inputs), state, scope)

    def _converted(self, inputs):
        return inputs, inputs

    def build(self, input_shape):
        initializer = self._initializer or tf.get_variable_scope().initializer
        if initializer is None:
            initializer = tf.random_uniform_initializer(-math.sqrt(3), math.sqrt(3))
        with tf.device("/cpu:0"):
            self._embedding = self.add_weight("embedding", [self._classes, self._size], None, initializer)
        self.built = True

    def call(self, inputs, state):
        with tf.device("/cpu:0"):
            embedded = tf.nn.embedding_lookup(self._embedding, tf.reshape(inputs, [-1]))
        return self._cell(embedded, state)


class LayerNormBasicLSTMCell(RNNCell):
    """An LSTM with layer normalization and recurrent dropout. Source: Ba et al., 2016, and Semeniuta et al., 2016."""

    def __init__(self, num_units, forget_bias=1.0, input_size=None, activation=tf.nn.tanh, layer_norm=True,
                 norm_gain=1.0, norm_shift=0.0, dropout_keep_prob=1.0, dropout_prob_seed=None, reuse=None):
        super().__init__(_reuse=reuse)
        if input_size is not None:
            raise NotImplementedError("input_size of LayerNormBasicLSTMCell: TensorFlow ignores it")
        self._num_units, self._forget_bias, self._activation = num_units, forget_bias, activation
        self._layer_norm, self._gain, self._shift = layer_norm, norm_gain, norm_shift
        self._keep_prob, self._seed = dropout_keep_prob, arguments.seed(dropout_prob_seed, "dropout_prob_seed")

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))
    output_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        rows, units = inputs_shape.as_list()[-1] + self._num_units, self._num_units
        self._kernel = self.add_weight("kernel", [rows, 4 * units])
        if self._layer_norm:
            self._norms = {name: (self.add_weight(f"{name}/gamma", [units],
                                                  initializer=tf.constant_initializer(self._gain)),
                                  self.add_weight(f"{name}/beta", [units],
                                                  initializer=tf.constant_initializer(self._shift)))
                           for name in ("input", "transform", "forget", "output", "state")}
        else:
            self._bias = self.add_weight("bias", [4 * units], initializer=tf.zeros_initializer())
        self.built = True

    def _norm(self, value, name):
        if not self._layer_norm:
            return value
        gamma, beta = self._norms[name]
        mean, variance = tf.nn.moments(value, [1], keep_dims=True)
        return tf.nn.batch_normalization(value, mean, variance, beta, gamma, 1e-12)

    def call(self, inputs, state):
        c, h = state
        gates = tf.matmul(tf.concat([inputs, h], 1), self._kernel)
        if not self._layer_norm:
            gates = tf.nn.bias_add(gates, self._bias)
        names = ("input", "transform", "forget", "output")
        i, j, f, o = (self._norm(gate, name) for gate, name in zip(tf.split(gates, 4, 1), names))
        g = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            g = tf.nn.dropout(g, self._keep_prob, seed=self._seed)
        c = self._norm(c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * g, "state")
        h = self._activation(c) * tf.sigmoid(o)
        return h, LSTMStateTuple(c, h)


class UGRNNCell(RNNCell):
    """An update gate RNN. Source: Collins et al., 2017."""

    def __init__(self, num_units, initializer=None, forget_bias=1.0, activation=tf.nn.tanh, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer, self._forget_bias = num_units, initializer, forget_bias
        self._activation = activation

    state_size = output_size = property(lambda self: self._num_units)

    def build(self, input_shape):
        rows, columns = input_shape.as_list()[-1] + self._num_units, 2 * self._num_units
        self._kernel = self.add_weight("kernel", [rows, columns], initializer=self._initializer)
        self._bias = self.add_weight("bias", [columns], initializer=tf.zeros_initializer())
        self.built = True

    def call(self, inputs, state):
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, state], 1), self._kernel), self._bias)
        gate, candidate = tf.split(gates, 2, 1)
        gate = tf.sigmoid(gate + self._forget_bias)
        new = gate * state + (1.0 - gate) * self._activation(candidate)
        return new, new


class HighwayWrapper(_OwnWeights):
    """A cell whose inputs are carried to its output by a learned gate. Source: Srivastava et al., 2015."""

    def __init__(self, cell, couple_carry_transform_gates=True, carry_bias_init=1.0):
        super().__init__(cell)
        if not couple_carry_transform_gates:
            raise NotImplementedError("couple_carry_transform_gates=False of HighwayWrapper")
        self._carry_bias = carry_bias_init

    def build(self, input_shape):
        size = input_shape.as_list()[-1]
        self._carry_w = self.add_weight("carry_w", [size, size])
        self._carry_b = self.add_weight("carry_b", [size], initializer=tf.constant_initializer(self._carry_bias))
        self.built = True

    def call(self, inputs, state):
        output, new = self._cell(inputs, state)
        carry = tf.sigmoid(tf.nn.bias_add(tf.matmul(inputs, self._carry_w), self._carry_b))
        return carry * inputs + (1.0 - carry) * output, new


def _layer_states(initial_states, cells, what):
    if initial_states is not None and (not isinstance(initial_states, list) or len(initial_states) != len(cells)):
        raise ValueError(f"{what} must be a list of state tensors (one per layer).")
    return initial_states or [None] * len(cells)


def _check_layers(cells_fw, cells_bw):
    for what, cells in (("cells_fw", cells_fw), ("cells_bw", cells_bw)):
        if not isinstance(cells, list):
            raise ValueError(f"{what} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    if not cells_fw:
        raise ValueError("Must specify at least one fw cell for BidirectionalRNN.")


def _stacked(cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope, layer):
    """The outputs and last states of layers, each of which reads the outputs of the one before.

    layer(fw, bw, inputs, state_fw, state_bw, scope) returns the outputs and the last states of one layer.
    """
    _check_layers(cells_fw, cells_bw)
    states_fw = _layer_states(initial_states_fw, cells_fw, "initial_states_fw")
    states_bw = _layer_states(initial_states_bw, cells_bw, "initial_states_bw")
    last_fw, last_bw = [], []
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw, state_fw, state_bw) in enumerate(zip(cells_fw, cells_bw, states_fw, states_bw)):
            with tf.variable_scope(f"cell_{i}") as opened:
                inputs, state_fw, state_bw = layer(fw, bw, inputs, state_fw, state_bw, opened)
            last_fw.append(state_fw)
            last_bw.append(state_bw)
    return inputs, tuple(last_fw), tuple(last_bw)


def stack_bidirectional_rnn(cells_fw, cells_bw, inputs, initial_states_fw=None, initial_states_bw=None, dtype=None,
                            sequence_length=None, scope=None):
    """Layers of static_bidirectional_rnn, each of which reads the outputs of the one before."""
    def layer(fw, bw, inputs, state_fw, state_bw, scope):
        return static_bidirectional_rnn(fw, bw, inputs, state_fw, state_bw, dtype, sequence_length, scope)

    return _stacked(cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope, layer)


def stack_bidirectional_dynamic_rnn(cells_fw, cells_bw, inputs, initial_states_fw=None, initial_states_bw=None,
                                    dtype=None, sequence_length=None, parallel_iterations=None, time_major=False,
                                    scope=None, swap_memory=False):
    """Layers of bidirectional_dynamic_rnn, each of which reads the outputs of the one before."""
    def layer(fw, bw, inputs, state_fw, state_bw, scope):
        outputs, states = tf.nn.bidirectional_dynamic_rnn(
            fw, bw, inputs, sequence_length, state_fw, state_bw, dtype, parallel_iterations, swap_memory, time_major)
        return tf.concat(outputs, 2), *states

    return _stacked(cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope, layer)


def transpose_batch_time(x):
    """The tensor with its first two dimensions exchanged."""
    return tf.transpose(x, [1, 0] + list(range(2, x.shape.ndims)))
