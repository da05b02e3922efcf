"""Feature columns: their values, their variables, and what is refused.

The expected values are those of TensorFlow 2.15 (tf.compat.v1.feature_column, and keras.experimental.SequenceFeatures
for sequences) for the same features, with each variable set to 0, 1, 2, ... in its shape.
"""

import os
import tempfile
import unittest

import numpy as np

import tensorbraid as tf
from tensorbraid.contrib.feature_column import sequence_input_layer

fc = tf.feature_column


def sparse(indices, values, shape):
    return tf.SparseTensor(np.array(indices, np.int64), values, shape)


def features():
    at = [[0, 0], [1, 0], [1, 1]]
    return {"a": tf.constant([[1.0], [2.0]]), "b": tf.constant([[1], [2]]), "s": tf.constant([["x"], ["y"]]),
            "v": sparse(at, ["x", "z", "y"], [2, 2]), "w": sparse(at, [1.0, 2.0, 3.0], [2, 2]),
            "rank1": tf.constant([1, 2])}


def identity():
    return fc.categorical_column_with_identity("b", 4)


def vocabulary(key="v"):
    return fc.categorical_column_with_vocabulary_list(key, ["x", "y", "z"], num_oov_buckets=2)


def weighted():
    return fc.weighted_categorical_column(vocabulary(), "w")


def buckets():
    return fc.bucketized_column(fc.numeric_column("a"), [0.5, 1.5])


class FeatureColumnTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def values(self, outputs):
        """The outputs in a session whose variables count upwards from 0."""
        with tf.Session() as session:
            session.run(tf.tables_initializer())
            for variable in tf.global_variables():
                dims = variable.shape.as_list()
                session.run(variable.assign(np.arange(np.prod(dims)).reshape(dims).astype(np.float32)))
            return session.run(outputs)

    def layer(self, column):
        return self.values(fc.input_layer(features(), [column])).tolist()

    def names(self):
        return [variable.name for variable in tf.global_variables()]


