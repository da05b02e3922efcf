"""Beam search: a decoder that keeps the most probable beginnings of each sequence."""

import collections

import tensorbraid as tf
from tensorbraid import nest
from tensorbraid.contrib.seq2seq.decoders import Decoder

__all__ = ["BeamSearchDecoder", "BeamSearchDecoderOutput", "BeamSearchDecoderState", "FinalBeamSearchDecoderOutput",
           "gather_tree", "gather_tree_from_array"]

BeamSearchDecoderOutput = collections.namedtuple("BeamSearchDecoderOutput", ["scores", "predicted_ids", "parent_ids"])
BeamSearchDecoderState = collections.namedtuple(
    "BeamSearchDecoderState", ["cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs"])
FinalBeamSearchDecoderOutput = collections.namedtuple(
    "FinalBeamSearchDecoderOutput", ["predicted_ids", "beam_search_decoder_output"])


def gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token, name=None):
    """The whole sequence of each beam, from the ids [time, batch, beam] of all steps and the beams that they continue.

    A sequence has the end token after its first one, and from its maximum length on.
    """
    with tf.name_scope(name, "GatherTree", [step_ids, parent_ids]):
        step_ids = tf.convert_to_tensor(step_ids, name="step_ids")
        parent_ids = tf.convert_to_tensor(parent_ids, name="parent_ids")
        limits = tf.convert_to_tensor(max_sequence_lengths, name="max_sequence_lengths")
        end = tf.cast(end_token, step_ids.dtype)
        shape = tf.shape(step_ids)
        steps = shape[0]
        own = tf.tile(tf.expand_dims(tf.range(shape[2]), 0), [shape[1], 1])

        def back(left, beams, ids):
            """The step before: `beams` has the beam of this step that each sequence is in."""
            step = left - 1
            inside = tf.tile(tf.expand_dims(step < limits, 1), [1, shape[2]])
            found = tf.where(inside, tf.gather(step_ids[step], beams, batch_dims=1), tf.fill(shape[1:], end))
            before = tf.where(inside, tf.gather(parent_ids[step], beams, batch_dims=1), beams)
            return step, before, ids.write(step, found)

        ids = tf.TensorArray(step_ids.dtype, size=steps)
        loop = (steps, own, ids)
        shapes = (tf.TensorShape([]), tf.TensorShape([None, None]), tf.TensorShape(None))
        _, _, ids = tf.while_loop(lambda left, beams, ids: left > 0, back, loop, shapes, back_prop=False)
        found = ids.stack()
        ended = tf.cumsum(tf.cast(tf.equal(found, end), tf.int32), exclusive=True) > 0
        found = tf.where(ended, tf.fill(shape, end), found)
        found.set_shape(step_ids.shape)
        return found


def gather_tree_from_array(t, parent_ids, sequence_length):
    """The values [time, batch, beam, ...] or [time, batch * beam, ...] along the whole sequence of each beam."""
    t = tf.convert_to_tensor(t)
    steps, batch, width = tf.unstack(tf.shape(parent_ids), num=3)
    own = tf.tile(tf.reshape(tf.range(width), [1, 1, -1]), [steps, batch, 1])
    longest = tf.cast(tf.reduce_max(sequence_length, 1), tf.int32)
    beams = gather_tree(own, parent_ids, longest, width + 1)
    inside = tf.transpose(tf.sequence_mask(sequence_length, maxlen=steps), [2, 0, 1])
    beams = tf.where(inside, beams, own)
    values = tf.reshape(t, tf.concat([[steps, batch, width], [-1]], 0))
    ordered = tf.reshape(tf.gather(values, beams, batch_dims=2), tf.shape(t))
    ordered.set_shape(t.shape)
    return ordered


