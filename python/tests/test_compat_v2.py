"""tf.compat.v2 and other names of TensorFlow 2 that TensorFlow 1.15 has."""

import os
import subprocess
import sys
import tempfile
import unittest

import tensorbraid as tf
from tensorbraid.compat import v2_names
from tensorbraid.runner import api
from tensorbraid.tensorflow_python import optimizers

_PROGRAM = """
import tensorflow.compat.v1 as tf
import tensorflow.compat.v2 as tf2
from tensorflow.compat import v2
from tensorflow.contrib.tpu.python.tpu import tpu_config

class Test(tf2.test.TestCase):
    @tf2.compat.v1.autograph.experimental.do_not_convert
    def test_sum(self):
        with self.session() as session:
            self.assertEqual(session.run(v2.math.reduce_sum([1, 2], axis=0)), 3)

print(tf2.nn.relu is tf.nn.relu, tpu_config.RunConfig.__name__)
tf2.test.main()
"""


class CompatV2Test(unittest.TestCase):
    def test_each_name_is_that_of_tensorflow_1(self):
        count = 0
        for table in (v2_names.SAME, v2_names.ALSO):
            for module, names in table.items():
                ours, theirs = tf, tf.compat.v2
                for part in module.split(".") if module else []:
                    ours, theirs = getattr(ours, part), getattr(theirs, part)
                for name in names.split():
                    self.assertIs(getattr(theirs, name), getattr(ours, name), f"{module}.{name}")
                    self.assertIn(name, dir(theirs))
                    count += 1
        self.assertGreater(count, 600)
        self.assertIs(tf.compat.v2.raw_ops.MatMul, tf.raw_ops.MatMul)
        self.assertIn("MatMul", dir(tf.compat.v2.raw_ops))

    def test_a_name_of_another_meaning_is_refused(self):
        for name in ("function", "where", "gather", "shape", "argmax", "Variable", "name_scope", "nn.softmax",
                     "train.Saver", "estimator", "enable_v2_behavior", "keras", "__file", "io.nothing"):
            self.assertIn("TensorFlow 2", api.refusal(f"compat.v2.{name}"))
            place, _, last = name.rpartition(".")
            module = getattr(tf.compat.v2, place) if place else tf.compat.v2
            with self.assertRaisesRegex(AttributeError, rf"tf\.compat\.v2\.{name}: TensorFlow 2 is not part"):
                getattr(module, last)
        self.assertIsNone(api.refusal("compat.v2.test.main"))
        self.assertIsNone(api.refusal("compat.v2"))

    def test_each_version_has_the_other_one(self):
        self.assertIs(tf.compat.v2.compat.v1, tf.compat.v1)
        self.assertIs(tf.compat.v1.compat.v2, tf.compat.v2)

    def test_a_program_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script.py")
            with open(script, "w") as file:
                file.write(_PROGRAM)
            result = subprocess.run([sys.executable, "-m", "tensorbraid", script], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout), (0, "True RunConfig\n"), result.stderr)

    def test_nothing_is_converted(self):
        def function():
            return 3

        self.assertIs(tf.autograph.experimental.do_not_convert(function), function)
        self.assertIs(tf.autograph.experimental.do_not_convert()(function), function)

    def test_optimizers_by_name(self):
        optimizer = optimizers.get_optimizer_instance("Adagrad", 0.5)
        self.assertIsInstance(optimizer, tf.train.AdagradOptimizer)
        self.assertIs(optimizers.get_optimizer_instance(optimizer), optimizer)
        with self.assertRaisesRegex(ValueError, "learning_rate must be specified when opt is string"):
            optimizers.get_optimizer_instance("Adagrad")
        with self.assertRaisesRegex(ValueError, "Unsupported optimizer name: Best"):
            optimizers.get_optimizer_instance("Best", 0.5)

    def test_other_paths_of_names(self):
        self.assertIs(tf.SequenceExample, tf.train.SequenceExample)
        self.assertIs(tf.estimator.ProfilerHook, tf.train.ProfilerHook)
        self.assertIs(tf.contrib.data.prefetch_to_device, tf.data.experimental.prefetch_to_device)
        self.assertEqual(tf.__git_version__, tf.GIT_VERSION)
        self.assertEqual(tf.__compiler_version__, tf.COMPILER_VERSION)
        for path in ("python.estimator.canned.optimizers.get_optimizer_instance",
                     "python.framework.ops.set_shapes_for_outputs",
                     "python.framework.ops.register_dense_tensor_like_type",
                     "contrib.tpu.python.tpu.tpu_estimator.TPUEstimatorSpec",
                     "contrib.tpu.python.tpu.tpu_config.TPUConfig"):
            self.assertIsNone(api.refusal(path), path)
            api.find(path)


if __name__ == "__main__":
    unittest.main()
