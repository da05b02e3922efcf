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
    """Changes the library's module layers.wrappers: Bidirectional takes a layer for the way back.

    Both directions have zeros for masked steps.
    """
    kind = wrappers.Bidirectional
    init, set_sublayers, get_config = kind.__init__, kind._set_sublayers, kind.get_config
    from_config = kind.from_config.__func__

    @functools.wraps(init)
    def __init__(self, layer, merge_mode="concat", weights=None, backward_layer=None, **kwargs):
        self.__dict__["_given_backward_layer"] = backward_layer
        init(self, layer, merge_mode, weights, **kwargs)

    @functools.wraps(set_sublayers)
    def set_own_sublayers(self, layer):
        set_sublayers(self, layer)
        given = self.__dict__["_given_backward_layer"]
        if given is not None:
            same = ("return_sequences", "return_state", "stateful")
            if given.go_backwards == layer.go_backwards or any(getattr(given, name) != getattr(layer, name)
                                                               for name in same):
                raise ValueError(f"The backward_layer of Bidirectional must have another go_backwards than the layer, "
                                 f"and the same {', '.join(same)}: {given.name} and {layer.name}")
            self.__dict__["_backward_config"] = loaded("layers").serialize(given)
            given.name = "backward_" + given.name
            self.__dict__["backward_layer"] = given
        for direction in (self.forward_layer, self.backward_layer):
            direction.zero_output_for_mask = layer.return_sequences

    @functools.wraps(get_config)
    def config_of(self):
        config = get_config(self)
        if "_backward_config" in self.__dict__:
            config["backward_layer"] = self.__dict__["_backward_config"]
        return config

    def made(cls, config, custom_objects=None):
        config = dict(config)
        if config.get("backward_layer") is not None:
            config["backward_layer"] = loaded("layers").deserialize(config["backward_layer"], custom_objects)
        return from_config(cls, config, custom_objects)

    kind.__init__, kind._set_sublayers, kind.get_config = __init__, set_own_sublayers, config_of
    kind.from_config = classmethod(made)
