"""The recurrent cell that a neural architecture search found."""

import tensorbraid as tf
from tensorbraid.nn.cells import LSTMStateTuple, RNNCell

__all__ = ["NASCell"]


class NASCell(RNNCell):
    """The cell of Zoph and Le, 2016. Its state is an LSTMStateTuple."""

    def __init__(self, num_units, num_proj=None, use_bias=False, reuse=None, **kwargs):
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units, self._num_proj, self._use_bias = num_units, num_proj, use_bias

    output_size = property(lambda self: self._num_units if self._num_proj is None else self._num_proj)
    state_size = property(lambda self: LSTMStateTuple(self._num_units, self.output_size))

    def build(self, inputs_shape):
        size = inputs_shape.as_list()[-1]
        if size is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        columns = 8 * self._num_units
        self._recurrent = self.add_weight("recurrent_kernel", [self.output_size, columns])
        self._kernel = self.add_weight("kernel", [size, columns])
        if self._use_bias:
            self._bias = self.add_weight("bias", [columns], initializer=tf.zeros_initializer())
        if self._num_proj is not None:
            self._projection = self.add_weight("projection_weights", [self._num_units, self._num_proj])
        self.built = True

    def call(self, inputs, state):
        c, m = state
        hidden = tf.matmul(m, self._recurrent)
        if self._use_bias:
            hidden = tf.nn.bias_add(hidden, self._bias)
        pairs = zip(tf.split(tf.matmul(inputs, self._kernel), 8, 1), tf.split(hidden, 8, 1))
        functions = (tf.sigmoid, tf.nn.relu, tf.sigmoid, tf.nn.relu, tf.tanh, tf.sigmoid, tf.tanh, tf.sigmoid)
        a = [function(x * h if i == 3 else x + h) for i, (function, (x, h)) in enumerate(zip(functions, pairs))]
        new_c = tf.tanh(tf.tanh(a[0] * a[1]) + c) * tf.tanh(a[2] + a[3])
        new_m = tf.tanh(new_c * tf.tanh(tf.tanh(a[4] * a[5]) + tf.sigmoid(a[6] + a[7])))
        if self._num_proj is not None:
            new_m = tf.matmul(new_m, self._projection)
        return new_m, LSTMStateTuple(new_c, new_m)
