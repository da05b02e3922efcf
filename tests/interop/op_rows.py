"""The rows of tests/ops/cases as programs: some rows of a file run in one session, with the gradient of each where
there is one. With `apart` the inputs of a node come from another task."""
import functools
import glob
import importlib.util
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import op_def_registry

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

    def case(self, op, *inputs, gradient=None, tf_gradient=None, grad_ys=None, expected=None, tolerance=None, **attrs):
        if expected is None:  # where we differ from TensorFlow on purpose there is nothing to compare
            gradient = gradient if tf_gradient is None else tf_gradient
            self.rows.append((op, inputs, attrs, gradient, grad_ys, tolerance))

    def state(self, op, *inputs, tolerance=None, **attrs):
        self.rows.append((op, inputs, attrs, "variables", None, tolerance))


def _constants_on(device):
    """Makes inputs on this device. The placeholder after each constant keeps it there, because a constant alone may be
    made on any device."""
    def make(value):
        with tf.device(device):
            constant = tf.constant(value)
            return tf.raw_ops.PlaceholderWithDefault(input=constant, shape=constant.shape)
    return make


# Each of the functions below builds the nodes of a row. It returns a function that runs them, or a tuple for
# Steps.run_together.


def _with_variables(s, op, inputs, attrs, tolerance, apart):
    with tf.device(s.ps):
        feeds = {}
        try:
            make = _constants_on(s.worker(1)) if apart else tf.constant
            initializers, add, reads = apply_to_variables(op, inputs, attrs, make, known_shapes=True)
            result = add()
        except ValueError:  # refused while building: see _fed
            try:
                initializers, add, reads = apply_to_variables(op, inputs, attrs, fed_by(feeds), known_shapes=False)
                result = add()
            except ValueError as e:  # the shape of a variable by reference is always known
                refusal = type(e).__name__
                return lambda: s.record(refusal)

    def run():
        s.run(initializers)
        s.run(result, feeds, tolerance=tolerance)
        if s.records[-1][0] != "error":  # after an error, TensorFlow may have done a part of the update
            s.run(reads, tolerance=tolerance)
    return run


def _fed(s, op, inputs, attrs, tolerance):
    """For a row that TensorFlow's client refuses while it builds the graph. Here the client knows neither values nor
    shapes, so it cannot find the error, and the server must."""
    feeds = {}
    try:
        results, _ = apply(op, inputs, attrs, fed_by(feeds))
    except (ValueError, TypeError) as e:  # an attribute is wrong: there is nothing to send
        refusal = type(e).__name__
        return lambda: s.record(refusal)
    return lambda: s.run(results, feeds, tolerance=tolerance)


def _weights(y):
    """A constant gradient for a result."""
    return tf.fill(tf.shape(y), tf.cast(0.7 - 0.4j if y.dtype.is_complex else 0.7, y.dtype))


def _gradients(results, xs, grad_ys):
    """The gradients for xs. Without grad_ys, all results that can have a gradient get one, otherwise those with a value
    in grad_ys."""
    if grad_ys is None:
        ys = [r for r in results if isinstance(r, tf.Tensor) and (r.dtype.is_floating or r.dtype.is_complex)]
        grad_ys = [_weights(y) for y in ys]
    else:
        ys = [r for r, g in zip(results, grad_ys) if g is not None]
        grad_ys = [tf.constant(g) for g in grad_ys if g is not None]
    return [g for g in tf1.gradients(ys, xs, grad_ys) if g is not None]


def _has_vectors(grad_ys):
    """Whether the vectors of a decomposition get gradients. The gradients of the matrix are then as ambiguous as the
    vectors."""
    return grad_ys is None or any(g is not None and np.any(g) for g in grad_ys[1:])


def _from_constants(s, op, inputs, attrs, gradient, grad_ys, tolerance, apart):
    ambiguous = op in AMBIGUOUS
    gradients = []
    try:
        with tf.device(s.worker(0) if apart else None):
            results, flat = apply(op, inputs, attrs, _constants_on(s.ps) if apart else tf.constant)
        if gradient is not None and not (ambiguous and _has_vectors(grad_ys)):
            gradients = _gradients(results, [flat[i] for i in gradient], grad_ys)
    except (ValueError, TypeError):
        return _fed(s, op, inputs, attrs, tolerance)
    except LookupError:  # no gradient is registered for it
        pass
    if not ambiguous:
        if not op_def_registry.get(op).is_stateful:
            return results + gradients, tolerance
        # A step of several rows that fails may have changed the state that these rows find when they run again.
        return lambda: s.run(results + gradients, tolerance=tolerance)

    def run():
        s.run(results, reduce=lambda values: unambiguous(op, values), tolerance=tolerance)
        if gradients:
            s.run(gradients, tolerance=tolerance)
    return run


def _program(rows, apart):
    def run(s):
        # All rows are built before the first one runs, because a session has to process the whole graph again when it
        # has grown.
        steps = []
        for op, inputs, attrs, gradient, grad_ys, tolerance in rows:
            if gradient == "variables":
                steps.append(_with_variables(s, op, inputs, attrs, tolerance, apart))
            else:
                steps.append(_from_constants(s, op, inputs, attrs, gradient, grad_ys, tolerance, apart))
        if s.run(tf.constant(1.0)) is None:  # a node that sessions refuse would make all rows fail alike
            raise AssertionError(f"the graph of these rows cannot run: {s.records[-1][2]}")
        s.run_together([step for step in steps if isinstance(step, tuple)])
        for step in steps:
            if not isinstance(step, tuple):
                step()
    return run


def files():
    return sorted(os.path.basename(path)[:-3] for path in glob.glob(f"{OPS}/cases/*.py"))


@functools.cache
def _rows(file):
    spec = importlib.util.spec_from_file_location(f"cases_{file}", f"{OPS}/cases/{file}.py")
    module = importlib.util.module_from_spec(spec)
    collector = _Collector()
    with context.eager_mode():  # rows may compute their inputs with TensorFlow
        spec.loader.exec_module(module)
        module.add_cases(collector)
    return collector.rows


def programs(file, apart):
    """[(name, function)] of the rows of tests/ops/cases/`file`.py."""
    rows = _rows(file)
    return [(f"{file}_{i // ROWS_PER_PROGRAM}", _program(rows[i:i + ROWS_PER_PROGRAM], apart))
            for i in range(0, len(rows), ROWS_PER_PROGRAM)]
