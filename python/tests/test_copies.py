"""Objects that can be pickled and copied: errors, optimizers, cells, initializers, hooks."""

import copy
import multiprocessing
import pickle
import unittest

import numpy as np
import tensorbraid as tf


class OwnError(tf.errors.OpError):
    """An error class of a program, whose constructor has other arguments."""

    def __init__(self, path):
        super().__init__(None, None, f"no {path}", tf.errors.NOT_FOUND)
        self.path = path


class OwnHook(tf.train.StopAtStepHook):
    """A hook class of a program."""


def copies(value):
    return [copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))]


def size_of_file(number):
    with tf.gfile.GFile(f"/nothing/{number}", "rb") as file:
        return len(file.read())


class CopiesTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_errors_keep_what_they_say(self):
        for error in (tf.errors.NotFoundError(None, None, "no file"), tf.errors.OpError(None, None, "no file", 5),
                      OwnError("file")):
            for same in copies(error):
                self.assertIs(type(same), type(error))
                self.assertEqual(str(same), "no file")
                self.assertEqual((same.message, same.error_code), (error.message, error.error_code))
        self.assertEqual(pickle.loads(pickle.dumps(OwnError("file"))).path, "file")

    def test_an_error_of_a_step_leaves_its_operation_in_its_process(self):
        with tf.Session() as session:
            with self.assertRaises(tf.errors.InvalidArgumentError) as raised:
                session.run(tf.placeholder(tf.float32, name="p"))
        error = raised.exception
        self.assertEqual(error.op.name, "p")
        self.assertIs(copy.copy(error).op, error.op)
        self.assertIs(copy.deepcopy(error).op, error.op)
        other = pickle.loads(pickle.dumps(error))
        self.assertIsNone(other.op)
        self.assertEqual((other.message, other.node_def), (error.message, error.node_def))

    def test_an_error_in_a_pool_is_raised(self):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            with self.assertRaisesRegex(tf.errors.NotFoundError, "/nothing/0"):
                pool.map_async(size_of_file, [0]).get(timeout=300)

    def test_clusters(self):
        for jobs in ({"ps": ["a:1"], "worker": ["b:1", "c:2"]}, {"ps": {2: "a:1"}}):
            for same in copies(tf.train.ClusterSpec(jobs)):
                self.assertEqual(same.as_dict(), jobs)
        config = tf.estimator.RunConfig("/tmp/model", save_checkpoints_steps=7)
        for same in copies(config):
            self.assertEqual((same.model_dir, same.save_checkpoints_steps), ("/tmp/model", 7))
            self.assertEqual(same.cluster_spec, config.cluster_spec)

    def test_optimizers_train_as_before(self):
        sgd = tf.train.GradientDescentOptimizer(0.5)
        for optimizer in (sgd, tf.train.MomentumOptimizer(0.5, 0.9), tf.train.AdamOptimizer(), tf.train.FtrlOptimizer(1),
                          tf.train.RMSPropOptimizer(0.1), tf.contrib.opt.AdamWOptimizer(0.1),
                          tf.contrib.opt.LazyAdamOptimizer()):
            results = []
            for same in [optimizer] + copies(optimizer):
                with tf.Graph().as_default(), tf.Session() as session:
                    w = tf.get_variable("w", initializer=[1.0, 2.0])
                    train = same.minimize(tf.reduce_sum(w * w))
                    session.run(tf.global_variables_initializer())
                    session.run(train)
                    results.append(session.run(w).tolist())
            self.assertEqual(results, results[:1] * 4)
        copies(tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.5), 2, 2))

    def test_cells_and_layers(self):
        gru = tf.nn.rnn_cell.GRUCell(3, kernel_initializer=tf.ones_initializer())
        for layer in (gru, tf.nn.rnn_cell.LSTMCell(3, initializer=tf.ones_initializer()),
                      tf.nn.rnn_cell.MultiRNNCell([gru]), tf.nn.rnn_cell.DropoutWrapper(gru, 0.5),
                      tf.layers.Dense(3, tf.nn.relu), tf.layers.Conv2D(3, 3), tf.layers.BatchNormalization()):
            for same in copies(layer):
                self.assertIs(type(same), type(layer))
        with tf.Session() as session:
            outputs = [cell(tf.ones([1, 2]), tf.zeros([1, 3]))[0] for cell in [gru, pickle.loads(pickle.dumps(gru))]]
            session.run(tf.global_variables_initializer())
            first, second = session.run(outputs)
        self.assertEqual(first.tolist(), second.tolist())

    def test_initializers(self):
        random = tf.random_normal_initializer(1.0, 2.0, seed=3)
        for initializer in (random, tf.zeros_initializer(), tf.constant_initializer(2.0), tf.initializers.he_normal(5),
                            tf.orthogonal_initializer(seed=1), tf.contrib.layers.xavier_initializer(seed=2),
                            tf.contrib.layers.variance_scaling_initializer(seed=2), tf.initializers.identity()):
            with tf.Session() as session:
                values = session.run([same([2, 3]) for same in [initializer] + copies(initializer)])
            for value in values:
                np.testing.assert_array_equal(value, values[0])

    def test_hooks(self):
        scaffold = tf.train.Scaffold()
        for hook in (tf.train.StopAtStepHook(3), OwnHook(3), tf.train.GlobalStepWaiterHook(3),
                     tf.train.LoggingTensorHook(["a"], 3), tf.train.NanTensorHook("a"),
                     tf.train.StepCounterHook(output_dir="/tmp/model"), tf.train.ProfilerHook(save_steps=3),
                     tf.train.SummarySaverHook(3, output_dir="/tmp/model", scaffold=scaffold),
                     tf.train.CheckpointSaverHook("/tmp/model", save_steps=3)):
            for same in copies(hook):
                self.assertIs(type(same), type(hook))
        tf.train.create_global_step()
        step = tf.assign_add(tf.train.get_global_step(), 1)
        with tf.train.MonitoredTrainingSession(hooks=[pickle.loads(pickle.dumps(OwnHook(3)))]) as session:
            while not session.should_stop():
                last = session.run(step)
        self.assertEqual(last, 3)

    def test_functions_of_ops_are_found_by_their_names(self):
        for function in (tf.tanh, tf.nn.relu, tf.sigmoid, tf.nn.softmax, tf.reduce_sum, tf.to_float, tf.matmul,
                         tf.image.resize_bicubic, tf.nn.conv2d):
            self.assertIs(pickle.loads(pickle.dumps(function)), function)
        self.assertEqual(tf.tanh.__name__, "tanh")

    def test_results_of_ops(self):
        with tf.Session() as session:
            found = session.run([tf.unique([1, 1, 2]), tf.nn.top_k([1.0, 2.0]), tf.raw_ops.Unique(x=[1, 1, 2]),
                                 tf.nn.moments([1.0, 2.0], 0)])
        for same in copies(found):
            self.assertEqual([type(result) for result in same], [type(result) for result in found])
            self.assertEqual(same[0].y.tolist(), [1, 2])
            self.assertEqual(same[1].values.tolist(), [2])

    def test_elements_of_graphs_are_no_copies(self):
        for element in (tf.constant(1), tf.constant(1).op, tf.get_variable("v", [2])):
            self.assertIs(copy.copy(element), element)
            with self.assertRaises(TypeError):
                pickle.dumps(element)


if __name__ == "__main__":
    unittest.main()