class InputLayerTest(FeatureColumnTest):
    def test_numbers_are_normalized_and_put_into_ranges(self):
        self.assertEqual(self.layer(fc.numeric_column("a")), [[1.0], [2.0]])
        self.assertEqual(self.layer(fc.numeric_column("rank1")), [[1.0], [2.0]])
        self.assertEqual(self.layer(fc.numeric_column("a", normalizer_fn=lambda x: x - 1.0)), [[0.0], [1.0]])
        self.assertEqual(self.layer(buckets()), [[0, 1, 0], [0, 0, 1]])

    def test_indicators_count_the_ids_of_an_example(self):
        self.assertEqual(self.layer(fc.indicator_column(identity())), [[0, 1, 0, 0], [0, 0, 1, 0]])
        self.assertEqual(self.layer(fc.indicator_column(vocabulary())), [[1, 0, 0, 0, 0], [0, 1, 1, 0, 0]])
        self.assertEqual(self.layer(fc.indicator_column(weighted())), [[1, 0, 0, 0, 0], [0, 3, 2, 0, 0]])

    def test_hashes_are_those_of_tensorflow(self):
        hashed = fc.categorical_column_with_hash_bucket("v", 10)
        self.assertEqual(self.layer(fc.indicator_column(hashed)), [[1] + [0] * 9, [0, 0, 0, 0, 0, 1, 0, 1, 0, 0]])
        crossed = fc.crossed_column(["s", "v"], 7)
        self.assertEqual(self.layer(fc.indicator_column(crossed)), [[0, 1, 0, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0, 0]])
        crossed = fc.crossed_column([buckets(), identity(), "s"], 7, hash_key=5)  # integers and strings
        self.assertEqual(self.layer(fc.indicator_column(crossed)), [[0, 0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 1, 0]])

    def test_a_vocabulary_may_be_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "words")
            with open(path, "w") as file:
                file.write("x\ny\nz\n")
            column = fc.categorical_column_with_vocabulary_file("v", path)
            self.assertEqual(column.num_buckets, 3)
            self.assertEqual(self.layer(fc.indicator_column(column)), [[1, 0, 0], [0, 1, 1]])
            self.assertEqual(len(tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)), 1)

    def test_ids_out_of_range_become_the_default(self):
        column = fc.categorical_column_with_identity("b", 2, default_value=0)
        self.assertEqual(self.layer(fc.indicator_column(column)), [[0, 1], [1, 0]])

    def test_embeddings_combine_the_rows_of_a_table(self):
        self.assertEqual(self.layer(fc.embedding_column(vocabulary(), 2)), [[0, 1], [3, 4]])
        self.assertEqual(self.names(), ["input_layer/v_embedding/embedding_weights:0"])
        for key in (tf.GraphKeys.MODEL_VARIABLES, tf.GraphKeys.TRAINABLE_VARIABLES):
            self.assertEqual(len(tf.get_collection(key)), 1)
        tf.reset_default_graph()
        found = self.layer(fc.embedding_column(weighted(), 2, combiner="sqrtn", max_norm=3.0))
        np.testing.assert_allclose(found, [[0, 1], [2.424170732498169, 3.3763675689697266]], rtol=1e-6)
        tf.reset_default_graph()
        unsafe = fc.embedding_column(identity(), 2, use_safe_embedding_lookup=False)
        self.assertEqual(self.layer(unsafe), [[2, 3], [4, 5]])

    def test_shared_embeddings_have_one_table(self):
        columns = fc.shared_embedding_columns([vocabulary(), vocabulary("s")], 2)
        found = self.values(fc.input_layer(features(), columns))
        self.assertEqual(found.tolist(), [[0, 1, 0, 1], [2, 3, 3, 4]])
        self.assertEqual(self.names(), ["input_layer/s_v_shared_embedding/embedding_weights:0"])

    def test_dicts_get_the_variables_and_tensors_of_each_column(self):
        variables, tensors = {}, {}
        number, table = fc.numeric_column("a"), fc.embedding_column(identity(), 2)
        fc.input_layer(features(), [number, table], cols_to_vars=variables, cols_to_output_tensors=tensors)
        self.assertEqual(variables[number], [])
        self.assertEqual([v.name for v in variables[table]], ["input_layer/b_embedding/embedding_weights:0"])
        self.assertEqual(tensors[number].name, "input_layer/a/Reshape:0")

    def test_tables_can_be_in_parts_and_not_be_trained(self):
        with tf.variable_scope("in", partitioner=tf.fixed_size_partitioner(2)):
            fc.input_layer(features(), [fc.embedding_column(identity(), 2)], trainable=False,
                           weight_collections=["mine"])
        self.assertEqual(self.names(), [f"in/input_layer/b_embedding/embedding_weights/part_{i}:0" for i in (0, 1)])
        self.assertEqual(tf.trainable_variables(), [])
        self.assertEqual(len(tf.get_collection("mine")), 2)

    def test_a_table_can_be_read_from_a_checkpoint(self):
        table = np.arange(8, dtype=np.float32).reshape(4, 2) * 2
        with tempfile.TemporaryDirectory() as folder:
            with tf.Graph().as_default(), tf.Session() as session:
                tf.Variable(table, name="old")
                session.run(tf.global_variables_initializer())
                tf.train.Saver().save(session, os.path.join(folder, "model"))
            for partitioner in (None, tf.fixed_size_partitioner(2)):
                with tf.Graph().as_default(), tf.Session() as session:
                    with tf.variable_scope("in", partitioner=partitioner):
                        found = fc.input_layer(features(), [fc.embedding_column(
                            identity(), 2, ckpt_to_load_from=folder, tensor_name_in_ckpt="old")])
                    session.run(tf.global_variables_initializer())
                    np.testing.assert_array_equal(session.run(found), table[[1, 2]])

    def test_what_fits_no_layer_is_refused(self):
        for columns, message in (([fc.numeric_column("q")], "not in features"), ([identity()], "indicator_column"),
                                 ([], "empty"),
                                 ({"a": 1}, "dict"), (["a"], "FeatureColumn"), ([fc.numeric_column("v")],
                                                                                "SparseTensor"),
                                 ([fc.indicator_column(fc.categorical_column_with_identity("s", 3))], "not integer"),
                                 ([fc.numeric_column("a"), fc.numeric_column("a", shape=(1, 1))], "Duplicate"),
                                 ([fc.numeric_column("a", shape=2)], "reshape"),
                                 ([fc.indicator_column(fc.categorical_column_with_hash_bucket("b", 3))], "compatible")):
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                fc.input_layer(features(), columns)


