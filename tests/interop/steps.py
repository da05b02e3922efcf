"""Runs the steps of a program and records their results. Compares two records."""
import re

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1

# The relative and the absolute difference that two results with this dtype may have.
TOLERANCES = {"float16": (4e-3, 4e-3), "bfloat16": (3e-2, 3e-2), "float32": (2e-5, 1e-6), "complex64": (2e-5, 1e-6),
              "float64": (1e-9, 1e-12), "complex128": (1e-9, 1e-12)}
# A step that takes longer than this counts as hung.
STEP_TIMEOUT_MS = 20000
# How many rows run in one step if it is not known which of them fail.
ROWS_PER_STEP = 8


class Steps:
    """Runs a program's steps in a session and records their values or errors. Without a target, it is the reference: a
    plain TensorFlow session. `expected` has the records of the same program in another session, or is None."""

    def __init__(self, target, graph, config=None, expected=None):
        self.target = target
        self.records = []
        self._expected = expected
        self._graph = graph
        self._session = None
        self._config = tf1.ConfigProto(operation_timeout_in_ms=STEP_TIMEOUT_MS, allow_soft_placement=not target)
        if not target:
            # The rewrites of TensorFlow's optimizer hide some errors (a Reshape to [-1, -1]) and cause others (OnesLike
            # of uint32).
            self._config.graph_options.rewrite_options.disable_meta_optimizer = True
        if config is not None:
            self._config.MergeFrom(config)

    @property
    def is_reference(self):
        return not self.target

    @property
    def ps(self):
        return "/job:ps/task:0" if self.target else "/cpu:0"

    def worker(self, index):
        return f"/job:worker/task:{index}" if self.target else "/cpu:0"

    def cpu(self, index):
        """One of the four CPU devices of worker 0. For the reference, the program must have a `config` with four."""
        return f"/job:worker/task:0/cpu:{index}" if self.target else f"/cpu:{index}"

    @property
    def setter(self):
        """A device function for a whole model: variables on the parameter server, the rest on worker 0."""
        return tf1.train.replica_device_setter(ps_tasks=1, ps_device="/job:ps" if self.target else "/cpu:0",
                                               worker_device=self.worker(0))

    @property
    def session(self):
        if self._session is None:
            self._session = tf1.Session(self.target, graph=self._graph, config=self._config)
        return self._session

    def run(self, fetches, feed_dict=None, tolerance=None, options=None, shape_only=False, reduce=None, text=None):
        """Runs a step. Records and returns its values; after an error, records the kind of the error and returns None.
        `text` is a regular expression that must match a part of the error message in both runs. With `shape_only`, only
        shapes and dtypes are compared, because the values are random. `reduce` turns the values into those that are
        recorded."""
        try:
            values = self.session.run(fetches, feed_dict, options=options)
        except (tf.errors.OpError, TypeError, ValueError, RuntimeError) as e:
            if text is not None and not re.search(text, str(e)):
                raise AssertionError(f"no '{text}' in: {e}") from e
            self.records.append(("error", type(e).__name__, str(e)))
            return None
        if text is not None:
            raise AssertionError(f"no error with '{text}'")
        self.record(values if reduce is None else reduce(values), tolerance, shape_only)
        return values

    def run_together(self, rows):
        """Records the same as a call of run(fetches, tolerance=tolerance) for each (fetches, tolerance) of `rows`.
        Runs many rows in one step, which takes much less time. Rows that are expected to fail run in steps of their own,
        and so do all rows of a step that fails."""
        count = ROWS_PER_STEP if self._expected is None else len(rows)
        for first in range(0, len(rows), count or 1):
            self._run_in_one_step(rows[first:first + count])

    def _run_in_one_step(self, rows):
        expected = (self._expected or [])[len(self.records):][:len(rows)]
        fails = [r[0] == "error" for r in expected] + [False] * (len(rows) - len(expected))
        try:
            values = iter(self.session.run([fetches for (fetches, _), fail in zip(rows, fails) if not fail]))
        except (tf.errors.OpError, TypeError, ValueError, RuntimeError):
            fails = [True] * len(rows)
        for (fetches, tolerance), fail in zip(rows, fails):
            if fail:
                self.run(fetches, tolerance=tolerance)
            else:
                self.record(next(values), tolerance)

    def init(self):
        """Runs the initializers of all variables and tables."""
        return self.run([tf1.global_variables_initializer(), tf1.local_variables_initializer(),
                         tf1.tables_initializer()])

    def record(self, value, tolerance=None, shape_only=False):
        flat = [np.asarray(v) if not isinstance(v, (str, bytes, type(None))) else v
                for v in tf.nest.flatten(value, expand_composites=True)]
        self.records.append(("values", flat, tolerance, shape_only))

    def close(self):
        if self._session is not None:
            self._session.close()


def _differ(ours, theirs, tolerance, shape_only):
    """Why two results differ, or None."""
    if isinstance(ours, (str, bytes, type(None))) or isinstance(theirs, (str, bytes, type(None))):
        return None if ours == theirs else f"{ours!r} instead of {theirs!r}"
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return f"{ours.dtype}{list(ours.shape)} instead of {theirs.dtype}{list(theirs.shape)}"
    if shape_only:
        return None
    if ours.dtype.name in TOLERANCES:
        rtol, atol = TOLERANCES[ours.dtype.name] if tolerance is None else (tolerance, tolerance)
        wide = np.complex128 if ours.dtype.kind == "c" else np.float64
        same = np.isclose(ours.astype(wide), theirs.astype(wide), rtol=rtol, atol=atol, equal_nan=True)
    else:
        same = ours == theirs
    if np.all(same):
        return None
    return f"{_short(ours)} instead of {_short(theirs)}"


def _short(a):
    text = np.array2string(a, threshold=20, precision=8)
    return text if len(text) < 400 else text[:400] + "..."


def compare(ours, theirs):
    """The first difference between two records, or None."""
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if a[0] != b[0]:
            what = a[1:] if a[0] == "error" else [_short(v) if isinstance(v, np.ndarray) else v for v in a[1]]
            want = b[1:] if b[0] == "error" else [_short(v) if isinstance(v, np.ndarray) else v for v in b[1]]
            return f"step {i}: ours gave {a[0]} {what}\n    TensorFlow gave {b[0]} {want}"
        if a[0] == "error":
            if a[1] != b[1]:
                return f"step {i}: ours failed with {a[1]}: {a[2]}\n    TensorFlow with {b[1]}: {b[2]}"
            continue
        if len(a[1]) != len(b[1]):
            return f"step {i}: {len(a[1])} values instead of {len(b[1])}"
        for j, (x, y) in enumerate(zip(a[1], b[1])):
            difference = _differ(x, y, b[2], b[3])
            if difference is not None:
                return f"step {i}, value {j}: {difference}"
    if len(ours) != len(theirs):
        return f"{len(ours)} steps instead of {len(theirs)}"
    return None
