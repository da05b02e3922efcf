"""Cells that TensorFlow 1.15's tf.keras has and the library has not, and outputs of masked steps."""

import functools

import tensorbraid as tf
from tensorbraid.keras.adapter.loaded import loaded

__all__ = []


@functools.cache
def abstract_rnn_cell():
    """The class AbstractRNNCell."""
    class AbstractRNNCell(loaded("engine.base_layer").Layer):
        """A cell of tf.keras.layers.RNN. A subclass has `call(inputs, states)`, `state_size` and `output_size`."""

        def call(self, inputs, states):
            raise NotImplementedError(f"{type(self).__name__}.call(inputs, states) must return the outputs and states")

        @property
        def state_size(self):
            """The size of the state, or those of the states."""
            raise NotImplementedError(f"{type(self).__name__}.state_size")

        @property
        def output_size(self):
            """The size of the outputs."""
            raise NotImplementedError(f"{type(self).__name__}.output_size")

        def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
            """Zeros for each state."""
            if inputs is not None:
                batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
            return tf.nest.map_structure(
                lambda size: tf.zeros([batch_size, *tf.TensorShape(size).as_list()], dtype), self.state_size)

    AbstractRNNCell.__qualname__ = "AbstractRNNCell"
    return AbstractRNNCell


@functools.cache
def peephole_lstm_cell():
    """The class PeepholeLSTMCell."""
    class PeepholeLSTMCell(loaded("layers.recurrent").LSTMCell):
        """An LSTM cell whose gates also see its carry."""

        def build(self, input_shape):
            super().build(input_shape)
            self._peepholes = [self.add_weight(f"{gate}_gate_peephole_weights", (self.units,),
                                               initializer=self.kernel_initializer)
                               for gate in ("input", "forget", "output")]

        def call(self, inputs, states, training=None):
            if self.dropout or self.recurrent_dropout:
                raise NotImplementedError("dropout of PeepholeLSTMCell")
            output, carry = states[0], states[1]
            sums = tf.matmul(inputs, self.kernel) + tf.matmul(output, self.recurrent_kernel)
            sums = sums if self.bias is None else tf.nn.bias_add(sums, self.bias)
            entered, kept, fresh, left = tf.split(sums, 4, axis=1)
            of_input, of_forget, of_output = self._peepholes
            carry = (self.recurrent_activation(kept + of_forget * carry) * carry
                     + self.recurrent_activation(entered + of_input * carry) * self.activation(fresh))
            output = self.recurrent_activation(left + of_output * carry) * self.activation(carry)
            return output, [output, carry]

    PeepholeLSTMCell.__qualname__ = "PeepholeLSTMCell"
    return PeepholeLSTMCell


def change_recurrent(recurrent):
    """Changes the library's module layers.recurrent: with `zero_output_for_mask`, outputs of masked steps are zeros.

    Otherwise they repeat the step before.
    """
    kind = recurrent.RNN
    init, call, get_config = kind.__init__, kind.call, kind.get_config

    @functools.wraps(init)
    def __init__(self, *args, zero_output_for_mask=False, **kwargs):
        init(self, *args, **kwargs)
        self.zero_output_for_mask = zero_output_for_mask

    @functools.wraps(call)
    def call_with_zeros(self, inputs, mask=None, **kwargs):
        results = call(self, inputs, mask=mask, **kwargs)
        mask = mask[0] if isinstance(mask, list) else mask
        if mask is None or not self.return_sequences or not getattr(self, "zero_output_for_mask", False):
            return results
        outputs = results[0] if self.return_state else results
        seen = tf.reverse(mask, [1]) if self.go_backwards else mask
        outputs *= tf.cast(tf.reshape(seen, tf.concat([tf.shape(seen)[:2], tf.ones_like(tf.shape(outputs)[2:])], 0)),
                           outputs.dtype)
        return [outputs, *results[1:]] if self.return_state else outputs

    @functools.wraps(get_config)
    def config_of(self):
        config = get_config(self)
        return {**config, "zero_output_for_mask": True} if getattr(self, "zero_output_for_mask", False) else config

    kind.__init__, kind.call, kind.get_config = __init__, call_with_zeros, config_of


def change_wrappers(wrappers):
    """Changes the library's module layers.wrappers: both directions of Bidirectional have zeros for masked steps."""
    kind = wrappers.Bidirectional
    set_sublayers = kind._set_sublayers

    @functools.wraps(set_sublayers)
    def set_sublayers_with_zeros(self, layer):
        set_sublayers(self, layer)
        for direction in (self.forward_layer, self.backward_layer):
            direction.zero_output_for_mask = layer.return_sequences

    kind._set_sublayers = set_sublayers_with_zeros
