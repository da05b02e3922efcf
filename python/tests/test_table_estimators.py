"""Estimators whose tables are saved by increments: evaluations, predictions and exports have the newest rows."""

import os
import tempfile
import unittest

import numpy as np

import tensorbraid as tf

KEYS = np.array([[1], [5], [7], [1005]])
SERVING = [tf.saved_model.tag_constants.SERVING]


def model(scaffold=lambda: None, growing=True):
    """A model_fn with the table `ids`, growing or static, and a matrix."""
    def model_fn(features, labels, mode):
        if growing:
            table = tf.get_embedding_variable("ids", 2, partitioner=tf.fixed_size_partitioner(2))
        else:
            table = tf.get_variable("ids", [1010, 2])
        rows = tf.nn.embedding_lookup(table, tf.reshape(features["key"], [-1]), partition_strategy="div")
        y = tf.matmul(rows, tf.get_variable("w", [2, 1]))
        own = scaffold()
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, {"y": y, "rows": rows}, scaffold=own)
        loss = tf.reduce_sum(tf.square(y - 1.0))
        train = tf.train.AdagradOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        metrics = {"y": tf.metrics.mean(y)}
        return tf.estimator.EstimatorSpec(mode, y, loss, train, metrics, scaffold=own)
    return model_fn


def batches():
    return tf.data.Dataset.from_tensors(({"key": tf.constant(KEYS)}, tf.ones([len(KEYS), 1])))


def receiver():
    keys = tf.placeholder(tf.int64, [None, 1])
    return tf.estimator.export.ServingInputReceiver({"key": keys}, {"key": keys})


def served(folder):
    """The outputs of an export for KEYS, and its MetaGraphDef."""
    with tf.Session(graph=tf.Graph()) as session:
        meta_graph = tf.saved_model.loader.load(session, SERVING, folder.decode())
        signature = meta_graph.signature_def["serving_default"]
        outputs = {key: info.name for key, info in signature.outputs.items()}
        return session.run(outputs, {signature.inputs["key"].name: KEYS}), meta_graph


