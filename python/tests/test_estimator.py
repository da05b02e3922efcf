"""Estimators: training, evaluation, prediction, their configuration, and training with evaluations in between."""

import json
import os
import tempfile
import unittest
from unittest import mock

import numpy as np

import tensorbraid as tf

ROWS = np.arange(20, dtype=np.float32).reshape(10, 2) / 10
LABELS = ROWS @ np.array([[2.0], [-1.0]], np.float32) + 0.5


def model_fn(features, labels, mode, params):
    x = features["x"]
    w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    y = tf.matmul(x, w) + b
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
    loss = tf.reduce_mean(tf.square(y - labels))
    train = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, y), "mt": tf.metrics.mean_tensor(tf.reduce_mean(x, 0))}
    return tf.estimator.EstimatorSpec(mode, {"y": y}, loss, train, metrics)


def rows(num_epochs=None, batch_size=4):
    return tf.estimator.inputs.numpy_input_fn({"x": ROWS}, LABELS, batch_size, num_epochs, shuffle=False)


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(tf.summary.FileWriterCache.clear)
        self.folder = folder.name
        tf.reset_default_graph()

    def estimator(self, name="model", **config):
        config = {"save_checkpoints_steps": 4, "save_summary_steps": 2, "log_step_count_steps": 2, **config}
        return tf.estimator.Estimator(model_fn, os.path.join(self.folder, name), tf.estimator.RunConfig(**config),
                                      {"rate": 0.1})


