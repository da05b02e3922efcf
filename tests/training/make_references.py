"""Writes references/*.jsonl: what TensorFlow computes for optimizers, schedules, initializers, clipping, averages,
recurrent layers and other layers.

Run in a venv with `pip install tensorflow-cpu tf-keras`, and commit what it writes. The names of files as arguments
write only these. A build does not need Python. See README.md.
"""
import json
import os
import sys

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
v1.disable_eager_execution()
v1.disable_control_flow_v2()  # its gradients fail here: while_grad connects to outputs that the loop does not have
STEPS = 20


def numbers(array):
    """The elements of an array. A float32 value becomes the shortest decimal number that reads back as the same
    value."""
    return [float(str(x)) for x in np.asarray(array).ravel()]


def write(name, rows):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "references", name + ".jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
    print(f"{path}: {len(rows)} rows")


def optimizer_row(name, make, start, targets, options):
    """A row with the values of a variable after each step of an optimizer towards a moving target."""
    with tf.Graph().as_default():
        step = v1.train.get_or_create_global_step()
        w = v1.get_variable("w", initializer=tf.constant(start), use_resource=True)
        target = v1.placeholder(tf.float32, start.shape)
        loss = tf.reduce_sum(tf.square(w - target))
        train = make(step, options).minimize(loss, global_step=step)
        values = []
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for t in targets:
                session.run(train, {target: t})
                values.append(numbers(session.run(w)))
    return {"optimizer": name, "options": options, "start": numbers(start),
            "targets": [numbers(t) for t in targets], "values": values}


def optimizers():
    start = np.array([1.0, -2.0, 0.5, 0.0, 3.0], np.float32)
    targets = [np.array([3, 1, -1, 0.25, 3], np.float32) + np.sin(np.arange(5) * 3 + k * 7).astype(np.float32)
               for k in range(STEPS)]
    t = v1.train
    kinds = {
        "GradientDescent": (lambda step, o: t.GradientDescentOptimizer(**o), [{"learning_rate": 0.1}]),
        "Momentum": (lambda step, o: t.MomentumOptimizer(**o),
                     [{"learning_rate": 0.05, "momentum": 0.9},
                      {"learning_rate": 0.05, "momentum": 0.9, "use_nesterov": True}]),
        "Adagrad": (lambda step, o: t.AdagradOptimizer(**o),
                    [{"learning_rate": 0.5}, {"learning_rate": 0.3, "initial_accumulator_value": 1.0}]),
        "AdagradDA": (lambda step, o: t.AdagradDAOptimizer(global_step=step, **o),
                      [{"learning_rate": 0.5},
                       {"learning_rate": 0.5, "initial_gradient_squared_accumulator_value": 0.5,
                        "l1_regularization_strength": 0.1, "l2_regularization_strength": 0.05}]),
        "Adadelta": (lambda step, o: t.AdadeltaOptimizer(**o),
                     [{"learning_rate": 1.0}, {"learning_rate": 0.5, "rho": 0.8, "epsilon": 0.0001}]),
        "Adam": (lambda step, o: t.AdamOptimizer(**o),
                 [{"learning_rate": 0.1}, {"learning_rate": 0.1, "beta1": 0.8, "beta2": 0.9, "epsilon": 0.01}]),
        "RMSProp": (lambda step, o: t.RMSPropOptimizer(**o),
                    [{"learning_rate": 0.1},
                     {"learning_rate": 0.1, "decay": 0.8, "momentum": 0.5, "epsilon": 0.01},
                     {"learning_rate": 0.1, "decay": 0.8, "momentum": 0.5, "epsilon": 0.01, "centered": True}]),
        "Ftrl": (lambda step, o: t.FtrlOptimizer(**o),
                 [{"learning_rate": 0.5},
                  {"learning_rate": 0.5, "learning_rate_power": -0.6, "initial_accumulator_value": 0.2,
                   "l1_regularization_strength": 0.1, "l2_regularization_strength": 0.2},
                  {"learning_rate": 0.5, "l1_regularization_strength": 0.1,
                   "l2_shrinkage_regularization_strength": 0.05}]),
        "ProximalGradientDescent": (lambda step, o: t.ProximalGradientDescentOptimizer(**o),
                                    [{"learning_rate": 0.1},
                                     {"learning_rate": 0.1, "l1_regularization_strength": 0.5,
                                      "l2_regularization_strength": 0.2}]),
        "ProximalAdagrad": (lambda step, o: t.ProximalAdagradOptimizer(**o),
                            [{"learning_rate": 0.5},
                             {"learning_rate": 0.5, "initial_accumulator_value": 0.3,
                              "l1_regularization_strength": 0.5, "l2_regularization_strength": 0.2}]),
    }
    return [optimizer_row(name, make, start, targets, options)
            for name, (make, all_options) in kinds.items() for options in all_options]


