"""tf.contrib.legacy_seq2seq, tf.contrib.seq2seq and the cells of tf.contrib.rnn."""

import unittest

import numpy as np
import tensorbraid as tf

seq2seq = tf.contrib.legacy_seq2seq
rnn = tf.contrib.rnn
new = tf.contrib.seq2seq


class Steps(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        tf.set_random_seed(1)

    def run_all(self, fetches, feed=None):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return session.run(fetches, feed)

    def names(self):
        return [v.op.name for v in tf.trainable_variables()]


class DecoderTest(Steps):
    def test_decoders_unroll_cells(self):
        inputs = [tf.constant(np.full((2, 3), i, np.float32)) for i in range(3)]
        with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)):
            outputs, state = seq2seq.basic_rnn_seq2seq(inputs, inputs, rnn.GRUCell(3))
            tied, _ = seq2seq.tied_rnn_seq2seq(inputs, inputs, rnn.BasicLSTMCell(3))
            looped, _ = seq2seq.rnn_decoder(inputs, tf.zeros([2, 3]), rnn.GRUCell(3), lambda previous, i: previous * 0)
        self.assertEqual(len(outputs), 3)
        self.assertEqual(self.names()[:2] + self.names()[4:6], [
            "root/basic_rnn_seq2seq/rnn/gru_cell/gates/kernel", "root/basic_rnn_seq2seq/rnn/gru_cell/gates/bias",
            "root/basic_rnn_seq2seq/rnn_decoder/gru_cell/gates/kernel",
            "root/basic_rnn_seq2seq/rnn_decoder/gru_cell/gates/bias"])
        self.assertEqual(self.names()[8:10], ["root/combined_tied_rnn_seq2seq/tied_rnn_seq2seq/basic_lstm_cell/kernel",
                                              "root/combined_tied_rnn_seq2seq/tied_rnn_seq2seq/basic_lstm_cell/bias"])
        values = self.run_all([outputs[-1], state, tied, looped])
        np.testing.assert_array_equal(values[0], values[1])

    def symbols(self, *values):
        return [tf.constant(value, tf.int32) for value in values]

    def check_model(self, model, names, feeds=(False, True)):
        """The model trains, and may feed its own symbols, also if only a step knows whether it does."""
        encoder, decoder = self.symbols([1, 2], [0, 3]), self.symbols([0, 1], [2, 2], [4, 3])
        flag = tf.placeholder_with_default(False, [])
        with tf.variable_scope("m", initializer=tf.random_uniform_initializer(-1, 1, seed=2)):
            outputs, state = model(encoder, decoder, feed_previous=flag)
        with tf.variable_scope("m", reuse=True):
            fixed = [model(encoder, decoder, feed_previous=feed)[0] for feed in feeds]
        self.assertEqual([output.shape.as_list() for output in fixed[0]], [[2, 5]] * 3)
        targets, weights = self.symbols([1, 1], [2, 2], [3, 3]), [tf.ones([2])] * 3
        loss = seq2seq.sequence_loss(outputs, targets, weights)
        train = tf.train.AdamOptimizer(0.1).minimize(loss)
        self.assertEqual([name[2:] for name in self.names()], names)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for feed, expected in zip(feeds, fixed):
                for got, wanted in zip(session.run(outputs, {flag: feed}), session.run(expected)):
                    np.testing.assert_allclose(got, wanted, rtol=1e-5)
            first = session.run(loss)
            for _ in range(20):
                session.run(train)
            self.assertLess(session.run(loss), first / 2)

    def test_a_model_with_embeddings(self):
        def model(encoder, decoder, feed_previous):
            return seq2seq.embedding_rnn_seq2seq(encoder, decoder, rnn.BasicLSTMCell(4), 6, 5, 3,
                                                 feed_previous=feed_previous)

        top = "embedding_rnn_seq2seq"
        self.check_model(model, [
            f"{top}/rnn/embedding_wrapper/embedding", f"{top}/rnn/embedding_wrapper/basic_lstm_cell/kernel",
            f"{top}/rnn/embedding_wrapper/basic_lstm_cell/bias", f"{top}/embedding_rnn_decoder/embedding",
            f"{top}/embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/kernel",
            f"{top}/embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/bias",
            f"{top}/embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/basic_lstm_cell/kernel",
            f"{top}/embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/basic_lstm_cell/bias"])

    def test_a_model_with_tied_embeddings(self):
        def model(encoder, decoder, feed_previous):
            return seq2seq.embedding_tied_rnn_seq2seq(encoder, decoder, rnn.GRUCell(4), 6, 3, num_decoder_symbols=5,
                                                      feed_previous=feed_previous)

        encoder = self.symbols([1, 2])
        with tf.variable_scope("m"):
            outputs, _ = model(encoder, encoder, tf.constant(True))
        self.assertEqual(self.run_all(outputs)[0].shape, (2, 5))

    def test_a_model_with_attention(self):
        def model(encoder, decoder, feed_previous):
            cell = rnn.MultiRNNCell([rnn.GRUCell(4), rnn.GRUCell(4)])
            return seq2seq.embedding_attention_seq2seq(encoder, decoder, cell, 6, 5, 3, num_heads=2,
                                                       feed_previous=feed_previous)

        top = "embedding_attention_seq2seq/embedding_attention_decoder"
        encoder, decoder = self.symbols([1, 2], [0, 3]), self.symbols([0, 1], [2, 2], [4, 3])
        with tf.variable_scope("m"):
            outputs, _ = model(encoder, decoder, tf.constant(False))
        names = [name[2:] for name in self.names()]
        for name in ("embedding", "attention_decoder/AttnW_1", "attention_decoder/AttnV_0", "attention_decoder/kernel",
                     "attention_decoder/Attention_0/kernel", "attention_decoder/AttnOutputProjection/bias"):
            self.assertIn(f"{top}/{name}", names)
        self.assertEqual([output.shape.as_list() for output in outputs], [[2, 5]] * 3)
        self.run_all(outputs)

    def test_attention_follows_its_formula(self):
        states = np.arange(12, dtype=np.float32).reshape(2, 3, 2) / 10
        with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)):
            outputs, _ = seq2seq.attention_decoder([tf.ones([2, 2])], tf.zeros([2, 2]), tf.constant(states),
                                                   rnn.BasicRNNCell(2), initial_state_attention=True)
        # Kernels of 0.5 give every head the same features: the sum of the states, and that of the query, halved.
        seen = []
        for query in (np.zeros((2, 2)), None):
            if query is None:
                x = 0.5 * (2 + seen[0].sum(1, keepdims=True)) * np.ones((2, 2))
                query = np.tanh(0.5 * x.sum(1, keepdims=True)) * np.ones((2, 2))
            y = 0.5 * query.sum(1)[:, None]
            scores = 2 * 0.5 * np.tanh(0.5 * states.sum(2) + y)
            weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
            seen.append((weights[:, :, None] * states).sum(1))
        wanted = 0.5 * (query.sum(1) + seen[1].sum(1))[:, None] * np.ones((2, 2))
        np.testing.assert_allclose(self.run_all(outputs)[0], wanted, rtol=1e-5)

    def test_buckets_share_their_weights(self):
        encoder, decoder = self.symbols(*[[1, 2]] * 3), self.symbols(*[[0, 1]] * 4)
        weights = [tf.ones([2])] * 4

        def model(x, y):
            return seq2seq.embedding_rnn_seq2seq(x, y, rnn.GRUCell(4), 6, 5, 3)

        for by_example in (False, True):
            with tf.variable_scope("by_example" if by_example else "mean"):
                outputs, losses = seq2seq.model_with_buckets(encoder, decoder, decoder, weights, [(1, 2), (3, 4)],
                                                             model, per_example_loss=by_example)
            self.assertEqual([len(output) for output in outputs], [2, 4])
            self.assertEqual([loss.shape.as_list() for loss in losses], [[2]] * 2 if by_example else [[]] * 2)
        self.assertEqual(len(tf.trainable_variables()), 24)
        self.run_all(losses)
        with self.assertRaises(ValueError):
            seq2seq.model_with_buckets(encoder, decoder, decoder, weights, [(4, 4)], model)

    def test_losses_follow_their_formulas(self):
        logits = [tf.constant([[1.0, 2.0], [0.0, 0.0]]), tf.constant([[3.0, 1.0], [0.0, 1.0]])]
        targets, weights = self.symbols([0, 1], [0, 1]), [tf.constant([1.0, 1.0]), tf.constant([1.0, 0.0])]
        by_example = seq2seq.sequence_loss_by_example(logits, targets, weights)
        total = seq2seq.sequence_loss(logits, targets, weights, average_across_timesteps=False)
        a, b, c = np.log(1 + np.e), np.log(1 + np.exp(-2)), np.log(2)
        values = self.run_all([by_example, total])
        np.testing.assert_allclose(values[0], [(a + b) / 2, c], rtol=1e-5)
        self.assertAlmostEqual(values[1], (a + b + c) / 2, places=5)
        with self.assertRaises(ValueError):
            seq2seq.sequence_loss(logits, targets[:1], weights)


