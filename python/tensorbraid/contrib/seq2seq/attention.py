"""Attention, and the cell that uses it."""

import collections
import math

import tensorbraid as tf
from tensorbraid import nest
from tensorbraid.nn.cells import RNNCell

__all__ = ["AttentionMechanism", "AttentionWrapper", "AttentionWrapperState", "BahdanauAttention", "LuongAttention",
           "hardmax", "tile_batch"]


class AttentionMechanism:
    """Scores the items of a memory [batch, time, size] for a query."""

    def __init__(self, query_layer, memory, probability_fn, memory_sequence_length=None, memory_layer=None,
                 score_mask_value=None, name=None):
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self._probability_fn = probability_fn or tf.nn.softmax
        self._mask_value = -math.inf if score_mask_value is None else score_mask_value
        with tf.name_scope(name, "BaseAttentionMechanismInit", [memory]):
            memory = tf.convert_to_tensor(memory, name="memory")
            self._lengths = None if memory_sequence_length is None else tf.convert_to_tensor(
                memory_sequence_length, name="memory_sequence_length")
            self._values = memory
            if self._lengths is not None:
                mask = tf.sequence_mask(self._lengths, tf.shape(memory)[1], memory.dtype)
                ones = [1] * (memory.shape.ndims - 2)
                self._values = memory * tf.reshape(mask, tf.concat([tf.shape(mask), ones], 0))
                self._values.set_shape(memory.shape)
            self._keys = self._values if memory_layer is None else memory_layer(self._values)
            static = self._keys.shape.as_list()
            self._batch_size = static[0] if static[0] is not None else tf.shape(self._keys)[0]
            self._time = static[1] if static[1] is not None else tf.shape(self._keys)[1]

    values = property(lambda self: self._values)
    keys = property(lambda self: self._keys)
    query_layer = property(lambda self: self._query_layer)
    memory_layer = property(lambda self: self._memory_layer)
    batch_size = property(lambda self: self._batch_size)
    alignments_size = property(lambda self: self._time)
    state_size = property(lambda self: self._time)

    def initial_alignments(self, batch_size, dtype):
        """Alignments of zeros."""
        return tf.zeros([batch_size, self._time], dtype)

    initial_state = initial_alignments

    def _alignments(self, score):
        """The probabilities of the scores; items behind the end of the memory have none."""
        if self._lengths is not None:
            mask = tf.sequence_mask(self._lengths, tf.shape(score)[1])
            score = tf.where(mask, score, tf.fill(tf.shape(score), tf.constant(self._mask_value, score.dtype)))
        return self._probability_fn(score)

    def _score(self, query):
        raise NotImplementedError

    def __call__(self, query, state):
        """The alignments, which are also the next state."""
        with tf.variable_scope(None, self._scope, [query]):
            alignments = self._alignments(self._score(query))
        return alignments, alignments


class BahdanauAttention(AttentionMechanism):
    """Additive attention, which may be normalized. Source: Bahdanau et al., 2014; Salimans and Kingma, 2016."""

    _scope = "bahdanau_attention"

    def __init__(self, num_units, memory, memory_sequence_length=None, normalize=False, probability_fn=None,
                 score_mask_value=None, dtype=None, custom_key_value_fn=None, name="BahdanauAttention"):
        if custom_key_value_fn is not None:
            raise NotImplementedError("custom_key_value_fn of BahdanauAttention")
        dtype = dtype or tf.float32
        super().__init__(tf.layers.Dense(num_units, name="query_layer", use_bias=False, dtype=dtype), memory,
                         probability_fn, memory_sequence_length,
                         tf.layers.Dense(num_units, name="memory_layer", use_bias=False, dtype=dtype), score_mask_value,
                         name)
        self._num_units, self._normalize = num_units, normalize

    def _score(self, query):
        query = self._query_layer(query)
        v = tf.get_variable("attention_v", [self._num_units], query.dtype)
        total = self._keys + tf.expand_dims(query, 1)
        if self._normalize:
            gain = tf.get_variable("attention_g", [], query.dtype,
                                   tf.constant_initializer(math.sqrt(1.0 / self._num_units)))
            bias = tf.get_variable("attention_b", [self._num_units], query.dtype, tf.zeros_initializer())
            v = gain * v * tf.rsqrt(tf.reduce_sum(tf.square(v)))
            total = total + bias
        return tf.reduce_sum(v * tf.tanh(total), [2])


class LuongAttention(AttentionMechanism):
    """Multiplicative attention, which may be scaled. Source: Luong et al., 2015."""

    _scope = "luong_attention"

    def __init__(self, num_units, memory, memory_sequence_length=None, scale=False, probability_fn=None,
                 score_mask_value=None, dtype=None, custom_key_value_fn=None, name="LuongAttention"):
        if custom_key_value_fn is not None:
            raise NotImplementedError("custom_key_value_fn of LuongAttention")
        super().__init__(None, memory, probability_fn, memory_sequence_length,
                         tf.layers.Dense(num_units, name="memory_layer", use_bias=False, dtype=dtype or tf.float32),
                         score_mask_value, name)
        self._num_units, self._scale = num_units, scale

    def _score(self, query):
        depth, units = query.shape.as_list()[-1], self._keys.shape.as_list()[-1]
        if depth != units:
            raise ValueError("Incompatible or unknown inner dimensions between query and keys.  Query has units: "
                             f"{depth}.  Keys have units: {units}.")
        score = tf.squeeze(tf.matmul(tf.expand_dims(query, 1), self._keys, transpose_b=True), [1])
        if self._scale:
            score = tf.get_variable("attention_g", [], query.dtype, tf.ones_initializer()) * score
        return score


