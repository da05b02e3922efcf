"""tf.contrib.legacy_seq2seq: unrolled models from sequences to sequences, and their losses."""

import copy

import tensorbraid as tf
from tensorbraid import nest
from tensorbraid.contrib.linear import linear
from tensorbraid.contrib.rnn import EmbeddingWrapper, OutputProjectionWrapper
from tensorbraid.contrib.legacy_seq2seq_losses import *  # noqa: F401,F403
from tensorbraid.contrib.legacy_seq2seq_losses import __all__ as _losses

__all__ = [
    "attention_decoder", "basic_rnn_seq2seq", "embedding_attention_decoder", "embedding_attention_seq2seq",
    "embedding_rnn_decoder", "embedding_rnn_seq2seq", "embedding_tied_rnn_seq2seq", "one2many_rnn_seq2seq",
    "rnn_decoder", "tied_rnn_seq2seq"] + _losses


def _embedded_argmax(embedding, output_projection=None, update_embedding=True):
    """A loop function: the embedding of the symbol that the last output scores highest."""
    def loop_function(previous, _):
        if output_projection is not None:
            previous = tf.nn.xw_plus_b(previous, output_projection[0], output_projection[1])
        embedded = tf.nn.embedding_lookup(embedding, tf.argmax(previous, 1))
        return embedded if update_embedding else tf.stop_gradient(embedded)

    return loop_function


def _next_input(loop_function, previous, i, given):
    if loop_function is None or previous is None:
        return given
    with tf.variable_scope("loop_function", reuse=True):
        return loop_function(previous, i)


def rnn_decoder(decoder_inputs, initial_state, cell, loop_function=None, scope=None):
    """The outputs of the cell for each input, and its last state.

    With `loop_function`, all inputs but the first are loop_function(last output, number of the step).
    """
    with tf.variable_scope(scope or "rnn_decoder"):
        state, outputs, previous = initial_state, [], None
        for i, value in enumerate(decoder_inputs):
            value = _next_input(loop_function, previous, i, value)
            if i > 0:
                tf.get_variable_scope().reuse_variables()
            output, state = cell(value, state)
            outputs.append(output)
            previous = output
    return outputs, state


def basic_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, dtype=tf.float32, scope=None):
    """A copy of the cell reads the encoder's inputs; the cell decodes from its last state."""
    with tf.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = tf.nn.static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, loop_function=None, dtype=tf.float32, scope=None):
    """The same cell, with the same weights, reads the encoder's inputs and decodes."""
    with tf.variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = tf.nn.static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        tf.get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function, scope)


def _check_projection(output_projection, rows, num_symbols, dtype):
    if output_projection is None:
        return
    weights, biases = (tf.convert_to_tensor(value, dtype) for value in output_projection)
    weights.shape.assert_is_compatible_with([rows, num_symbols])
    biases.shape.assert_is_compatible_with([num_symbols])