def schedules():
    t = v1.train
    steps = [0, 1, 2, 5, 9, 10, 11, 20, 25, 29, 30, 31, 69, 70, 71, 100, 1000]
    kinds = {
        "exponential": (t.exponential_decay, [{"decay_rate": 0.8}, {"decay_rate": 0.8, "staircase": True}]),
        "natural_exp": (t.natural_exp_decay, [{"decay_rate": 0.3}, {"decay_rate": 0.3, "staircase": True}]),
        "inverse_time": (t.inverse_time_decay, [{"decay_rate": 0.5}, {"decay_rate": 0.5, "staircase": True}]),
        "polynomial": (t.polynomial_decay,
                       [{}, {"end_learning_rate": 0.01, "power": 2.0},
                        {"end_learning_rate": 0.01, "power": 0.5, "cycle": True}]),
        "cosine": (t.cosine_decay, [{}, {"alpha": 0.1}]),
        "cosine_restarts": (t.cosine_decay_restarts,
                            [{}, {"t_mul": 1.0, "m_mul": 0.9}, {"t_mul": 2.0, "m_mul": 0.5, "alpha": 0.2}]),
        "linear_cosine": (t.linear_cosine_decay, [{}, {"num_periods": 2.0, "alpha": 0.1, "beta": 0.01}]),
        # Without noise, since the schedule's seed cannot be set in TensorFlow.
        "noisy_linear_cosine": (t.noisy_linear_cosine_decay,
                                [{"initial_variance": 0.0, "num_periods": 2.0, "alpha": 0.1, "beta": 0.01}]),
    }
    rows = []
    for name, (make, all_options) in kinds.items():
        for options in all_options:
            with tf.Graph().as_default():
                step = v1.placeholder(tf.int64, [])
                rate = make(0.5, step, 10, **options)
                with v1.Session() as session:
                    values = [float(str(session.run(rate, {step: s}))) for s in steps]
            rows.append({"schedule": name, "options": options, "steps": steps, "values": values})
    return rows + [piecewise_constant(steps)]


def piecewise_constant(steps):
    options = {"boundaries": [5, 25, 70], "values": [0.5, 0.25, 0.75, 0.1]}
    with tf.Graph().as_default():
        step = v1.placeholder(tf.int64, [])
        rate = v1.train.piecewise_constant(step, **options)
        with v1.Session() as session:
            values = [float(str(session.run(rate, {step: s}))) for s in steps]
    return {"schedule": "piecewise_constant", "options": options, "steps": steps, "values": values}


def initializers():
    i = v1.initializers
    kinds = [
        ("random_uniform", v1.random_uniform_initializer, {"minval": -0.3, "maxval": 0.7}, [3, 4]),
        ("random_normal", v1.random_normal_initializer, {"mean": 1.0, "stddev": 0.5}, [3, 4]),
        ("truncated_normal", v1.truncated_normal_initializer, {"mean": 1.0, "stddev": 0.5}, [3, 4]),
        ("glorot_uniform", v1.glorot_uniform_initializer, {}, [3, 4]),
        ("glorot_uniform", v1.glorot_uniform_initializer, {}, [2, 2, 3, 4]),
        ("glorot_uniform", v1.glorot_uniform_initializer, {}, [7]),
        ("glorot_normal", v1.glorot_normal_initializer, {}, [3, 4]),
        ("he_uniform", i.he_uniform, {}, [2, 2, 3, 4]),
        ("he_normal", i.he_normal, {}, [3, 4]),
        ("lecun_uniform", i.lecun_uniform, {}, [3, 4]),
        ("lecun_normal", i.lecun_normal, {}, [3, 4]),
        ("variance_scaling", v1.variance_scaling_initializer,
         {"scale": 3.0, "mode": "fan_out", "distribution": "untruncated_normal"}, [3, 4]),
        ("variance_scaling", v1.variance_scaling_initializer,
         {"scale": 0.5, "mode": "fan_avg", "distribution": "uniform"}, [5, 2]),
        ("orthogonal", v1.orthogonal_initializer, {"gain": 1.5}, [4, 3]),
        ("orthogonal", v1.orthogonal_initializer, {}, [2, 2, 5]),
        ("orthogonal", v1.orthogonal_initializer, {}, [3, 2, 4]),
        ("identity", i.identity, {"gain": 2.0}, [2, 3]),
    ]
    rows = []
    for name, make, options, shape in kinds:
        for graph_seed in (0, 17):
            if name == "identity" and graph_seed != 0:
                continue
            seed = {} if name == "identity" else {"seed": 5}
            with tf.Graph().as_default():
                if graph_seed != 0:
                    v1.set_random_seed(graph_seed)
                value = make(**options, **seed)(shape, dtype=tf.float32)
                with v1.Session() as session:
                    values = numbers(session.run(value))
            rows.append({"initializer": name, "options": options, "graph_seed": graph_seed, "seed": 5, "shape": shape,
                         "values": values})
    return rows


