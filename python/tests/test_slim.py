"""tf.contrib.slim and tf.contrib.layers: further layers, training, evaluation, variables from checkpoints."""

import json
import os
import tempfile
import unittest
from unittest import mock

import numpy as np
import tensorbraid as tf

slim = tf.contrib.slim
framework = tf.contrib.framework


class Base(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def run_all(self, fetches):
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            return session.run(fetches)

    def variables(self):
        return {v.op.name: v.shape.as_list() for v in tf.global_variables()}


class LayerTest(Base):
    def check(self, output, name, shape, variables):
        self.assertEqual((output.name, output.shape.as_list(), self.variables()), (name, shape, variables))
        self.assertTrue(np.isfinite(self.run_all(output)).all())
        tf.reset_default_graph()

    def test_names_and_shapes_are_those_of_tf_slim(self):
        def image():
            return tf.ones([2, 8, 8, 4])

        self.check(slim.conv1d(tf.ones([2, 8, 4]), 3, 3), "Conv/Relu:0", [2, 8, 3],
                   {"Conv/weights": [3, 4, 3], "Conv/biases": [3]})
        self.check(slim.conv3d(tf.ones([2, 4, 4, 4, 2]), 3, 3), "Conv/Relu:0", [2, 4, 4, 4, 3],
                   {"Conv/weights": [3, 3, 3, 2, 3], "Conv/biases": [3]})
        self.check(slim.conv2d_transpose(image(), 3, 3, 2), "Conv2d_transpose/Relu:0", [2, 16, 16, 3],
                   {"Conv2d_transpose/weights": [3, 3, 3, 4], "Conv2d_transpose/biases": [3]})
        self.check(slim.separable_conv2d(image(), 3, 3, 2), "SeparableConv2d/Relu:0", [2, 8, 8, 3],
                   {"SeparableConv2d/depthwise_weights": [3, 3, 4, 2],
                    "SeparableConv2d/pointwise_weights": [1, 1, 8, 3], "SeparableConv2d/biases": [3]})
        self.check(slim.separable_conv2d(image(), None, 3, 2), "SeparableConv2d/Relu:0", [2, 8, 8, 8],
                   {"SeparableConv2d/depthwise_weights": [3, 3, 4, 2], "SeparableConv2d/biases": [8]})
        self.check(slim.layer_norm(image()), "LayerNorm/batchnorm/add_1:0", [2, 8, 8, 4],
                   {"LayerNorm/beta": [4], "LayerNorm/gamma": [4]})
        self.check(slim.group_norm(image(), groups=2), "GroupNorm/Reshape_3:0", [2, 8, 8, 4],
                   {"GroupNorm/beta": [4], "GroupNorm/gamma": [4]})
        self.check(slim.instance_norm(image()), "InstanceNorm/instancenorm/add_1:0", [2, 8, 8, 4],
                   {"InstanceNorm/beta": [4], "InstanceNorm/gamma": [4]})
        self.check(slim.avg_pool3d(tf.ones([2, 4, 4, 4, 2]), 2), "AvgPool3D/AvgPool3D:0", [2, 2, 2, 2, 2], {})
        self.check(slim.bias_add(tf.ones([2, 6])), "BiasAdd/BiasAdd:0", [2, 6], {"BiasAdd/biases": [6]})
        self.check(slim.maxout(image(), 2), "MaxOut/Max:0", [2, 8, 8, 2], {})
        self.check(slim.stack(tf.ones([2, 6]), slim.fully_connected, [3, 4], scope="fc"), "fc/fc_2/Relu:0", [2, 4],
                   {"fc/fc_1/weights": [6, 3], "fc/fc_1/biases": [3], "fc/fc_2/weights": [3, 4], "fc/fc_2/biases": [4]})
        self.check(slim.repeat(image(), 2, slim.conv2d, 4, 3, normalizer_fn=slim.batch_norm),
                   "Repeat/convolution2d_2/Relu:0", [2, 8, 8, 4],
                   {f"Repeat/convolution2d_{i}/{name}": shape for i in (1, 2) for name, shape in (
                       ("weights", [3, 3, 4, 4]), ("BatchNorm/beta", [4]), ("BatchNorm/moving_mean", [4]),
                       ("BatchNorm/moving_variance", [4]))})
        self.check(slim.spatial_softmax(image()), "spatial_softmax/Reshape_3:0", [2, 8],
                   {"spatial_softmax/temperature": []})

    def test_layers_follow_their_formulas(self):
        x = np.random.RandomState(1).randn(2, 3, 3, 4).astype(np.float32)
        layer, group, instance = slim.layer_norm(x), slim.group_norm(x, 2), slim.instance_norm(x)
        ones = slim.one_hot_encoding([1, 0], 3)
        unit = slim.unit_norm(tf.constant(x), 3)
        values = self.run_all([layer, group, instance, ones, unit])
        np.testing.assert_allclose(values[0], (x - x.mean((1, 2, 3), keepdims=True)) / x.std((1, 2, 3), keepdims=True),
                                   rtol=1e-3, atol=1e-4)
        grouped = x.reshape(2, 3, 3, 2, 2)
        wanted = (grouped - grouped.mean((1, 2, 4), keepdims=True)) / grouped.std((1, 2, 4), keepdims=True)
        np.testing.assert_allclose(values[1], wanted.reshape(x.shape), rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(values[2], (x - x.mean((1, 2), keepdims=True)) / x.std((1, 2), keepdims=True),
                                   rtol=1e-3, atol=1e-4)
        np.testing.assert_array_equal(values[3], [[0, 1, 0], [1, 0, 0]])
        np.testing.assert_allclose(np.square(values[4]).sum(3), 1.0, rtol=1e-5)

    def test_embeddings_and_scaled_gradients(self):
        ids = tf.constant([[1, 2], [1, 0]])
        once = tf.contrib.layers.embed_sequence(ids, 3, 2, scope="e")
        again = tf.contrib.layers.embed_sequence(ids, unique=True, scope="e", reuse=True, vocab_size=3, embed_dim=2)
        self.assertEqual(list(self.variables()), ["e/embeddings"])
        x = tf.constant(3.0)
        grad = tf.gradients(slim.scale_gradient(x, 0.5), [x])
        sparse = slim.dense_to_sparse(tf.constant([[0, 5], [6, 0]]))
        once, again, grad, sparse = self.run_all([once, again, grad, sparse])
        np.testing.assert_array_equal(once, again)
        self.assertEqual((grad, sparse.values.tolist()), ([0.5], [5, 6]))
        with self.assertRaises(ValueError):
            tf.contrib.layers.embed_sequence(ids)

    def test_losses_take_predictions_first(self):
        logits, labels = tf.constant([[2.0, 0.0], [0.0, 1.0]]), tf.constant([[1.0, 0.0], [1.0, 0.0]])
        losses = [slim.losses.softmax_cross_entropy(logits, labels, weights=[1.0, 0.0]),
                  slim.losses.sparse_softmax_cross_entropy(logits, [[0], [0]]),
                  slim.losses.mean_squared_error(logits, labels, weights=[1.0, 2.0]),
                  slim.losses.sigmoid_cross_entropy(logits, labels)]
        a, b = np.log(1 + np.exp(-2)), np.log(1 + np.e)
        total = slim.losses.get_total_loss()
        hinge = slim.losses.hinge_loss(logits, labels)
        values = self.run_all([losses, hinge, total])
        wanted = [a, (a + b) / 2, (1 + 2 * (1 + 1)) / 4, (a + np.log(2) * 2 + b) / 4]
        np.testing.assert_allclose(values[0], wanted, rtol=1e-5)
        np.testing.assert_array_equal(values[1], [[0, 1], [1, 2]])
        self.assertAlmostEqual(values[2], sum(wanted), places=5)

    def test_arguments_of_scopes(self):
        self.assertIn("weights_regularizer", slim.arg_scoped_arguments(slim.conv2d))
        with slim.arg_scope([slim.conv2d_transpose], padding="VALID"):
            self.assertEqual(slim.conv2d_transpose(tf.ones([1, 4, 4, 1]), 1, 3).shape.as_list(), [1, 6, 6, 1])
            self.assertEqual(slim.conv3d_transpose(tf.ones([1, 4, 4, 4, 1]), 1, 3).shape.as_list(), [1, 4, 4, 4, 1])


class TrainingTest(Base):
    def loss(self):
        w = tf.get_variable("w", initializer=[1.0, -2.0])
        return tf.reduce_sum(tf.square(w)), w

    def test_optimize_loss_trains_and_summarizes(self):
        loss, w = self.loss()
        step = tf.train.get_or_create_global_step()
        train = tf.contrib.layers.optimize_loss(loss, step, 0.5, "SGD", clip_gradients=1.0,
                                                gradient_multipliers={w: 0.5}, learning_rate_decay_fn=lambda rate,
                                                step: rate * 0.5, summaries=tf.contrib.layers.OPTIMIZER_SUMMARIES)
        tags = [summary.op.name for summary in tf.get_collection("summaries")]
        self.assertEqual(tags, ["OptimizeLoss/" + tag for tag in (
            "learning_rate_1", "global_norm/gradient_norm", "loss", "gradients/w_0", "gradient_norm/w_0",
            "global_norm/clipped_gradient_norm")])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(train)
            norm = np.sqrt(5.0)
            np.testing.assert_allclose(session.run(w), [1 - 0.25 / norm, -2 + 0.5 / norm], rtol=1e-5)
            self.assertEqual(session.run(step), 1)
        for wrong in (dict(optimizer="None"), dict(optimizer=3), dict(learning_rate=1), dict(summaries=["x"]),
                      dict(learning_rate=None), dict(clip_gradients=1)):
            with self.assertRaises(ValueError):
                tf.contrib.layers.optimize_loss(**{**dict(loss=loss, global_step=step, learning_rate=0.5,
                                                          optimizer="SGD"), **wrong})

    def test_slim_trains_and_evaluates_checkpoints(self):
        with tf.Graph().as_default():
            loss, w = self.loss()
            tf.add_to_collection("update_ops",
                                 tf.get_variable("updates", initializer=0.0, trainable=False).assign_add(1.0))
            train_op = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1),
                                                     clip_gradient_norm=1.0, summarize_gradients=True)
            self.assertEqual(tf.get_collection("train_op")[-1:], [train_op])
            last = slim.learning.train(train_op, self.folder, number_of_steps=5, log_every_n_steps=2)
            self.assertLess(last, 5.0)
        path = tf.train.latest_checkpoint(self.folder)
        self.assertEqual(tf.train.load_variable(path, "global_step"), 5)
        self.assertGreaterEqual(tf.train.load_variable(path, "updates"),
                                5.0)  # the summaries of gradients need them too
        for loop in (False, True):
            with tf.Graph().as_default():
                loss, w = self.loss()
                count = tf.get_variable("count", initializer=0.0, collections=["local_variables"])
                arguments = dict(num_evals=3, eval_op=count.assign_add(1.0), final_op=[w, count + 0.0])
                logs = os.path.join(self.folder, "eval")
                if loop:
                    value, counted = slim.evaluation.evaluation_loop(
                        "", self.folder, logs, max_number_of_evaluations=1, **arguments)
                else:
                    value, counted = slim.evaluation.evaluate_once("", path, logs, **arguments)
                self.assertEqual(counted, 3.0)
                np.testing.assert_allclose(value, tf.train.load_variable(path, "w"))
        self.assertIsNone(slim.evaluation.wait_for_new_checkpoint(self.folder, path, timeout=0.1))

    def test_slim_trains_with_traces_wrapped_sessions_and_synchronous_optimizers(self):
        class Wrapped:
            def __init__(self, session):
                self.session, self.runs = session, 0
                sessions.append(self)

            def run(self, *args, **kwargs):
                self.runs += 1
                return self.session.run(*args, **kwargs)

        sessions = []
        loss, _ = self.loss()
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 1)
        train_op = slim.learning.create_train_op(loss, optimizer)
        last = slim.learning.train(train_op, None, number_of_steps=3, sync_optimizer=optimizer, session_wrapper=Wrapped)
        self.assertLess(last, 5.0)
        self.assertGreater(sessions[0].runs, 3)
        with tf.Graph().as_default():
            plain = slim.learning.create_train_op(self.loss()[0], tf.train.GradientDescentOptimizer(0.1))
            slim.learning.train(plain, self.folder, number_of_steps=3, trace_every_n_steps=2)
        traces = [name for name in os.listdir(self.folder) if name.startswith("tf_trace-")]
        self.assertTrue(traces)
        with open(os.path.join(self.folder, traces[0])) as file:
            self.assertIn("traceEvents", json.load(file))
        for options, message in (
                ({"trace_every_n_steps": 2}, "Cannot provide trace_every_n_steps because logdir=None"),
                ({"sync_optimizer": optimizer, "startup_delay_steps": 1}, "startup_delay_steps must be zero"),
                ({"sync_optimizer": [1]}, "must be a tf.train.SyncReplicasOptimizer"),
                ({"number_of_steps": 0}, "None or a positive number")):
            with self.assertRaisesRegex(ValueError, message):
                slim.learning.train(train_op, None, **options)
        with self.assertRaisesRegex(ValueError, "logdir must be present"):
            slim.learning.train_step(None, train_op, None, {"should_trace": None})

    def test_the_training_goes_on_after_a_task_was_restarted(self):
        loss, _ = self.loss()
        train_op = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
        sessions, errors = [], []

        def step(session, *args):
            if session not in sessions:
                sessions.append(session)
            result = slim.learning.train_step(session, *args)
            if errors:
                raise errors.pop(0)
            return result

        errors += [tf.errors.AbortedError(None, None, "restarted"), tf.errors.AbortedError(None, None, "again")]
        self.assertTrue(np.isfinite(slim.learning.train(train_op, self.folder, step, number_of_steps=3)))
        self.assertEqual((len(sessions), errors), (3, []))
        saved = os.path.join(self.folder, "model.ckpt-3")
        self.assertEqual(tf.train.latest_checkpoint(self.folder), saved)
        errors.append(tf.errors.UnavailableError(None, None, "gone"))
        with tf.Graph().as_default(), self.assertRaisesRegex(tf.errors.UnavailableError, "gone"):
            train_op = slim.learning.create_train_op(self.loss()[0], tf.train.GradientDescentOptimizer(0.1))
            slim.learning.train(train_op, None, step)

    def test_a_worker_waits_for_the_step_at_which_it_begins(self):
        with tf.device("/job:localhost/task:0"):
            loss, _ = self.loss()
            step = tf.train.get_or_create_global_step()
            train_op = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
        server = tf.train.Server.create_local_server()
        others = []

        def another_worker_trains(seconds):
            with tf.Session(server.target) as session:
                others.append(session.run([train_op, step]))

        with tf.Session(server.target) as session:
            session.run(tf.global_variables_initializer())
        with mock.patch("time.sleep", another_worker_trains):
            slim.learning.train(train_op, None, is_chief=False, master=server.target, startup_delay_steps=3,
                                number_of_steps=4)
        self.assertEqual(len(others), 3)

    def test_evaluations_end(self):
        evaluation, clock = slim.evaluation, [0.0]

        def sleep(seconds):
            clock[0] += seconds

        with mock.patch("time.time", lambda: clock[0]), mock.patch("time.sleep", sleep):
            self.assertIsNone(evaluation.wait_for_new_checkpoint(self.folder, seconds_to_sleep=2, timeout=7))
            self.assertEqual(clock[0], 6.0)
            self.assertEqual(list(evaluation.checkpoints_iterator(self.folder, timeout=3)), [])
            answers = [True, False, False]
            self.assertEqual(list(evaluation.checkpoints_iterator(self.folder, timeout=3, timeout_fn=answers.pop)), [])
            self.assertEqual((clock[0], answers), (18.0, []))
            value = tf.get_variable("value", [], initializer=tf.constant_initializer(3.0))
            saver = tf.train.Saver()
            with tf.Session() as session:
                session.run(value.initializer)
                saver.save(session, os.path.join(self.folder, "model"), global_step=0)
            element = tf.data.Dataset.range(2).make_one_shot_iterator().get_next()
            total, update = tf.metrics.mean(tf.cast(element, tf.float32) + value)
            evaluated = []

            def timed_out():
                with tf.Session() as session:
                    session.run(value.initializer)
                    saver.save(session, os.path.join(self.folder, "model"), global_step=1 + len(evaluated))
                evaluated.append(clock[0])
                return False

            # The input ends after two of five runs, but the final operation and the hooks run.
            found = evaluation.evaluation_loop(
                "", self.folder, None, num_evals=5, eval_op=update, final_op=total, timeout=4, timeout_fn=timed_out,
                eval_interval_secs=1, max_number_of_evaluations=3)
            self.assertEqual((found, len(evaluated)), (3.5, 2))
            self.assertIsNone(evaluation.evaluate_repeatedly(os.path.join(self.folder, "none"), timeout=1))

    def test_contrib_training(self):
        loss, w = self.loss()
        train_op = tf.contrib.training.create_train_op(
            loss, tf.train.GradientDescentOptimizer(0.1),
            transform_grads_fn=lambda pairs: [(g * 0, v) for g, v in pairs])
        last = tf.contrib.training.train(train_op, None, hooks=[tf.train.StopAtStepHook(3)], save_checkpoint_secs=None,
                                         save_summaries_steps=None)
        self.assertEqual(last, 5.0)