class CellTest(Steps):
    def test_cells_and_wrappers(self):
        x = tf.constant([[0.5, -1.0]])
        cells = {"layer_norm_basic_lstm_cell": rnn.LayerNormBasicLSTMCell(2),
                 "ugrnn_cell": rnn.UGRNNCell(2), "highway_wrapper": rnn.HighwayWrapper(rnn.GRUCell(2)),
                 "input_projection_wrapper": rnn.InputProjectionWrapper(rnn.GRUCell(2), 3)}
        for name, cell in cells.items():
            before = len(tf.trainable_variables())
            outputs, state = tf.nn.dynamic_rnn(cell, tf.stack([x, x], 1), dtype=tf.float32, scope="of_" + name)
            self.assertEqual(outputs.shape.as_list(), [1, 2, 2])
            made = self.names()[before:]
            self.assertTrue(made and all(f"of_{name}/{name}/" in variable for variable in made), made)
            self.assertEqual(len(cell.trainable_variables), len(made))
            self.assertTrue(np.isfinite(self.run_all(outputs)).all())

    def test_layer_normalization_of_a_cell(self):
        cell = rnn.LayerNormBasicLSTMCell(2, forget_bias=0.0)
        with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)):
            output, state = cell(tf.constant([[1.0, 2.0]]), (tf.constant([[1.0, 3.0]]), tf.zeros([1, 2])))
        # The gates are constant over the units, so they are normalized to 0; the state [0.5, 1.5] to [-1, 1].
        output, state = self.run_all([output, state])
        np.testing.assert_allclose(state.c, [[-1.0, 1.0]], rtol=1e-5)
        np.testing.assert_allclose(output, 0.5 * np.tanh([[-1.0, 1.0]]), rtol=1e-5)

    def test_stacked_layers_in_both_directions(self):
        x = tf.ones([2, 3, 4])
        outputs, fw, bw = rnn.stack_bidirectional_dynamic_rnn([rnn.GRUCell(2), rnn.GRUCell(3)],
                                                              [rnn.GRUCell(2), rnn.GRUCell(3)], x, dtype=tf.float32)
        self.assertEqual((outputs.shape.as_list(), len(fw), len(bw)), ([2, 3, 6], 2, 2))
        self.assertIn("stack_bidirectional_rnn/cell_1/bidirectional_rnn/fw/gru_cell/gates/kernel", self.names())
        unrolled, _, _ = rnn.stack_bidirectional_rnn([rnn.GRUCell(2)], [rnn.GRUCell(2)], tf.unstack(x, axis=1),
                                                     dtype=tf.float32, scope="unrolled")
        self.assertEqual(unrolled[0].shape.as_list(), [2, 4])
        self.run_all([outputs, unrolled])
        with self.assertRaises(ValueError):
            rnn.stack_bidirectional_rnn([], [], [x])


