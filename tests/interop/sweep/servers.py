"""Runs a program on a cluster."""
import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import function

from sweep.program import source

TIMEOUT_MS = 20000
_TASKS = {"P0": "/job:ps/task:0", "P1": "/job:ps/task:1", "W0": "/job:worker/task:0", "W1": "/job:worker/task:1"}


class Built:
    """The graph of a program's text. It can run on several clusters."""

    def __init__(self, text):
        scope = {"tf": tf, "np": np, "function": function, "__name__": "sweep", **_TASKS}
        self.graph = tf.Graph()
        with self.graph.as_default():
            exec(compile(text, "<program>", "exec"), scope)  # pylint: disable=exec-used
            self._results, self._feeds, self._variables = scope["build"]()
            self._initializer = tf.global_variables_initializer()
        self._steps = scope["STEPS"]
        self.expected = scope.get("EXPECTED")

    def run(self, target, timeout_ms=TIMEOUT_MS):
        """Runs the program. Returns the values of each step, and at last the values of the variables. After an error,
        returns its text."""
        config = tf.ConfigProto(isolate_session_state=True, operation_timeout_in_ms=timeout_ms)
        # TensorFlow's rewrites may copy a tensor that otherwise shares the buffer of a variable.
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        try:
            with tf.Session(target, graph=self.graph, config=config) as session:
                session.run(self._initializer)
                values = [session.run([self._results[n] for n in names], self._feeds) for names in self._steps]
                return values + [session.run(self._variables)]
        except tf.errors.OpError as e:
            return f"{type(e).__name__}: {e.message}"


def build(program):
    return Built(source(program))


def difference(values, expected):
    """The first difference between the values of a run and the expected values, or None. `expected` may have only the
    first rows of long values."""
    if isinstance(values, str):
        return values
    for step, (xs, ys) in enumerate(zip(values, expected)):
        for i, (x, y) in enumerate(zip(xs, ys)):
            if y is not None and not np.array_equal(x[:len(y)], y):
                where = f"step {step}" if step + 1 < len(values) else "the variables"
                return f"value {i} of {where} is {x[:8]} instead of {np.asarray(y)[:8]}"
    return None
