"""ConfigProto, RunOptions and RunMetadata of sessions."""

import os
import subprocess
import sys
import unittest

import tensorbraid as tf


class SessionConfigTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_a_config_sets_devices_and_soft_placement(self):
        config = tf.ConfigProto(device_count={"CPU": 2, "GPU": 0}, allow_soft_placement=True,
                                inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)
        config.gpu_options.allow_growth = True
        with tf.device("/device:GPU:0"):
            x = tf.constant(2.0)
        with tf.Session(config=config) as session:
            self.assertEqual(len(session.list_devices()), 2)
            self.assertEqual({device.device_type for device in session.list_devices()}, {"CPU"})
            self.assertEqual(session.run(x), 2.0)
        with tf.Session() as session, self.assertRaises(tf.errors.InvalidArgumentError):
            session.run(x)

    def test_devices_have_memory_and_an_incarnation(self):
        with tf.Session() as session:
            device, = session.list_devices()
            self.assertEqual((device.device_type, device.memory_limit_bytes), ("CPU", 256 << 20))
            self.assertNotEqual(device.incarnation, 0)
            self.assertEqual(repr(device), "_DeviceAttributes(/job:localhost/replica:0/task:0/device:CPU:0, CPU, "
                             "268435456, %d)" % device.incarnation)
            self.assertEqual(session.list_devices(), [device])

    def test_a_missing_gpu_is_an_error_that_says_what_to_do(self):
        with tf.device("/gpu:0"):
            x = tf.constant(2.0, name="x")
        with tf.Session() as session, self.assertRaisesRegex(
                tf.errors.InvalidArgumentError, "requests device /device:GPU:0, which does not exist; the devices are "
                "[^;]*: there is no PJRT plugin: install one[^;]*; with allow_soft_placement, the CPU computes instead"):
            session.run(x)

    def test_the_cpu_computes_for_a_gpu_that_cannot_be_started(self):
        script = """
import tensorbraid as tf
with tf.device("/gpu:0"):
    x = tf.placeholder(tf.float32, [])
    y = x * 3.0
print(len(tf.Session().list_devices()), tf.test.is_gpu_available())
print(tf.Session(config=tf.ConfigProto(allow_soft_placement=True)).run(y, {x: 2.0}))
try:
    tf.Session().run(y, {x: 2.0})
except tf.errors.InvalidArgumentError as error:
    print(error.message)
"""
        no_plugin = tf._core.__file__  # the process has a GPU as long as nothing opens the file
        environment = dict(os.environ, TENSORBRAID_ACCELERATOR_PLUGIN="GPU=" + no_plugin)
        output = subprocess.run([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True,
                                check=True).stdout.splitlines()
        self.assertEqual(output[:2], ["2 False", "6.0"])
        self.assertIn("it is no plugin: it has no function GetPjrtApi", output[2])

    def test_a_server_has_the_devices_of_its_config(self):
        config = tf.ConfigProto(device_count={"CPU": 3})
        config.gpu_options.allow_growth = True
        with tf.device("/device:CPU:2"):
            x = tf.constant(2.0)
        cluster = tf.train.ClusterDef()
        cluster.job.add(name="local").tasks[0] = "localhost:0"
        definition = tf.train.ServerDef(cluster=cluster, job_name="local", task_index=0, protocol="grpc",
                                        default_session_config=config)
        for server in (tf.train.Server({"local": ["localhost:0"]}, "local", 0, config=config),
                       tf.train.Server(definition), tf.train.Server.create_local_server(config=config)):
            with tf.Session(server.target) as session:
                self.assertEqual(session.run(x), 2.0)
                self.assertEqual(len(session.list_devices()), 3)

    def test_a_config_may_be_bytes_but_not_anything_else(self):
        data = tf.ConfigProto(device_count={"CPU": 3}).SerializeToString()
        self.assertEqual(len(tf.Session(config=data).list_devices()), 3)
        with self.assertRaisesRegex(TypeError, "config must be a ConfigProto, got dict"):
            tf.Session(config={})
        with self.assertRaisesRegex(TypeError, "options must be a RunOptions, got ConfigProto"):
            tf.Session().run(tf.constant(1), options=tf.ConfigProto())
        with self.assertRaisesRegex(TypeError, "run_metadata must be a RunMetadata"):
            tf.Session().run(tf.constant(1), run_metadata=tf.ConfigProto())

    def test_what_has_no_meaning_here_is_refused(self):
        options = tf.RunOptions()
        options.debug_options.global_step = 1
        with self.assertRaisesRegex(NotImplementedError, "RunOptions.debug_options"):
            tf.Session().run(tf.constant(1), options=options)

    def test_a_traced_step_fills_its_metadata(self):
        fed = tf.placeholder(tf.float32, [1, 1])
        x = tf.matmul(fed, [[2.0]], name="product")
        with tf.Session() as session:
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
            self.assertEqual(session.run(x, {fed: [[1.0]]}, options, metadata), 2.0)
            nodes = [node.node_name for device in metadata.step_stats.dev_stats for node in device.node_stats]
            self.assertIn("product", [name.split(":")[0] for name in nodes])
            self.assertTrue(metadata.partition_graphs)
            session.run(x, {fed: [[1.0]]}, run_metadata=metadata)
            self.assertFalse(metadata.step_stats.dev_stats)

    def test_a_step_ends_after_its_timeout(self):
        queue = tf.get_default_graph()._op("FIFOQueueV2", [], {"component_types": [1]}, "queue").outputs[0]
        item = tf.get_default_graph()._op("QueueDequeueV2", [queue], {"component_types": [1]}, "item").outputs[0]
        with tf.Session() as session, self.assertRaises(tf.errors.DeadlineExceededError):
            session.run(item, options=tf.RunOptions(timeout_in_ms=20))
        with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=20)) as session:
            with self.assertRaises(tf.errors.DeadlineExceededError):
                session.run(item)


if __name__ == "__main__":
    unittest.main()