class IncrementsOfEstimatorsTest(unittest.TestCase):
    def trained(self, growing=True, steps=4):
        """The directory of a training that was killed after an increment for each of its steps.

        self.first and self.last have what it predicts after the full checkpoint, which is of step 0, and in the end.
        """
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(tf.summary.FileWriterCache.clear)
        self.folder = folder.name
        with tf.Graph().as_default(), self.assertRaises(KeyError):
            tf.train.create_global_step()
            features, labels = batches().repeat().make_one_shot_iterator().get_next()
            spec = model(growing=growing)(features, labels, tf.estimator.ModeKeys.TRAIN)
            with tf.train.MonitoredTrainingSession(checkpoint_dir=folder.name, save_incremental_checkpoint_secs=0,
                                                   save_summaries_steps=None, log_step_count_steps=None) as session:
                self.first = session._tf_sess().run(spec.predictions)
                for _ in range(steps):
                    session.run(spec.train_op)
                self.last = session._tf_sess().run(spec.predictions)
                raise KeyError("the end, without a last checkpoint")
        self.full = tf.train.latest_checkpoint(folder.name)
        self.assertTrue(self.full.endswith("model.ckpt-0"))
        self.assertFalse(np.array_equal(self.first, self.last))

    def estimator(self, **options):
        return tf.estimator.Estimator(model(**options), self.folder)

    def predicted(self, estimator, **arguments):
        return np.array([found["y"] for found in estimator.predict(batches, **arguments)])

    def test_evaluations_of_contrib(self):
        def once(path, y):
            return tf.contrib.training.evaluate_once(path, final_ops=y)

        def repeatedly(path, y):
            return tf.contrib.training.evaluate_repeatedly(os.path.dirname(path), final_ops=y, max_number_of_evaluations=1)

        def slim_once(path, y):
            return tf.contrib.slim.evaluation.evaluate_once("", path, None, eval_op=y, final_op=y)

        def slim_loop(path, y):
            return tf.contrib.slim.evaluation.evaluation_loop("", os.path.dirname(path), None, eval_op=y, final_op=y,
                                                              max_number_of_evaluations=1)

        def session(path, y):
            creator = tf.train.ChiefSessionCreator(checkpoint_filename_with_path=path)
            with tf.train.MonitoredSession(creator) as session:
                return session.run(y)

        for growing in (True, False):
            self.trained(growing)
            for evaluate in (once, repeatedly, slim_once, slim_loop, session):
                with self.subTest(evaluate.__name__, growing=growing), tf.Graph().as_default():
                    tf.train.create_global_step()
                    spec = model(growing=growing)({"key": tf.constant(KEYS)}, None, tf.estimator.ModeKeys.PREDICT)
                    np.testing.assert_array_equal(evaluate(self.full, spec.predictions["y"]), self.last)

    def test_evaluations_and_predictions(self):
        for growing in (True, False):
            self.trained(growing)
            for scaffold in (lambda: None, lambda: tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=3)),
                             lambda: tf.train.Scaffold(incremental_save_restore=True)):
                estimator = self.estimator(scaffold=scaffold, growing=growing)
                for named in ({}, {"checkpoint_path": self.full}, {"checkpoint_path": os.path.relpath(self.full)}):
                    found = estimator.evaluate(batches, **named)
                    self.assertEqual(found["global_step"], 4)
                    self.assertAlmostEqual(found["y"], np.mean(self.last), places=6)
                    np.testing.assert_array_equal(self.predicted(estimator, **named), self.last)

    def test_exports(self):
        for growing in (True, False):
            self.trained(growing)
            for scaffold in (lambda: None, lambda: tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=3)),
                             lambda: tf.train.Scaffold(saver=tf.train.Saver(incremental_save_restore=True))):
                estimator = self.estimator(scaffold=scaffold, growing=growing)
                best = tf.estimator.BestExporter(serving_input_receiver_fn=receiver, event_file_pattern=None)
                for path in (estimator.export_saved_model(os.path.join(self.folder, "export"), receiver),
                             estimator.export_savedmodel(os.path.join(self.folder, "export"), receiver),
                             best.export(estimator, os.path.join(self.folder, "best"), self.full, {"loss": 1.0}, False)):
                    found, meta_graph = served(path)
                    # A served graph multiplies the rows in another order than the training.
                    np.testing.assert_allclose(found["y"], self.last, rtol=1e-6)
                    ops = sorted({node.op for node in meta_graph.graph_def.node})
                    self.assertFalse([op for op in ops if op.startswith(("_", "Kv"))])
                    self.assertEqual([op.name for op in meta_graph.meta_info_def.stripped_op_list.op], ops)
                    saves = [node.name for node in meta_graph.graph_def.node if node.op == "SaveV2"]
                    self.assertTrue(growing or len(saves) == 1, saves)

    def test_an_export_has_the_nodes_of_one_without_increments(self):
        self.trained(growing=False)
        estimator = self.estimator(growing=False)
        _, followed = served(estimator.export_saved_model(os.path.join(self.folder, "export"), receiver))
        os.rename(os.path.join(self.folder, ".incremental_checkpoint"), os.path.join(self.folder, "away"))
        found, plain = served(estimator.export_saved_model(os.path.join(self.folder, "export"), receiver))
        np.testing.assert_allclose(found["y"], self.first, rtol=1e-6)
        for meta_graph in (followed, plain):  # the folder of the parts has a random name
            for node in meta_graph.graph_def.node:
                if node.op == "Const" and b"_temp_" in b"".join(node.attr["value"].tensor.string_val):
                    node.attr["value"].tensor.ClearField("string_val")
        self.assertEqual(followed, plain)

    def test_all_modes(self):
        self.trained(growing=False)

        def labelled():
            keys, labels = tf.placeholder(tf.int64, [None, 1]), tf.placeholder(tf.float32, [None, 1])
            return tf.estimator.experimental.build_raw_supervised_input_receiver_fn({"key": keys}, labels)()

        path = self.estimator(growing=False).experimental_export_all_saved_models(
            os.path.join(self.folder, "export"), {tf.estimator.ModeKeys.EVAL: labelled,
                                                  tf.estimator.ModeKeys.PREDICT: receiver})
        np.testing.assert_allclose(served(path)[0]["y"], self.last, rtol=1e-6)

    def test_a_predictor(self):
        self.trained()
        predictor = tf.contrib.predictor.from_estimator(self.estimator(), receiver)
        np.testing.assert_array_equal(predictor({"key": KEYS})["y"], self.last)

    def test_an_earlier_checkpoint_is_taken_alone(self):
        self.trained(growing=False)
        later = os.path.join(self.folder, "model.ckpt-9")
        tf.train.update_checkpoint_state(self.folder, later, [self.full, later])
        estimator = self.estimator(growing=False)
        np.testing.assert_array_equal(self.predicted(estimator, checkpoint_path=self.full), self.first)
        self.assertEqual(estimator.evaluate(batches, checkpoint_path=self.full)["global_step"], 0)
        found, _ = served(estimator.export_saved_model(os.path.join(self.folder, "export"), receiver,
                                                       checkpoint_path=self.full))
        np.testing.assert_allclose(found["y"], self.first, rtol=1e-6)

    def test_a_hole_is_explained(self):
        self.trained()
        increments = os.path.join(self.folder, ".incremental_checkpoint")
        tf.train.remove_checkpoint(tf.train.get_checkpoint_state(increments).all_model_checkpoint_paths[0])
        with self.assertRaisesRegex(tf.errors.FailedPreconditionError, "is gone: put"):
            self.predicted(self.estimator())
        with self.assertRaisesRegex(ValueError, "Couldn't load checkpoint .* is gone: put"):
            self.estimator().export_saved_model(os.path.join(self.folder, "export"), receiver)


if __name__ == "__main__":
    unittest.main()
