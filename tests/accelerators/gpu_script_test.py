"""What scripts for GPUs see and do where a plugin that computes on the CPU has the devices GPU:0 and GPU:1."""

import os
import subprocess
import sys
import tempfile
import tomllib
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.tensorflow_python import device_lib


class GpuScriptTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_a_script_finds_its_gpus(self):
        self.assertTrue(tf.test.is_gpu_available())
        self.assertFalse(tf.test.is_gpu_available(cuda_only=True))  # they have no compute capability
        self.assertFalse(tf.test.is_gpu_available(min_cuda_compute_capability=(3, 5)))
        self.assertEqual(tf.test.gpu_device_name(), "/device:GPU:0")
        self.assertTrue(tf.test.is_built_with_gpu_support())
        self.assertTrue(tf.test.is_built_with_xla())
        self.assertFalse(tf.test.is_built_with_cuda())
        devices = device_lib.list_local_devices()
        self.assertEqual([device.name for device in devices], ["/device:CPU:0", "/device:GPU:0", "/device:GPU:1"])
        self.assertRegex(devices[2].physical_device_desc, "^device: 1, name: .+")
        self.assertEqual([device.name for device in tf.config.list_physical_devices("GPU")],
                         ["/physical_device:GPU:0", "/physical_device:GPU:1"])

    def test_all_gpus_have_details_before_the_first_session(self):
        program = ("import tensorbraid as tf\n"
                   "for gpu in tf.config.list_physical_devices('GPU'):\n"
                   "    print(tf.config.experimental.get_device_details(gpu)['device_name'])\n")
        shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(len(shown.stdout.split()), 2, shown)

    def test_a_gpu_has_details_and_cannot_be_divided(self):
        gpu = tf.config.list_physical_devices("GPU")[1]
        details = tf.config.experimental.get_device_details(gpu)
        self.assertTrue(details["device_name"])
        self.assertNotIn("compute_capability", details)
        # These plugins do not say what memory they use.
        with self.assertRaisesRegex(tf.errors.UnimplementedError, "tensorbraid status"):
            tf.config.experimental.get_memory_info("GPU:1")
        with self.assertRaisesRegex(ValueError, "no /device:GPU:7.* has 2 devices, .*use a smaller number"):
            tf.config.experimental.get_memory_info("GPU:7")
        one = tf.config.LogicalDeviceConfiguration()
        tf.config.set_logical_device_configuration(gpu, [one])
        self.assertEqual(tf.config.get_logical_device_configuration(gpu), [one])
        with self.assertRaisesRegex(NotImplementedError, "GPU:4="):
            tf.config.set_logical_device_configuration(gpu, [one, one])
        with self.assertRaisesRegex(NotImplementedError, "per_process_gpu_memory_fraction"):
            tf.config.set_logical_device_configuration(gpu, [one._replace(memory_limit=100)])
        with self.assertRaisesRegex(NotImplementedError, "start another process"):
            tf.config.experimental.reset_memory_stats("GPU:0")

    def test_a_dataset_is_prefetched_to_a_device(self):
        rows = np.arange(12, dtype=np.float32).reshape(6, 2)
        for transform in (tf.data.experimental.prefetch_to_device("/gpu:0", 2),
                          tf.contrib.data.prefetch_to_device("/gpu:0"),
                          lambda d: d.apply(tf.data.experimental.copy_to_device("/gpu:0")).prefetch(1),
                          lambda d: d.prefetch(2).apply(tf.data.experimental.copy_to_device("/gpu:0"))):
            tf.reset_default_graph()
            iterator = tf.data.Dataset.from_tensor_slices((rows, ["a"] * 6)).apply(transform)
            iterator = iterator.make_initializable_iterator()
            row, text = iterator.get_next()
            self.assertEqual(iterator.initializer.device, "/device:GPU:0")
            with tf.device("/gpu:0"):
                twice = row * 2.0
            with tf.Session() as session:
                session.run(iterator.initializer)
                for i in range(6):
                    found, read = session.run([twice, text])
                    np.testing.assert_array_equal(found, 2 * rows[i])
                    self.assertEqual(read, b"a")
                with self.assertRaises(tf.errors.OutOfRangeError):
                    session.run(twice)

    def test_device_count_is_a_limit(self):
        for asked, expected in ((0, 0), (1, 1), (5, 2)):
            with tf.Session(config=tf.ConfigProto(device_count={"GPU": asked})) as session:
                gpus = [device for device in session.list_devices() if device.device_type == "GPU"]
            self.assertEqual(len(gpus), expected)

    def test_a_gpu_that_does_not_exist_is_an_error_with_its_cure(self):
        with tf.device("/gpu:3"):
            x = tf.constant([1.0, 2.0], name="x") * 2.0
        with tf.Session() as session, self.assertRaisesRegex(
                tf.errors.InvalidArgumentError, "this process has 2 devices of type GPU, numbered from 0: use a smaller "
                "number than 3; with allow_soft_placement, the CPU computes instead"):
            session.run(x)
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
            np.testing.assert_array_equal(session.run(x), [2.0, 4.0])
        none = tf.ConfigProto(device_count={"GPU": 0})
        with tf.Session(config=none) as session, self.assertRaisesRegex(tf.errors.InvalidArgumentError,
                                                                        "has not asked for them"):
            session.run(x)

    def test_a_recurrent_network_trains_as_on_the_cpu(self):
        inputs = np.linspace(-1, 1, 3 * 5 * 4, dtype=np.float32).reshape(3, 5, 4)
        losses = []
        for device in ("/cpu:0", "/gpu:0"):
            tf.reset_default_graph()
            with tf.device(device):
                x = tf.placeholder(tf.float32, [None, None, 4])
                cell = tf.nn.rnn_cell.BasicLSTMCell(3)
                with tf.variable_scope("rnn", initializer=tf.constant_initializer(0.1)):
                    outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
                loss = tf.reduce_mean(tf.square(outputs - 0.5))
                train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                losses.append([session.run([loss, train], {x: inputs})[0] for _ in range(4)])
        self.assertLess(losses[0][3], losses[0][0])
        np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)

    def test_synchronous_replicas_with_a_parameter_server_train_as_on_the_cpu(self):
        batch = np.linspace(-1, 1, 24, dtype=np.float32).reshape(6, 4)
        curves = []
        for device in ("CPU:0", "GPU:0"):
            tf.reset_default_graph()
            workers, servers = tf.test.create_local_cluster(1, 1)
            self.assertTrue(servers)
            with tf.device(tf.train.replica_device_setter(1, worker_device="/job:worker/task:0/device:" + device)):
                global_step = tf.train.get_or_create_global_step()
                x = tf.placeholder(tf.float32, [None, 4])
                weights = tf.get_variable("w", [4, 3], initializer=tf.constant_initializer(0.2))
                loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, weights)) - 0.5))
                optimizer = tf.train.SyncReplicasOptimizer(tf.train.MomentumOptimizer(0.5, 0.9), 1)
                train = optimizer.minimize(loss, global_step=global_step)
            with tf.train.MonitoredTrainingSession(workers[0].target, True, log_step_count_steps=None,
                                                   hooks=[optimizer.make_session_run_hook(True, 0)]) as session:
                curves.append([session.run([loss, train], {x: batch})[0] for _ in range(5)])
        self.assertLess(curves[0][-1], curves[0][0])
        np.testing.assert_allclose(curves[0], curves[1], rtol=1e-5)

    def test_switches_of_precision_and_determinism_reach_programs(self):
        x = np.random.default_rng(1).standard_normal((2, 6, 6, 3)).astype(np.float32)

        def gradients():
            tf.reset_default_graph()
            with tf.device("/gpu:0"):
                images = tf.placeholder(tf.float32, x.shape)
                filters = tf.ones([3, 3, 3, 4])
                features = tf.reshape(tf.nn.conv2d(images, filters, [1, 1, 1, 1], "SAME"), [2, -1])
                loss = tf.reduce_sum(tf.square(tf.matmul(features, tf.ones([144, 5]))))
                wanted = tf.gradients(loss, [images, filters])
            with tf.Session() as session:
                return session.run(wanted, {images: x})

        usual = gradients()
        self.assertTrue(tf.config.experimental.tensor_float_32_execution_enabled())
        self.assertFalse(tf.config.experimental.is_op_determinism_enabled())
        try:
            tf.config.experimental.enable_tensor_float_32_execution(False)
            tf.config.experimental.enable_op_determinism()
            self.assertFalse(tf.config.experimental.tensor_float_32_execution_enabled())
            first, second = gradients(), gradients()
        finally:
            tf.config.experimental.enable_tensor_float_32_execution(True)
            tf.config.experimental.disable_op_determinism()
        for a, b, c in zip(usual, first, second):
            np.testing.assert_allclose(b, a, rtol=1e-4)
            np.testing.assert_array_equal(b, c)

    def test_a_staging_area_brings_the_next_batch(self):
        with tf.device("/gpu:0"):
            x = tf.placeholder(tf.float32, [None, 2])
            labels = tf.placeholder(tf.int32, [None])
            area = tf.contrib.staging.StagingArea([tf.float32, tf.int32], [[None, 2], [None]])
            put, (staged, staged_labels) = area.put([x, labels]), area.get()
            result = tf.reduce_sum(staged, axis=1) + tf.cast(staged_labels, tf.float32)
        with tf.Session() as session:
            session.run(put, {x: [[1, 2]], labels: [10]})
            for i in range(3):
                value, _ = session.run([result, put], {x: [[i, i + 1]], labels: [20]})
                np.testing.assert_array_equal(value, [13.0 if i == 0 else 20.0 + 2 * i - 1])

    def test_what_requests_no_device_runs_on_the_first_gpu(self):
        x = tf.placeholder(tf.float32, [None, 4])
        weights = tf.get_variable("weights", [4, 2], initializer=tf.random_uniform_initializer(seed=1))
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - 1.0))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
        losses, devices = [], []
        for config in (tf.ConfigProto(), tf.ConfigProto(device_count={"GPU": 0})):
            with tf.Session(config=config) as session:
                session.run(tf.global_variables_initializer())
                metadata = tf.RunMetadata()
                values = [session.run([loss, train, step], {x: np.eye(4)},
                                      options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
                                      run_metadata=metadata) for _ in range(3)]
                self.assertEqual(values[2][2], 3)
                losses.append([value[0] for value in values])
                devices.append({stats.device for stats in metadata.step_stats.dev_stats if stats.node_stats})
        np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)
        self.assertTrue(any(name.endswith("/device:GPU:0") for name in devices[0]), devices)
        self.assertFalse(any("GPU:1" in name for name in devices[0]), devices)
        self.assertFalse(any("GPU" in name for name in devices[1]), devices)

    def test_a_parameter_server_has_no_gpu_unless_it_is_asked_to_have_one(self):
        workers, servers = tf.test.create_local_cluster(1, 1)
        with tf.device("/job:ps"):
            x = tf.constant(1.0) + 1.0
        with tf.Session(workers[0].target) as session:
            self.assertEqual(session.run(x), 2.0)  # connects the tasks, whose devices are a guess before
            names = [device.name for device in session.list_devices()]
        self.assertIn("/job:worker/replica:0/task:0/device:GPU:1", names)
        self.assertIn("/job:ps/replica:0/task:0/device:CPU:0", names)
        self.assertFalse([name for name in names if "ps" in name and "GPU" in name])
        self.assertTrue(servers)

    def test_towers_of_two_gpus_train(self):
        with tf.device("/cpu:0"):
            v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
        losses = []
        for i in range(2):
            with tf.device("/gpu:%d" % i):
                losses.append(tf.reduce_sum(tf.square(v - [1.0 + i, 2.0])))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.add_n(losses), colocate_gradients_with_ops=True)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(100):
                session.run(train)
            np.testing.assert_allclose(session.run(v), [1.5, 2.0], atol=1e-4)

    def test_tests_of_tensorflow_use_the_gpu(self):
        class Case(tf.test.TestCase):
            def runTest(self):
                with self.session(force_gpu=True) as session:
                    x = tf.constant(2.0) * 3.0
                    self.assertIn("GPU", x.device)
                    self.assertEqual(session.run(x), 6.0)

        result = unittest.TestResult()
        Case().run(result)
        self.assertEqual(result.errors + result.failures, [])

    def test_the_extra_of_the_wheel_installs_the_plugin_that_is_tested(self):
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "plugins.txt")) as file:
            tested = [line.split()[0] for line in file if line.startswith("jax-cuda13-pjrt==")]
        with open(os.path.join(here, "..", "..", "pyproject.toml"), "rb") as file:
            extra = tomllib.load(file)["project"]["optional-dependencies"]["cuda13"]
        self.assertEqual([requirement.split(";")[0] for requirement in extra[:1]], tested)

    def test_the_runner_names_the_plugin(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        script = os.path.join(folder.name, "gpu_script.py")
        with open(script, "w") as file:
            file.write("import tensorflow as tf\nprint(tf.test.gpu_device_name())\n")
        plugin = os.environ["TENSORBRAID_ACCELERATOR_PLUGIN"]
        environment = {k: v for k, v in os.environ.items() if k != "TENSORBRAID_ACCELERATOR_PLUGIN"}
        output = subprocess.run([sys.executable, "-m", "tensorbraid", "--accelerator_plugin=" + plugin, script],
                                env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual(output.strip(), "/device:GPU:0")
        self.assertEqual(subprocess.run([sys.executable, "-m", "tensorbraid", script], env=environment, check=True,
                                        stdout=subprocess.PIPE, text=True).stdout.strip(), "")

    def test_the_runner_keeps_programs(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        script = os.path.join(folder.name, "product.py")
        with open(script, "w") as file:
            file.write("import tensorflow as tf\nx = tf.placeholder(tf.float32, [1, 1])\nwith tf.device('/gpu:0'):\n"
                       "    y = tf.matmul(x, [[3.]]) + 1.\nprint(tf.Session().run(y, {x: [[2.]]}))\n")
        cache = os.path.join(folder.name, "programs")
        logs = []
        for _ in range(2):
            result = subprocess.run([sys.executable, "-m", "tensorbraid", "--compile_cache=" + cache, script],
                                    env={**os.environ, "TENSORBRAID_LOG": "accelerators=info"}, check=True, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(result.stdout.strip(), "[[7.]]")
            logs.append(result.stderr)
        self.assertTrue(os.listdir(cache))
        self.assertIn("compiled ", logs[0])
        self.assertIn("loaded ", logs[1])
        self.assertNotIn("compiled ", logs[1])


if __name__ == "__main__":
    unittest.main()