def embedding_rnn_decoder(decoder_inputs, initial_state, cell, num_symbols, embedding_size, output_projection=None,
                          feed_previous=False, update_embedding_for_previous=True, scope=None):
    """rnn_decoder for integers, which are embedded. `feed_previous`: each input is the symbol of the last output.

    `output_projection` is a pair of weights and biases from outputs to scores of symbols.
    """
    with tf.variable_scope(scope or "embedding_rnn_decoder") as opened:
        _check_projection(output_projection, None, num_symbols, opened.dtype)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop = _embedded_argmax(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        inputs = [tf.nn.embedding_lookup(embedding, symbols) for symbols in decoder_inputs]
        return rnn_decoder(inputs, initial_state, cell, loop)


def _either(feed_previous, decode, num_outputs, state_like):
    """decode(feed_previous), where feed_previous may be a tensor: then both decoders exist and share weights."""
    if isinstance(feed_previous, bool):
        return decode(feed_previous, True)

    def branch(feeds):
        with tf.variable_scope(tf.get_variable_scope(), reuse=None if feeds else True):
            outputs, state = decode(feeds, False)
        return outputs + nest.flatten(state)

    flat = tf.cond(feed_previous, lambda: branch(True), lambda: branch(False))
    state = flat[num_outputs:]
    return flat[:num_outputs], nest.pack_sequence_as(state_like, state) if nest.is_nested(state_like) else state[0]


def _in_scope_of_dtype(scope, dtype):
    """The dtype of the open scope, which becomes `dtype` if it is given."""
    if dtype is not None:
        scope.set_dtype(dtype)
        return dtype
    return scope.dtype


def _encoded(encoder_inputs, cell, num_symbols, embedding_size, dtype):
    """The outputs and the last state of a copy of the cell that reads embedded symbols."""
    encoder = EmbeddingWrapper(copy.deepcopy(cell), num_symbols, embedding_size)
    return tf.nn.static_rnn(encoder, encoder_inputs, dtype=dtype)


def embedding_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols,
                          embedding_size, output_projection=None, feed_previous=False, dtype=None, scope=None):
    """A model from symbols to symbols: an encoder with its own embedding, and embedding_rnn_decoder."""
    with tf.variable_scope(scope or "embedding_rnn_seq2seq") as opened:
        dtype = _in_scope_of_dtype(opened, dtype)
        _, state = _encoded(encoder_inputs, cell, num_encoder_symbols, embedding_size, dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(feeds, updates):
            return embedding_rnn_decoder(decoder_inputs, state, cell, num_decoder_symbols, embedding_size,
                                         output_projection, feeds, updates)

        return _either(feed_previous, decode, len(decoder_inputs), state)


def embedding_tied_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, num_symbols, embedding_size,
                               num_decoder_symbols=None, output_projection=None, feed_previous=False, dtype=None,
                               scope=None):
    """A model from symbols to symbols in which the encoder and the decoder share their embedding and their weights."""
    with tf.variable_scope(scope or "embedding_tied_rnn_seq2seq") as opened:
        dtype = _in_scope_of_dtype(opened, dtype)
        _check_projection(output_projection, None, num_symbols, dtype)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size], dtype)
        encoder, decoder = ([tf.nn.embedding_lookup(embedding, symbols) for symbols in inputs]
                            for inputs in (encoder_inputs, decoder_inputs))
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_symbols if num_decoder_symbols is None else num_decoder_symbols)

        def decode(feeds, updates):
            loop = _embedded_argmax(embedding, output_projection, updates) if feeds else None
            return tied_rnn_seq2seq(encoder, decoder, cell, loop, dtype)

        return _either(feed_previous, decode, len(decoder_inputs), cell.state_size)


class _Attention:
    """Attention over states: what each head sees for a query."""

    def __init__(self, states, num_heads):
        self._length = states.shape.as_list()[1]
        if self._length is None:
            self._length = tf.shape(states)[1]
        self._size = states.shape.as_list()[2]
        self._hidden = tf.reshape(states, [-1, self._length, 1, self._size])
        self._features, self._v = [], []
        for head in range(num_heads):
            kernel = tf.get_variable(f"AttnW_{head}", [1, 1, self._size, self._size], states.dtype)
            self._features.append(tf.nn.conv2d(self._hidden, kernel, [1, 1, 1, 1], "SAME"))
            self._v.append(tf.get_variable(f"AttnV_{head}", [self._size], states.dtype))

    def zeros(self, batch_size, dtype):
        seen = [tf.zeros(tf.stack([batch_size, self._size]), dtype) for _ in self._v]
        for value in seen:
            value.set_shape([None, self._size])
        return seen

    def __call__(self, query):
        query = tf.concat(nest.flatten(query), 1) if nest.is_nested(query) else query
        seen = []
        for head, (features, v) in enumerate(zip(self._features, self._v)):
            with tf.variable_scope(f"Attention_{head}"):
                y = tf.reshape(linear(query, self._size), [-1, 1, 1, self._size])
                scores = tf.nn.softmax(tf.reduce_sum(v * tf.tanh(features + y), [2, 3]))
                weighted = tf.reshape(scores, [-1, self._length, 1, 1]) * self._hidden
                seen.append(tf.reshape(tf.reduce_sum(weighted, [1, 2]), [-1, self._size]))
        return seen


