"""Softmax regression on made digits: prints the loss of each step. Local, or with --ps_hosts and --worker_hosts."""

import numpy as np


def data():
    random = np.random.RandomState(0)
    centers = random.rand(10, 64).astype(np.float32)
    labels = random.randint(0, 10, 512)
    images = centers[labels] + 0.3 * random.randn(512, 64).astype(np.float32)
    return images.astype(np.float32), np.eye(10, dtype=np.float32)[labels]


def model(tf):
    x = tf.placeholder(tf.float32, [None, 64], name="images")
    y = tf.placeholder(tf.float32, [None, 10], name="labels")
    w = tf.Variable(tf.zeros([64, 10]), name="weights")
    b = tf.Variable(tf.zeros([10]), name="bias")
    logits = tf.matmul(x, w) + b
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=logits))
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss, global_step=step)
    correct = tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1))
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
    return x, y, loss, train, accuracy, step


def run(tf, target=""):
    x, y, loss, train, accuracy, step = model(tf)
    images, labels = data()
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        for i in range(50):
            batch = slice(32 * i % 480, 32 * i % 480 + 32)
            _, value = session.run([train, loss], {x: images[batch], y: labels[batch]})
            print(repr(float(value)))
        print(repr(float(session.run(accuracy, {x: images, y: labels}))), int(session.run(step)))