def clipping():
    tensors = [np.array([3.0, -4.0, 0.5], np.float32), np.array([[1.0, 2.0], [-0.25, 8.0]], np.float32)]
    rows = []

    def add(kind, arguments, given, outputs):
        with v1.Session() as session:
            values = [numbers(v) for v in session.run(outputs)]
        rows.append({"clip": kind, "arguments": arguments, "tensors": [numbers(t) for t in given],
                     "shapes": [list(t.shape) for t in given], "values": values})

    with tf.Graph().as_default():
        for low, high in ((-1.0, 2.0), (0.0, 100.0)):
            add("value", [low, high], tensors, [tf.clip_by_value(t, low, high) for t in tensors])
        zeros = [np.zeros(3, np.float32)]
        for norm in (2.0, 5.0, 1000.0):
            add("norm", [norm], tensors + zeros, [tf.clip_by_norm(t, norm) for t in tensors + zeros])
            add("global_norm", [norm], tensors, list(tf.clip_by_global_norm(tensors, norm)[0]) +
                [tf.linalg.global_norm(tensors)])
        add("norm_of_rows", [2.0], tensors[1:], [tf.clip_by_norm(tensors[1], 2.0, axes=[1])])
        infinite = [np.array([np.inf, 1.0], np.float32)]
        with v1.Session() as session:
            assert np.isnan(session.run(tf.clip_by_global_norm(infinite, 1.0)[0][0])).all()
    return rows


def averages():
    rows = []
    inputs = [np.array([np.sin(k), k], np.float32) for k in range(STEPS)]
    for options in ({"decay": 0.9}, {"decay": 0.99, "num_updates": True}, {"decay": 0.9, "zero_debias": True}):
        with tf.Graph().as_default():
            fed = v1.placeholder(tf.float32, [2])
            n = v1.get_variable("n", initializer=np.int64(0), use_resource=True)
            w = v1.get_variable("w", initializer=tf.constant([1.0, 2.0]), use_resource=True)
            ema = tf.train.ExponentialMovingAverage(
                options["decay"], num_updates=n if "num_updates" in options else None,
                zero_debias=options.get("zero_debias", False))
            with tf.control_dependencies([v1.assign(w, fed), v1.assign_add(n, 1)]):
                tensor = tf.identity(fed * 2.0, name="twice")
                apply = ema.apply([w, tensor])
            of_variable, of_tensor, name = ema.average(w), ema.average(tensor), ema.average_name(w)
            values = []
            with v1.Session() as session:
                session.run(v1.global_variables_initializer())
                for x in inputs:
                    session.run(apply, {fed: x})
                    values.append([numbers(v) for v in session.run([of_variable, of_tensor])])
        rows.append({"options": options, "name": name, "inputs": [numbers(x) for x in inputs], "values": values})
    return rows