class EstimatorTest(FolderTest):
    def test_it_finds_the_numbers_that_tensorflow_finds(self):
        # The numbers are those of this program with tf.compat.v1.estimator of TensorFlow 2.15.
        estimator = self.estimator()
        self.assertEqual(estimator.evaluate(rows(1))["global_step"], 0)
        self.assertIs(estimator.train(rows(), steps=6), estimator)
        found = estimator.evaluate(rows(1))
        self.assertAlmostEqual(found["loss"], 0.05022652, places=6)  # the mean of the batches, of 4, 4 and 2 rows
        self.assertAlmostEqual(found["mae"], 0.19304599, places=6)
        np.testing.assert_allclose(found["mt"], [1.0333334, 1.1333333], rtol=1e-6)
        self.assertEqual(found["global_step"], 6)
        found = estimator.evaluate(rows(1), steps=2, name="second")
        self.assertAlmostEqual(found["loss"], 0.05795187, places=6)
        predicted = [float(example["y"][0]) for example in estimator.predict(rows(1))]
        np.testing.assert_allclose(predicted, [
            -0.02699810, 0.24476614, 0.51653039, 0.78829467, 1.06005895, 1.33182322, 1.60358750, 1.87535154, 2.14711594,
            2.41887998], atol=1e-6)
        np.testing.assert_allclose(estimator.get_variable_value("w"), [[0.684134], [0.67468727]], rtol=1e-6)
        estimator.train(rows(1))
        self.assertEqual(tf.train.load_variable(estimator.latest_checkpoint(), "global_step"), 9)

    def test_steps_and_max_steps(self):
        estimator = self.estimator()
        estimator.train(rows(), max_steps=3)
        estimator.train(rows(), max_steps=3)
        self.assertEqual(estimator.latest_checkpoint(), os.path.join(estimator.model_dir, "model.ckpt-3"))
        estimator.train(rows(), steps=2)
        self.assertEqual(estimator.get_variable_value("global_step"), 5)
        self.assertEqual(estimator.get_variable_names(), ["b", "global_step", "w"])
        for arguments in ({"steps": 0}, {"max_steps": 0}, {"steps": 1, "max_steps": 2}):
            with self.assertRaises(ValueError):
                estimator.train(rows(), **arguments)

    def test_predictions_by_key_and_by_batch(self):
        estimator = self.estimator()
        batches = list(estimator.predict(rows(1), yield_single_examples=False))
        self.assertEqual([batch["y"].shape for batch in batches], [(4, 1), (4, 1), (2, 1)])
        first = next(estimator.predict(rows(1), predict_keys="y"))
        np.testing.assert_allclose(first["y"], [0.1])
        with self.assertRaisesRegex(ValueError, "Expected to run at least one output"):
            next(estimator.predict(rows(1), predict_keys="z"))

    def test_the_graph_of_predict_is_not_the_programs(self):
        graph = tf.get_default_graph()
        for _ in self.estimator().predict(rows(1)):
            self.assertIs(tf.get_default_graph(), graph)
        self.assertEqual(graph.get_operations(), [])

    def test_evaluations_are_written_to_event_files(self):
        estimator = self.estimator()
        estimator.train(rows(), steps=4)
        found = estimator.evaluate(rows(1))
        events = []
        for name in os.listdir(estimator.eval_dir()):
            events += tf.train.summary_iterator(os.path.join(estimator.eval_dir(), name))
        values = {value.tag: value for event in events for value in event.summary.value}
        self.assertEqual(sorted(values), ["checkpoint_path", "loss", "mae", "mt"])
        self.assertAlmostEqual(values["loss"].simple_value, found["loss"])
        self.assertEqual(values["checkpoint_path"].tensor.string_val[0].decode(), estimator.latest_checkpoint())
        self.assertEqual({event.step for event in events if event.summary.value}, {4})

    def test_input_may_be_a_dataset_or_tensors(self):
        seen = []

        def model(features, labels, mode):
            seen.append((features, labels))
            step = tf.train.get_global_step()
            v = tf.Variable(1.0)
            return tf.estimator.EstimatorSpec(mode, loss=v * 1.0, train_op=step.assign_add(1))

        both = tf.constant([1.0]), tf.constant([2.0])
        for input_fn in (lambda: tf.constant([1.0]), lambda: {"x": tf.constant([1.0])},
                         lambda: (tf.constant([1.0]), tf.constant([2.0])),
                         lambda: tf.data.Dataset.from_tensors(({"x": [1.0]}, [2.0])),
                         lambda mode, params, config: tf.constant([len(mode)])):
            tf.estimator.Estimator(model).train(input_fn, steps=1)
        self.assertEqual([labels is None for _, labels in seen], [True, True, False, False, True])
        self.assertEqual([isinstance(features, dict) for features, _ in seen], [False, True, False, True, False])
        with self.assertRaisesRegex(ValueError, "len 2 tuple"):
            tf.estimator.Estimator(model).train(lambda: both + both, steps=1)

    def test_wrong_model_functions(self):
        for function, message in ((None, "must be provided"), (lambda: 1, "must include features"),
                                  (lambda features, foo: 1, "not expected args"),):
            with self.assertRaisesRegex(ValueError, message):
                tf.estimator.Estimator(function)
        with self.assertRaisesRegex(ValueError, "does not include params"):
            tf.estimator.Estimator(lambda features: 1, params={"a": 1})
        constant = lambda: (tf.constant([1.0]), tf.constant([1.0]))  # noqa: E731
        with self.assertRaisesRegex(ValueError, "does not take labels"):
            tf.estimator.Estimator(lambda features, mode: 1).train(constant, steps=1)
        with self.assertRaisesRegex(ValueError, "should return an EstimatorSpec"):
            tf.estimator.Estimator(lambda features, labels, mode: 1).train(constant, steps=1)
        with self.assertRaisesRegex(ValueError, "cannot override"):
            type("Sub", (tf.estimator.Estimator,), {"train": None})(model_fn)

    def test_a_warm_start_takes_values_of_a_checkpoint(self):
        first = self.estimator("first")
        first.train(rows(), steps=4)
        settings = tf.estimator.WarmStartSettings(first.model_dir, "w")
        for start, bias in ((first.model_dir, first.get_variable_value("b")), (settings, [0.0])):
            second = tf.estimator.Estimator(model_fn, params={"rate": 0.0}, warm_start_from=start)
            second.train(rows(), steps=1)
            np.testing.assert_array_equal(second.get_variable_value("w"), first.get_variable_value("w"))
            np.testing.assert_array_equal(second.get_variable_value("b"), bias)

    def test_more_metrics(self):
        def metric_fn(labels, predictions):
            return {"mse": tf.metrics.mean_squared_error(labels, predictions["y"])}

        estimator = tf.estimator.add_metrics(self.estimator(), metric_fn)
        found = estimator.evaluate(rows(1))
        self.assertIn("mae", found)
        self.assertAlmostEqual(found["mse"], float(np.mean((ROWS.sum(1, keepdims=True) - LABELS)**2)), places=5)

    def test_an_export_can_be_loaded(self):
        estimator = self.estimator()
        estimator.train(rows(), steps=6)
        receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 2])})
        path = estimator.export_savedmodel(os.path.join(self.folder, "exports"), receiver)
        with tf.Session(graph=tf.Graph()) as session:
            meta_graph = tf.saved_model.loader.load(session, ["serve"], path.decode())
            signature = meta_graph.signature_def["serving_default"]
            y = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: ROWS[:1]})
        np.testing.assert_allclose(y, [[-0.02699810]], atol=1e-6)


