"""What TensorFlow computes for schedules, optimizers, initializers, averages, recurrent and other layers.

The rows are those of tests/training, where C++'s classes of the same names compute them.
"""

import json
import os
import unittest

import numpy as np

import tensorbraid as tf

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/training/references")

SCHEDULES = {"exponential": tf.train.exponential_decay, "natural_exp": tf.train.natural_exp_decay,
             "inverse_time": tf.train.inverse_time_decay, "polynomial": tf.train.polynomial_decay,
             "cosine": tf.train.cosine_decay, "cosine_restarts": tf.train.cosine_decay_restarts,
             "linear_cosine": tf.train.linear_cosine_decay,
             "noisy_linear_cosine": tf.train.noisy_linear_cosine_decay}
INITIALIZERS = {"random_uniform": tf.random_uniform_initializer, "random_normal": tf.random_normal_initializer,
                "truncated_normal": tf.truncated_normal_initializer, "glorot_uniform": tf.glorot_uniform_initializer,
                "glorot_normal": tf.glorot_normal_initializer, "he_uniform": tf.initializers.he_uniform,
                "he_normal": tf.initializers.he_normal, "lecun_uniform": tf.initializers.lecun_uniform,
                "lecun_normal": tf.initializers.lecun_normal, "variance_scaling": tf.variance_scaling_initializer,
                "orthogonal": tf.orthogonal_initializer, "identity": tf.initializers.identity}
CELLS = {"lstm": tf.nn.rnn_cell.LSTMCell, "gru": tf.nn.rnn_cell.GRUCell, "basic": tf.nn.rnn_cell.BasicRNNCell}


