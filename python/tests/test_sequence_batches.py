"""Segments of sequences with states between them, and the barrier that holds them."""

import collections
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.tensorflow_python.data_flow_ops import Barrier

training = tf.contrib.training


def element_of(values):
    """The next element of a queue-like source that ends."""
    return tf.data.Dataset.from_generator(
        lambda: iter(values), {key: tf.as_dtype(np.asarray(value).dtype) if not isinstance(value, str) else tf.string
                               for key, value in values[0].items()},
        {key: [None] * np.ndim(value) for key, value in values[0].items()}).make_one_shot_iterator().get_next()


class BarrierTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_elements_leave_in_the_order_of_their_keys(self):
        barrier = Barrier((tf.string, tf.int32), shapes=((), ()))
        indices, keys, values = barrier.take_many(2)
        self.assertEqual([value.shape.as_list() for value in (indices, keys, *values)], [[2]] * 4)
        with tf.Session() as session:
            for component, names, given in ((0, ["k1", "k2"], ["a", "b"]), (1, ["k1"], [1]), (0, ["k3"], ["c"]),
                                            (1, ["k3"], [3]), (1, ["k2"], [2])):
                session.run(barrier.insert_many(component, names, given))
            self.assertEqual(session.run([barrier.ready_size(), barrier.incomplete_size()]), [3, 0])
            found = session.run([indices, keys, *values])
            self.assertEqual([list(value) for value in found], [[-2**63] * 2, [b"k1", b"k2"], [b"a", b"b"], [1, 2]])
            session.run(barrier.close())
            with self.assertRaises(tf.errors.OutOfRangeError):
                session.run(keys)
            self.assertEqual(session.run(barrier.take_many(2, allow_small_batch=True)[1]), [b"k3"])
        self.assertEqual([barrier.name, indices.op.name], ["barrier", "barrier_BarrierTakeMany"])
        with self.assertRaisesRegex(ValueError, "Empty tensors"):
            Barrier(tf.int32, shapes=[0])


class SequenceBatchesTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def run_to_the_end(self, fetches):
        """The values of all steps until the input ends."""
        steps = []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            try:
                while True:
                    steps.append(session.run(fetches))
            except tf.errors.OutOfRangeError:
                pass
            coordinator.request_stop()
            coordinator.join(threads)
        return steps

    def test_segments_have_the_state_behind_the_segment_before(self):
        lengths = [5, 2, 6, 1, 9]
        examples = [{"key": f"k{i}", "x": np.arange(1.0, n + 1, dtype=np.float32) * 10 ** i, "number": np.int32(i)}
                    for i, n in enumerate(lengths)]
        element = element_of(examples)
        element["x"].set_shape([None])
        element["number"].set_shape([])
        batch = training.batch_sequences_with_states(
            element["key"], {"x": element["x"]}, {"number": element["number"]}, None,
            {"sum": np.float32(100.0), "count": np.int32(0)}, num_unroll=3, batch_size=2, num_threads=2, capacity=3)
        self.assertIsInstance(batch, training.NextQueuedSequenceBatch)
        self.assertEqual(batch.sequences["x"].shape.as_list(), [None, 3])
        total = batch.state("sum") + tf.reduce_sum(batch.sequences["x"], 1)
        saved = [batch.save_state("sum", total), batch.save_state("count", batch.state("count") + 1)]
        fetched = {name: getattr(batch, name) for name in (
            "key", "next_key", "length", "total_length", "sequence", "sequence_count", "insertion_index")}
        steps = self.run_to_the_end([fetched, total, batch.context["number"], batch.state("count"),
                                     batch.sequences["x"], batch.batch_size, saved])
        seen = collections.defaultdict(list)
        for values, totals, numbers, counts, sequences, size, _ in steps:
            self.assertLessEqual(size, 2)
            for i in range(size):
                seen[numbers[i]].append([{name: value[i] for name, value in values.items()}, totals[i], counts[i],
                                         sequences[i]])
        self.assertEqual(sorted(seen), list(range(5)))
        for number, segments in seen.items():
            n, x = lengths[number], examples[number]["x"]
            count = -(-n // 3)
            self.assertEqual(len(segments), count)
            padded = np.concatenate([x, np.zeros(3 * count - n, np.float32)]).reshape(count, 3)
            self.assertEqual(len({segment[0].pop("insertion_index") for segment in segments}), 1)
            for i, (values, total, before, sequence) in enumerate(segments):
                self.assertEqual(values, {
                    "key": f"{i:05d}_of_{count:05d}:k{number}".encode(),
                    "next_key": (f"{i + 1:05d}_of_{count:05d}:k{number}" if i + 1 < count
                                 else f"STOP:k{number}").encode(),
                    "length": min(3, n - 3 * i), "total_length": n, "sequence": i, "sequence_count": count})
                self.assertEqual([total, before], [100.0 + padded[:i + 1].sum(), i])
                np.testing.assert_array_equal(sequence, padded[i])

    def test_sparse_sequences_and_context_stay_sparse(self):
        sequence = tf.SparseTensor([[0, 1], [1, 0], [3, 2]], [1.0, 2.0, 3.0], [4, 3])
        context = tf.SparseTensor([[1]], ["word"], [2])
        ids = tf.train.limit_epochs(tf.constant("key"), 2)
        batch = training.batch_sequences_with_states(
            ids, {"s": sequence}, {"c": context}, None, {"state": [0.0]}, num_unroll=3, batch_size=1, num_threads=1,
            make_keys_unique=True, make_keys_unique_seed=3)
        fetched = [batch.sequences["s"], batch.context["c"], batch.length, batch.key]
        with tf.control_dependencies([batch.save_state("state", batch.state("state"))]):
            fetched.append(tf.constant(0))
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            steps = [session.run(fetched) for _ in range(4)]
            with self.assertRaises(tf.errors.OutOfRangeError):
                session.run(fetched)
            coordinator.request_stop()
            coordinator.join(threads)
        for i, (segment, words, length, key, _) in enumerate(steps):
            dense = np.zeros([1, 3, 3])
            for position, value in zip(segment.indices, segment.values):
                dense[tuple(position)] = value
            np.testing.assert_array_equal(segment.dense_shape, [1, 3, 3])
            expected = np.zeros([3, 3])
            if i % 2 == 0:
                expected[0, 1], expected[1, 0] = 1, 2
            else:
                expected[0, 2] = 3
            np.testing.assert_array_equal(dense[0], expected)
            self.assertEqual([words.indices.tolist(), words.values.tolist(), words.dense_shape.tolist()],
                             [[[0, 1]], [b"word"], [1, 2]])
            self.assertEqual(length, [3 if i % 2 == 0 else 1])
            self.assertRegex(key[0], rb"0000[01]_of_00002:key\d+")
        self.assertNotEqual(steps[0][3][0][6:], steps[2][3][0][6:])

    def test_a_recurrent_network_goes_on_from_the_state_of_the_segment_before(self):
        cell = tf.nn.rnn_cell.BasicLSTMCell(2)
        data = np.random.RandomState(0).rand(4, 3).astype(np.float32)
        batch = training.batch_sequences_with_states(
            tf.train.limit_epochs(tf.constant("key"), 1), {"x": data}, {}, None,
            {"c": np.zeros(2, np.float32), "h": np.zeros(2, np.float32)}, num_unroll=2, batch_size=1, num_threads=1)
        inputs = tf.unstack(batch.sequences["x"], 2, axis=1)
        outputs, _ = tf.nn.static_state_saving_rnn(cell, inputs, batch, ("c", "h"))
        with tf.variable_scope("", reuse=True):
            whole, _ = tf.nn.static_rnn(cell, tf.unstack(data[np.newaxis], axis=1), dtype=tf.float32)
        with self.assertRaisesRegex(ValueError, "same type as cell.state_size"):
            tf.nn.static_state_saving_rnn(cell, inputs, batch, "c")
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            found = session.run(outputs) + session.run(outputs)
            np.testing.assert_allclose(found, session.run(whole), rtol=1e-5)
            coordinator.request_stop()
            coordinator.join(threads)

    def saver(self, **options):
        arguments = {"batch_size": 1, "num_unroll": 2, "input_length": tf.constant(2), "input_key": tf.constant("k"),
                     "input_sequences": {"x": tf.zeros([2, 3])}, "input_context": {}, "initial_states": {"s": [0.0]}}
        return training.SequenceQueueingStateSaver(**{**arguments, **options})

    def test_the_state_saver_is_filled_and_closed_by_the_program(self):
        key = tf.placeholder(tf.string, [])
        saver = self.saver(input_key=key, capacity=2, allow_small_batch=True, batch_size=2, name="saver")
        batch = saver.next_batch
        self.assertIs(saver.next_batch, batch)
        self.assertEqual([saver.name, saver.batch_size, saver.num_unroll], ["saver/", 2, 2])
        take = [batch.key, batch.save_state("s", batch.state("s"))]
        with tf.Session() as session:
            for name in ("a", "b"):
                session.run(saver.prefetch_op, {key: name})
            self.assertEqual(session.run(take)[0].tolist(), [b"00000_of_00001:a", b"00000_of_00001:b"])
            session.run(saver.prefetch_op, {key: "c"})
            session.run(saver.close())
            self.assertEqual(session.run(take)[0].tolist(), [b"00000_of_00001:c"])
            with self.assertRaises(tf.errors.OutOfRangeError):
                session.run(take)
            with self.assertRaises(tf.errors.CancelledError):
                session.run(saver.prefetch_op, {key: "d"})

    def test_mistakes_are_named(self):
        x = tf.placeholder(tf.float32, [None, 3])
        for options, kind, message in (
                ({"initial_states": {}}, ValueError, "initial_states may not be empty"),
                ({"initial_states": [0.0]}, TypeError, "initial_states must be a dict"),
                ({"input_sequences": {}}, ValueError, "at least one sequence tensor"),
                ({"input_sequences": {"a:b": x}}, ValueError, "may not have a colon: 'a:b'"),
                ({"input_sequences": {1: x}}, TypeError, "must be string: 1"),
                ({"input_sequences": {"x": tf.placeholder(tf.float32, [2, None])}}, ValueError,
                 r"sequence x is not fully defined \(ignoring first dimension\)"),
                ({"input_context": {"c": x}}, ValueError, "context c is not fully defined"),
                ({"input_length": 2.0}, TypeError, "length dtype must be int32"),
                ({"input_key": ["a", "b"]}, ValueError, "Rank check failed"),
                ({"capacity": 1, "batch_size": 3}, ValueError, "capacity 1 needs to be >= batch_size 3")):
            with self.assertRaisesRegex(kind, message):
                self.saver(**options)
        saver = self.saver(input_sequences={"x": x, "y": tf.zeros([2, 1])})
        with self.assertRaisesRegex(KeyError, "state was not declared: other"):
            saver.next_batch.save_state("other", 0.0)
        with self.assertRaisesRegex(ValueError, "are incompatible"):
            saver.next_batch.save_state("s", tf.zeros([1, 4]))
        with self.assertRaisesRegex(ValueError, "None values"):
            training.batch_sequences_with_states(tf.constant("k"), {"x": x}, {}, None, {"s": 0.0}, 2, 1, pad=False)
        alone = self.saver(input_sequences={"x": x})
        with tf.Session() as session:
            for wrong, rows, message in (
                    (alone, 3, "should be a multiple of: 2, but saw value: 3. Consider setting pad=True"),
                    (saver, 4, "Dimension 0 of tensor labeled sorted_sequences_y should be: 4, shape received: 2")):
                with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
                    session.run(wrong.prefetch_op, {x: np.zeros([rows, 3])})
            too_long = self.saver(input_length=tf.constant(3))
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "Input length should be <= .*3 vs. 2"):
                session.run(too_long.prefetch_op)


if __name__ == "__main__":
    unittest.main()
