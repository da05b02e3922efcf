"""TPUEstimator on CPUs, as programs for TPUs use it with use_tpu=False, and what is refused of tf.contrib.tpu."""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import tensorbraid as tf

tpu = tf.contrib.tpu


def input_fn(params):
    dataset = tf.data.Dataset.from_tensor_slices((np.arange(8, dtype=np.float32), np.arange(8, dtype=np.float32) * 2))
    return dataset.repeat(params.get("epochs", 1)).batch(params.get("batch_size"), drop_remainder=True)


class TpuTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(tf.summary.FileWriterCache.clear)
        self.folder = folder.name
        self.seen, self.host = [], []

    def model_fn(self, features, labels, mode, params):
        self.seen.append((mode, params.get("batch_size"), params.get("use_tpu")))
        slope = tf.get_variable("slope", [], initializer=tf.zeros_initializer())
        predictions = slope * features
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tpu.TPUEstimatorSpec(mode, {"y": predictions}, scaffold_fn=tf.train.Scaffold)
        errors = predictions - labels
        loss = tf.reduce_mean(tf.square(errors))
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
        noted = tf.py_func(self.host.append, [loss], [])
        return tpu.TPUEstimatorSpec(
            mode, loss=loss, train_op=train, host_call=(lambda step: noted, [tf.train.get_global_step()]),
            eval_metrics=(lambda labels, y: {"mae": tf.metrics.mean_absolute_error(labels, y)},
                          {"labels": labels, "y": predictions}))

    def make(self, **options):
        config = tpu.RunConfig(tpu.TPUConfig(iterations_per_loop=10), model_dir=self.folder, log_step_count_steps=10)
        return tpu.TPUEstimator(**{"model_fn": self.model_fn, "config": config, "use_tpu": False, "train_batch_size": 4,
                                   "eval_batch_size": 2, "predict_batch_size": 8, "params": {"epochs": 20}, **options})

    def test_functions_get_the_batch_size_of_the_mode(self):
        estimator = self.make()
        with self.assertLogs("tensorflow", "INFO") as logs:
            estimator.train(input_fn, max_steps=30)
        self.assertTrue(any("examples/sec: " in line for line in logs.output), logs.output)
        self.assertEqual(len(self.host), 30)
        values = estimator.evaluate(input_fn, steps=4)
        self.assertEqual(values["global_step"], 30)
        self.assertLess(values["mae"], 0.1)
        self.assertEqual(len(list(estimator.predict(input_fn, yield_single_examples=False))[0]["y"]), 8)
        self.assertEqual(self.seen, [("train", 4, False), ("eval", 2, False), ("infer", 8, False)])
        with self.assertRaisesRegex(ValueError, "input_fn .* does not include params argument"):
            estimator.train(lambda: input_fn({"batch_size": 4}), steps=1)

    def test_an_export_has_no_batch_size(self):
        estimator = self.make()
        estimator.train(input_fn, max_steps=1)

        def receiver_fn():
            x = tf.placeholder(tf.float32, [None])
            return tf.estimator.export.TensorServingInputReceiver(x, x)

        path = estimator.export_saved_model(os.path.join(self.folder, "export"), receiver_fn)
        self.assertTrue(os.path.exists(os.path.join(path.decode(), "saved_model.pb")))
        self.assertEqual(self.seen[-1], ("infer", None, False))

    def test_hyperparameters_of_contrib_get_the_batch_size(self):
        estimator = self.make(params=tf.contrib.training.HParams(epochs=1))
        estimator.train(input_fn, max_steps=1)
        self.assertEqual(self.seen[-1], ("train", 4, False))

    def test_wrong_arguments_are_named(self):
        for options, message in (({"config": tf.estimator.RunConfig()}, "`config` must be provided"),
                                 ({"params": {"batch_size": 3}}, "are reserved keys"),
                                 ({"model_fn": lambda features, labels, mode: None, "params": None},
                                  "does not include params argument")):
            with self.assertRaisesRegex(ValueError, message):
                self.make(**options)
        for call in ({"eval_metrics": 3}, {"eval_metrics": (1, 2, 3)}, {"host_call": (len, 3)}):
            with self.assertRaisesRegex(ValueError, "should (be|have)"):
                tpu.TPUEstimatorSpec("eval", **call)
        with self.assertRaisesRegex(RuntimeError, "takes 1"):
            tpu.TPUEstimatorSpec("eval", host_call=(lambda x: x, []))
        with self.assertRaisesRegex(ValueError, "iterations_per_loop must be positive"):
            tpu.TPUConfig(iterations_per_loop=0)

    def test_the_configuration_keeps_its_parts(self):
        config = tpu.RunConfig(tpu.TPUConfig(per_host_input_for_training=tpu.InputPipelineConfig.PER_HOST_V2),
                               master="grpc://host:1", save_checkpoints_steps=7)
        self.assertEqual((config.master, config.evaluation_master), ("grpc://host:1", "grpc://host:1"))
        other = config.replace(model_dir="a")
        self.assertEqual((other.tpu_config.per_host_input_for_training, other.save_checkpoints_steps), (3, 7))
        self.assertEqual(config.replace(tpu_config=tpu.TPUConfig(5)).tpu_config.iterations_per_loop, 5)
        self.assertIs(tf.estimator.tpu.TPUEstimator, tpu.TPUEstimator)

    def test_tpus_are_refused_in_words(self):
        for use in (lambda: self.make(use_tpu=True),
                    lambda: tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1)),
                    lambda: tf.contrib.cluster_resolver.TPUClusterResolver("name")):
            with self.assertRaisesRegex(NotImplementedError, "there are no TPUs in this package"):
                use()
        script = os.path.join(self.folder, "script.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write("import tensorflow as tf\ntf.contrib.tpu.TPUEstimator\ntf.contrib.tpu.rewrite\n")
        ran = subprocess.run([sys.executable, "-m", "tensorbraid", "--check", script], capture_output=True, text=True,
                             cwd=self.folder)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("script.py:3: tf.contrib.tpu.rewrite: there are no TPUs in this package", ran.stdout + ran.stderr)
        self.assertNotIn("py:2", ran.stdout + ran.stderr)


if __name__ == "__main__":
    unittest.main()