class LinearModelTest(FeatureColumnTest):
    def linear(self, *columns, **options):
        return self.values(fc.linear_model(features(), columns, **options)).tolist()

    def test_categories_have_a_weight_for_each_id(self):
        for column, wanted in ((fc.numeric_column("a"), [[0, 2], [0, 3]]), (buckets(), [[2, 4], [4, 6]]),
                               (identity(), [[2, 4], [4, 6]]), (vocabulary(), [[0, 2], [6, 9]]),
                               (fc.crossed_column(["s", "v"], 7), [[2, 4], [8, 11]]), (weighted(), [[0, 2], [14, 20]])):
            with self.subTest(column.name), tf.Graph().as_default():
                self.assertEqual(self.linear(column, units=2), wanted)
                self.assertEqual(self.names(), [f"linear_model/{column.name}/weights:0", "linear_model/bias_weights:0"])

    def test_names_are_unique_in_the_scope_around_the_models(self):
        variables = {}
        with tf.variable_scope("in"):
            fc.linear_model(features(), [identity()])
            total = fc.linear_model(features(), [identity(), fc.numeric_column("a")], units=3, cols_to_vars=variables)
        self.assertEqual(total.name, "in/linear_model_3/linear_model/weighted_sum:0")
        self.assertEqual([v.name for v in variables[identity()]], ["in/linear_model_1/b_1/weights:0"])
        self.assertEqual([v.name for v in variables["bias"]], ["in/linear_model_1/bias_weights:0"])

    def test_a_scope_can_reuse_the_weights(self):
        with tf.variable_scope("q"):
            fc.linear_model(features(), [identity()], trainable=False)
        with tf.variable_scope("q", reuse=True):
            fc.linear_model(features(), [identity()])
        self.assertEqual(self.names(), ["q/linear_model/b/weights:0", "q/linear_model/bias_weights:0"])
        self.assertEqual(tf.trainable_variables(), [])

    def test_the_weights_are_trained(self):
        tf.set_random_seed(1)
        loss = tf.reduce_sum(tf.square(fc.linear_model(features(), [identity(), fc.embedding_column(vocabulary(),
                                                                                                    2)]) - 3.0))
        train = tf.train.AdagradOptimizer(0.5).minimize(loss)
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            first = session.run(loss)
            for _ in range(20):
                session.run(train)
            self.assertLess(session.run(loss), first / 10)


