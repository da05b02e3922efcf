"""Softmax regression on MNIST, in one process or over parameter servers.

Alone:

    python examples/python/mnist_softmax.py

As a cluster on one machine (on several machines, start each task with its own flags, see cluster.py):

    tensorbraid launch --ps=1 --workers=2 -- python examples/python/mnist_softmax.py --issync
"""

import cluster
import tensorbraid as tf
from tensorbraid.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("data_dir", cluster.MNIST, "MNIST in idx format")
flags.DEFINE_integer("train_steps", 1000, "stop at this global step", lower_bound=1)
flags.DEFINE_integer("batch_size", 100, "examples per step of one worker", lower_bound=1)
flags.DEFINE_float("learning_rate", 0.2, "learning rate of gradient descent")
flags.DEFINE_string("checkpoint_dir", None, "the chief saves checkpoints here, and starts from the latest one")
FLAGS = flags.FLAGS


def model():
    """Placeholders for images and labels, the loss and the accuracy."""
    images = tf.placeholder(tf.float32, [None, 784], name="images")
    labels = tf.placeholder(tf.float32, [None, 10], name="labels")
    weights = tf.Variable(tf.zeros([784, 10]), name="weights")
    bias = tf.Variable(tf.zeros([10]), name="bias")
    logits = tf.matmul(images, weights) + bias
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits))
    correct = tf.equal(tf.argmax(logits, 1), tf.argmax(labels, 1))
    return images, labels, loss, tf.reduce_mean(tf.cast(correct, tf.float32))


def main(argv):
    target, device, is_chief = cluster.start(argv)
    mnist = input_data.read_data_sets(FLAGS.data_dir, one_hot=True, validation_size=0, seed=FLAGS.task_index + 1)
    with tf.device(device):
        images, labels, loss, accuracy = model()
        global_step = tf.train.get_or_create_global_step()
        hooks = [tf.train.StopAtStepHook(last_step=FLAGS.train_steps), tf.train.NanTensorHook(loss)]
        optimizer = tf.train.GradientDescentOptimizer(FLAGS.learning_rate)
        sync = cluster.synchronous(optimizer)
        if sync:
            hooks.append(sync.make_session_run_hook(is_chief))
        train_op = (sync or optimizer).minimize(loss, global_step=global_step)

    with tf.train.MonitoredTrainingSession(target, is_chief, FLAGS.checkpoint_dir, hooks=hooks) as session:
        steps, value = 0, float("nan")
        while not session.should_stop():
            batch = mnist.train.next_batch(FLAGS.batch_size)
            _, value, step = session.run([train_op, loss, global_step], {images: batch[0], labels: batch[1]})
            if steps % 200 == 0:
                print("step %d: loss %.3f" % (step, value), flush=True)
            steps += 1
        if is_chief:
            test = session.run_step_fn(lambda step_context: step_context.session.run(
                accuracy, {images: mnist.test.images, labels: mnist.test.labels}))
            print("loss %.3f, test accuracy %.4f" % (value, test))


if __name__ == "__main__":
    tf.app.run()
