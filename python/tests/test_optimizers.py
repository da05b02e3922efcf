"""Optimizers, learning rates, moving averages, and the global step."""

import tempfile
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.internal.graphs import make_op


def run(*fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(fetch) for fetch in fetches]


class OptimizerTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_variables_may_be_the_values_of_a_dict(self):
        weights = {"w": tf.Variable(2.0), "b": tf.Variable(1.0)}
        optimizer = tf.train.GradientDescentOptimizer(0.5)
        pairs = optimizer.compute_gradients(weights["w"] * weights["b"], var_list=weights.values())
        self.assertEqual([variable for _, variable in pairs], list(weights.values()))

    def test_updates_keep_to_the_constraint_of_the_variable(self):
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer(), constraint=lambda x: tf.clip_by_norm(x, 1.0))
        with tf.variable_scope("positive", constraint=lambda x: tf.maximum(x, 0.0)):
            w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        free = tf.Variable(1.0)
        self.assertIsNone(free.constraint)
        self.assertEqual(run(w.constraint(tf.constant(-1.0))), [0.0])
        loss = tf.reduce_sum(-v) + 5.0 * w + 5.0 * free
        for optimizer in (tf.train.GradientDescentOptimizer(1.0), tf.train.AdamOptimizer(9.0)):
            train = optimizer.minimize(loss)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                session.run(train)
                self.assertAlmostEqual(np.linalg.norm(session.run(v)), 1.0, places=5)
                self.assertEqual(session.run(w), 0.0)
                self.assertLess(session.run(free), -3.0)

    def test_layers_give_their_constraints_to_their_variables(self):
        x = tf.ones([1, 4, 4, 2])
        keep = lambda value: value  # noqa: E731
        tf.layers.conv2d(x, 2, 3, kernel_constraint=keep)
        tf.layers.separable_conv2d(x, 2, 3, pointwise_constraint=keep, bias_constraint=keep)
        tf.layers.dense(tf.ones([1, 2]), 2, bias_constraint=keep)
        tf.layers.batch_normalization(x, gamma_constraint=keep)
        self.assertEqual([v.op.name for v in tf.trainable_variables() if v.constraint is keep],
                         ["conv2d/kernel", "separable_conv2d/pointwise_kernel", "separable_conv2d/bias", "dense/bias",
                          "batch_normalization/gamma"])

    def test_a_constraint_of_a_variable_with_gradients_of_some_rows_is_refused(self):
        table = tf.get_variable("table", [4, 2], constraint=lambda x: x)
        with self.assertRaisesRegex(RuntimeError, "sparse variable.*table"):
            tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(tf.nn.embedding_lookup(table, [1])))

    def test_slots_are_global_variables_with_tensorflows_names(self):
        v = tf.Variable([1.0, 2.0], name="v")
        adam = tf.train.AdamOptimizer(0.1)
        adam.minimize(tf.reduce_sum(v * v))
        self.assertEqual([x.name for x in tf.global_variables()],
                         ["v:0", "beta1_power:0", "beta2_power:0", "v/Adam:0", "v/Adam_1:0"])
        self.assertEqual(adam.get_slot_names(), ["m", "v"])
        self.assertEqual(adam.get_slot(v, "m").name, "v/Adam:0")
        self.assertIsNone(adam.get_slot(v, "other"))
        self.assertEqual([x.name for x in adam.variables()],
                         ["beta1_power:0", "beta2_power:0", "v/Adam:0", "v/Adam_1:0"])
        self.assertEqual(tf.trainable_variables(), [v])
        self.assertEqual(adam.get_name(), "Adam")

    def test_slots_are_named_in_the_scopes_that_are_open(self):
        with tf.variable_scope("a"):
            w = tf.get_variable("w", [2])
            with tf.name_scope("train"):
                tf.train.AdamOptimizer(name="Q").minimize(tf.reduce_sum(w))
        with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
            parts = tf.get_variable("p", [4, 2])
            optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
            optimizer.minimize(tf.reduce_sum(tf.convert_to_tensor(parts)))
        with tf.name_scope("t"):
            tf.train.ExponentialMovingAverage(0.9).apply([w])
        self.assertEqual([v.op.name for v in tf.global_variables()], [
            "a/w", "a/train/beta1_power", "a/train/beta2_power", "a/a/w/Q", "a/a/w/Q_1", "s/p/part_0", "s/p/part_1",
            "s/s/p/part_0/Momentum", "s/s/p/part_1/Momentum", "a/w/ExponentialMovingAverage"])
        with tf.Session() as session, tempfile.TemporaryDirectory() as folder:
            session.run(tf.global_variables_initializer())
            saved = [name for name, _ in tf.train.list_variables(tf.train.Saver().save(session, folder + "/m"))]
        self.assertEqual([name for name in saved if name.startswith("s/")], ["s/p", "s/p/0/Momentum", "s/p/1/Momentum"])

    def test_a_gradient_is_none_where_the_loss_does_not_depend_on_the_variable(self):
        v = tf.Variable(1.0)
        w = tf.Variable(1.0)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        (gradient, of_v), (none, of_w) = optimizer.compute_gradients(v * v)
        self.assertEqual((of_v, none, of_w), (v, None, w))
        self.assertEqual(gradient.dtype, tf.float32)
        with self.assertRaisesRegex(ValueError, "No gradients provided for any variable"):
            optimizer.minimize(v * v, var_list=[w])
        with self.assertRaisesRegex(ValueError, "No gradients provided for any variable"):
            optimizer.apply_gradients([(None, w)])
        with self.assertRaisesRegex(ValueError, "No variables provided"):
            optimizer.apply_gradients([])

    def test_wrong_arguments_are_refused(self):
        v = tf.Variable(1.0)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        with self.assertRaisesRegex(ValueError, "Invalid type"):
            optimizer.minimize(tf.constant(1))
        with self.assertRaisesRegex(TypeError, "not a tf.Variable"):
            optimizer.minimize(v * v, var_list=[tf.constant(1.0)])
        with self.assertRaisesRegex(ValueError, "gate_gradients"):
            optimizer.minimize(v * v, gate_gradients=7)
        with self.assertRaises(NotImplementedError):
            tf.train.FtrlOptimizer(0.1, beta=0.5)
        with self.assertRaisesRegex(ValueError, "must be positive"):
            tf.train.AdagradOptimizer(0.1, initial_accumulator_value=-1.0)
        with self.assertRaises(TypeError):
            tf.train.AdamOptimizer(0.1, beta1="0.9").minimize(v * v)
        synchronous = tf.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=1)
        with self.assertRaisesRegex(ValueError, "Global step is required"):
            synchronous.minimize(v * v)
        with self.assertRaisesRegex(NotImplementedError, "the name"):
            synchronous.minimize(v * v, global_step=tf.train.create_global_step(), name="mine")
        tf.reset_default_graph()
        v = tf.Variable(1.0)
        synchronous = tf.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=3, total_num_replicas=1)
        synchronous.minimize(v * v, global_step=tf.train.create_global_step())
        with self.assertRaisesRegex(ValueError, "too few tokens to finish the first step: 1 given, 2 needed"):
            synchronous.get_init_tokens_op(1)
        tf.reset_default_graph()
        with self.assertRaisesRegex(ValueError, "No variables to optimize"):
            optimizer.minimize(tf.constant(1.0))

    def test_only_rows_that_were_looked_up_are_updated(self):
        table = tf.Variable(np.ones([4, 2], np.float32))
        rows = make_op("ResourceGather", [table.handle, [1, 3, 3]], dtype=tf.float32).outputs[0]
        optimizer = tf.train.MomentumOptimizer(0.5, 0.9)
        gradient = optimizer.compute_gradients(tf.reduce_sum(rows))[0][0]
        self.assertEqual(type(gradient).__name__, "IndexedSlices")
        train = optimizer.apply_gradients([(gradient, table)])
        _, value = run(train, table)
        np.testing.assert_array_equal(value, [[1, 1], [0.5, 0.5], [1, 1], [0, 0]])

    def test_a_subclass_may_change_the_gradients(self):
        class Halved(tf.train.GradientDescentOptimizer):
            def compute_gradients(self, *args, **kwargs):
                return [(0.5 * g, v) for g, v in super().compute_gradients(*args, **kwargs)]

        v = tf.Variable(4.0)
        _, value = run(Halved(1.0).minimize(0.5 * v * v), v)
        self.assertEqual(value, 2.0)

    def test_the_learning_rate_may_be_a_function_a_variable_or_a_placeholder(self):
        v = tf.Variable(1.0)
        rate = tf.Variable(0.5, trainable=False)
        fed = tf.placeholder(tf.float32, [])
        by_variable = tf.train.GradientDescentOptimizer(rate).minimize(v)
        by_function = tf.train.GradientDescentOptimizer(lambda: 0.25).minimize(v)
        by_feed = tf.train.GradientDescentOptimizer(fed).minimize(v)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(by_variable)
            self.assertEqual(session.run(v), 0.5)
            session.run(by_function)
            self.assertEqual(session.run(v), 0.25)
            session.run(by_feed, {fed: 2.0})
            self.assertEqual(session.run(v), -1.75)

    def test_the_train_op_has_the_optimizers_name_and_joins_its_collection(self):
        v = tf.Variable(1.0)
        train = tf.train.AdagradOptimizer(0.1).minimize(v)
        named = tf.train.AdagradOptimizer(0.1).minimize(v, name="mine")
        self.assertEqual((train.name, named.name), ("Adagrad", "mine"))
        self.assertEqual(tf.get_collection("train_op"), [train, named])


class LearningRateTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_names_are_tensorflows(self):
        step = tf.placeholder(tf.int64, [])
        self.assertEqual(tf.train.exponential_decay(0.1, step, 10, 0.9).name, "ExponentialDecay:0")
        self.assertEqual(tf.train.exponential_decay(0.1, step, 10, 0.9, name="rate").name, "rate:0")

    def test_wrong_arguments_are_refused(self):
        with self.assertRaisesRegex(ValueError, "global_step is required"):
            tf.train.exponential_decay(0.1, None, 10, 0.9)
        step = tf.placeholder(tf.int64, [])
        with self.assertRaisesRegex(ValueError, "1 less than"):
            tf.train.piecewise_constant(step, [1, 2], [0.1, 0.2])
        with self.assertRaisesRegex(ValueError, "same dtype"):
            tf.train.piecewise_constant(step, [1.5], [0.1, 0.2])

    def test_noise_changes_the_rate_around_the_linear_cosine(self):
        step = tf.constant(3, tf.int64)
        tf.set_random_seed(1)
        with tf.Session() as session:
            plain = session.run(tf.train.linear_cosine_decay(0.1, step, 10))
            noisy = tf.train.noisy_linear_cosine_decay(0.1, step, 10)
            values = {float(session.run(noisy)) for _ in range(20)}
        self.assertEqual(len(values), 20)
        self.assertLess(abs(np.mean(list(values)) - plain), 0.05)


class GlobalStepTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_there_is_one_global_step(self):
        self.assertIsNone(tf.train.get_global_step())
        step = tf.train.create_global_step()
        self.assertEqual(step.dtype, tf.int64)
        self.assertEqual(step.name, "global_step:0")
        self.assertEqual(tf.train.get_global_step(), step)
        self.assertEqual(tf.train.get_or_create_global_step(), step)
        self.assertEqual(tf.get_collection("global_step"), [step])
        with self.assertRaisesRegex(ValueError, "already exists"):
            tf.train.create_global_step()
        with tf.Session() as session:
            session.run(step.initializer)
            self.assertEqual(tf.train.global_step(session, step), 0)

    def test_a_variable_of_this_name_is_the_global_step(self):
        step = tf.Variable(0, name="global_step", trainable=False)
        self.assertEqual(tf.train.get_or_create_global_step(), step)
        tf.reset_default_graph()
        tf.Variable(0.5, name="global_step")
        with self.assertRaisesRegex(TypeError, "integer"):
            tf.train.get_global_step()


class MovingAverageTest(unittest.TestCase):
    def test_averages_are_variables_that_checkpoints_have_under_their_names(self):
        tf.reset_default_graph()
        v = tf.Variable(1.0, name="v")
        x = v * 2.0
        ema = tf.train.ExponentialMovingAverage(0.5)
        self.assertIsNone(ema.average(v))
        update = ema.apply([v, x])
        self.assertEqual(ema.average(v).name, "v/ExponentialMovingAverage:0")
        self.assertEqual(ema.average_name(v), "v/ExponentialMovingAverage")
        self.assertIn(ema.average(x), tf.global_variables())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(v.assign(3.0))
            session.run(update)
            self.assertEqual(session.run([ema.average(v), ema.average(x)]), [2.0, 3.0])
        restored = ema.variables_to_restore()
        self.assertEqual(restored["v/ExponentialMovingAverage"], v)


if __name__ == "__main__":
    unittest.main()