def attention_decoder(decoder_inputs, initial_state, attention_states, cell, output_size=None, num_heads=1,
                      loop_function=None, dtype=None, scope=None, initial_state_attention=False):
    """rnn_decoder whose inputs and outputs are combined with what attention sees of `attention_states`.

    These have the shape [batch, length, size]. Source: Bahdanau et al., 2014, as in Vinyals et al., 2014.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.shape.as_list()[2] is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    output_size = cell.output_size if output_size is None else output_size
    with tf.variable_scope(scope or "attention_decoder", dtype=dtype) as opened:
        attention = _Attention(attention_states, num_heads)
        state, outputs, previous = initial_state, [], None
        seen = attention.zeros(tf.shape(decoder_inputs[0])[0], opened.dtype)
        if initial_state_attention:
            seen = attention(initial_state)
        for i, value in enumerate(decoder_inputs):
            if i > 0:
                tf.get_variable_scope().reuse_variables()
            value = _next_input(loop_function, previous, i, value)
            size = value.shape.with_rank(2).as_list()[1]
            if size is None:
                raise ValueError(f"Could not infer input size from input: {value.name}")
            output, state = cell(linear([value] + seen, size), state)
            with tf.variable_scope(tf.get_variable_scope(), reuse=True if i == 0 and initial_state_attention else None):
                seen = attention(state)
            with tf.variable_scope("AttnOutputProjection"):
                output = linear([output] + seen, output_size)
            previous = output
            outputs.append(output)
    return outputs, state


def embedding_attention_decoder(decoder_inputs, initial_state, attention_states, cell, num_symbols, embedding_size,
                                num_heads=1, output_size=None, output_projection=None, feed_previous=False,
                                update_embedding_for_previous=True, dtype=None, scope=None,
                                initial_state_attention=False):
    """attention_decoder for integer symbols, which are embedded."""
    output_size = cell.output_size if output_size is None else output_size
    with tf.variable_scope(scope or "embedding_attention_decoder", dtype=dtype) as opened:
        _check_projection(output_projection, output_size, num_symbols, opened.dtype)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop = _embedded_argmax(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        inputs = [tf.nn.embedding_lookup(embedding, symbols) for symbols in decoder_inputs]
        return attention_decoder(inputs, initial_state, attention_states, cell, output_size, num_heads, loop,
                                 initial_state_attention=initial_state_attention)


def embedding_attention_seq2seq(encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols,
                                embedding_size, num_heads=1, output_projection=None, feed_previous=False, dtype=None,
                                scope=None, initial_state_attention=False):
    """embedding_rnn_seq2seq whose decoder sees all outputs of the encoder."""
    with tf.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as opened:
        dtype = opened.dtype
        outputs, state = _encoded(encoder_inputs, cell, num_encoder_symbols, embedding_size, dtype)
        states = tf.concat([tf.reshape(output, [-1, 1, cell.output_size]) for output in outputs], 1)
        output_size = None
        if output_projection is None:
            cell, output_size = OutputProjectionWrapper(cell, num_decoder_symbols), num_decoder_symbols

        def decode(feeds, updates):
            return embedding_attention_decoder(
                decoder_inputs, state, states, cell, num_decoder_symbols, embedding_size, num_heads, output_size,
                output_projection, feeds, updates, initial_state_attention=initial_state_attention)

        return _either(feed_previous, decode, len(decoder_inputs), state)


def one2many_rnn_seq2seq(encoder_inputs, decoder_inputs_dict, enc_cell, dec_cells_dict, num_encoder_symbols,
                         num_decoder_symbols_dict, embedding_size, feed_previous=False, dtype=None, scope=None):
    """One encoder and several decoders, by name. Returns the outputs and the states by name."""
    outputs, states = {}, {}
    with tf.variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as opened:
        _, state = _encoded(encoder_inputs, enc_cell, num_encoder_symbols, embedding_size, opened.dtype)
        for name, inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with tf.variable_scope("one2many_decoder_" + str(name)):
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)

                def decode(feeds, updates):
                    return embedding_rnn_decoder(inputs, state, cell, symbols, embedding_size, feed_previous=feeds,
                                                 update_embedding_for_previous=updates)

                outputs[name], states[name] = _either(feed_previous, decode, len(inputs), state)
    return outputs, states
