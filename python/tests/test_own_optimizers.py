"""Optimizers with rules of the program."""

import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid import _core
from tensorbraid.internal.graphs import make_op


class Halve(tf.train.Optimizer):
    """Subtracts half of the gradient, and counts the calls of its methods."""

    def __init__(self, name="Halve"):
        super().__init__(False, name)
        self.calls = []

    def _create_slots(self, var_list):
        self.calls.append("create " + " ".join(v.op.name for v in var_list))
        for v in var_list:
            self._zeros_slot(v, "sum", self._name)

    def _prepare(self):
        self.calls.append("prepare")
        self.half = tf.constant(0.5, name="half")

    def _apply_dense(self, grad, var):
        self.calls.append("dense " + var.op.name)
        total = tf.assign_add(self.get_slot(var, "sum"), grad)
        return tf.group(tf.assign_sub(var, grad * self.half), total)

    def _apply_sparse(self, grad, var):
        self.calls.append("sparse " + var.op.name)
        return tf.scatter_sub(var, grad.indices, grad.values * self.half)


def train(step, *fetches, steps=1):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(step)
        return session.run(list(fetches))


class OwnRuleTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_cpp_calls_the_methods_in_tensorflows_order(self):
        v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3.0, name="w")
        tf.Variable(1.0, name="unused")
        step = tf.train.create_global_step()
        optimizer = Halve()
        op = optimizer.minimize(tf.reduce_sum(v * v) + w * w, global_step=step)
        self.assertEqual(optimizer.calls, ["create v w", "prepare", "dense v", "dense w"])
        values = train(op, v, w, step, optimizer.get_slot(v, "sum"))
        np.testing.assert_allclose(values[0], [0.0, 0.0])
        self.assertEqual(values[1:3], [0.0, 1])
        np.testing.assert_allclose(values[3], [2.0, 4.0])
        self.assertEqual(op.name, "Halve")
        self.assertEqual(optimizer.half.name, "Halve/half:0")
        self.assertEqual(optimizer.get_slot(v, "sum").name, "v/Halve:0")
        self.assertEqual(optimizer.get_slot_names(), ["sum"])
        self.assertEqual([x.name for x in optimizer.variables()], ["v/Halve:0", "w/Halve:0"])
        self.assertIn(optimizer.get_slot(w, "sum"), tf.global_variables())
        self.assertNotIn(optimizer.get_slot(w, "sum"), tf.trainable_variables())

    def test_rows_that_occur_twice_are_summed_first(self):
        table = tf.Variable(np.ones([3, 1], np.float32), name="table")
        optimizer = Halve()
        op = optimizer.minimize(tf.reduce_sum(tf.gather(table, [2, 0, 2])))
        self.assertIn("sparse table", optimizer.calls)
        self.assertEqual(train(op, table)[0].ravel().tolist(), [0.5, 1.0, 0.0])

    def test_a_rule_may_take_rows_as_they_are(self):
        class Rows(Halve):
            def _apply_sparse_duplicate_indices(self, grad, var):
                self.count = grad.indices.shape.as_list()
                return super()._apply_sparse_duplicate_indices(grad, var)

        table = tf.Variable(np.ones([3, 1], np.float32))
        optimizer = Rows()
        op = optimizer.minimize(tf.reduce_sum(tf.gather(table, [2, 0, 2])))
        self.assertEqual(optimizer.count, [3])
        self.assertEqual(train(op, table)[0].ravel().tolist(), [0.5, 1.0, 0.0])

    def test_rules_for_resources_are_called_if_there_are_no_others(self):
        class Resources(tf.train.Optimizer):
            def _resource_apply_dense(self, grad, handle):
                return make_op("ResourceApplyGradientDescent", [handle.handle, 0.25, grad])

            def _resource_apply_sparse(self, grad, handle, indices):
                return make_op("ResourceScatterSub", [handle.handle, indices, grad])

        v = tf.Variable([1.0, 1.0])
        op = Resources(False, "R").minimize(tf.reduce_sum(v) + tf.reduce_sum(tf.gather(v, [1])) * 0)
        optimizer = Resources(False, "R")
        rows = optimizer.minimize(tf.reduce_sum(tf.gather(v, [1, 1])), var_list=[v])
        self.assertEqual(train(tf.group(op), v)[0].tolist(), [0.75, 0.75])
        self.assertEqual(train(rows, v)[0].tolist(), [1.0, -1.0])

    def test_lazy_adam_leaves_the_means_of_other_rows(self):
        table = tf.Variable(np.ones([3, 2], np.float32))
        rows = tf.placeholder(tf.int32, [None])
        optimizer = tf.contrib.opt.LazyAdamOptimizer(0.1, 0.8, 0.9, 0.01)
        op = optimizer.minimize(tf.reduce_sum(tf.gather(table, rows)) * 3.0)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            m, v, wanted = np.zeros(3), np.zeros(3), np.ones(3)
            for step, chosen in enumerate(([0, 1, 0], [1], [0, 2]), 1):
                session.run(op, {rows: chosen})
                for row in set(chosen):
                    gradient = 3.0 * chosen.count(row)
                    m[row], v[row] = 0.8 * m[row] + 0.2 * gradient, 0.9 * v[row] + 0.1 * gradient**2
                    rate = 0.1 * np.sqrt(1 - 0.9**step) / (1 - 0.8**step)
                    wanted[row] -= rate * m[row] / (np.sqrt(v[row]) + 0.01)
            np.testing.assert_allclose(session.run(table), np.stack([wanted, wanted], 1), rtol=1e-5)
            np.testing.assert_allclose(session.run(optimizer.get_slot(table, "m"))[:, 0], m, rtol=1e-5)
            powers = session.run(optimizer._get_beta_accumulators())
        np.testing.assert_allclose(powers, [0.8**4, 0.9**4], rtol=1e-5)

    def test_a_class_without_a_rule_says_so(self):
        v = tf.Variable(1.0)
        with self.assertRaises(NotImplementedError):
            tf.train.Optimizer(False, "Nothing").minimize(v * v)
        with self.assertRaisesRegex(ValueError, "name"):
            tf.train.Optimizer(False, "")

    def test_an_error_of_a_method_is_raised(self):
        class Fails(Halve):
            def _apply_dense(self, grad, var):
                raise KeyError("mine")

        v = tf.Variable(1.0)
        with self.assertRaisesRegex(KeyError, "mine"):
            Fails().minimize(v * v)
        op = Halve().minimize(v * v)  # the graph can still be used
        self.assertEqual(train(op, v), [0.0])

    def test_a_rule_may_add_to_one_of_the_library(self):
        class Decayed(tf.train.MomentumOptimizer):
            def _apply_dense(self, grad, var):
                with tf.control_dependencies([var.assign_sub(0.5 * var)]):
                    return super()._apply_dense(grad, var)

        v = tf.Variable(4.0)
        optimizer = Decayed(0.25, 0.9)
        op = optimizer.minimize(v)
        self.assertEqual(train(op, v, optimizer.get_slot(v, "momentum")), [1.75, 1.0])

    def test_finish_may_add_operations_after_the_updates(self):
        class Counts(Halve):
            def _create_slots(self, var_list):
                super()._create_slots(var_list)
                self.count = self._create_non_slot_variable(0, "count", var_list[0])

            def _finish(self, update_ops, name_scope):
                with tf.control_dependencies(update_ops):
                    return tf.group(*update_ops, tf.assign_add(self.count, 1), name=name_scope)

        v = tf.Variable([1.0, 2.0])
        optimizer = Counts()
        op = optimizer.minimize(tf.reduce_sum(v * v))
        self.assertEqual(train(op, optimizer.count, steps=3), [3])
        self.assertIs(optimizer._get_non_slot_variable("count", v.graph), optimizer.count)
        self.assertIn(optimizer.count, optimizer.variables())
        self.assertEqual(tf.global_variables().count(optimizer.count), 1)

    def test_slots_of_another_shape_dtype_and_name(self):
        class Slots(Halve):
            def _create_slots(self, var_list):
                for v in var_list:
                    self._zeros_slot(v, "sum", self._name)
                    self._get_or_make_slot(v, tf.constant([1, 2, 3]), "three", "Three")
                    self._get_or_make_slot_with_initializer(v, tf.ones_initializer(), tf.TensorShape([2]), tf.float64,
                                                            "ones", self._name)

        v = tf.Variable(1.0, name="v")
        optimizer = Slots()
        op = optimizer.minimize(v * v)
        three, ones = optimizer.get_slot(v, "three"), optimizer.get_slot(v, "ones")
        self.assertEqual([three.name, ones.name], ["v/Three:0", "v/Halve_1:0"])
        self.assertEqual([three.dtype, ones.dtype], [tf.int32, tf.float64])
        values = train(op, three, ones)
        self.assertEqual([x.tolist() for x in values], [[1, 2, 3], [1.0, 1.0]])

    def test_valid_dtypes_may_be_replaced(self):
        class Singles(Halve):
            def _valid_dtypes(self):
                return {tf.float32}

        v = tf.Variable(1.0, dtype=tf.float64)
        with self.assertRaisesRegex(ValueError, "Invalid type"):
            Singles().minimize(v * v)

    def test_cpp_calls_gradients_that_python_replaces(self):
        class Negative(tf.train.GradientDescentOptimizer):
            def compute_gradients(self, *args, **kwargs):
                return [(-g, v) for g, v in super().compute_gradients(*args, **kwargs)]

            def apply_gradients(self, grads_and_vars, global_step=None, name=None):
                self.applied = [v.op.name for _, v in grads_and_vars]
                return super().apply_gradients(grads_and_vars, global_step=global_step, name="mine")

        v = tf.Variable(1.0, name="v")
        optimizer = Negative(0.5)
        op = optimizer._library._minimize(v * v)  # Optimizer::Minimize of C++
        self.assertEqual((optimizer.applied, op.name), (["v"], "mine"))
        self.assertEqual(train(op, v), [2.0])

    def test_synchronous_replicas_apply_a_rule_of_python(self):
        for wrapped in (Halve(), HalfAlone()):
            tf.reset_default_graph()
            v = tf.Variable([1.0, 2.0], name="v")
            optimizer = tf.train.SyncReplicasOptimizer(wrapped, replicas_to_aggregate=1)
            op = optimizer.minimize(tf.reduce_sum(v * v), global_step=tf.train.create_global_step())
            hook = optimizer.make_session_run_hook(is_chief=True)
            with tf.train.MonitoredTrainingSession(hooks=[hook, tf.train.StopAtStepHook(last_step=1)]) as session:
                while not session.should_stop():
                    session.run(op)
                value = session._inner().run(v)
            np.testing.assert_allclose(value, [0.0, 0.0])