class RecurrentCell:
    """The cells of tf.compat.v1.nn.rnn_cell, written again with the same variables, because the originals need Keras
    2."""
    STATES = {"lstm": 2, "gru": 1, "basic": 1}

    def __init__(self, kind, features, units, options=None):
        self.kind, self.features, self.units, self.options = kind, features, units, options or {}
        self.state_size = (units,) * 2 if kind == "lstm" else units
        self.output_size = units

    def zero_state(self, batch_size, dtype):
        zeros = lambda: tf.zeros(tf.stack([batch_size, self.units]), dtype)
        return (zeros(), zeros()) if self.kind == "lstm" else zeros()

    def __call__(self, x, state, scope=None):
        with v1.variable_scope(scope or self.kind + ("_rnn_cell" if self.kind == "basic" else "_cell")):
            return getattr(self, self.kind)(x, state)

    def variable(self, name, *shape):
        noise = np.random.RandomState(len(name) * 31 + shape[0]).uniform(-0.8, 0.8, shape)
        return v1.get_variable(name, shape, self.dtype, lambda *_, **__: tf.constant(noise, self.dtype), use_resource=True)

    def gates(self, x, h, columns):
        self.dtype = x.dtype
        kernel = self.variable("kernel", self.features + self.units, columns)
        return tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), kernel), self.variable("bias", columns))

    def basic(self, x, h):
        h = tf.tanh(self.gates(x, h, self.units))
        return h, h

    def gru(self, x, h):
        with v1.variable_scope("gates"):
            r, u = tf.split(tf.sigmoid(self.gates(x, h, 2 * self.units)), 2, 1)
        with v1.variable_scope("candidate"):
            c = tf.tanh(self.gates(x, r * h, self.units))
        h = u * h + (1 - u) * c
        return h, h

    def lstm(self, x, state):
        c, h = state
        i, j, f, o = tf.split(self.gates(x, h, 4 * self.units), 4, 1)
        f += self.options.get("forget_bias", 1.0)
        peepholes = self.options.get("use_peepholes", False)
        if peepholes:
            diagonals = {n: self.variable(f"w_{n}_diag", self.units) for n in "fio"}
            f, i = f + diagonals["f"] * c, i + diagonals["i"] * c
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(j)
        if "cell_clip" in self.options:
            c = tf.clip_by_value(c, -self.options["cell_clip"], self.options["cell_clip"])
        h = tf.sigmoid(o + diagonals["o"] * c if peepholes else o) * tf.tanh(c)
        return h, (c, h)


class RecurrentStack:
    def __init__(self, cells):
        self.cells = cells
        self.state_size = tuple(c.state_size for c in cells)
        self.output_size = cells[-1].output_size

    def zero_state(self, batch_size, dtype):
        return tuple(c.zero_state(batch_size, dtype) for c in self.cells)

    def __call__(self, x, states, scope=None):
        new = []
        with v1.variable_scope("multi_rnn_cell"):
            for i, (cell, state) in enumerate(zip(self.cells, states)):
                with v1.variable_scope(f"cell_{i}"):
                    x, state = cell(x, state)
                new.append(state)
        return x, tuple(new)


def recurrent_layers():
    batch, time, features, units = 3, 4, 2, 3
    clipped = {"forget_bias": 0.2, "cell_clip": 0.3, "use_peepholes": True}
    kinds = [([("lstm", {})], {}), ([("lstm", clipped)], {}), ([("gru", {})], {}), ([("basic", {})], {}),
             ([("lstm", {}), ("gru", {})], {}), ([("gru", {})], {"time_major": True}),
             ([("lstm", {})], {"initial_state": True}), ([("gru", {})], {"initial_state": True}),
             ([("lstm", {}), ("gru", {})], {"bidirectional": True})]
    rows = []
    for cells, options in kinds:
        for dtype in (np.float32, np.float64):
            for lengths in (None, [4, 0, 2]):
                random = np.random.RandomState(11)
                x_value = random.uniform(-1, 1, [batch, time, features]).astype(dtype)
                bidirectional = options.get("bidirectional", False)
                time_major = options.get("time_major", False)
                with tf.Graph().as_default():
                    x = tf.constant(x_value.transpose(1, 0, 2) if time_major else x_value)
                    sizes = [features] + ([features] if bidirectional else [units]) * (len(cells) - 1)
                    made = [RecurrentCell(kind, size, units, o) for (kind, o), size in zip(cells, sizes)]
                    given = {"sequence_length": lengths, "time_major": time_major}
                    initial = []
                    if options.get("initial_state"):
                        initial = [tf.constant(random.uniform(-1, 1, [batch, units]), dtype)
                                   for _ in range(RecurrentCell.STATES[cells[0][0]])]
                        given["initial_state"] = tuple(initial) if len(initial) > 1 else initial[0]
                    else:
                        given["dtype"] = dtype
                    if bidirectional:
                        outputs, state = v1.nn.bidirectional_dynamic_rnn(*made, x, **given)
                        outputs = tf.concat(outputs, 2)
                    else:
                        cell = made[0] if len(made) == 1 else RecurrentStack(made)
                        outputs, state = v1.nn.dynamic_rnn(cell, x, **given)
                    states = tf.nest.flatten(state)
                    loss = tf.reduce_sum(outputs * outputs / 2 + outputs) + sum(tf.reduce_sum(s * s) for s in states)
                    variables = v1.trainable_variables()
                    sources = [x] + initial + variables
                    with v1.Session() as session:
                        session.run(v1.global_variables_initializer())
                        results = session.run([outputs] + states + v1.gradients(loss, sources))
                        weights = {v.op.name: session.run(v) for v in variables}
                        start = session.run(initial)
                rows.append({"cells": [{"kind": k, "options": o} for k, o in cells], "options": options,
                             "dtype": np.dtype(dtype).name, "lengths": lengths, "units": units,
                             "x": {"shape": list(x.shape), "values": numbers(x_value.transpose(1, 0, 2) if time_major else x_value)},
                             "initial_state": [numbers(s) for s in start],
                             "variables": [{"name": n, "shape": list(w.shape), "values": numbers(w)} for n, w in weights.items()],
                             "results": [numbers(r) for r in results]})
    return rows


