"""Graphs beside checkpoints: a graph is saved, imported and trained further."""

import os
import tempfile

import numpy as np


def show(*values):
    for value in values:
        for number in np.ravel(value):
            print(repr(float(number)))


def build(tf, prefix):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.Variable([[1.0], [2.0]], name="w", use_resource=True)
        b = tf.Variable([0.5], name="b", use_resource=True)
        y = tf.add(tf.matmul(x, w), b, name="y")
        loss = tf.reduce_mean(tf.square(y), name="loss")
        train = tf.train.MomentumOptimizer(0.1, 0.5).minimize(loss, name="train")
        for element in (x, y, loss, train):
            tf.add_to_collection("important", element)
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(train, {x: [[1.0, 2.0]]})
            show(session.run(w))
            return saver.save(session, prefix, global_step=1)


def go_on(tf, path):
    with tf.Graph().as_default() as graph:
        saver = tf.train.import_meta_graph(path + ".meta")
        print(len(tf.global_variables()), len(tf.trainable_variables()), len(tf.get_collection("important")))
        x, y, loss, train = tf.get_collection("important")
        print(int(x is not None and x.name == "x:0"), int(train.name == "train"))
        with tf.Session() as session:
            saver.restore(session, path)
            show(session.run(graph.get_tensor_by_name("y:0"), {x: [[3.0, 4.0]]}))
            for _ in range(3):
                session.run(train, {"x:0": [[1.0, 2.0]]})
                show(session.run(loss, {x: [[1.0, 2.0]]}))
            again = saver.save(session, path + "-later", write_meta_graph=False)
            session.run(tf.global_variables_initializer())
            show(session.run(tf.trainable_variables()[0]))
            saver.restore(session, again)
            show(session.run(tf.trainable_variables()[0]))
    # New layers on the old graph, and a new optimizer.
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(path + ".meta")
        x, y = tf.get_collection("important")[:2]
        v = tf.Variable([[2.0]], name="v", use_resource=True)
        loss = tf.reduce_sum(tf.matmul(y, v))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            saver.restore(session, path)
            for _ in range(2):
                session.run(train, {x: [[1.0, 1.0]]})
            for variable in tf.trainable_variables():
                show(session.run(variable))


def run(tf):
    with tempfile.TemporaryDirectory() as folder:
        go_on(tf, build(tf, os.path.join(folder, "model")))
        path = os.path.join(folder, "exported.meta")
        with tf.Graph().as_default():
            tf.Variable([1.0, 2.0], name="w", use_resource=True)
            tf.train.export_meta_graph(path)
        with tf.Graph().as_default():
            tf.train.import_meta_graph(path)
            print(len(tf.global_variables()))
