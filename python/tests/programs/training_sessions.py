"""Savers, monitored sessions with hooks, and a supervisor: prints what the steps and the checkpoints have."""

import os
import tempfile

import numpy as np


def show(*values):
    for value in values:
        for number in np.ravel(value):
            print(repr(float(number)))


def model(tf):
    w = tf.Variable([1.0, 2.0], name="w", use_resource=True)
    b = tf.Variable(0.5, name="b", use_resource=True)
    loss = tf.reduce_sum(w * w) + b * b
    step = tf.train.get_or_create_global_step()
    train = tf.train.MomentumOptimizer(0.1, 0.5).minimize(loss, global_step=step)
    return w, b, loss, step, train


def checkpoint(tf, path):
    reader = tf.train.load_checkpoint(path)
    shapes = reader.get_variable_to_shape_map()
    for name in sorted(shapes):
        show(len(shapes[name]), reader.get_tensor(name))
    show(len(tf.train.list_variables(path)), tf.train.load_variable(path, "b"))


def savers(tf, folder):
    prefix = os.path.join(folder, "saver", "model")
    os.mkdir(os.path.dirname(prefix))
    with tf.Graph().as_default():
        w, b, loss, step, train = model(tf)
        saver = tf.train.Saver(max_to_keep=2)
        renamed = tf.train.Saver({"weights": w})
        only_b = tf.train.Saver([b], name="other")
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            paths = []
            for i in range(4):
                session.run(train)
                paths.append(saver.save(session, prefix, global_step=step))
            for path in paths:
                print(int(tf.train.checkpoint_exists(path)), int(path == "%s-%d" % (prefix, paths.index(path) + 1)))
            state = tf.train.get_checkpoint_state(os.path.dirname(prefix))
            print(len(state.all_model_checkpoint_paths), int(state.model_checkpoint_path == paths[-1]),
                  int(tf.train.latest_checkpoint(os.path.dirname(prefix)) == paths[-1]),
                  int(list(saver.last_checkpoints) == paths[2:]))
            checkpoint(tf, paths[-1])
            show(session.run(w))
            saver.restore(session, paths[2])
            show(session.run([w, b])[0], session.run(b), session.run(step))
            path = renamed.save(session, os.path.join(folder, "saver", "renamed"), write_meta_graph=False)
            print(int(path == os.path.join(folder, "saver", "renamed")))
            session.run(w.assign([0.0, 0.0]))
            renamed.restore(session, path)
            only_b.restore(session, paths[3])
            show(session.run(w), session.run(b))
            for wrong in (os.path.join(folder, "nothing"), None):
                try:
                    saver.restore(session, wrong)
                except ValueError:
                    print(1)
        print(int(tf.train.latest_checkpoint(folder) is None))


def monitored(tf, folder):
    class Recorder(tf.train.SessionRunHook):
        def __init__(self, tensor):
            self.tensor = tensor

        def begin(self):
            self.doubled = 2.0 * self.tensor

        def after_create_session(self, session, coord):
            show(session.run(self.doubled), int(coord.should_stop()))

        def before_run(self, run_context):
            return tf.train.SessionRunArgs({"doubled": self.doubled, "both": [self.tensor, self.tensor]})

        def after_run(self, run_context, run_values):
            show(run_values.results["doubled"], run_values.results["both"])
            print(int(run_context.stop_requested), len(run_context.original_args.fetches))
            if run_values.results["doubled"] < 1.5:
                run_context.request_stop()

        def end(self, session):
            show(session.run(self.doubled))

    for last_step in (4, 7, 100):
        with tf.Graph().as_default():
            w, b, loss, step, train = model(tf)
            tf.summary.scalar("loss", loss)
            final = tf.train.FinalOpsHook([w, {"b": b}])
            hooks = [Recorder(loss), tf.train.StopAtStepHook(last_step=last_step), tf.train.NanTensorHook(loss), final]
            with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks, save_checkpoint_steps=3,
                                                   save_summaries_steps=2, log_step_count_steps=2) as session:
                while not session.should_stop():
                    _, value = session.run([train, loss])
                    show(value)
            show(final.final_ops_values[0], final.final_ops_values[1]["b"])
            checkpoint(tf, tf.train.latest_checkpoint(folder))


def singular(tf):
    with tf.Graph().as_default():
        w, b, loss, step, train = model(tf)
        x = tf.placeholder(tf.float32, [])
        scaffold = tf.train.Scaffold(init_op=tf.global_variables_initializer(), init_feed_dict={},
                                     init_fn=lambda scaffold, session: session.run(assign))
        assign, twice = b.assign(7.0), x * 2.0
        hooks = [tf.train.FeedFnHook(lambda: {x: 3.0}), tf.train.StopAtStepHook(num_steps=2)]
        with tf.train.SingularMonitoredSession(hooks=hooks, scaffold=scaffold) as session:
            show(session.raw_session().run(b))
            while not session.should_stop():
                show(*session.run([train, loss, twice])[1:])
            show(session.run_step_fn(lambda step_context: step_context.session.run(w)))
        queue = None
    with tf.Graph().as_default():
        queue = tf.train.range_input_producer(3, num_epochs=2, shuffle=False)
        number = queue.dequeue()
        with tf.train.MonitoredSession() as session:
            while not session.should_stop():
                show(session.run(number))
            print(-1)  # the end of the input leaves the block, so this is not printed
    for error in (KeyError, ValueError):
        with tf.Graph().as_default():
            tf.train.get_or_create_global_step()
            try:
                with tf.train.MonitoredTrainingSession() as session:
                    raise error("of the program")
            except error:
                print(2)


def supervised(tf, folder):
    for steps in (3, 5):
        with tf.Graph().as_default():
            w, b, loss, step, train = model(tf)
            tf.summary.scalar("loss", loss)
            supervisor = tf.train.Supervisor(logdir=folder, save_model_secs=0)
            calls = []
            with supervisor.managed_session() as session:
                supervisor.loop(0.01, lambda: calls.append(1))
                while not supervisor.should_stop():
                    _, value, now = session.run([train, loss, step])
                    show(value)
                    if session.run(step) >= steps:
                        supervisor.saver.save(session, supervisor.save_path, global_step=step)
                        break
            print(int(bool(calls)), int(supervisor.is_chief), int(supervisor.global_step.name == "global_step:0"))
            checkpoint(tf, tf.train.latest_checkpoint(folder))
    with tf.Graph().as_default():
        v = tf.Variable(1.0, use_resource=True)
        supervisor = tf.train.Supervisor(logdir=None, init_op=v.initializer)
        try:
            with supervisor.managed_session() as session:
                show(session.run(v))
                raise KeyError("of the program")
        except KeyError:
            print(3)


def run(tf):
    with tempfile.TemporaryDirectory() as folder:
        savers(tf, folder)
        monitored(tf, os.path.join(folder, "monitored"))
        singular(tf)
        supervised(tf, os.path.join(folder, "supervised"))
