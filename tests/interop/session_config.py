#!/usr/bin/env python3
"""Tests the effects of a client's ConfigProto: sessions with a cluster of their own, device filters, lists of devices,
options."""
import json
import os
import subprocess
import time
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2

from cluster import Cluster, program_path

tf1 = tf.compat.v1
errors = tf.errors
# An operation that takes longer than this counts as hung.
PATIENCE_MS = 20000


def config(**fields):
    fields.setdefault("operation_timeout_in_ms", PATIENCE_MS)
    return tf1.ConfigProto(**fields)


class SessionClusters(unittest.TestCase):
    """Three servers that were each started as the only task of a job `local`."""

    @classmethod
    def setUpClass(cls):
        cls.servers = [Cluster(program_path(), {"local": 1}, "device_count { key: 'CPU' value: 2 }")
                       for _ in range(3)]
        cls.addresses = [s.spec["local"][0] for s in cls.servers]
        cls.targets = [s.all_tasks()[0].target for s in cls.servers]

    @classmethod
    def tearDownClass(cls):
        for server in cls.servers:
            server.stop()

    def tearDown(self):
        for server in self.servers:
            self.assertEqual(server.dead(), [], server.log())

    def cluster(self, **jobs):
        return tf1.train.ClusterSpec(jobs).as_cluster_def()

    def session(self, master, graph=None, share_state=False, **jobs):
        c = config(cluster_def=self.cluster(**jobs))
        c.experimental.share_session_state_in_clusterspec_propagation = share_state
        return tf1.Session(self.targets[master], graph=graph, config=c)

    def test_every_task_has_the_name_that_the_session_gives(self):
        a, b, c = self.addresses
        with tf.Graph().as_default():
            x = tf1.placeholder(tf.float32, [2])
            parts = []
            for device in ["/job:worker/task:2", "/job:ps/task:5", "/job:worker/replica:0/task:0/device:CPU:1"]:
                with tf.device(device):
                    parts.append(x * 2.0)
            total = tf.add_n(parts)
            # The master is neither the first task nor the one with the lowest index.
            with self.session(1, worker={0: c, 2: b}, ps={5: a}) as s:
                np.testing.assert_array_equal(s.run(total, {x: [1, 2]}), [6, 12])
                names = sorted(d.name for d in s.list_devices())
        self.assertEqual(names, [f"/job:{t}/device:CPU:{i}" for t in
                                 ["ps/replica:0/task:5", "worker/replica:0/task:0", "worker/replica:0/task:2"]
                                 for i in range(2)])

    def test_sessions_with_other_clusters_do_not_see_each_others_variables(self):
        a, b, c = self.addresses
        with tf.Graph().as_default() as g:
            with tf.device("/job:worker/task:1"):
                v = tf1.get_variable("v", initializer=[0.0, 0.0])
                add = tf1.assign_add(v, [1.0, 1.0])
            sessions = [self.session(1, g, worker=[b, a]), self.session(1, g, worker=[b, c]),
                        self.session(1, g, worker=[b, a]), self.session(0, g, worker=[b, a])]
            for s in sessions:
                with self.assertRaises(errors.FailedPreconditionError):
                    s.run(v)
                s.run(v.initializer)
            for i, s in enumerate(sessions):
                for _ in range(i):
                    s.run(add)
            for i, s in enumerate(sessions):
                np.testing.assert_array_equal(s.run(v), [i, i])
                s.close()

    def test_state_is_shared_when_the_session_says_so(self):
        a, b, _ = self.addresses
        with tf.Graph().as_default() as g:
            with tf.device("/job:worker/task:1"):
                v = tf1.get_variable("shared", initializer=3.0)
            with self.session(0, g, share_state=True, worker=[a, b]) as s:
                s.run(v.initializer)
            with self.session(1, g, share_state=True, worker={0: a, 1: b}) as s:
                self.assertEqual(s.run(v), 3.0)
            with self.session(0, g, worker=[a, b]) as s, self.assertRaises(errors.FailedPreconditionError):
                s.run(v)
        with tf.Graph().as_default():
            v = tf1.get_variable("shared", initializer=5.0)
            with tf1.Session(self.targets[1]) as s:
                self.assertEqual(s.run(v), 3.0)
        tf1.Session.reset(self.targets[1])

    def test_a_cluster_without_the_master_or_with_it_twice_is_refused(self):
        a, b, c = self.addresses
        with tf.Graph().as_default():
            x = tf.constant(1.0)
            for jobs in [dict(worker=[b, c]), dict(worker=[a, b], ps=[a])]:
                with self.assertRaises(errors.InvalidArgumentError):
                    self.session(0, **jobs).run(x)

    def test_a_device_that_the_cluster_does_not_have(self):
        a, b, _ = self.addresses
        with tf.Graph().as_default():
            with tf.device("/job:worker/task:1/cpu:2"):
                x = tf.constant(1.0)
            with self.session(0, worker=[a, b]) as s, self.assertRaises(errors.InvalidArgumentError):
                s.run(x)

    def test_loops_and_queues_cross_the_tasks_of_such_a_cluster(self):
        a, b, c = self.addresses
        with tf.Graph().as_default():
            with tf.device("/job:w/task:1"):
                q = tf1.FIFOQueue(10, [tf.float32], [[]])

            def body(i, total):
                with tf.device("/job:w/task:2"):
                    return i + 1, total * 2.0
            _, total = tf.while_loop(lambda i, _: i < 10, body, (0, 1.0))
            with self.session(0, w=[a, b, c]) as s:
                s.run(q.enqueue(total))
                self.assertEqual(s.run(q.dequeue()), 1024.0)

    def test_a_session_that_is_closed_cancels_what_waits_on_another_task(self):
        a, b, _ = self.addresses
        with tf.Graph().as_default():
            with tf.device("/job:w/task:1"):
                q = tf1.FIFOQueue(10, [tf.float32], [[]])
            x = q.dequeue()
            s = self.session(0, w=[a, b])
            with self.assertRaises(errors.DeadlineExceededError):
                s.run(x, options=tf1.RunOptions(timeout_in_ms=200))
            s.run(q.enqueue(4.0))
            self.assertEqual(s.run(x), 4.0)
            s.close()

    def test_a_hundred_sessions_leave_nothing_behind(self):
        a, b, c = self.addresses
        pids = [s.all_tasks()[0].process.pid for s in self.servers]

        def open_files():
            return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids)

        with tf.Graph().as_default():
            with tf.device("/job:w/task:1"):
                x = tf.constant(1.0)
            with tf.device("/job:w/task:2"):
                y = x + 1.0
            before = None
            for i in range(100):
                with self.session(i % 3, w=[a, b, c]) as s:
                    self.assertEqual(s.run(y), 2.0)
                if i == 10:
                    before = open_files()
        # Servers may still be closing the connections of the last sessions.
        for _ in range(600):
            if open_files() <= before + 12:
                return
            time.sleep(0.1)
        self.fail(f"{before} files were open after ten sessions, {open_files()} after a hundred")