class FrameworkTest(Base):
    def test_variables_by_name_and_scope(self):
        with tf.variable_scope("a"):
            w = framework.model_variable("w", [2], initializer=tf.ones_initializer(), device="/cpu:0")
            b = framework.variable("b", initializer=3.0, collections=["mine"])
        c = framework.local_variable(1.0, name="c")
        self.assertEqual((framework.get_variables("a"), framework.get_variables(suffix="w")), ([w], [w]))
        self.assertEqual((tf.get_collection("mine"), framework.get_local_variables()), ([b], [c]))
        self.assertEqual((framework.get_variables_by_name("w"), framework.get_unique_variable("a/w")), ([w], w))
        self.assertEqual(framework.get_model_variables(), [w])
        step = framework.get_or_create_global_step()
        self.assertEqual(framework.get_variables_to_restore(exclude=["global"]), [w])
        self.assertEqual(framework.filter_variables([w, step], exclude_patterns=["step"]), [w])
        with self.assertRaises(ValueError):
            framework.get_unique_variable("none")
        operation, feeds = framework.assign_from_values({"a/w": [5.0, 6.0]})
        with tf.Session() as session:
            session.run(operation, feeds)
            self.assertEqual(session.run(w).tolist(), [5.0, 6.0])

    def test_values_from_checkpoints(self):
        w = tf.get_variable("w", initializer=[1.0, 2.0])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(session, os.path.join(self.folder, "model"))
        self.assertEqual(framework.list_variables(self.folder), [("w", [2])])
        tf.reset_default_graph()
        v, other = tf.get_variable("v", [2]), tf.get_variable("other", [2])
        operation, feeds = framework.assign_from_checkpoint(path, {"w": v})
        restore = framework.assign_from_checkpoint_fn(path, {"w": v, "other": other}, ignore_missing_vars=True)
        with self.assertRaises(ValueError):
            framework.assign_from_checkpoint(path, [other])
        for initialize in (lambda session: session.run(operation, feeds), restore):
            with tf.Session() as session:
                initialize(session)
                self.assertEqual(session.run(v).tolist(), [1.0, 2.0])
        self.assertIsNone(framework.assign_from_checkpoint_fn(path, [other], ignore_missing_vars=True))