def rows(file):
    with open(os.path.join(FOLDER, file + ".jsonl"), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def array(values, dtype=np.float32):
    return np.array(values["values"], dtype).reshape(values["shape"])


class TrainingReferencesTest(unittest.TestCase):
    def assert_close(self, found, wanted, tolerance):
        """The elements of an array are the numbers; differences are relative for numbers above 1."""
        found = np.ravel(found)
        self.assertEqual(len(found), len(wanted), self.row)
        for one, number in zip(found, wanted):
            self.assertLessEqual(abs(one - number), tolerance * max(1.0, abs(number)), self.row)

    def each(self, file):
        """Yields each row of a file, in a graph of its own."""
        for row in rows(file):
            self.row = json.dumps(row)[:200]  # for messages
            with tf.Graph().as_default():
                yield row

    def test_schedules(self):
        for row in self.each("schedules"):
            step = tf.placeholder(tf.int64, [])
            if row["schedule"] == "piecewise_constant":
                rate = tf.train.piecewise_constant(step, **row["options"])
            else:
                rate = SCHEDULES[row["schedule"]](0.5, step, 10, **row["options"])
            with tf.Session() as session:
                values = [session.run(rate, {step: number}) for number in row["steps"]]
            self.assert_close(values, row["values"], 2e-6)

    def test_optimizers(self):
        for row in self.each("optimizers"):
            step = tf.train.get_or_create_global_step()
            w = tf.get_variable("w", initializer=np.float32(row["start"]))
            target = tf.placeholder(tf.float32, w.shape)
            options = dict(row["options"], **({"global_step": step} if row["optimizer"] == "AdagradDA" else {}))
            optimizer = getattr(tf.train, row["optimizer"] + "Optimizer")(**options)
            train = optimizer.minimize(tf.reduce_sum(tf.square(w - target)), global_step=step)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                for fed, values in zip(row["targets"], row["values"]):
                    session.run(train, {target: fed})
                    self.assert_close(session.run(w), values, 2e-6)

    def test_initializers(self):
        for row in self.each("initializers"):
            tf.set_random_seed(row["graph_seed"] or None)
            name = row["initializer"]
            seed = {} if name == "identity" else {"seed": row["seed"]}
            value = INITIALIZERS[name](**row["options"], **seed)(row["shape"], dtype=tf.float32)
            with tf.Session() as session:
                self.assert_close(session.run(value), row["values"], 3e-7 if name.endswith("uniform") else 5e-6)

    def test_averages(self):
        for row in self.each("averages"):
            options = row["options"]
            fed = tf.placeholder(tf.float32, [2])
            n = tf.get_variable("n", initializer=np.int64(0))
            w = tf.get_variable("w", initializer=tf.constant([1.0, 2.0]))
            average = tf.train.ExponentialMovingAverage(
                options["decay"], num_updates=n if "num_updates" in options else None,
                zero_debias=options.get("zero_debias", False))
            with tf.control_dependencies([tf.assign(w, fed), tf.assign_add(n, 1)]):
                tensor = tf.identity(fed * 2.0, name="twice")
                apply = average.apply([w, tensor])
            self.assertEqual(average.average_name(w), row["name"])
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                for values, wanted in zip(row["inputs"], row["values"]):
                    session.run(apply, {fed: values})
                    found = session.run([average.average(w), average.average(tensor)])
                    self.assert_close(found, np.ravel(wanted), 2e-6)

    def check_results(self, row, outputs, sources, tolerance):
        """Gives the variables the values of the row, and compares the outputs and the gradients for `sources`."""
        dtype = row.get("dtype", "float32")
        variables = {variable.op.name: variable for variable in tf.global_variables()}
        self.assertEqual(sorted(variables), sorted(weight["name"] for weight in row["variables"]))
        loss = tf.reduce_sum(outputs[0] * outputs[0] / 2 + outputs[0]) + sum(tf.reduce_sum(s * s) for s in outputs[1:])
        trained = [variables[weight["name"]] for weight in row["variables"] if weight.get("trains", True)]
        fetches = outputs + tf.gradients(loss, sources + trained)
        with tf.Session() as session:
            for weight in row["variables"]:
                variables[weight["name"]].load(array(weight, dtype), session)
            for found, wanted in zip(session.run(fetches), row["results"], strict=True):
                self.assert_close(found, wanted, tolerance)
            if "updated" in row:
                session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
                for name, wanted in row["updated"].items():
                    self.assert_close(session.run(variables[name]), wanted, tolerance)

    def test_recurrent_layers(self):
        for row in self.each("recurrent_layers"):
            dtype, options, units = row["dtype"], row["options"], row["units"]
            made = [CELLS[cell["kind"]](units, **cell["options"]) for cell in row["cells"]]
            x = tf.constant(array(row["x"], dtype))
            initial = [tf.constant(np.reshape(np.array(state, dtype), [-1, units])) for state in row["initial_state"]]
            given = {"sequence_length": row["lengths"], "time_major": options.get("time_major", False)}
            if options.get("bidirectional"):
                outputs, state = tf.nn.bidirectional_dynamic_rnn(*made, x, dtype=dtype, **given)
                outputs = tf.concat(outputs, 2)
            else:
                cell = made[0] if len(made) == 1 else tf.nn.rnn_cell.MultiRNNCell(made)
                start = tf.nn.rnn_cell.LSTMStateTuple(*initial) if len(initial) > 1 else initial and initial[0]
                given.update({"initial_state": start} if initial else {"dtype": dtype})
                outputs, state = tf.nn.dynamic_rnn(cell, x, **given)
            self.check_results(row, [outputs, *tf.nest.flatten(state)], [x, *initial],
                               1e-5 if dtype == "float32" else 1e-12)

    def test_layers(self):
        for row in self.each("layers"):
            x = tf.constant(array(row["x"]))
            options = dict(row["options"])
            if "activation" in options:
                options["activation"] = getattr(tf.nn, options["activation"])
            self.check_results(row, [getattr(tf.layers, row["layer"])(x, **options)], [x], 1e-5)


if __name__ == "__main__":
    unittest.main()