class BeamSearchDecoder(Decoder):
    """Keeps `beam_width` beginnings of each sequence: those with the highest sum of logarithms of probabilities.

    With `length_penalty_weight`, the sum is divided by ((5 + length) / 6) ** weight. Source: Wu et al., 2016.
    """

    tracks_own_finished = True  # a beam may continue another one, which has not ended

    def __init__(self, cell, embedding, start_tokens, end_token, initial_state, beam_width, output_layer=None,
                 length_penalty_weight=0.0, coverage_penalty_weight=0.0, reorder_tensor_arrays=True):
        if output_layer is not None and not callable(output_layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        if coverage_penalty_weight:
            raise NotImplementedError("coverage_penalty_weight of BeamSearchDecoder")
        self._cell, self._output_layer, self._width = cell, output_layer, beam_width
        self._embed = embedding if callable(embedding) else (lambda ids: tf.nn.embedding_lookup(embedding, ids))
        self._start = tf.convert_to_tensor(start_tokens, tf.int32, name="start_tokens")
        if self._start.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._end = tf.convert_to_tensor(end_token, tf.int32, name="end_token")
        if self._end.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._length_penalty_weight, self._reorders = length_penalty_weight, reorder_tensor_arrays
        self._batch = tf.size(self._start)
        self._known_batch = self._start.shape.as_list()[0]
        self._initial_state = nest.map_structure(self._split, initial_state)
        tokens = tf.tile(tf.expand_dims(self._start, 1), [1, beam_width])
        self._start_inputs = self._embed(tokens)

    batch_size = property(lambda self: self._batch)

    @property
    def output_size(self):
        width = tf.TensorShape([self._width])
        return BeamSearchDecoderOutput(width, width, width)

    @property
    def output_dtype(self):
        return BeamSearchDecoderOutput(nest.flatten(self._initial_state)[0].dtype, tf.int32, tf.int32)

    def _split(self, value):
        """A tensor [batch * beam, ...] as [batch, beam, ...]. Arrays and scalars are taken as they are."""
        if isinstance(value, tf.TensorArray) or value.shape.ndims == 0:
            return value
        result = tf.reshape(value, tf.concat([[self._batch, self._width], tf.shape(value)[1:]], 0))
        result.set_shape(tf.TensorShape([self._known_batch, self._width]).concatenate(value.shape[1:]))
        return result

    def _merge(self, value):
        """A tensor [batch, beam, ...] as [batch * beam, ...]."""
        if isinstance(value, tf.TensorArray) or value.shape.ndims == 0:
            return value
        result = tf.reshape(value, tf.concat([[self._batch * self._width], tf.shape(value)[2:]], 0))
        rows = None if self._known_batch is None else self._known_batch * self._width
        result.set_shape(tf.TensorShape([rows]).concatenate(value.shape[2:]))
        return result

    def _of_beams(self, value, beams):
        """The values of the beams that are continued."""
        if isinstance(value, tf.TensorArray) or value.shape.ndims == 0:
            return value
        chosen = tf.gather(value, beams, batch_dims=1)
        chosen.set_shape(value.shape)
        return chosen

    def initialize(self, name=None):
        """Only the first beam of each sequence has begun; the others are as good as impossible."""
        first = tf.zeros([self._batch], tf.int32)
        dtype = nest.flatten(self._initial_state)[0].dtype
        finished = tf.one_hot(first, self._width, on_value=False, off_value=True, dtype=tf.bool)
        state = BeamSearchDecoderState(
            self._initial_state, tf.one_hot(first, self._width, on_value=tf.constant(0.0, dtype),
                                            off_value=tf.constant(-float("inf"), dtype), dtype=dtype),
            finished, tf.zeros([self._batch, self._width], tf.int64), ())
        return finished, self._start_inputs, state

    def step(self, time, inputs, state, name=None):
        with tf.name_scope(name, "BeamSearchDecoderStep", [time]):
            outputs, cell_state = self._cell(nest.map_structure(self._merge, inputs),
                                             nest.map_structure(self._merge, state.cell_state))
            logits = self._split(outputs)
            if self._output_layer is not None:
                logits = self._output_layer(logits)
            cell_state = nest.map_structure(self._split, cell_state)
            output, state = self._best(logits, state, cell_state)
            inputs = tf.cond(tf.reduce_all(state.finished), lambda: self._start_inputs,
                             lambda: self._embed(output.predicted_ids))
        return output, state, inputs, state.finished

    def _log_probs(self, logits, finished):
        """The logarithms of the probabilities of the next ids: a sequence that has ended goes on with the end token."""
        found = tf.nn.log_softmax(logits)
        only_end = tf.one_hot(self._end, tf.shape(logits)[-1], on_value=tf.constant(0.0, logits.dtype),
                              off_value=tf.constant(logits.dtype.min, logits.dtype), dtype=logits.dtype)
        ended = tf.tile(tf.expand_dims(finished, 2), [1, 1, tf.shape(logits)[-1]])
        return tf.where(ended, tf.zeros_like(found) + only_end, found)

    def _scores(self, totals, lengths):
        if not isinstance(self._length_penalty_weight, tf.Tensor) and not self._length_penalty_weight:
            return totals
        weight = tf.convert_to_tensor(self._length_penalty_weight, totals.dtype, name="penalty_factor")
        return totals / ((5.0 + tf.cast(lengths, totals.dtype)) / 6.0) ** weight

    def _best(self, logits, state, cell_state):
        """The best continuations of all beams, and the state after them."""
        ids = tf.shape(logits)[-1]
        totals = tf.expand_dims(state.log_probs, 2) + self._log_probs(logits, state.finished)
        is_longer = tf.one_hot(self._end, ids, on_value=tf.constant(0, tf.int64), off_value=tf.constant(1, tf.int64),
                               dtype=tf.int64)
        goes_on = tf.cast(tf.logical_not(state.finished), tf.int64)
        lengths = tf.expand_dims(state.lengths, 2) + tf.expand_dims(goes_on, 2) * is_longer
        flat = tf.reshape(self._scores(totals, lengths), [self._batch, -1])
        scores, places = tf.nn.top_k(flat, self._width)
        scores.set_shape([self._known_batch, self._width])
        places.set_shape([self._known_batch, self._width])
        log_probs = tf.gather(tf.reshape(totals, [self._batch, -1]), places, batch_dims=1)
        log_probs.set_shape([self._known_batch, self._width])
        words, beams = tf.cast(places % ids, tf.int32), tf.cast(places // ids, tf.int32)
        had_ended = self._of_beams(state.finished, beams)
        lengths = self._of_beams(state.lengths, beams) + tf.cast(tf.logical_not(had_ended), tf.int64)
        cell_state = nest.map_structure(lambda value: self._of_beams(value, beams), cell_state)
        after = BeamSearchDecoderState(cell_state, log_probs, tf.logical_or(had_ended, tf.equal(words, self._end)),
                                       lengths, ())
        return BeamSearchDecoderOutput(scores, words, beams), after

    def finalize(self, outputs, final_state, sequence_lengths):
        """The sequences of ids, the best first, and what each step chose."""
        longest = tf.cast(tf.reduce_max(final_state.lengths, 1), tf.int32)
        ids = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end)
        if self._reorders:
            def ordered(value):
                if not isinstance(value, tf.TensorArray):
                    return value
                return gather_tree_from_array(value.stack(), outputs.parent_ids, final_state.lengths)

            final_state = final_state._replace(cell_state=nest.map_structure(ordered, final_state.cell_state))
        return FinalBeamSearchDecoderOutput(ids, outputs), final_state