class DynamicDecodeTest(Steps):
    def test_a_decoder_reads_the_true_inputs(self):
        inputs = tf.constant(np.random.RandomState(0).randn(2, 3, 4), tf.float32)
        cell, lengths = rnn.GRUCell(4), [3, 1]
        decoder = new.BasicDecoder(cell, new.TrainingHelper(inputs, lengths), cell.zero_state(2, tf.float32),
                                   tf.layers.Dense(5, name="out"))
        outputs, state, made = new.dynamic_decode(decoder, impute_finished=True, scope="d")
        wanted, wanted_state = tf.nn.dynamic_rnn(cell, inputs, lengths, dtype=tf.float32)
        with tf.variable_scope("d", reuse=True):
            scores = tf.layers.dense(wanted, 5, name="out") * tf.sequence_mask(lengths, dtype=tf.float32)[:, :, None]
        self.assertEqual(self.names()[-2:], ["d/out/kernel", "d/out/bias"])
        got = self.run_all([outputs, state, made, scores, wanted_state])
        np.testing.assert_allclose(got[0].rnn_output, got[3], rtol=1e-5)
        np.testing.assert_array_equal(got[0].sample_id, got[3].argmax(-1) * (np.arange(3) < [[3], [1]]))
        np.testing.assert_allclose(got[1], got[4], rtol=1e-5)
        self.assertEqual(got[2].tolist(), lengths)
        self.assertEqual(outputs.rnn_output.shape.as_list(), [2, None, 5])

    def test_a_decoder_reads_what_it_writes(self):
        # The cell counts: its output scores the symbol after the one that it reads highest.
        class Counter(rnn.RNNCell):
            state_size = output_size = 5

            def call(self, inputs, state):
                return tf.roll(inputs, [1], [1]), state

        for helper in (new.GreedyEmbeddingHelper, lambda *args: new.SampleEmbeddingHelper(*args, 0.001)):
            decoder = new.BasicDecoder(Counter(), helper(tf.eye(5), [0, 2], 4), tf.zeros([2, 5]))
            outputs, _, lengths = new.dynamic_decode(decoder)
            cut, _, _ = new.dynamic_decode(decoder, maximum_iterations=1)
            ids, lengths, cut = self.run_all([outputs.sample_id, lengths, cut.sample_id])
            self.assertEqual((ids[0].tolist(), ids[1].tolist()[:2]), ([1, 2, 3, 4], [3, 4]))
            self.assertEqual((lengths.tolist(), cut.tolist()), ([4, 2], [[1], [3]]))

    def test_attention_reads_the_memory(self):
        memory = np.random.RandomState(1).randn(2, 3, 4).astype(np.float32)
        query = tf.constant(np.random.RandomState(2).randn(2, 4), tf.float32)
        with tf.variable_scope("a", initializer=tf.constant_initializer(0.5)):
            for make in (lambda: new.BahdanauAttention(4, memory, [3, 2]),
                         lambda: new.LuongAttention(4, memory, [3, 2]),
                         lambda: new.BahdanauAttention(4, memory, normalize=True),
                         lambda: new.LuongAttention(4, memory, scale=True)):
                mechanism = make()
                alignments, _ = mechanism(query, mechanism.initial_alignments(2, tf.float32))
                keys, q, got = self.run_all([mechanism.keys, query, alignments])
                if isinstance(mechanism, new.LuongAttention):
                    scores = (keys * q[:, None]).sum(2)
                else:
                    g = 0.5 if mechanism._normalize is False else 0.5 / np.sqrt(4 * 0.25) * 0.5
                    scores = (g * np.tanh(keys + 0.5 * q.sum(1)[:, None, None])).sum(2)
                if mechanism._lengths is not None:
                    scores[1, 2] = -np.inf
                wanted = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
                np.testing.assert_allclose(got, wanted, rtol=1e-4)
        names = [name for name in self.names() if name.startswith("a/bahdanau_attention")]
        self.assertEqual(names[:2], ["a/bahdanau_attention/query_layer/kernel", "a/bahdanau_attention/attention_v"])

    def test_a_decoder_with_attention_trains(self):
        memory = tf.constant(np.random.RandomState(1).randn(2, 3, 4), tf.float32)
        cell = new.AttentionWrapper(rnn.BasicLSTMCell(4), new.LuongAttention(4, memory), attention_layer_size=4,
                                    alignment_history=True)
        helper = new.TrainingHelper(tf.ones([2, 3, 1]), [3, 3])
        decoder = new.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32), tf.layers.Dense(5))
        outputs, state, _ = new.dynamic_decode(decoder)
        self.assertEqual(sorted(self.names()), [
            "decoder/attention_wrapper/attention_layer/kernel", "decoder/attention_wrapper/basic_lstm_cell/bias",
            "decoder/attention_wrapper/basic_lstm_cell/kernel", "decoder/dense/bias", "decoder/dense/kernel",
            "memory_layer/kernel"])
        loss = new.sequence_loss(outputs.rnn_output, tf.constant([[0, 1, 2], [3, 4, 0]]), tf.ones([2, 3]))
        train = tf.train.AdamOptimizer(0.1).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            history = session.run(state.alignment_history.stack())
            self.assertEqual(history.shape, (3, 2, 3))
            np.testing.assert_allclose(history.sum(2), 1.0, rtol=1e-5)
            first = session.run(loss)
            for _ in range(30):
                session.run(train)
            self.assertLess(session.run(loss), first / 2)

    def test_the_loss_follows_its_formula(self):
        logits = tf.zeros([2, 3, 4])
        weights = tf.constant([[1.0, 1.0, 0.0], [2.0, 0.0, 0.0]])
        targets = tf.zeros([2, 3], tf.int32)
        each = np.log(4)
        losses = self.run_all([new.sequence_loss(logits, targets, weights),
                               new.sequence_loss(logits, targets, weights, False, False),
                               new.sequence_loss(logits, targets, weights, True, False),
                               new.sequence_loss(logits, targets, weights, False, False, sum_over_timesteps=True,
                                                 sum_over_batch=True)])
        np.testing.assert_allclose(losses[0], each, rtol=1e-5)
        np.testing.assert_allclose(losses[1], each * np.array([[1, 1, 0], [2, 0, 0]]), rtol=1e-5)
        np.testing.assert_allclose(losses[2], [each, each], rtol=1e-5)
        np.testing.assert_allclose(losses[3], each * 4 / 3, rtol=1e-5)
        tiled = new.tile_batch(tf.constant([[1], [2]]), 2)
        self.assertEqual(self.run_all(tiled).tolist(), [[1], [1], [2], [2]])


if __name__ == "__main__":
    unittest.main()