class HalfAlone(tf.train.Optimizer):
    """Replaces apply_gradients only, and counts the steps itself."""

    def __init__(self):
        super().__init__(False, "HalfAlone")

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        # The global step rises after the updates, so the program finds the variables updated when it sees the step.
        with tf.control_dependencies([v.assign(v - 0.5 * g) for g, v in grads_and_vars]):
            return global_step.assign(global_step + 1)


class TrainingOpsTest(unittest.TestCase):
    def test_updates_by_name(self):
        from tensorbraid.train import training_ops

        tf.reset_default_graph()
        v, m = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
        made = training_ops.apply_momentum(v, m, 0.5, [1.0, 1.0], 0.9, use_locking=False)
        node = training_ops.resource_apply_gradient_descent(v.handle, 1.0, delta=[1.0, 0.0])
        self.assertEqual(train(made.op, v, m)[0].tolist(), [0.5, 1.5])
        self.assertEqual(train(node, v)[0].tolist(), [0.0, 2.0])
        with self.assertRaisesRegex(TypeError, "apply_momentum"):
            training_ops.apply_momentum(v)
        with self.assertRaises(AttributeError):
            training_ops.apply_nothing


class AdamWTest(unittest.TestCase):
    def test_weights_decay(self):
        tf.reset_default_graph()
        v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w")
        optimizer = tf.contrib.opt.AdamWOptimizer(0.5, learning_rate=0.0)
        op = optimizer.minimize(v + w, decay_var_list=[v])
        self.assertEqual(train(op, v, w), [0.5, 1.0])
        self.assertEqual(optimizer.get_slot(v, "m").name, "v/AdamW:0")
        self.assertIsInstance(optimizer._library, _core.Optimizer)


class AdamAsyncTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.table = tf.Variable(np.ones([3, 2], np.float32), name="table")
        self.dense = tf.Variable(np.ones(2, np.float32), name="dense")

    def steps(self, optimizer, losses):
        """The values of both variables after each step; a step trains those on which its loss depends."""
        values = []
        ops = [optimizer.minimize(loss, var_list=[variable]) for loss, variable in losses]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for op in ops:
                session.run(op)
                values.append(session.run([self.table, self.dense]))
            self.powers = [session.run(optimizer.get_slot(variable, f"beta{i}_power"))
                           for variable in (self.table, self.dense) for i in (1, 2)]
        return values

    def test_each_variable_counts_its_own_updates(self):
        of_rows = tf.reduce_sum(tf.gather(self.table, [0, 2, 2]) * [[1.0, 2.0]]), self.table
        of_dense = tf.reduce_sum(self.dense * [3.0, -4.0]), self.dense
        optimizer = tf.train.AdamAsyncOptimizer(0.1, 0.8, 0.9, 0.01)
        values = self.steps(optimizer, [of_rows, of_dense, of_rows])
        self.assertEqual(optimizer.get_slot(self.table, "m").name, "table/AdamAsync:0")
        np.testing.assert_allclose(self.powers, [0.8 ** 3, 0.9 ** 3, 0.8 ** 2, 0.9 ** 2], rtol=1e-6)
        table, dense = np.ones([3, 2]), np.ones(2)
        mean, square = np.zeros([3, 2]), np.zeros([3, 2])
        rows, grad = [0, 2], np.array([[1.0, 2.0], [2.0, 4.0]])
        for count, step in ((1, 0), (2, 2)):
            mean[rows] = 0.8 * mean[rows] + 0.2 * grad
            square[rows] = 0.9 * square[rows] + 0.1 * grad ** 2
            table[rows] -= 0.1 * np.sqrt(1 - 0.9 ** count) / (1 - 0.8 ** count) * mean[rows] / (
                np.sqrt(square[rows]) + 0.01)
            np.testing.assert_allclose(values[step][0], table, rtol=1e-5)
        grad = np.array([3.0, -4.0])
        dense -= 0.1 * np.sqrt(0.1) / 0.2 * 0.2 * grad / (np.sqrt(0.1 * grad ** 2) + 0.01)
        np.testing.assert_allclose(values[2][1], dense, rtol=1e-5)

    def test_rows_by_rmsprop_do_not_change_the_powers(self):
        loss = tf.reduce_sum(tf.gather(self.table, [1]) * 2.0), self.table
        optimizer = tf.train.AdamAsyncOptimizer(0.1, 0.8, 0.9, 0.01, apply_sparse_rmsprop=True)
        optimizer.minimize(tf.reduce_sum(self.dense), var_list=[self.dense])
        values = self.steps(optimizer, [loss, loss])
        mean = square = 0.0
        value = 1.0
        for step in range(2):
            square = 0.9 * square + 0.1 * 4.0
            mean = 0.8 * mean + 0.1 * 2.0 / np.sqrt(square + 0.01)
            value -= mean
            np.testing.assert_allclose(values[step][0], [[1.0, 1.0], [value, value], [1.0, 1.0]], rtol=1e-5)
        np.testing.assert_allclose(self.powers, [0.8, 0.9, 0.8, 0.9], rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
