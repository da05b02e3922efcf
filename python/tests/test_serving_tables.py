"""SavedModels of graphs with growing tables, which have no growing tables."""

import os
import tempfile
import unittest

import numpy as np

import tensorbraid as tf

KEYS = [1, 2, -3, 1005, 77, 2**62]
SERVING = [tf.saved_model.tag_constants.SERVING]


class Model:
    """Rows of two tables, one of them in three parts, after some steps of a training."""

    def __init__(self):
        self.ids = tf.placeholder(tf.int64, [None], name="ids")
        self.users = tf.get_embedding_variable("users", 4, partitioner=tf.fixed_size_partitioner(3))
        items = tf.get_embedding_variable("items", 2)
        self.rows = tf.nn.embedding_lookup(self.users, self.ids)
        weights = tf.get_variable("w", initializer=np.full([4, 2], 0.5, np.float32))
        self.y = tf.matmul(self.rows, weights) + tf.nn.embedding_lookup(items, self.ids)
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_sum(tf.square(self.y - 1))
        self.train = tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=step)

    def start(self, session):
        session.run(tf.global_variables_initializer())
        for _ in range(5):
            session.run(self.train, {self.ids: KEYS})
        return session.run([self.y, self.rows], {self.ids: KEYS})


def served(folder, keys):
    """The outputs of the SavedModel, and the types of its nodes."""
    with tf.Session(graph=tf.Graph()) as session:
        meta_graph = tf.saved_model.loader.load(session, SERVING, folder)
        signature = meta_graph.signature_def["serving_default"]
        names = [signature.outputs[key].name for key in ("y", "rows")]
        outputs = session.run(names, {signature.inputs["ids"].name: keys})
        return outputs, {node.op for node in meta_graph.graph_def.node}


class ServingTablesTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.folder = os.path.join(tempfile.mkdtemp(), "model")

    def test_keys_with_rows_have_the_values_of_the_training(self):
        model = Model()
        with tf.Session() as session:
            expected = model.start(session)
            before = len(tf.get_default_graph().get_collection(tf.GraphKeys.GLOBAL_VARIABLES))
            tf.saved_model.simple_save(session, self.folder, {"ids": model.ids}, {"y": model.y, "rows": model.rows})
            self.assertEqual(len(tf.get_default_graph().get_collection(tf.GraphKeys.GLOBAL_VARIABLES)), before)
            session.run(model.train, {model.ids: KEYS})  # the training goes on with its tables
        found, ops = served(self.folder, KEYS)
        for value, wanted in zip(found, expected):
            np.testing.assert_array_equal(value, wanted)
        self.assertFalse({name for name in ops if name.startswith(("Kv", "_"))})
        self.assertFalse({name for name in ops if "Apply" in name})

    def test_other_keys_have_zeros(self):
        model = Model()
        with tf.Session() as session:
            model.start(session)
            tf.saved_model.simple_save(session, self.folder, {"ids": model.ids}, {"y": model.y, "rows": model.rows})
        (_, rows), _ = served(self.folder, [4, -1])
        np.testing.assert_array_equal(rows, np.zeros([2, 4]))

    def test_keys_that_a_filter_has_not_admitted_have_their_own_value(self):
        option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(filter_freq=2),
                                            init_option=tf.InitializerOption(default_value_no_permission=-3.0))
        ids = tf.placeholder(tf.int64, [None])
        table = tf.get_embedding_variable("users", 1, initializer=tf.constant_initializer(2.0), ev_option=option)
        rows = tf.nn.embedding_lookup(table, ids)
        train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(rows))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(train, {ids: [7, 7, 8]})
            tf.saved_model.simple_save(session, self.folder, {"ids": ids}, {"y": rows, "rows": rows})
        (_, found), _ = served(self.folder, [7, 8, 7])
        self.assertEqual(found.ravel().tolist(), [0, -3, 0])

    def test_a_table_without_rows(self):
        model = Model()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            tf.saved_model.simple_save(session, self.folder, {"ids": model.ids}, {"y": model.y, "rows": model.rows})
        (_, rows), _ = served(self.folder, KEYS)
        np.testing.assert_array_equal(rows, np.zeros([len(KEYS), 4]))

    def test_assets_and_the_main_op_stay(self):
        model = Model()
        words = os.path.join(tempfile.mkdtemp(), "words.txt")
        with open(words, "w") as file:
            file.write("a\nb\n")
        index = tf.lookup.TextFileIndex
        table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
            words, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER), 7)
        text = tf.placeholder(tf.string, [None], name="text")
        numbers = table.lookup(text)
        with tf.Session() as session:
            model.start(session)
            builder = tf.saved_model.Builder(self.folder)
            signature = tf.saved_model.predict_signature_def({"ids": model.ids, "text": text},
                                                             {"y": model.y, "numbers": numbers})
            builder.add_meta_graph_and_variables(
                session, SERVING, {"serving_default": signature}, main_op=tf.tables_initializer(),
                assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS))
            builder.add_meta_graph(["second"], {"serving_default": signature})
            builder.save()
        os.remove(words)
        for tags in (SERVING, ["second"]):
            with tf.Session(graph=tf.Graph()) as session:
                loaded = tf.saved_model.loader.load(session, tags, self.folder).signature_def["serving_default"]
                found = session.run(loaded.outputs["numbers"].name, {"text:0": ["b", "c"]})
                self.assertEqual(list(found), [1, 7])

    def test_another_use_of_a_table_is_refused(self):
        model = Model()
        count = tf.cast(model.users.total_count(), tf.float32)
        with tf.Session() as session:
            model.start(session)
            with self.assertRaisesRegex(NotImplementedError, "uses the growing table 'users/part_0' otherwise"):
                tf.saved_model.simple_save(session, self.folder, {"ids": model.ids}, {"y": model.y, "count": count})

    def test_a_lookup_in_a_conditional_is_refused(self):
        model = Model()
        y = tf.cond(tf.size(model.ids) > 1, lambda: tf.nn.embedding_lookup(model.users, model.ids), lambda: model.rows)
        with tf.Session() as session:
            model.start(session)
            with self.assertRaisesRegex(NotImplementedError, "inside of a conditional or loop; look up before it"):
                tf.saved_model.simple_save(session, self.folder, {"ids": model.ids}, {"y": y})

    def test_a_session_on_a_server(self):
        server = tf.train.Server.create_local_server()
        model = Model()
        with tf.Session(server.target) as session:
            expected = model.start(session)
            tf.saved_model.simple_save(session, self.folder, {"ids": model.ids}, {"y": model.y, "rows": model.rows})
        np.testing.assert_array_equal(served(self.folder, KEYS)[0][1], expected[1])


if __name__ == "__main__":
    unittest.main()