class HParamsTest(unittest.TestCase):
    def test_hyperparameters_can_be_parsed(self):
        hparams = tf.contrib.training.HParams(rate=0.1, sizes=[1, 2], name="a", flag=False, count=3)
        hparams.parse("rate=0.5,sizes=[4,5,6],name=b c,flag=True")
        self.assertEqual(hparams.values(), {"rate": 0.5, "sizes": [4, 5, 6], "name": "b c", "flag": True, "count": 3})
        hparams.parse("sizes[1]=7")
        self.assertEqual(hparams.sizes, [4, 7, 6])
        self.assertEqual(tf.contrib.training.HParams(**hparams.values()).parse_json('{"count": 9}').count, 9)
        self.assertIn('"count": 3', hparams.to_json())
        self.assertTrue("rate" in hparams and hparams.get("none", 2) == 2)
        for wrong in ("rate=x", "none=1", "rate", "count=1.5", "rate=1,rate=2", "flag=maybe"):
            with self.assertRaises(ValueError, msg=wrong):
                hparams.parse(wrong)
        for name, value in (("count", 1.5), ("sizes", 3), ("rate", [1.0]), ("name", 3), ("flag", 1)):
            with self.assertRaises(ValueError):
                hparams.set_hparam(name, value)
        with self.assertRaises(ValueError):
            hparams.add_hparam("rate", 1)