class Options(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(program_path())

    def tearDown(self):
        dead = self.cluster.dead()
        self.cluster.stop()
        self.assertEqual(dead, [], self.cluster.log())

    def run_once(self, fetch, **fields):
        with tf1.Session(self.cluster.target, config=config(**fields)) as s:
            return s.run(fetch)

    def test_lists_of_devices_tell_what_every_task_has(self):
        with tf.Graph().as_default(), tf1.Session(self.cluster.target, config=config()) as s:
            devices = s.list_devices()
            again = s.list_devices()
        with tf.Graph().as_default(), tf1.Session(self.cluster.tasks["ps"][0].target, config=config()) as s:
            others = s.list_devices()
        self.assertEqual(sorted(d.name for d in devices),
                         [f"/job:{t}/device:CPU:0" for t in
                          ["ps/replica:0/task:0", "worker/replica:0/task:0", "worker/replica:0/task:1"]])
        for d in devices:
            self.assertEqual((d.device_type, d.memory_limit_bytes), ("CPU", 256 << 20))
        self.assertEqual(len({d.incarnation for d in devices} - {0}), 3)
        # Every task reports the same incarnations, which are those of the tasks.
        def by_name(devices):
            return {d.name: d.incarnation for d in devices}
        self.assertEqual(by_name(devices), by_name(again))
        self.assertEqual(by_name(devices), by_name(others))
        self.cluster.tasks["worker"][1].restart()
        with tf.Graph().as_default(), tf1.Session(self.cluster.target, config=config()) as s:
            now = by_name(s.list_devices())
        changed = [name for name, incarnation in by_name(devices).items() if now[name] != incarnation]
        self.assertEqual(changed, ["/job:worker/replica:0/task:1/device:CPU:0"])

    def test_device_filters_hide_the_other_tasks(self):
        with tf.Graph().as_default():
            with tf.device("/job:worker/task:1"):
                x = tf.constant(1.0)
            filters = ["/job:ps", "/job:worker/task:0"]
            with tf1.Session(self.cluster.target, config=config(device_filters=filters)) as s:
                self.assertEqual(sorted(d.name for d in s.list_devices()),
                                 ["/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0"])
                with self.assertRaises(errors.InvalidArgumentError):
                    s.run(x)
            self.assertEqual(self.run_once(x, device_filters=["/job:worker"]), 1.0)
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0"):
                y = tf.constant(2.0) * 2.0
            # A session need not wait for a task that it does not see.
            self.cluster.tasks["worker"][1].kill()
            try:
                self.assertEqual(self.run_once(y, device_filters=filters), 4.0)
            finally:
                self.cluster.tasks["worker"][1].start()

    def test_state_is_isolated_when_the_session_says_so(self):
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0"):
                v = tf1.get_variable("v", initializer=1.0)
            self.run_once(v.initializer)
            self.assertEqual(self.run_once(v), 1.0)
            with self.assertRaises(errors.FailedPreconditionError):
                self.run_once(v, isolate_session_state=True)
            with tf1.Session(self.cluster.target, config=config(isolate_session_state=True)) as s:
                s.run(v.initializer)
                s.run(tf1.assign_add(v, 5.0))
            self.assertEqual(self.run_once(v), 1.0)

    def test_soft_placement_and_the_devices_of_the_session(self):
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0/device:GPU:0"):
                x = tf.constant(1.0) + 1.0
            with self.assertRaises(errors.InvalidArgumentError):
                self.run_once(x)
            self.assertEqual(self.run_once(x, allow_soft_placement=True), 2.0)
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0/cpu:1"):
                x = tf.constant(1.0) + 1.0
            # A client cannot change the number of devices of a server.
            with self.assertRaises(errors.InvalidArgumentError):
                self.run_once(x, device_count={"CPU": 2})

    def test_devices_exist_for_the_whole_graph_unless_it_is_pruned_first(self):
        with tf.Graph().as_default():
            x = tf.constant(1.0) + 1.0
            with tf1.Session(self.cluster.target, config=config()) as s:
                self.assertEqual(s.run(x), 2.0)
                with tf.device("/device:GPU:0"):
                    tf.constant(3.0, name="nowhere")
                for _ in range(2):  # a refused extension does not become part of the session's graph
                    with self.assertRaisesRegex(errors.InvalidArgumentError, "nowhere"):
                        s.run(x)
            with self.assertRaisesRegex(errors.InvalidArgumentError, "nowhere"):
                self.run_once(x)
            self.assertEqual(self.run_once(x, allow_soft_placement=True), 2.0)
            self.assertEqual(self.run_once(x, graph_options=tf1.GraphOptions(place_pruned_graph=True)), 2.0)
        for device in ("/job:nobody/task:0", "/job:ps/task:7"):
            with tf.Graph().as_default():
                x = tf.constant(1.0) + 1.0
                with tf.device(device):
                    tf.constant(3.0)
                with self.assertRaises(errors.InvalidArgumentError):
                    self.run_once(x)

    def test_every_few_steps_tell_what_their_nodes_have_cost(self):
        with tf.Graph().as_default():
            x = tf1.placeholder(tf.float32, [3])
            with tf.device("/job:ps/task:0"):
                y = tf.exp(x, name="y")
            z = tf.reduce_sum(y, name="z")
            options = tf1.GraphOptions(build_cost_model=3, build_cost_model_after=1)
            costs = []
            with tf1.Session(self.cluster.target, config=config(graph_options=options)) as s:
                for _ in range(8):
                    metadata = tf1.RunMetadata()
                    s.run(z, {x: [1, 2, 3]}, run_metadata=metadata)
                    self.assertFalse(metadata.HasField("step_stats"))
                    self.assertEqual(len(metadata.partition_graphs), 0)
                    costs.append(metadata.cost_graph if metadata.HasField("cost_graph") else None)
            self.assertEqual([c is not None for c in costs], [False, False, False, True, False, False, True, False])
            nodes = {n.name: n for n in costs[3].node}
            self.assertEqual([n.id for n in costs[3].node], list(range(len(costs[3].node))))
            self.assertEqual(nodes["y"].device, "/job:ps/replica:0/task:0/device:CPU:0")
            self.assertEqual(nodes["y"].output_info[0].size, 12)
            self.assertEqual([d.size for d in nodes["y"].output_info[0].shape.dim], [3])
            self.assertEqual(nodes["y"].output_info[0].dtype, tf.float32.as_datatype_enum)
            self.assertGreater(len(nodes["z"].input_info), 0)
            before = costs[3].node[nodes["y"].input_info[0].preceding_node]
            self.assertEqual(before.device, nodes["y"].device)

    def test_a_server_whose_port_is_taken_says_so_as_tensorflow_does(self):
        spec = {"local": [self.cluster.spec["ps"][0]]}
        second = subprocess.run([program_path(), "serve", "--cluster_spec=" + json.dumps(spec), "--job_name=local"],
                                capture_output=True, text=True, timeout=60)
        self.assertNotEqual(second.returncode, 0)
        self.assertRegex(second.stderr, "UNKNOWN: .*taken")

    def test_placement_is_logged_by_the_server(self):
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0"):
                x = tf.random.uniform([], name="placed_there")
            self.run_once(x)
            self.assertNotIn("placed_there", self.cluster.log(100000))
            self.run_once(x, log_device_placement=True)
            log = self.cluster.log(100000)
        line = [l for l in log.splitlines() if "placed_there" in l]
        self.assertTrue(any("/job:ps/replica:0/task:0/device:CPU:0" in l for l in line), log)

    def test_operations_end_by_the_timeout_of_the_session(self):
        with tf.Graph().as_default():
            x = tf1.FIFOQueue(1, [tf.float32]).dequeue()
            start = time.time()
            with self.assertRaises(errors.DeadlineExceededError):
                self.run_once(x, operation_timeout_in_ms=300)
            self.assertLess(time.time() - start, 10)

    def test_the_optimizer_does_what_it_is_told(self):
        def options(level=0, folding=False, merging=False, **rewrites):
            o = tf1.GraphOptions(optimizer_options=tf1.OptimizerOptions(
                opt_level=level, do_constant_folding=folding, do_common_subexpression_elimination=merging))
            for name, value in rewrites.items():
                setattr(o.rewrite_options, name, value)
            return o

        off = tf1.OptimizerOptions.L0
        with tf.Graph().as_default():
            x = tf1.placeholder_with_default(tf.random.uniform([3]), [3])
            fetches = [tf.constant(2.0) * 3.0, tf.exp(x), tf.exp(x)]

            def counts(graph_options):
                metadata = tf1.RunMetadata()
                with tf1.Session(self.cluster.target, config=config(graph_options=graph_options)) as s:
                    s.run(fetches, options=tf1.RunOptions(output_partition_graphs=True), run_metadata=metadata)
                ops = [n.op for g in metadata.partition_graphs for n in g.node]
                return ops.count("Mul"), ops.count("Exp")

            on, never = 1, 2  # of RewriterConfig.Toggle
            self.assertEqual(counts(options()), (0, 1))
            self.assertEqual(counts(options(off)), (1, 2))
            self.assertEqual(counts(options(off, folding=True)), (0, 2))
            self.assertEqual(counts(options(off, merging=True)), (1, 1))
            self.assertEqual(counts(options(constant_folding=never)), (1, 1))
            self.assertEqual(counts(options(off, constant_folding=on)), (0, 2))
            self.assertEqual(counts(options(common_subgraph_elimination=never)), (0, 2))
            self.assertEqual(counts(options(disable_meta_optimizer=True)), (1, 2))

    def test_the_debugger_is_refused(self):
        with tf.Graph().as_default():
            x = tf.constant(2.0, name="x")
            y = x * 3.0
            options = tf1.RunOptions()
            watch = options.debug_options.debug_tensor_watch_opts.add(node_name="x", output_slot=0)
            watch.debug_ops.append("DebugIdentity")
            watch.debug_urls.append("file:///tmp/tfdbg")
            with tf1.Session(self.cluster.target, config=config()) as s:
                with self.assertRaisesRegex(errors.UnimplementedError, "debug_options watches 'x:0'.*tfdbg"):
                    s.run(y, options=options)
                callable_options = config_pb2.CallableOptions(fetch=[y.name], run_options=options)
                with self.assertRaisesRegex(errors.UnimplementedError, "tfdbg"):
                    s._make_callable_from_options(callable_options)()
                self.assertEqual(s.run(y), 6.0)

    def test_threads_and_options_that_only_cost_or_save_time_are_taken(self):
        graph_options = [
            tf1.GraphOptions(place_pruned_graph=True), tf1.GraphOptions(infer_shapes=True, build_cost_model=1),
            tf1.GraphOptions(optimizer_options=tf1.OptimizerOptions(opt_level=tf1.OptimizerOptions.L0)),
            tf1.GraphOptions(optimizer_options=tf1.OptimizerOptions(
                opt_level=tf1.OptimizerOptions.L0, do_constant_folding=True, do_common_subexpression_elimination=True,
                do_function_inlining=True)),
            tf1.GraphOptions(enable_bfloat16_sendrecv=False, timeline_step=1)]
        rewrites = tf1.GraphOptions()
        rewrites.rewrite_options.constant_folding = 2
        rewrites.rewrite_options.memory_optimization = 3
        rewrites.rewrite_options.disable_meta_optimizer = True
        graph_options.append(rewrites)
        with tf.Graph().as_default():
            x = tf.constant(2.0) * 3.0 + tf.reduce_sum(tf.random.uniform([10])) * 0.0
            for options in graph_options:
                self.assertEqual(self.run_once(x, graph_options=options), 6.0)
            self.assertEqual(self.run_once(x, inter_op_parallelism_threads=1, intra_op_parallelism_threads=1,
                                           use_per_session_threads=True), 6.0)
            self.assertEqual(self.run_once(x, share_cluster_devices_in_session=True), 6.0)


if __name__ == "__main__":
    tf1.disable_eager_execution()
    tf1.disable_resource_variables()
    unittest.main(verbosity=2)