class InitialValuesTest(FolderTest):
    def checkpoint(self):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.get_variable("s/w", initializer=[1.0, 2.0])
            tf.get_variable("s/b", initializer=3.0)
            tf.get_variable("t/c", initializer=4.0, trainable=False)
            session.run(tf.global_variables_initializer())
            return tf.train.Saver().save(session, os.path.join(self.folder, "m"))

    def values(self, begin):
        with tf.Graph().as_default(), tf.Session() as session:
            variables = [tf.get_variable("s/w", initializer=[0.0, 0.0]), tf.get_variable("s/b", initializer=0.0),
                         tf.get_variable("t/c", initializer=0.0, trainable=False),
                         tf.get_variable("x", initializer=[0.0, 0.0], trainable=False)]
            begin(*variables)
            session.run(tf.global_variables_initializer())
            return [value.tolist() for value in session.run(variables)]

    def test_warm_starts(self):
        path, start = self.checkpoint(), tf.train.warm_start
        self.assertEqual(self.values(lambda w, b, c, x: start(path)), [[1, 2], 3, 0, [0, 0]])
        self.assertEqual(self.values(lambda w, b, c, x: start(self.folder, ".*w")), [[1, 2], 0, 0, [0, 0]])
        self.assertEqual(self.values(lambda w, b, c, x: start(path, [".*w", "t/c"])), [[1, 2], 0, 4, [0, 0]])
        self.assertEqual(self.values(lambda w, b, c, x: start(path, [w, c])), [[1, 2], 0, 4, [0, 0]])
        self.assertEqual(self.values(lambda w, b, c, x: start(path, ["x"], None, {"x": "s/w"})), [[0, 0], 0, 0, [1, 2]])
        for arguments in ((["x"],), (".*", None, {"nope": "s/w"}), (3,), ([3],), (["s/b"], None, {"s/b": "s/w"})):
            with self.assertRaises(ValueError):
                self.values(lambda w, b, c, x, arguments=arguments: start(path, *arguments))

    def test_rows_are_found_by_their_words(self):
        for name, words in (("old", "abc"), ("new", "cxaby")):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write("\n".join(words) + "\n")
        with tf.Graph().as_default(), tf.Session() as session:
            tf.get_variable("e", initializer=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
            tf.get_variable("k", initializer=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
            session.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(session, os.path.join(self.folder, "m"))
        old, new = os.path.join(self.folder, "old"), os.path.join(self.folder, "new")
        vocabularies = {"e": tf.estimator.VocabInfo(new, 5, 1, old),
                        "k": tf.estimator.VocabInfo(new, 5, 0, old, 2, tf.constant_initializer(9.0), 1)}
        for parts in (None, tf.fixed_size_partitioner(2), tf.fixed_size_partitioner(3)):
            with tf.Graph().as_default(), tf.Session() as session:
                e = tf.get_variable("e", [6, 2], partitioner=parts)
                k = tf.get_variable("k", [2, 5])
                tf.train.warm_start(path, ".*", vocabularies)
                session.run(tf.global_variables_initializer())
                self.assertEqual(session.run(tf.identity(e)).tolist(), [[5, 6], [0, 0], [1, 2], [3, 4], [0, 0], [0, 0]])
                self.assertEqual(session.run(k).tolist(), [[9, 9, 1, 2, 9], [9, 9, 4, 5, 9]])

    def test_init_from_checkpoint(self):
        path, begin = self.checkpoint(), tf.train.init_from_checkpoint
        self.assertEqual(self.values(lambda w, b, c, x: begin(path, {"s/": "s/"})), [[1, 2], 3, 0, [0, 0]])
        self.assertEqual(self.values(lambda w, b, c, x: begin(path, {"s/w": "x"})), [[0, 0], 0, 0, [1, 2]])
        self.assertEqual(self.values(lambda w, b, c, x: begin(path, {"s/w": w, "t/c": "t/c"})), [[1, 2], 0, 4, [0, 0]])
        for names in ({"/": "/"}, {"nope": "s/w"}, {"s/w": "nope"}, {"s/w": "s/b"}, {"s": "s/"}):
            with self.assertRaises(ValueError):
                self.values(lambda w, b, c, x, names=names: begin(path, names))

    def test_the_session_of_a_training_uses_them(self):
        path = self.checkpoint()
        w = tf.get_variable("s/w", initializer=[0.0, 0.0])
        other = tf.get_variable("other", initializer=5.0)
        tf.train.init_from_checkpoint(path, {"s/w": w})
        with tf.train.MonitoredTrainingSession() as session:
            self.assertEqual([value.tolist() for value in session.run([w, other])], [[1, 2], 5])


class RunConfigTest(unittest.TestCase):
    CLUSTER = {"chief": ["c:1"], "worker": ["w:1", "w:2"], "ps": ["p:1"]}

    def config(self, environment, **arguments):
        with mock.patch.dict(os.environ, {"TF_CONFIG": json.dumps(environment)}):
            return tf.estimator.RunConfig(**arguments)

    def test_a_task_of_a_cluster(self):
        found = {}
        for job, index in (("chief", 0), ("worker", 1), ("ps", 0), ("evaluator", 0)):
            config = self.config({"cluster": self.CLUSTER, "task": {"type": job, "index": index}})
            found[job] = (config.task_type, config.task_id, config.is_chief, config.master, config.num_ps_replicas,
                          config.num_worker_replicas, config.global_id_in_cluster)
        self.assertEqual(found["chief"], ("chief", 0, True, "grpc://c:1", 1, 3, 0))
        self.assertEqual(found["worker"], ("worker", 1, False, "grpc://w:2", 1, 3, 2))
        self.assertEqual(found["ps"], ("ps", 0, False, "grpc://p:1", 1, 3, 3))
        self.assertEqual(found["evaluator"], ("evaluator", 0, False, "", 0, 0, None))
        config = self.config({"cluster": self.CLUSTER, "task": {"type": "worker", "index": 1}})
        self.assertEqual(list(config.session_config.device_filters), ["/job:ps", "/job:worker/task:1"])

    def test_wrong_environments_are_errors(self):
        task = {"type": "worker", "index": 0}
        for environment in (
                {"cluster": {"worker": ["w:1"]}, "task": task}, {"cluster": self.CLUSTER}, {"task": {"type": "ps"}},
                {"cluster": self.CLUSTER, "task": {"type": "worker", "index": 7}},
                {"cluster": self.CLUSTER, "task": {"type": "worker", "index": -1}}):
            with self.assertRaises(ValueError):
                self.config(environment)

    def test_arguments_are_checked_and_replaced(self):
        config = tf.estimator.RunConfig()
        self.assertEqual((config.save_checkpoints_secs, config.save_checkpoints_steps), (600, None))
        config = config.replace(save_checkpoints_steps=5, model_dir="/q")
        self.assertEqual((config.save_checkpoints_secs, config.save_checkpoints_steps), (None, 5))
        self.assertEqual(config.model_dir, "/q")
        for arguments in ({"model_dir": ""}, {"save_summary_steps": -1}, {"tf_random_seed": 1.5}, {"device_fn": 3},
                          {"save_checkpoints_secs": 1, "save_checkpoints_steps": 1}, {"log_step_count_steps": 0}):
            with self.assertRaises(ValueError):
                tf.estimator.RunConfig(**arguments)
        with self.assertRaisesRegex(ValueError, "Replacing task_id"):
            config.replace(task_id=1)
        with self.assertRaises(NotImplementedError):
            tf.estimator.RunConfig(train_distribute=object())


class InputFunctionTest(unittest.TestCase):
    def batches(self, input_fn, count=99):
        with tf.Graph().as_default(), tf.Session() as session:
            batch = input_fn()
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            found = []
            try:
                for _ in range(count):
                    found.append(session.run(batch))
            except tf.errors.OutOfRangeError:
                pass
            coordinator.request_stop()
            coordinator.join(threads)
            return found

    def test_batches_go_on_over_the_epochs(self):
        array = np.arange(10.0)
        make = tf.estimator.inputs.numpy_input_fn
        found = self.batches(make({"a": array}, array * 2, batch_size=4, shuffle=False, num_epochs=2))
        self.assertEqual([batch[0]["a"].tolist() for batch in found],
                         [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1], [2, 3, 4, 5], [6, 7, 8, 9]])
        self.assertEqual(found[2][1].tolist(), [16, 18, 0, 2])
        found = self.batches(make(array, batch_size=4, shuffle=False, num_epochs=None), 4)
        self.assertEqual(found[-1].tolist(), [2, 3, 4, 5])
        found = self.batches(make(array, batch_size=4, shuffle=True, num_epochs=1))
        self.assertEqual(sorted(np.concatenate(found).tolist()), array.tolist())
        found = self.batches(make({"b": array, "a": array.astype("U")}, shuffle=False, batch_size=2), 1)
        self.assertEqual(found[0]["a"].tolist(), [b"0.0", b"1.0"])

    def test_wrong_arguments(self):
        make, array = tf.estimator.inputs.numpy_input_fn, np.arange(3.0)
        with self.assertRaisesRegex(ValueError, "shuffle must be provided"):
            make(array)
        for x, y, error in (([1], None, TypeError), ({}, None, ValueError), ({"a": array}, {}, ValueError),
                            ({"a": array}, {"a": array}, ValueError), ({"a": array}, array[:2], ValueError)):
            with self.assertRaises(error):
                make(x, y, shuffle=False)()


class EstimatorSpecTest(unittest.TestCase):
    def test_what_a_mode_needs(self):
        tf.reset_default_graph()
        loss, train, p = tf.constant(1.0), tf.no_op(), tf.constant([1.0, 2.0])
        spec = tf.estimator.EstimatorSpec
        self.assertEqual(spec("train", loss=tf.constant([1.0]), train_op=train).loss.shape, [])
        self.assertIn("serving_default", spec("infer", predictions=p).export_outputs)
        for error, arguments in (
                (ValueError, dict(mode="train", loss=loss)), (ValueError, dict(mode="train", loss=p, train_op=train)),
                (TypeError, dict(mode="train", loss=1.0, train_op=train)), (ValueError, dict(mode="eval")),
                (TypeError, dict(mode="train", loss=loss, train_op=3)), (ValueError, dict(mode="infer")),
                (TypeError, dict(mode="infer", predictions=[p])),
                (TypeError, dict(mode="eval", loss=loss, eval_metric_ops={"a": (p,)})),
                (TypeError, dict(mode="train", loss=loss, train_op=train, training_hooks=[3]))):
            with self.assertRaises(error, msg=arguments):
                spec(**arguments)
        with self.assertRaisesRegex(ValueError, "cannot be changed"):
            spec("train", loss=loss, train_op=train)._replace(mode="eval")


class Listener(tf.train.CheckpointSaverListener):
    """Notes its calls, and ends the training after the checkpoint of a step."""

    def __init__(self, stop_at=None):
        self.calls = []
        self._stop_at = stop_at

    def begin(self):
        self.calls.append("begin")

    def before_save(self, session, global_step_value):
        self.calls.append(("before", global_step_value))

    def after_save(self, session, global_step_value):
        self.calls.append(("after", global_step_value))
        return global_step_value == self._stop_at

    def end(self, session, global_step_value):
        self.calls.append(("end", global_step_value, int(session.run(tf.train.get_global_step(session.graph)))))


class TrainAndEvaluateTest(FolderTest):
    def test_listeners_hear_of_each_save(self):
        listener = Listener()
        self.estimator().train(rows(), steps=6, saving_listeners=[listener])
        saves = [(when, step) for step in (0, 4, 6) for when in ("before", "after")]
        self.assertEqual(listener.calls, ["begin", *saves, ("end", 6, 6)])
        listener = Listener(stop_at=4)
        self.estimator("stopped").train(rows(), steps=100, saving_listeners=[listener])
        self.assertEqual(listener.calls[-1], ("end", 4, 4))

        def fail(*_):
            raise KeyError("of the listener")

        listener.before_save = fail
        with self.assertRaisesRegex(KeyError, "of the listener"):
            self.estimator("failing").train(rows(), steps=100, saving_listeners=[listener])
        with self.assertRaises(TypeError):
            self.estimator().train(rows(), steps=1, saving_listeners=[object()])

    def test_alone_it_evaluates_checkpoints_and_exports(self):
        estimator = self.estimator()
        receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 2])})
        exporters = [tf.estimator.FinalExporter("final", receiver), tf.estimator.BestExporter("best", receiver),
                     tf.estimator.LatestExporter("latest", receiver, exports_to_keep=1)]
        metrics, exports = tf.estimator.train_and_evaluate(
            estimator, tf.estimator.TrainSpec(rows(), max_steps=10),
            tf.estimator.EvalSpec(rows(1), steps=None, exporters=exporters, throttle_secs=0))
        self.assertEqual(metrics["global_step"], 10)
        self.assertAlmostEqual(metrics["loss"], 0.044916973, places=6)  # as TensorFlow 2.15
        self.assertEqual(len(exports), 3)
        self.assertTrue(os.path.isfile(os.path.join(exports[0].decode(), "saved_model.pb")))
        self.assertEqual(len(os.listdir(os.path.join(estimator.model_dir, "export", "final"))), 1)
        self.assertEqual(len(os.listdir(os.path.join(estimator.model_dir, "export", "latest"))), 1)
        again = tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(rows(), max_steps=10),
                                                tf.estimator.EvalSpec(rows(1)))
        self.assertEqual(again, (None, None))

    def test_specifications_are_checked(self):
        with self.assertRaises(TypeError):
            tf.estimator.TrainSpec(3)
        with self.assertRaises(ValueError):
            tf.estimator.TrainSpec(rows(), max_steps=0)
        with self.assertRaises(ValueError):
            tf.estimator.EvalSpec(rows(), throttle_secs=-1)
        with self.assertRaises(TypeError):
            tf.estimator.EvalSpec(rows(), exporters=[3])

    def test_a_training_is_evaluated_while_it_runs(self):
        estimator = self.estimator()
        hook = tf.estimator.experimental.InMemoryEvaluatorHook(estimator, rows(1), every_n_iter=3)
        estimator.train(rows(), hooks=[hook], steps=6)
        path = os.path.join(estimator.eval_dir(), os.listdir(estimator.eval_dir())[0])
        steps = [event.step for event in tf.train.summary_iterator(path) if event.summary.value]
        self.assertEqual(sorted(set(steps)), [0, 3, 6])

    def test_a_training_stops_early(self):
        estimator = self.estimator()
        estimator.evaluate(rows(1))
        hook = tf.estimator.experimental.stop_if_lower_hook(estimator, "loss", 100.0, run_every_secs=None,
                                                            run_every_steps=1)
        estimator.train(rows(), hooks=[hook], steps=50)
        self.assertEqual(estimator.get_variable_value("global_step"), 1)
        self.assertTrue(estimator.get_variable_value("signal_early_stopping/STOP"))


if __name__ == "__main__":
    unittest.main()