class SummariesTest(Base):
    def test_summaries_of_several_tensors(self):
        tensors = [tf.constant([0.0, 1.0], name="a"), tf.constant([2.0, 3.0], name="b")]
        slim.summaries.add_histogram_summaries(tensors)
        slim.summaries.add_zero_fraction_summaries(tensors, prefix="zeros")
        slim.summaries.add_scalar_summary(tf.constant(4.0, name="c"), "Total Loss", print_summary=True)
        with tf.Session() as session:
            made = tf.Summary.FromString(session.run(tf.summary.merge_all()))
        found = {value.tag: value.simple_value for value in made.value}
        self.assertEqual(found, {"a_1": 0, "b_1": 0, "zeros/Fraction_of_Zero_Values/a": 0.5,
                                 "zeros/Fraction_of_Zero_Values/b": 0.0, "Total_Loss": 4.0})

    def test_an_evaluation_waits_for_checkpoints(self):
        value = tf.get_variable("value", [], initializer=tf.constant_initializer(3.0))
        tf.train.get_or_create_global_step()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            tf.train.Saver().save(session, os.path.join(self.folder, "model"), global_step=0)
        found = tf.contrib.training.evaluate_repeatedly(
            self.folder, eval_ops=value, final_ops=value * 2, hooks=[tf.contrib.training.StopAfterNEvalsHook(2)],
            eval_interval_secs=0, max_number_of_evaluations=1)
        self.assertEqual(found, 6.0)

    def test_an_evaluation_ends_after_its_runs_and_writes_summaries(self):
        training = tf.contrib.training
        value = tf.get_variable("value", [], initializer=tf.constant_initializer(3.0))
        tf.train.get_or_create_global_step()
        with tempfile.TemporaryDirectory() as folder:
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                path = tf.train.Saver().save(session, os.path.join(folder, "model"), global_step=0)
            total, update = tf.metrics.mean(value)
            tf.summary.scalar("total", total)
            hooks = [training.StopAfterNEvalsHook(4), training.SummaryAtEndHook(os.path.join(folder, "eval"))]
            found = training.evaluate_once(path, eval_ops=update, hooks=hooks, final_ops={
                "total": total, "count": training.get_or_create_eval_step()})
            self.assertEqual(found, {"total": 3.0, "count": 4})
            events = os.path.join(folder, "eval", os.listdir(os.path.join(folder, "eval"))[0])
            tags = [v.tag for event in tf.train.summary_iterator(events) for v in event.summary.value]
        self.assertEqual(tags, ["total"])


if __name__ == "__main__":
    unittest.main()
