"""The rows of tests/ops/cases as programs: some rows of a file run in one session, with the gradient of each where
there is one."""
import glob
import importlib.util
import os
import sys

import tensorflow as tf
from tensorflow.python.eager import context

from decompositions import AMBIGUOUS, unambiguous

OPS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "ops")
sys.path.insert(0, OPS)
from make_references import Table, apply, apply_to_variables, fed_by  # pylint: disable=wrong-import-position

tf1 = tf.compat.v1
ROWS_PER_PROGRAM = 40


class _Collector:
    """Stands in for make_references.Table: keeps the rows as they were written."""

    tensorflow = staticmethod(Table.tensorflow)  # for inputs that are results of other ops

    def __init__(self):
        self.rows = []

    def case(self, op, *inputs, gradient=None, expected=None, tolerance=None, **attrs):
        if expected is None:  # where we differ from TensorFlow on purpose there is nothing to compare
            self.rows.append((op, inputs, attrs, gradient, tolerance))

    def state(self, op, *inputs, tolerance=None, **attrs):
        self.rows.append((op, inputs, attrs, "variables", tolerance))


def _run_with_variables(s, op, inputs, attrs, tolerance):
    with tf.device(s.ps):
        feeds = {}
        try:
            initializers, add, reads = apply_to_variables(op, inputs, attrs)
            result = add()
        except ValueError:  # refused while building: see _run_fed
            try:
                initializers, add, reads = apply_to_variables(op, inputs, attrs, fed_by(feeds))
                result = add()
            except ValueError as e:  # the shape of a variable by reference is always known
                s.record(type(e).__name__)
                return
        s.run(initializers)
    s.run(result, feeds, tolerance=tolerance)
    if s.records[-1][0] != "error":  # where TensorFlow may have stopped half way
        s.run(reads, tolerance=tolerance)


def _run_fed(s, op, inputs, attrs, tolerance):
    """Runs a row that TensorFlow's client refuses while it builds the graph. Without values and shapes the client cannot
    tell what is wrong, so the server must."""
    feeds = {}
    try:
        results, _ = apply(op, inputs, attrs, fed_by(feeds))
    except (ValueError, TypeError) as e:  # an attribute is wrong: there is nothing to send
        s.record(type(e).__name__)
        return
    s.run(results, feeds, tolerance=tolerance)


def _program(rows):
    def run(s):
        for op, inputs, attrs, gradient, tolerance in rows:
            if gradient == "variables":
                _run_with_variables(s, op, inputs, attrs, tolerance)
                continue
            try:
                results, flat = apply(op, inputs, attrs)
                if gradient is not None:
                    ys = [r for r in results if isinstance(r, tf.Tensor) and r.dtype == tf.float64]
                    grads = tf1.gradients(ys, [flat[i] for i in gradient])
                    results = results + [g for g in grads if g is not None]
            except (ValueError, TypeError):
                _run_fed(s, op, inputs, attrs, tolerance)
                continue
            except LookupError:  # no gradient is registered for it
                pass
            if op in AMBIGUOUS and gradient is None:
                s.run(results, reduce=lambda values, op=op: unambiguous(op, values), tolerance=tolerance)
            else:
                s.run(results, tolerance=tolerance)
    return run


def files():
    return sorted(os.path.basename(path)[:-3] for path in glob.glob(f"{OPS}/cases/*.py"))


def programs(file):
    """[(name, function)] of the rows of tests/ops/cases/`file`.py."""
    spec = importlib.util.spec_from_file_location(f"cases_{file}", f"{OPS}/cases/{file}.py")
    module = importlib.util.module_from_spec(spec)
    collector = _Collector()
    with context.eager_mode():  # rows may compute their inputs with TensorFlow
        spec.loader.exec_module(module)
        module.add_cases(collector)
    rows = collector.rows
    return [(f"{file}_{i // ROWS_PER_PROGRAM}", _program(rows[i:i + ROWS_PER_PROGRAM]))
            for i in range(0, len(rows), ROWS_PER_PROGRAM)]
