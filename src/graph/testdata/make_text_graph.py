"""Writes tensorflow_2_21.pbtxt: a graph in text form as TensorFlow 2.21 writes it.

The dataset and the shape have full types, and the function has attributes of its arguments.
"""
import pathlib

import tensorflow as tf

v1 = tf.compat.v1
graph = tf.Graph()
with graph.as_default():
    weights = v1.get_variable("w", [4, 2], initializer=v1.zeros_initializer(), use_resource=True)
    batches = v1.data.make_one_shot_iterator(tf.data.Dataset.range(3))
    x = v1.placeholder(tf.float32, [None, 4], name="x")

    @tf.function
    def twice(value):
        return value * 2.0

    loss = tf.reduce_mean(twice(tf.matmul(x, weights))) + tf.cast(batches.get_next(), tf.float32)
    v1.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
v1.train.write_graph(graph, str(pathlib.Path(__file__).parent), "tensorflow_2_21.pbtxt")
