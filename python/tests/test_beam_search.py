"""tf.contrib.seq2seq: beam search."""

import itertools
import unittest

import numpy as np
import tensorbraid as tf

seq2seq = tf.contrib.seq2seq
TABLE = np.log(np.array([[.1, .4, .3, .2], [.25, .25, .1, .4], [.5, .2, .2, .1], [.25, .25, .25, .25]], np.float32))
END, STEPS = 3, 3


class Chain(tf.nn.rnn_cell.RNNCell):
    """The next symbol depends on the last one only. The state is the number of steps."""

    output_size = 4
    state_size = 1

    def call(self, inputs, state):
        return tf.matmul(inputs, tf.constant(TABLE)), state + 1.0


def all_sequences(start):
    """All sequences of at most STEPS symbols with the logarithms of their probabilities, the most probable first."""
    found = {}
    for symbols in itertools.product(range(4), repeat=STEPS):
        cut = symbols[:symbols.index(END) + 1] if END in symbols else symbols
        found[cut + (END,) * (STEPS - len(cut))] = sum(TABLE[a, b] for a, b in zip((start,) + cut, cut)), len(cut)
    return sorted(((total, length, symbols) for symbols, (total, length) in found.items()), reverse=True)


def follow(ids, parents, limits, end):
    """gather_tree in plain loops."""
    result = np.full_like(ids, end)
    for batch, beam in np.ndindex(*ids.shape[1:]):
        at = beam
        for step in reversed(range(limits[batch])):
            result[step, batch, beam] = ids[step, batch, at]
            at = parents[step, batch, at]
        ended = np.flatnonzero(result[:, batch, beam] == end)
        if len(ended):
            result[ended[0]:, batch, beam] = end
    return result


class BeamSearchTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def decode(self, width, starts=(0, 2), known=True, **options):
        starts = tf.constant(starts) if known else tf.placeholder_with_default(np.array(starts, np.int32), [None])
        decoder = seq2seq.BeamSearchDecoder(
            Chain(), lambda ids: tf.one_hot(ids, 4), starts, END,
            tf.zeros([tf.size(starts) * width, 1]), width, **options)
        outputs, state, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=STEPS)
        with tf.Session() as session:
            return session.run([outputs.predicted_ids, outputs.beam_search_decoder_output.scores, state, lengths])

    def test_a_wide_beam_finds_the_most_probable_sequences(self):
        for known in (True, False):
            ids, scores, state, _ = self.decode(13, known=known)
            self.assertEqual(ids.shape, (2, STEPS, 13))
            for batch, start in enumerate((0, 2)):
                wanted = all_sequences(start)[:13]
                np.testing.assert_allclose(scores[batch, -1], [total for total, _, _ in wanted], rtol=1e-5)
                self.assertEqual(tuple(ids[batch, :, 0]), wanted[0][2])
                self.assertEqual(sorted(map(tuple, ids[batch].T))[:1], sorted(symbols for _, _, symbols in wanted)[:1])
            np.testing.assert_array_equal(state.finished, (ids == END).any(1))

    def test_a_beam_of_one_takes_the_best_symbol_of_each_step(self):
        ids, _, state, lengths = self.decode(1)
        np.testing.assert_array_equal(ids[:, :, 0], [[1, 3, 3], [0, 1, 3]])
        np.testing.assert_array_equal(state.lengths[:, 0], [2, 3])
        np.testing.assert_array_equal(state.cell_state[:, 0, 0], [3, 3])
        np.testing.assert_array_equal(lengths[:, 0], [2, 3])

    def test_a_length_penalty_prefers_long_sequences(self):
        _, scores, state, _ = self.decode(13, length_penalty_weight=1.0)
        best = max(total / ((5.0 + length) / 6.0) for total, length, _ in all_sequences(0))
        self.assertAlmostEqual(scores[0, -1, 0], best, places=5)

    def test_options_without_effect_are_refused(self):
        with self.assertRaisesRegex(NotImplementedError, "coverage_penalty_weight"):
            self.decode(2, coverage_penalty_weight=0.5)
        with self.assertRaisesRegex(ValueError, "start_tokens must be a vector"):
            self.decode(2, starts=3)

    def test_sequences_are_followed_back(self):
        random = np.random.RandomState(1)
        ids = random.randint(0, 4, [5, 2, 3]).astype(np.int32)
        parents = random.randint(0, 3, [5, 2, 3]).astype(np.int32)
        limits = np.array([5, 3], np.int32)
        found = seq2seq.gather_tree(ids, parents, limits, END)
        self.assertEqual(found.shape.as_list(), [5, 2, 3])
        with tf.Session() as session:
            np.testing.assert_array_equal(session.run(found), follow(ids, parents, limits, END))

    def test_attention_of_the_best_sequences(self):
        width, batch = 3, 2
        memory = seq2seq.tile_batch(tf.constant(np.random.RandomState(2).randn(batch, 5, 4).astype(np.float32)), width)
        cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), seq2seq.LuongAttention(4, memory),
                                        alignment_history=True, output_attention=False)
        decoder = seq2seq.BeamSearchDecoder(
            cell, tf.constant(np.eye(6, 4, dtype=np.float32)), [1, 2], 0, cell.zero_state(batch * width, tf.float32),
            width, output_layer=tf.layers.Dense(6, use_bias=False))
        outputs, state, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=4, output_time_major=True)
        history = state.cell_state.alignment_history
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            ids, history = session.run([outputs.predicted_ids, history])
        self.assertEqual(ids.shape[1:], (batch, width))
        self.assertEqual(history.shape, (len(ids), batch * width, 5))
        np.testing.assert_allclose(history.sum(2), np.ones(history.shape[:2]), rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
