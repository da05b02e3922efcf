"""Softmax regression on MNIST, as tasks on a Ray cluster (docs/clusters/ray.md). Ray must be installed.

    python examples/python/mnist_softmax_ray.py --ps=1 --workers=2

It runs on the cluster that RAY_ADDRESS names, or otherwise on one that it starts on this machine.
"""

import os

import tensorbraid as tf
import tensorbraid.ray

MNIST = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "mnist")

flags = tf.app.flags
flags.DEFINE_integer("ps", 1, "number of parameter servers", lower_bound=0)
flags.DEFINE_integer("workers", 2, "number of workers", lower_bound=1)
flags.DEFINE_string("data_dir", MNIST, "MNIST in idx format, in the same directory of every node")
flags.DEFINE_integer("train_steps", 1000, "stop at this global step", lower_bound=1)
flags.DEFINE_string("checkpoint_dir", None, "checkpoints, from which a restarted job continues")
flags.DEFINE_integer("restarts", 0, "how often a failed job is started again", lower_bound=0)
FLAGS = flags.FLAGS


def train(data_dir, train_steps, checkpoint_dir):
    """Runs as each task of the cluster. Returns the accuracy on the test images."""
    from tensorbraid.examples.tutorials.mnist import input_data

    task = tf.train.find_task()
    assert task, "this function runs as a task of a cluster"
    server = task.server()
    if task.job_name == "ps":
        server.join()
    mnist = input_data.read_data_sets(data_dir, one_hot=True, validation_size=0, seed=task.task_index + 1)
    with tf.device(tf.train.replica_device_setter(worker_device=task.device, cluster=task.cluster)):
        images = tf.placeholder(tf.float32, [None, 784])
        labels = tf.placeholder(tf.float32, [None, 10])
        weights = tf.get_variable("weights", [784, 10], initializer=tf.zeros_initializer())
        bias = tf.get_variable("bias", [10], initializer=tf.zeros_initializer())
        logits = tf.matmul(images, weights) + bias
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits))
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.argmax(labels, 1)), tf.float32))
        global_step = tf.train.get_or_create_global_step()
        train_op = tf.train.GradientDescentOptimizer(0.2).minimize(loss, global_step=global_step)
    hooks = [tf.train.StopAtStepHook(last_step=train_steps)]
    with tf.train.MonitoredTrainingSession(server.target, task.is_chief, checkpoint_dir, hooks=hooks) as session:
        count = 0
        while not session.should_stop():
            batch = mnist.train.next_batch(100)
            _, value, step = session.run([train_op, loss, global_step], {images: batch[0], labels: batch[1]})
            if count % 200 == 0:
                print("%s at step %d: loss %.3f" % (task.device, step, value), flush=True)
            count += 1
        return session.run_step_fn(lambda step_context: float(step_context.session.run(
            accuracy, {images: mnist.test.images, labels: mnist.test.labels})))


def main(unused_argv):
    checkpoint_dir = FLAGS.checkpoint_dir and os.path.abspath(FLAGS.checkpoint_dir)
    results = tensorbraid.ray.run(train, args=(os.path.abspath(FLAGS.data_dir), FLAGS.train_steps, checkpoint_dir),
                                  ps=FLAGS.ps, workers=FLAGS.workers, restarts=FLAGS.restarts)
    print("test accuracy %.4f" % results["worker/0"])


if __name__ == "__main__":
    tf.app.run()
