"""Monitored sessions, hooks, scaffolds and supervisors."""

import gc
import os
import tempfile
import threading
import unittest
import weakref

import tensorbraid as tf


def model(rate=0.1):
    w = tf.Variable([1.0, 2.0], name="w")
    loss = tf.reduce_sum(w * w)
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
    return w, loss, step, train


class Calls(tf.train.SessionRunHook):
    """Notes the calls that it gets."""

    def __init__(self):
        self.calls = []

    def begin(self):
        self.calls.append("begin")

    def after_create_session(self, session, coord):
        self.calls.append("created")

    def before_run(self, run_context):
        self.calls.append("before")

    def after_run(self, run_context, run_values):
        self.calls.append("after" if run_values.results is None else "after with results")

    def end(self, session):
        self.calls.append("end")


class MonitoredSessionTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_hooks_are_called_in_order(self):
        w, loss, step, train = model()
        hook = Calls()
        with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
            self.assertIs(session.graph, tf.get_default_graph())
            self.assertTrue(session.graph.finalized)
            result = session.run({"loss": loss, "train": train})
        self.assertEqual(result, {"loss": 5.0, "train": None})
        self.assertEqual(hook.calls, ["begin", "created", "before", "after", "end"])
        self.assertIsNone(session.graph)
        with self.assertRaisesRegex(RuntimeError, "closed"):
            session.run(loss)
        session.close()

    def test_an_evaluation_follows_in_the_graph_of_the_training(self):
        w, loss, step, train = model()
        folder = tempfile.mkdtemp()
        with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=[tf.train.StopAtStepHook(3)]) as session:
            while not session.should_stop():
                session.run(train)
            trained = session._tf_sess().run(loss)
        average, update = tf.metrics.mean(loss)
        scaffold = tf.train.Scaffold(local_init_op=tf.group(tf.local_variables_initializer()))
        creator = tf.train.ChiefSessionCreator(scaffold, checkpoint_dir=folder)
        with tf.train.MonitoredSession(creator) as session:
            session.run(update)
            self.assertAlmostEqual(session.run(average), trained, places=6)
        tf.get_default_graph().finalize()
        with tf.train.MonitoredSession(creator) as session:
            session.run(step)
        self.assertTrue(tf.get_default_graph().finalized)
        tf.get_default_graph()._unsafe_unfinalize()
        self.assertFalse(tf.get_default_graph().finalized)

    def test_an_error_of_a_hook_is_raised_as_it_is_and_end_is_not_called(self):
        class Own(Exception):
            pass

        for method in ("begin", "after_create_session", "before_run", "after_run"):
            tf.reset_default_graph()
            w, loss, step, train = model()
            hook, failing = Calls(), tf.train.SessionRunHook()
            error = Own(method)

            def fail(*args, error=error):
                raise error

            setattr(failing, method, fail)
            with self.assertRaises(Own) as raised:
                with tf.train.MonitoredTrainingSession(hooks=[hook, failing]) as session:
                    session.run(train)
            self.assertIs(raised.exception, error)
            self.assertNotIn("end", hook.calls)

    def test_an_error_of_end_is_raised_by_close(self):
        class Failing(tf.train.SessionRunHook):
            def end(self, session):
                raise KeyError("at the end")

        model()
        session = tf.train.MonitoredTrainingSession(hooks=[Failing()])
        with self.assertRaisesRegex(KeyError, "at the end"):
            session.close()
        session.close()

    def test_the_end_of_the_input_leaves_the_with_block(self):
        number = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
        hook = Calls()
        seen = []
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            while True:
                seen.append(int(session.run(number)))
        self.assertEqual(seen, [0, 1, 2])
        self.assertEqual(hook.calls[-1], "end")
        tf.reset_default_graph()
        number = tf.train.range_input_producer(1, num_epochs=1).dequeue()
        session = tf.train.MonitoredSession()
        session.run(number)
        with self.assertRaises(tf.errors.OutOfRangeError):
            session.run(number)
        self.assertTrue(session.should_stop())
        session.close()

    def test_a_hook_sees_the_session_the_coordinator_and_the_arguments(self):
        w, loss, step, train = model()
        x = tf.placeholder(tf.float32, [], name="x")
        y = x * loss
        seen = {}

        class Hook(tf.train.SessionRunHook):
            def after_create_session(self, session, coord):
                seen["session"], seen["coordinator"] = session, coord
                seen["first"] = session.run(loss)

            def before_run(self, run_context):
                seen["args"] = run_context.original_args
                self.same = run_context.session is seen["session"]
                return tf.train.SessionRunArgs({"y": [y]}, feed_dict={x: 2.0})

            def after_run(self, run_context, run_values):
                seen["results"] = run_values.results
                run_context.request_stop()

        hook = Hook()
        with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
            self.assertFalse(session.should_stop())
            session.run([train])
            self.assertTrue(session.should_stop())
        self.assertTrue(hook.same)
        self.assertEqual((seen["first"], seen["results"]), (5.0, {"y": [10.0]}))
        self.assertEqual((seen["args"].fetches, seen["args"].feed_dict), ([train], None))
        self.assertTrue(seen["coordinator"].should_stop())
        with self.assertRaisesRegex(ValueError, "the session is closed"):
            seen["session"].run(loss)

    def test_a_subclass_of_a_library_hook_adds_to_it(self):
        class Stop(tf.train.StopAtStepHook):
            runs = 0

            def after_run(self, run_context, run_values):
                super().after_run(run_context, run_values)
                self.runs += 1

        w, loss, step, train = model()
        hook = Stop(last_step=3)
        with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
            while not session.should_stop():
                session.run(train)
        self.assertEqual(hook.runs, 3)

    def test_stopping_after_a_number_of_steps_counts_from_the_session(self):
        with tempfile.TemporaryDirectory() as folder:
            for last in (2, 4):
                tf.reset_default_graph()
                w, loss, step, train = model()
                hooks = [tf.train.StopAtStepHook(num_steps=2)]
                with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks) as session:
                    while not session.should_stop():
                        session.run(train)
                self.assertEqual(tf.train.load_variable(folder, "global_step"), last)

    def test_a_worker_may_wait_for_a_step(self):
        w, loss, step, train = model()
        with tf.train.SingularMonitoredSession(hooks=[tf.train.GlobalStepWaiterHook(5)]) as session:
            raw = session.raw_session()
            others = threading.Thread(target=lambda: [raw.run(train) for _ in range(5)])
            others.start()
            _, now = session.run([train, step])
            others.join()
            self.assertGreaterEqual(int(now), 5)

    def test_a_loss_that_is_not_finite_is_an_error_or_the_end(self):
        w, loss, step, train = model()
        bad = loss / 0.0
        with self.assertRaisesRegex(tf.train.NanLossDuringTrainingError, "inf"):
            with tf.train.MonitoredTrainingSession(hooks=[tf.train.NanTensorHook(bad)]) as session:
                session.run(train)
        tf.reset_default_graph()
        w, loss, step, train = model()
        hook = tf.train.NanTensorHook(loss / 0.0, fail_on_nan_loss=False)
        with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
            session.run(train)
            self.assertTrue(session.should_stop())

    def test_values_are_logged_in_the_form_that_the_program_wants(self):
        w, loss, step, train = model()
        lines = []

        def formatter(values):
            lines.append({name: float(value) for name, value in values.items()})
            return "logged"

        every = tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=2, formatter=formatter)
        end = tf.train.LoggingTensorHook([loss], at_end=True, formatter=formatter)
        with tf.train.MonitoredTrainingSession(hooks=[every, end]) as session:
            for _ in range(4):
                session.run(train)
        self.assertEqual([list(line) for line in lines], [["loss"], ["loss"], ["Sum:0"]])
        self.assertEqual(lines[0]["loss"], 5.0)

        def failing(values):
            raise ValueError("in the formatter")

        tf.reset_default_graph()
        w, loss, step, train = model()
        hook = tf.train.LoggingTensorHook([loss], every_n_iter=1, formatter=failing)
        with self.assertRaisesRegex(tf.errors.UnknownError, "in the formatter"):
            with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
                session.run(train)

    def test_a_scaffold_says_how_the_model_begins(self):
        w = tf.Variable([1.0], name="w")
        local = tf.Variable(0.0, collections=["local_variables"], trainable=False)
        x = tf.placeholder(tf.float32, [1])
        seen = []

        def init_fn(scaffold, session):
            seen.append((scaffold, session.run(w)[0]))

        scaffold = tf.train.Scaffold(init_op=w.assign(x, read_value=False), init_feed_dict={x: [4.0]}, init_fn=init_fn,
                                     local_init_op=local.assign(3.0, read_value=False))
        with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
            self.assertEqual(session.run([w, local]), [4.0, 3.0])
        self.assertEqual(seen, [(scaffold, 4.0)])
        self.assertIsInstance(scaffold.saver, tf.train.Saver)

        def failing(scaffold, session):
            raise KeyError("in init_fn")

        tf.reset_default_graph()
        tf.Variable(1.0)
        with self.assertRaisesRegex(KeyError, "in init_fn"):
            tf.train.MonitoredTrainingSession(scaffold=tf.train.Scaffold(init_fn=failing))

    def test_a_model_that_is_not_ready_is_an_error(self):
        tf.Variable(1.0, name="forgotten")
        nothing = tf.group()
        with self.assertRaisesRegex(tf.errors.FailedPreconditionError, "forgotten"):
            tf.train.MonitoredTrainingSession(scaffold=tf.train.Scaffold(init_op=nothing))

    def test_what_is_not_supported_is_refused(self):
        w, loss, step, train = model()
        with self.assertRaises(ValueError):
            tf.train.StopAtStepHook()
        with self.assertRaises(ValueError):
            tf.train.LoggingTensorHook([loss])
        with tf.train.MonitoredTrainingSession() as session:
            with self.assertRaises(TypeError):
                session.run(train, options=object())

    def test_variables_of_hooks_are_saved(self):
        class Counter(tf.train.SessionRunHook):
            def begin(self):
                self.count = tf.get_variable("count", initializer=7.0, trainable=False)

        w, loss, step, train = model()
        with tempfile.TemporaryDirectory() as folder:
            with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=[Counter()]) as session:
                session.run(train)
            self.assertEqual(tf.train.load_variable(folder, "count"), 7.0)

    def test_a_session_may_begin_with_a_given_checkpoint(self):
        with tempfile.TemporaryDirectory() as folder:
            w, loss, step, train = model()
            with tf.train.MonitoredTrainingSession(checkpoint_dir=folder) as session:
                session.run(train)
                value = session.run(w)
            creator = tf.train.ChiefSessionCreator(checkpoint_filename_with_path=tf.train.latest_checkpoint(folder))
            tf.reset_default_graph()
            w, loss, step, train = model()
            with tf.train.MonitoredSession(creator) as session:
                self.assertEqual(session.run(w).tolist(), value.tolist())

    def test_the_graph_beside_checkpoints_may_be_left_out(self):
        w, loss, step, train = model()
        with tempfile.TemporaryDirectory() as folder:
            with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_graph_def=False) as session:
                session.run(train)
            self.assertFalse(any(name.endswith(".meta") for name in os.listdir(folder)))

    def test_initial_operations_may_be_lists(self):
        with tf.Graph().as_default():
            x, y = tf.Variable(1.0), tf.Variable(2.0, collections=["own"])
            scaffold = tf.train.Scaffold(init_op=[x.initializer], local_init_op=[[y.initializer]])
            with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
                self.assertEqual(session.run([x, y]), [1.0, 2.0])
        with tf.Graph().as_default():
            x, y = tf.Variable(1.0), tf.Variable(2.0, collections=["own"])
            supervisor = tf.train.Supervisor(init_op=[x.initializer], local_init_op=[y.initializer])
            with supervisor.managed_session() as session:
                self.assertEqual(session.run([x, y]), [1.0, 2.0])

    def test_a_synchronous_replica_waits_for_global_variables_only(self):
        with tf.Graph().as_default():
            w, own = tf.Variable(1.0), tf.Variable(2.0, collections=["own"], trainable=False)
            optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 1)
            optimizer.minimize(tf.square(w), tf.train.get_or_create_global_step())
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                self.assertEqual(session.run(optimizer.ready_for_local_init_op).tolist(), [])
                self.assertEqual(session.run(tf.is_variable_initialized(own)), False)

    def test_the_chief_of_synchronous_replicas_updates_averages(self):
        for averaged in (None, "w"):
            with tf.Graph().as_default():
                w, v = tf.Variable(1.0, name="w"), tf.Variable(1.0, name="v")
                averages = tf.train.ExponentialMovingAverage(0.5)
                optimizer = tf.train.SyncReplicasOptimizer(
                    tf.train.GradientDescentOptimizer(1.0), 1, variable_averages=averages,
                    variables_to_average=averaged and [w])
                train = optimizer.minimize(-w - v, tf.train.get_or_create_global_step())
                self.assertEqual(averages.average(v) is None, averaged is not None)
                with tf.train.MonitoredTrainingSession(hooks=[optimizer.make_session_run_hook(True)]) as session:
                    for _ in range(4):
                        session.run(train)
                    # The chief may still update the averages of the last two steps.
                    self.assertGreater(session.run(averages.average(w)), 2.0)

    def test_an_optimizer_without_the_global_step_trains(self):
        w = tf.Variable(1.0)
        tf.train.get_or_create_global_step()
        train = tf.train.GradientDescentOptimizer(0.25).minimize(w * w)
        with tempfile.TemporaryDirectory() as folder:
            with tf.train.MonitoredTrainingSession(checkpoint_dir=folder) as session:
                for _ in range(3):
                    session.run(train)
                self.assertEqual(session.run(w), 0.125)
            self.assertEqual(tf.train.latest_checkpoint(folder), os.path.join(folder, "model.ckpt-0"))

    def test_the_global_step_of_a_supervisor_may_be_a_float(self):
        for is_given in (False, True):
            with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
                w, step = tf.Variable(1.0), tf.Variable(0.0, trainable=False, name="steps")
                if not is_given:
                    tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, step)
                train = tf.train.GradientDescentOptimizer(0.1).minimize(w * w, step)
                supervisor = tf.train.Supervisor(logdir=folder, **({"global_step": step} if is_given else {}))
                with supervisor.managed_session() as session:
                    for _ in range(3):
                        session.run(train)
                self.assertEqual(tf.train.latest_checkpoint(folder), os.path.join(folder, "model.ckpt-3"))

    def test_the_configuration_of_a_session_is_used(self):
        config = tf.ConfigProto(device_count={"CPU": 3})
        with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(config=config)) as session:
            devices = session.run_step_fn(lambda step_context: step_context.session.list_devices())
        self.assertEqual(len(devices), 3)

    def test_the_session_beneath_runs_no_hooks(self):
        w, loss, step, train = model()
        hook = Calls()
        with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
            calls = list(hook.calls)
            self.assertEqual(session._tf_sess().run(step), 0)
            self.assertEqual(session._tf_sess().make_callable(step)(), 0)
            self.assertEqual(hook.calls, calls)
        self.assertIsNone(session._tf_sess())

    def test_a_closed_session_lets_go_of_its_graph(self):
        with tf.Graph().as_default() as graph:
            w, loss, step, train = model()
            hook = Calls()
            with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
                session.run(train)
            hook.session = session
        seen = weakref.ref(graph)
        del graph, w, loss, step, train, hook, session
        gc.collect()
        self.assertIsNone(seen())


class SupervisorTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_an_error_of_the_program_or_of_a_loop_is_raised_at_the_end(self):
        w, loss, step, train = model()
        supervisor = tf.train.Supervisor()
        with self.assertRaisesRegex(KeyError, "of the program"):
            with supervisor.managed_session():
                raise KeyError("of the program")
        tf.reset_default_graph()
        w, loss, step, train = model()
        supervisor = tf.train.Supervisor()

        def failing():
            raise ValueError("of the loop")

        with self.assertRaisesRegex(ValueError, "of the loop"):
            with supervisor.managed_session() as session:
                supervisor.loop(0, failing)
                while not supervisor.should_stop():
                    session.run(train)

    def test_queue_runners_of_the_graph_run(self):
        number = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
        seen = []
        with tf.train.Supervisor().managed_session() as session:
            while True:
                seen.append(int(session.run(number)))
        self.assertEqual(seen, [0, 1, 2])

    def test_its_properties(self):
        w, loss, step, train = model()
        tf.summary.scalar("loss", loss)
        with tempfile.TemporaryDirectory() as folder:
            supervisor = tf.train.Supervisor(logdir=folder, save_summaries_secs=0)
            session = supervisor.prepare_or_wait_for_session()
            summary = session.run(supervisor.summary_op)
            supervisor.summary_computed(session, summary)
            self.assertEqual(supervisor.global_step, step)
            self.assertTrue(supervisor.save_path.startswith(folder))
            self.assertFalse(supervisor.coord.should_stop())
            supervisor.request_stop()
            self.assertTrue(supervisor.should_stop())
            supervisor.stop()
            self.assertTrue(supervisor.coord.should_stop())
            self.assertEqual(tf.train.latest_checkpoint(folder), supervisor.save_path + "-0")
        with self.assertRaises(NotImplementedError):
            tf.train.Supervisor(session_manager=object())


if __name__ == "__main__":
    unittest.main()
