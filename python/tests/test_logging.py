"""Log lines of sessions and hooks: they obey tf.logging, reach the logger's handlers, and have TensorFlow's form."""

import logging
import os
import re
import subprocess
import sys
import tempfile
import unittest

import tensorbraid as tf


class _Lines(logging.Handler):
    """A handler that keeps the logged lines."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(f"{record.levelname}:{record.getMessage()}")


def _train(directory, steps=6, **options):
    """Trains with the hooks that write log lines."""
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", [], initializer=tf.constant_initializer(5.0))
        loss = tf.square(w) + 0.5
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, step)
        hooks = [tf.train.StopAtStepHook(num_steps=steps),
                 tf.train.LoggingTensorHook({"step": step, "loss": loss}, every_n_iter=2)]
        with tf.train.MonitoredTrainingSession(checkpoint_dir=directory, hooks=hooks, save_checkpoint_steps=100,
                                               log_step_count_steps=3, **options) as session:
            while not session.should_stop():
                session.run(train)


class LoggerTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(tf.logging.set_verbosity, tf.logging.get_verbosity())
        self.handler = _Lines()
        logger = logging.getLogger("tensorflow")
        kept = logger.handlers[:]
        for handler in kept:
            logger.removeHandler(handler)
            self.addCleanup(logger.addHandler, handler)
        logger.addHandler(self.handler)
        self.addCleanup(logger.removeHandler, self.handler)
        self.directory = tempfile.mkdtemp()

    def test_lines_of_a_training_have_tensorflows_form_and_order(self):
        tf.logging.set_verbosity(tf.logging.INFO)
        _train(self.directory)
        path = os.path.join(self.directory, "model.ckpt")
        wanted = [
            "INFO:Create CheckpointSaverHook.", "INFO:Graph was finalized.", "INFO:Running local_init_op.",
            "INFO:Done running local_init_op.", f"INFO:Saving checkpoints for 0 into {path}.",
            r"INFO:loss = 25\.5, step = 0", r"INFO:loss = 23\.5592\d*, step = 2 \(\d+\.\d{3} sec\)",
            r"INFO:global_step/sec: \d+(\.\d+)?(e\+\d+)?", r"INFO:loss = 21\.769\d*, step = 4 \(\d+\.\d{3} sec\)",
            f"INFO:Saving checkpoints for 6 into {path}."]
        rest = iter(self.handler.lines)
        for pattern in wanted:  # in this order
            self.assertTrue(any(re.fullmatch(pattern, line) for line in rest), (pattern, self.handler.lines))

        del self.handler.lines[:]
        _train(self.directory, steps=1)
        self.assertIn(f"INFO:Restoring parameters from {path}-6", self.handler.lines)

    def test_the_level_holds_for_them(self):
        for level in (tf.logging.WARN, tf.logging.ERROR):
            tf.logging.set_verbosity(level)
            _train(self.directory, steps=2)
            server = tf.train.Server.create_local_server()
            tf.Session(server.target, graph=tf.Graph()).close()
            self.assertEqual(self.handler.lines, [])

    def test_lines_of_a_server_reach_the_handlers(self):
        tf.logging.set_verbosity(tf.logging.INFO)
        tf.train.Server.create_local_server()
        self.assertRegex("\n".join(self.handler.lines), "INFO:cluster: .* listens on ")

    def test_an_evaluation_does_not_end_the_training(self):
        tf.logging.set_verbosity(tf.logging.INFO)
        with tf.Graph().as_default():
            value = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()
            with tf.train.MonitoredSession() as session:
                while not session.should_stop():
                    session.run(value)
        self.assertNotRegex("\n".join(self.handler.lines), "training has ended")

    def test_a_formatter_makes_the_line(self):
        tf.logging.set_verbosity(tf.logging.INFO)
        with tf.Graph().as_default():
            x = tf.constant(3, name="x")
            hook = tf.train.LoggingTensorHook({"x": x}, every_n_iter=1, formatter=lambda values: f"<{values['x']}>")
            with tf.train.MonitoredSession(hooks=[hook]) as session:
                session.run(x)
        # Only runs that train are logged.
        self.assertNotIn("INFO:loss", "\n".join(self.handler.lines))

    def test_a_handler_may_use_the_library(self):
        tf.logging.set_verbosity(tf.logging.INFO)
        values = []
        graph = tf.Graph()
        with graph.as_default():
            two = tf.constant(2)
        session = tf.Session(graph=graph)
        self.handler.emit = lambda record: values.append(session.run(two))
        _train(self.directory, steps=2)
        self.assertEqual(set(values), {2})

    def test_an_error_of_a_handler_ends_neither_the_step_nor_the_log(self):
        tf.logging.set_verbosity(tf.logging.INFO)
        calls, unraisable = [], []
        hook, sys.unraisablehook = sys.unraisablehook, unraisable.append
        self.addCleanup(setattr, sys, "unraisablehook", hook)

        def emit(record):
            calls.append(record)
            if record.pathname == "train":
                raise ValueError("a mistake of the handler")

        self.handler.emit = emit
        _train(self.directory, steps=2)
        self.assertGreater(len(calls), 3)
        self.assertTrue(unraisable)


def _run(program, **environment):
    """The lines about this package that a program writes to stderr."""
    environment = {**os.environ, **environment}
    done = subprocess.run([sys.executable, "-c", program], env=environment, stderr=subprocess.PIPE, text=True, check=True)
    return done.stderr


_SERVER = "import tensorbraid as tf; server = tf.train.Server.create_local_server(); "


class ProcessTest(unittest.TestCase):
    def test_without_a_level_only_lines_of_cpp_are_shown(self):
        text = _run(_SERVER + "s = tf.train.MonitoredTrainingSession(server.target, checkpoint_dir=None); s.close()")
        self.assertRegex(text, r"(?m)^I \d\d:\d\d:\d\d\.\d{3} .*cluster: .* listens on ")
        self.assertNotIn("local_init_op", text)

    def test_tensorflows_variable_hides_lines_of_cpp_and_no_others(self):
        training = ("tf.logging.set_verbosity(tf.logging.INFO); tf.Variable(1.0); "
                    "tf.train.MonitoredSession(tf.train.ChiefSessionCreator(master=server.target)).close()")
        for level, shown in (("0", True), ("1", False), ("3", False)):
            text = _run(_SERVER + training, TF_CPP_MIN_LOG_LEVEL=level)
            self.assertEqual("listens on" in text, shown, text)
            self.assertIn("INFO:tensorflow:Done running local_init_op.", text)

    def test_the_librarys_own_variable_has_priority(self):
        text = _run(_SERVER, TF_CPP_MIN_LOG_LEVEL="3", TENSORBRAID_LOG="info")
        self.assertIn("listens on", text)
        text = _run("import tensorbraid as tf; tf.Variable(1.0); tf.train.MonitoredSession().close()",
                    TENSORBRAID_LOG="info")
        self.assertIn("INFO:tensorflow:Done running local_init_op.", text)

    def test_no_line_is_lost_at_the_end(self):
        program = """
import logging, os, tempfile, tensorbraid as tf
path = os.path.join(tempfile.mkdtemp(), "log")
tf.logging.set_verbosity(tf.logging.INFO)
logging.getLogger("tensorflow").addHandler(logging.FileHandler(path))
server = tf.train.Server.create_local_server()
print(path)
"""
        done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=True)
        with open(done.stdout.strip()) as log:
            self.assertIn("listens on", log.read())
        self.assertIn("listens on", done.stderr)

    def test_a_forked_process_logs(self):
        program = """
import os, tensorbraid as tf
tf.logging.set_verbosity(tf.logging.INFO)
def work(name):
    with tf.Graph().as_default():
        tf.Variable(1.0, name=name)
        tf.train.MonitoredSession().close()
work("parent")
child = os.fork()
if child == 0:
    work("child")
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
        self.assertEqual(_run(program).count("Done running local_init_op."), 2)


if __name__ == "__main__":
    unittest.main()
