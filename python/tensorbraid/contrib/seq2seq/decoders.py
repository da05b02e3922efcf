"""Decoders, and the loop that runs them."""

import collections

import tensorbraid as tf
from tensorbraid import nest

__all__ = ["BasicDecoder", "BasicDecoderOutput", "Decoder", "dynamic_decode"]

BasicDecoderOutput = collections.namedtuple("BasicDecoderOutput", ["rnn_output", "sample_id"])


class Decoder:
    """One step of decoding. Subclasses define the methods."""

    @property
    def batch_size(self):
        """The number of sequences."""
        raise NotImplementedError

    @property
    def output_size(self):
        """The shapes of the outputs of one sequence."""
        raise NotImplementedError

    @property
    def output_dtype(self):
        """The dtypes of the outputs."""
        raise NotImplementedError

    tracks_own_finished = False  # whether step() returns all sequences that have ended, not only those that end now

    def initialize(self, name=None):
        """Which sequences have ended before the first step, the first inputs and the first state."""
        raise NotImplementedError

    def step(self, time, inputs, state, name=None):
        """The outputs, the next state, the next inputs, and which sequences have ended."""
        raise NotImplementedError

    def finalize(self, outputs, final_state, sequence_lengths):
        """The outputs and the state that decoding returns."""
        raise NotImplementedError


class BasicDecoder(Decoder):
    """A cell, whose outputs a layer may project, and a helper that chooses its inputs."""

    def __init__(self, cell, helper, initial_state, output_layer=None):
        if not isinstance(helper, tf.contrib.seq2seq.Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        if output_layer is not None and not callable(output_layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._helper, self._initial_state, self._output_layer = cell, helper, initial_state, output_layer

    batch_size = property(lambda self: self._helper.batch_size)

    @property
    def output_size(self):
        size = self._cell.output_size
        if self._output_layer is not None:
            size = getattr(self._output_layer, "units", None)  # unknown before the first step for other layers
        return BasicDecoderOutput(nest.map_structure(tf.TensorShape, size), self._helper.sample_ids_shape)

    @property
    def output_dtype(self):
        dtype = nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(nest.map_structure(lambda _: dtype, self._cell.output_size),
                                  self._helper.sample_ids_dtype)

    def initialize(self, name=None):
        return self._helper.initialize() + (self._initial_state,)

    def step(self, time, inputs, state, name=None):
        with tf.name_scope(name, "BasicDecoderStep", [time]):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, inputs, state = self._helper.next_inputs(time=time, outputs=outputs, state=state,
                                                               sample_ids=sample_ids)
        return BasicDecoderOutput(outputs, sample_ids), state, inputs, finished


def _where(rows, first, second):
    """Rows of the first tensor where the vector is true, else of the second. Arrays and scalars stay as they are."""
    if isinstance(second, tf.TensorArray) or second.shape.ndims == 0:
        return second
    chosen = tf.where(rows, first, second)
    chosen.set_shape(second.shape)
    return chosen


def _batched(decoder, size):
    """The shape of the outputs of all sequences, as far as it is known."""
    batch = decoder.batch_size
    known = batch._constant() if isinstance(batch, tf.Tensor) else batch
    return tf.TensorShape([known]).concatenate(size)


def _batch_first(value):
    return value if value.shape.ndims is None or value.shape.ndims < 2 else tf.transpose(
        value, [1, 0] + list(range(2, value.shape.ndims)))


def dynamic_decode(decoder, output_time_major=False, impute_finished=False, maximum_iterations=None,
                   parallel_iterations=32, swap_memory=False, scope=None):
    """Steps until all sequences have ended. Returns the outputs, the last state and the lengths of the sequences.

    With `impute_finished`, the outputs of a sequence that has ended are zeros, and its state stays as it was.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with tf.variable_scope(scope, "decoder"):
        finished, inputs, state = decoder.initialize()
        if maximum_iterations is not None:
            maximum_iterations = tf.convert_to_tensor(maximum_iterations, tf.int32, name="maximum_iterations")
            if maximum_iterations.shape.ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
            finished = tf.logical_or(finished, 0 >= maximum_iterations)
        lengths = tf.zeros_like(finished, dtype=tf.int32)
        arrays = nest.map_structure(
            lambda dtype, size: tf.TensorArray(dtype, size=0, dynamic_size=True, element_shape=_batched(decoder, size)),
            decoder.output_dtype, decoder.output_size)

        def body(time, arrays, state, inputs, finished, lengths):
            outputs, new, inputs, ended = decoder.step(time, inputs, state)
            ended = ended if decoder.tracks_own_finished else tf.logical_or(ended, finished)
            if maximum_iterations is not None:
                ended = tf.logical_or(ended, time + 1 >= maximum_iterations)
            lengths = tf.where(finished, lengths, tf.fill(tf.shape(lengths), time + 1))
            if impute_finished:
                outputs = nest.map_structure(lambda value: _where(finished, tf.zeros_like(value), value), outputs)
                new = nest.map_structure(lambda old, value: _where(finished, old, value), state, new)
            arrays = nest.map_structure(lambda array, value: array.write(time, value), arrays, outputs)
            return time + 1, arrays, new, inputs, ended, lengths

        _, arrays, state, _, _, lengths = tf.while_loop(
            lambda time, arrays, state, inputs, finished, lengths: tf.logical_not(tf.reduce_all(finished)), body,
            (tf.constant(0), arrays, state, inputs, finished, lengths), parallel_iterations=parallel_iterations,
            swap_memory=swap_memory)
        outputs = nest.map_structure(lambda array: array.stack(), arrays)
        try:
            outputs, state = decoder.finalize(outputs, state, lengths)
        except NotImplementedError:
            pass
        if not output_time_major:
            outputs = nest.map_structure(_batch_first, outputs)
    return outputs, state, lengths