class SequenceTest(FeatureColumnTest):
    def features(self):
        at = [[0, 0], [1, 0], [1, 1], [1, 2]]
        return {"i": sparse(at, [2, 0, 1, 2], [3, 3]), "n": sparse(at, [2.0, 3.0, 4.0, 5.0], [3, 3]),
                "pairs": sparse([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [1, 3]], [2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
                                [3, 4]),
                "bags": sparse([[0, 0, 0], [1, 0, 0], [1, 0, 1], [1, 2, 0]], [2, 0, 1, 2], [3, 3, 2])}

    def layer(self, column):
        outputs, lengths = self.values(sequence_input_layer(self.features(), [column]))
        return outputs.tolist(), lengths.tolist()

    def test_each_step_has_its_own_values(self):
        ids = fc.sequence_categorical_column_with_identity
        self.assertEqual(self.layer(fc.embedding_column(ids("i", 3), 2)), (
            [[[4, 5], [0, 0], [0, 0]], [[0, 1], [2, 3], [4, 5]], [[0, 0]] * 3], [1, 3, 0]))
        self.assertEqual(self.layer(fc.indicator_column(ids("bags", 3))), (
            [[[0, 0, 1], [0, 0, 0], [0, 0, 0]], [[1, 1, 0], [0, 0, 0], [0, 0, 1]], [[0, 0, 0]] * 3], [1, 3, 0]))
        self.assertEqual(self.layer(fc.sequence_numeric_column("n", default_value=-1.0)), (
            [[[2], [-1], [-1]], [[3], [4], [5]], [[-1], [-1], [-1]]], [1, 3, 0]))
        self.assertEqual(self.layer(fc.sequence_numeric_column("pairs", shape=2)), (
            [[[2, 3], [0, 0]], [[4, 5], [6, 7]], [[0, 0], [0, 0]]], [1, 2, 0]))

    def test_sequences_and_examples_are_not_mixed(self):
        with self.assertRaisesRegex(ValueError, "sequence"):
            self.layer(fc.embedding_column(fc.categorical_column_with_identity("i", 3), 2))
        with self.assertRaisesRegex(ValueError, "sequence"):
            fc.input_layer(self.features(), [
                fc.embedding_column(fc.sequence_categorical_column_with_identity("i", 3), 2)])
        with self.assertRaisesRegex(ValueError, "dense columns of sequences"):
            self.layer(fc.numeric_column("n"))
        with self.assertRaisesRegex(ValueError, "key must be a string"):
            fc.sequence_numeric_column(3)


class ColumnTest(unittest.TestCase):
    def test_names_follow_from_the_parts(self):
        nested = fc.crossed_column([fc.crossed_column(["b", "a"], 3), "aa"], 3)
        self.assertEqual(nested.name, "a_X_aa_X_b")
        self.assertEqual(fc.embedding_column(weighted(), 2).name, "v_weighted_by_w_embedding")
        self.assertEqual(str(identity()), "IdentityCategoricalColumn(key='b', number_buckets=4, default_value=None)")

    def test_equal_arguments_make_equal_columns_of_the_same_class(self):
        self.assertEqual(identity(), identity())
        self.assertEqual(len({identity(), identity()}), 1)
        self.assertNotEqual(fc.indicator_column(fc.sequence_categorical_column_with_identity("b", 4)),
                            fc.sequence_categorical_column_with_identity("b", 4))

    def test_the_parse_spec_is_that_of_all_columns(self):
        columns = [fc.numeric_column("a", shape=2, default_value=1),
                   fc.bucketized_column(fc.numeric_column("c"), [1.0]), fc.indicator_column(identity()),
                   fc.embedding_column(weighted(), 2), fc.crossed_column(["s", "t"], 5)]
        self.assertEqual(fc.make_parse_example_spec(columns), {
            "a": tf.FixedLenFeature((2,), tf.float32, (1, 1)), "c": tf.FixedLenFeature((1,), tf.float32),
            "b": tf.VarLenFeature(tf.int64), "v": tf.VarLenFeature(tf.string), "w": tf.VarLenFeature(tf.float32),
            "s": tf.VarLenFeature(tf.string), "t": tf.VarLenFeature(tf.string)})
        with self.assertRaisesRegex(ValueError, "different parse_spec"):
            fc.make_parse_example_spec([fc.numeric_column("a"), fc.categorical_column_with_identity("a", 2)])

    def test_arguments_that_make_no_column_are_refused(self):
        for error, make in (
                (TypeError, lambda: fc.numeric_column("a", shape=[1.5])),
                (ValueError, lambda: fc.numeric_column("a", shape=[0])),
                (ValueError, lambda: fc.numeric_column("a", dtype=tf.string)),
                (ValueError, lambda: fc.numeric_column(1)),
                (TypeError, lambda: fc.numeric_column("a", default_value="x")),
                (TypeError, lambda: fc.numeric_column("a", normalizer_fn=3)),
                (ValueError, lambda: fc.numeric_column("a", shape=[2], default_value=[1])),
                (ValueError, lambda: fc.bucketized_column(fc.numeric_column("a"), [2, 1])),
                (ValueError, lambda: fc.bucketized_column(fc.numeric_column("a", shape=(2, 2)), [1])),
                (ValueError, lambda: fc.categorical_column_with_identity("a", 3, default_value=3)),
                (ValueError, lambda: fc.categorical_column_with_hash_bucket("a", 3, dtype=tf.float32)),
                (ValueError, lambda: fc.categorical_column_with_vocabulary_list("a", ["x", "x"])),
                (ValueError, lambda: fc.categorical_column_with_vocabulary_list("a", [1, 2], dtype=tf.string)),
                (ValueError, lambda: fc.categorical_column_with_vocabulary_list("a", ["x"], default_value=0,
                                                                                 num_oov_buckets=1)),
                (ValueError, lambda: fc.categorical_column_with_vocabulary_file("a", "/no/such/file")),
                (ValueError, lambda: fc.crossed_column(["a"], 3)),
                (ValueError, lambda: fc.crossed_column(["a", fc.numeric_column("b")], 3)),
                (ValueError, lambda: fc.crossed_column(["a", fc.categorical_column_with_hash_bucket("b", 3)], 3)),
                (ValueError, lambda: fc.embedding_column(identity(), 0)),
                (ValueError, lambda: fc.embedding_column(identity(), 2, ckpt_to_load_from="x")),
                (ValueError, lambda: fc.indicator_column(fc.numeric_column("a"))),
                (ValueError, lambda: fc.weighted_categorical_column(identity(), "w", dtype=tf.string)),
                (ValueError, lambda: fc.shared_embedding_columns([identity(), vocabulary()], 2))):
            with self.assertRaises(error):
                make()


if __name__ == "__main__":
    unittest.main()
