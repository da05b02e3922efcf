"""tf.contrib.cudnn_rnn: cells that compute on CPUs what cuDNN's layers compute on GPUs.

cuDNN's layers themselves need a GPU, so this package does not have them.
"""

import sys

import tensorbraid as tf
from tensorbraid.contrib.rnn_blocks import LSTMBlockCell
from tensorbraid.nn.cells import RNNCell

__all__ = ["CudnnCompatibleGRUCell", "CudnnCompatibleLSTMCell"]

CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION = "unidirectional", "bidirectional"
CUDNN_LSTM, CUDNN_GRU, CUDNN_RNN_RELU, CUDNN_RNN_TANH = "lstm", "gru", "rnn_relu", "rnn_tanh"
CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE = "linear_input", "skip_input", "auto_select"
cudnn_rnn_ops = sys.modules[__name__]  # TensorFlow has the constants and the cells in this module, too


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """The LSTM cell of cuDNN: an LSTMBlockCell with a forget bias of 0, in the scope "cudnn_compatible_lstm_cell"."""

    def __init__(self, num_units, reuse=None):
        super().__init__(num_units, forget_bias=0, cell_clip=None, use_peephole=False, reuse=reuse,
                         name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(RNNCell):
    """The GRU cell of cuDNN.

    Its candidate is tanh(W x + b + r * (R h + c)): the reset gate r comes after the product.
    """

    def __init__(self, num_units, reuse=None, kernel_initializer=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._kernel_initializer = num_units, kernel_initializer

    state_size = output_size = property(lambda self: self._num_units)

    def build(self, input_shape):
        features, units = input_shape.as_list()[-1], self._num_units
        self._gates = self._projection("gates", features + units, 2 * units, 1.0)
        self._of_input = self._projection("candidate/input_projection", features, units, 0.0)
        self._of_state = self._projection("candidate/hidden_projection", units, units, 0.0)
        self.built = True

    def _projection(self, name, rows, columns, bias):
        return (self.add_weight(f"{name}/kernel", [rows, columns], initializer=self._kernel_initializer),
                self.add_weight(f"{name}/bias", [columns], initializer=tf.constant_initializer(bias)))

    def call(self, inputs, state):
        gates = tf.sigmoid(tf.nn.xw_plus_b(tf.concat([inputs, state], 1), *self._gates))
        reset, update = tf.split(gates, 2, 1)
        candidate = tf.tanh(tf.nn.xw_plus_b(inputs, *self._of_input) + reset * tf.nn.xw_plus_b(state, *self._of_state))
        new = (1 - update) * candidate + update * state
        return new, new