LAYERS = [
    ("dense", {"units": 3}, [4, 5]),
    ("dense", {"units": 2, "activation": "relu", "use_bias": False}, [2, 3, 4]),
    ("dense", {"units": 3, "activation": "tanh"}, [2, 3]),
    ("conv1d", {"filters": 2, "kernel_size": [3], "strides": [2], "padding": "same"}, [2, 7, 3]),
    ("conv2d", {"filters": 3, "kernel_size": [3, 2], "padding": "valid", "activation": "relu"}, [2, 5, 4, 2]),
    ("conv2d", {"filters": 2, "kernel_size": [2, 2], "padding": "same", "dilation_rate": [2, 2], "use_bias": False},
     [1, 5, 5, 2]),
    ("conv3d", {"filters": 2, "kernel_size": [2, 2, 2], "padding": "same", "strides": [1, 2, 1]}, [1, 3, 4, 3, 2]),
    ("conv2d_transpose", {"filters": 3, "kernel_size": [3, 3], "strides": [2, 2], "padding": "same"}, [1, 3, 3, 2]),
    ("separable_conv2d", {"filters": 3, "kernel_size": [2, 3], "padding": "same", "depth_multiplier": 2}, [1, 4, 4, 2]),
    ("batch_normalization", {"training": True}, [4, 3]),
    ("batch_normalization", {"training": False}, [4, 3]),
    ("batch_normalization", {"training": True, "momentum": 0.9, "epsilon": 0.01}, [2, 3, 3, 2]),
    ("batch_normalization", {"training": True, "center": False, "scale": False}, [5, 2]),
    ("batch_normalization", {"training": True, "axis": 1}, [2, 3, 4]),
    ("dropout", {"rate": 0.4, "training": True, "seed": 5}, [4, 6]),
    ("dropout", {"rate": 0.4, "training": False}, [2, 3]),
    ("dropout", {"rate": 0.5, "training": True, "seed": 7, "noise_shape": [3, 1, 4]}, [3, 2, 4]),
]


def layers():
    rows = []
    for number, (kind, options, shape) in enumerate(LAYERS):
        random = np.random.RandomState(number)
        x_value = random.uniform(-1, 1, shape).astype(np.float32)
        with tf.Graph().as_default():
            v1.get_variable_scope().set_use_resource(True)
            x = tf.constant(x_value)
            given = dict(options)
            if "activation" in given:
                given["activation"] = getattr(tf.nn, given["activation"])
            y = getattr(v1.layers, kind)(x, **given)
            variables, trained = v1.global_variables(), v1.trainable_variables()
            gradients = v1.gradients(tf.reduce_sum(y * y / 2 + y), [x] + trained)
            # Variances are positive.
            start = {v: random.uniform(0.5 if "variance" in v.name else -1, 1.5, v.shape).astype(np.float32)
                     for v in variables}
            with v1.Session() as session:
                for v, value in start.items():
                    v.load(value, session)
                row = {"layer": kind, "options": options, "x": {"shape": shape, "values": numbers(x_value)},
                       "variables": [{"name": v.op.name, "shape": list(v.shape), "values": numbers(value),
                                      "trains": v in trained} for v, value in start.items()],
                       "results": [numbers(result) for result in session.run([y] + gradients)]}
                session.run(v1.get_collection(v1.GraphKeys.UPDATE_OPS))
                row["updated"] = {v.op.name: numbers(session.run(v)) for v in variables if v not in trained}
            rows.append(row)
    return rows


FILES = {make.__name__: make for make in (optimizers, schedules, initializers, clipping, averages, recurrent_layers, layers)}

if __name__ == "__main__":
    for name in sys.argv[1:] or FILES:
        write(name, FILES[name]())
