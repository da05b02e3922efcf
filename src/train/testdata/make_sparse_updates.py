"""Writes sparse_updates.jsonl: 20 steps of TensorFlow's optimizers on a table of embeddings, which the C++ optimizers
must repeat bit for bit (sparse_updates_test.cc).

Each line is one optimizer: its name, the columns of the table, and the bits of the table and of its slots after 1 and
after 20 steps. All is float32: for other dtypes, TensorFlow first rounds the learning rate and its kin to float32.

    python src/train/testdata/make_sparse_updates.py        # needs tensorflow-cpu
"""
import json
import pathlib

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
train = tf1.train

ROWS, STEPS, SHOWN = 7, 20, (1, 20)

# Name, slots in the order in which they are written, optimizer.
OPTIMIZERS = {
    "gradient_descent": ([], lambda step: train.GradientDescentOptimizer(0.1)),
    "momentum": (["momentum"], lambda step: train.MomentumOptimizer(0.1, 0.9)),
    "nesterov": (["momentum"], lambda step: train.MomentumOptimizer(0.1, 0.9, use_nesterov=True)),
    "adadelta": (["accum", "accum_update"], lambda step: train.AdadeltaOptimizer(1.0, epsilon=1e-4)),
    "adagrad": (["accumulator"], lambda step: train.AdagradOptimizer(0.3)),
    "adagrad_da": (["gradient_accumulator", "gradient_squared_accumulator"],
                   lambda step: train.AdagradDAOptimizer(0.3, step, l1_regularization_strength=0.01,
                                                         l2_regularization_strength=0.1)),
    "adam": (["m", "v"], lambda step: train.AdamOptimizer(0.1)),
    "rms_prop": (["momentum", "rms"], lambda step: train.RMSPropOptimizer(0.05, momentum=0.5)),
    "centered_rms_prop": (["mg", "momentum", "rms"],
                          lambda step: train.RMSPropOptimizer(0.05, momentum=0.5, centered=True, epsilon=0.01)),
    "ftrl": (["accum", "linear"], lambda step: train.FtrlOptimizer(0.3, l1_regularization_strength=0.01,
                                                                   l2_regularization_strength=0.1)),
    "ftrl_v2": (["accum", "linear"], lambda step: train.FtrlOptimizer(0.3, l2_shrinkage_regularization_strength=0.05)),
    "proximal_gradient_descent": ([], lambda step: train.ProximalGradientDescentOptimizer(
        0.1, l1_regularization_strength=0.02, l2_regularization_strength=0.1)),
    "proximal_adagrad": (["accumulator"], lambda step: train.ProximalAdagradOptimizer(
        0.3, l1_regularization_strength=0.01, l2_regularization_strength=0.1)),
}


def table(columns):
    return (np.arange(ROWS * columns) % 11 / 10 - 0.5).astype(np.float32).reshape(ROWS, columns)


def ids(step):
    """The ids of two lookups in one step. Rows occur twice within a lookup and in both."""
    return [[step % 7, (2 * step + 1) % 7], [step * step % 7, step % 7]], [3 * step % 7]


def bits(array):
    return np.ascontiguousarray(array).view(np.uint32).ravel().tolist()


def run(name, columns, use_resource):
    slots, make = OPTIMIZERS[name]
    with tf.Graph().as_default(), tf1.Session() as session:
        step = train.get_or_create_global_step()
        w = tf1.get_variable("w", initializer=table(columns), use_resource=use_resource)
        first = tf1.placeholder(tf.int64, [2, 2])
        second = tf1.placeholder(tf.int64, [1])
        loss = (tf.reduce_sum(tf.square(tf.nn.embedding_lookup(w, first) - 0.25)) +
                tf.reduce_sum(tf.square(tf.nn.embedding_lookup(w, second) + 0.125)))
        optimizer = make(step)
        op = optimizer.minimize(loss, global_step=step)
        session.run(tf1.global_variables_initializer())
        shown = []
        for s in range(1, STEPS + 1):
            one, two = ids(s)
            session.run(op, {first: one, second: two})
            if s in SHOWN:
                shown.append([bits(x) for x in session.run([w] + [optimizer.get_slot(w, slot) for slot in slots])])
        return shown


def main():
    path = pathlib.Path(__file__).with_name("sparse_updates.jsonl")
    with path.open("w") as out:
        for name, (slots, _) in OPTIMIZERS.items():
            for columns in (1, 5):
                values = run(name, columns, use_resource=True)
                if values != run(name, columns, use_resource=False):
                    print(f"{name} {columns}: references and resources differ")
                line = {"optimizer": name, "columns": columns, "slots": slots, "steps": list(SHOWN), "bits": values}
                out.write(json.dumps(line, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