class AttentionWrapperState(collections.namedtuple("AttentionWrapperState", [
        "cell_state", "attention", "time", "alignments", "alignment_history", "attention_state"])):
    """The state of an AttentionWrapper."""

    def clone(self, **kwargs):
        """The state with other values for some parts."""
        return self._replace(**kwargs)


class AttentionWrapper(RNNCell):
    """A cell that also reads what attention saw in the last step. Its output is combined with what it sees now."""

    def __init__(self, cell, attention_mechanism, attention_layer_size=None, alignment_history=False,
                 cell_input_fn=None, output_attention=True, initial_cell_state=None, name=None, attention_layer=None):
        super().__init__(name=name)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        self._mechanisms = tuple(attention_mechanism) if self._is_multi else (attention_mechanism,)
        if not all(isinstance(mechanism, AttentionMechanism) for mechanism in self._mechanisms):
            raise TypeError("attention_mechanism must be an AttentionMechanism or list of them")
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        self._layers = self._made_layers(attention_layer_size, attention_layer)
        if self._layers is not None and len(self._layers) != len(self._mechanisms):
            raise ValueError(f"there are {len(self._layers)} attention layers for {len(self._mechanisms)} mechanisms")
        self._attention_size = sum(
            mechanism.values.shape.as_list()[-1] if self._layers is None else self._layers[i].units
            for i, mechanism in enumerate(self._mechanisms))
        self._cell, self._keeps_history, self._output_attention = cell, alignment_history, output_attention
        self._cell_input_fn = cell_input_fn or (lambda inputs, attention: tf.concat([inputs, attention], -1))
        self._initial_cell_state = initial_cell_state

    @staticmethod
    def _made_layers(size, layer):
        if size is not None:
            sizes = size if isinstance(size, (list, tuple)) else [size]
            return [tf.layers.Dense(units, name="attention_layer", use_bias=False) for units in sizes]
        if layer is None:
            return None
        return list(layer) if isinstance(layer, (list, tuple)) else [layer]

    def _packed(self, values):
        return tuple(values) if self._is_multi else values[0]

    def _unpacked(self, values):
        return tuple(values) if self._is_multi else (values,)

    @property
    def output_size(self):
        return self._attention_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self):
        sizes = [mechanism.alignments_size for mechanism in self._mechanisms]
        return AttentionWrapperState(
            self._cell.state_size, self._attention_size, tf.TensorShape([]), self._packed(sizes),
            self._packed([mechanism.alignments_size if self._keeps_history else () for mechanism in self._mechanisms]),
            self._packed([mechanism.state_size for mechanism in self._mechanisms]))

    @property
    def trainable_weights(self):
        own = [weight for layer in self._layers or [] for weight in layer.trainable_weights]
        return own + self._cell.trainable_weights

    def zero_state(self, batch_size, dtype):
        """A state of zeros, with the state of the cell that was given, if one was."""
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.zero_state(batch_size, dtype)
            else:
                cell_state = nest.map_structure(lambda value: tf.identity(value, name="checked_cell_state"), cell_state)
            alignments = [mechanism.initial_alignments(batch_size, dtype) for mechanism in self._mechanisms]
            history = [tf.TensorArray(dtype, size=0, dynamic_size=True) if self._keeps_history else ()
                       for _ in self._mechanisms]
            states = [mechanism.initial_state(batch_size, dtype) for mechanism in self._mechanisms]
            return AttentionWrapperState(cell_state, tf.zeros([batch_size, self._attention_size], dtype),
                                         tf.zeros([], tf.int32), self._packed(alignments), self._packed(history),
                                         self._packed(states))

    def call(self, inputs, state):
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(f"Expected state to be instance of AttentionWrapperState. Received type {type(state)} "
                            "instead.")
        output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        attentions, alignments, states, history = [], [], [], []
        for i, mechanism in enumerate(self._mechanisms):
            aligned, next_state = mechanism(output, self._unpacked(state.attention_state)[i])
            context = tf.squeeze(tf.matmul(tf.expand_dims(aligned, 1), mechanism.values), [1])
            attention = context if self._layers is None else self._layers[i](tf.concat([output, context], 1))
            past = self._unpacked(state.alignment_history)[i] if self._is_multi or self._keeps_history else ()
            history.append(past.write(state.time, aligned) if self._keeps_history else ())
            attentions.append(attention), alignments.append(aligned), states.append(next_state)
        attention = attentions[0] if len(attentions) == 1 else tf.concat(attentions, 1)
        new = AttentionWrapperState(cell_state, attention, state.time + 1, self._packed(alignments),
                                    self._packed(history), self._packed(states))
        return (attention if self._output_attention else output), new


def hardmax(logits, name=None):
    """1 for the highest score, 0 for the others."""
    with tf.name_scope(name, "Hardmax", [logits]):
        logits = tf.convert_to_tensor(logits, name="logits")
        return tf.one_hot(tf.argmax(logits, -1), tf.shape(logits)[-1], dtype=logits.dtype)


def tile_batch(t, multiplier, name=None):
    """Each example of the batch several times, one after another."""
    def tiled(value):
        value = tf.convert_to_tensor(value, name="t")
        shape = tf.shape(value)
        rank = value.shape.ndims
        if rank is None:
            raise ValueError("t must have statically known rank")
        repeated = tf.tile(tf.expand_dims(value, 1), [1, multiplier] + [1] * (rank - 1))
        result = tf.reshape(repeated, tf.concat([[shape[0] * multiplier], shape[1:]], 0))
        result.set_shape(tf.TensorShape([None]).concatenate(value.shape[1:]))
        return result

    with tf.name_scope(name, "tile_batch", [multiplier]):
        return nest.map_structure(tiled, t)
