"""A convolutional network on MNIST, in one process or over parameter servers.

    python examples/python/mnist_cnn.py
    tensorbraid launch --ps=1 --workers=2 -- python examples/python/mnist_cnn.py --issync
    python examples/python/mnist_cnn.py --device=/gpu:0    # docs/accelerators.md
"""

import cluster
import tensorbraid as tf
from tensorbraid.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("data_dir", cluster.MNIST, "MNIST in idx format")
flags.DEFINE_integer("train_steps", 600, "stop at this global step", lower_bound=1)
flags.DEFINE_integer("batch_size", 50, "examples per step of one worker", lower_bound=1)
flags.DEFINE_float("learning_rate", 0.001, "learning rate of Adam at the start")
flags.DEFINE_integer("test_images", 10000, "how many images the test takes", lower_bound=1)
flags.DEFINE_string("checkpoint_dir", None, "checkpoints and summaries; the training starts from the latest checkpoint")
FLAGS = flags.FLAGS


def lenet(images, rate):
    """The logits of the ten digits. Dropout has the given rate, a scalar."""
    x = tf.reshape(images, [-1, 28, 28, 1])
    for filters in (32, 64):
        x = tf.layers.conv2d(x, filters, 5, padding="same", activation=tf.nn.relu)
        x = tf.layers.max_pooling2d(x, 2, 2)
    x = tf.layers.dense(tf.layers.flatten(x), 512, activation=tf.nn.relu)
    x = tf.nn.dropout(x, rate=rate)
    return tf.layers.dense(x, 10, name="logits")


def main(argv):
    target, device, is_chief = cluster.start(argv)
    mnist = input_data.read_data_sets(FLAGS.data_dir, validation_size=0, seed=FLAGS.task_index + 1)
    tf.set_random_seed(1)
    with tf.device(device):
        images = tf.placeholder(tf.float32, [None, 784], name="images")
        labels = tf.placeholder(tf.int64, [None], name="labels")
        # A number that training steps feed. tf.layers.dropout with a flag would put the dropout into a conditional,
        # and the step of an accelerator would be several programs.
        dropout = tf.placeholder_with_default(0.0, [], name="dropout")
        logits = lenet(images, dropout)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        right = tf.reduce_sum(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
        tf.summary.scalar("loss", loss)

        global_step = tf.train.get_or_create_global_step()
        rate = tf.train.cosine_decay(FLAGS.learning_rate, global_step, FLAGS.train_steps, alpha=0.05)
        hooks = [tf.train.StopAtStepHook(last_step=FLAGS.train_steps), tf.train.NanTensorHook(loss)]
        optimizer = tf.train.AdamOptimizer(rate)
        sync = cluster.synchronous(optimizer)
        if sync:
            hooks.append(sync.make_session_run_hook(is_chief))
        train_op = (sync or optimizer).minimize(loss, global_step=global_step)

    def test(step_context):
        """The accuracy on the test images, in batches that fit into memory."""
        total = 0
        for begin in range(0, FLAGS.test_images, 500):
            batch = slice(begin, min(begin + 500, FLAGS.test_images))
            total += step_context.session.run(
                right, {images: mnist.test.images[batch], labels: mnist.test.labels[batch]})
        return total / FLAGS.test_images

    with tf.train.MonitoredTrainingSession(target, is_chief, FLAGS.checkpoint_dir, hooks=hooks) as session:
        losses = []
        while not session.should_stop():
            batch = mnist.train.next_batch(FLAGS.batch_size)
            _, value, step = session.run([train_op, loss, global_step],
                                         {images: batch[0], labels: batch[1], dropout: 0.5})
            if len(losses) % 50 == 0:
                print("step %d: loss %.3f" % (step, value), flush=True)
            losses.append(value)
        if is_chief:
            accuracy = session.run_step_fn(test)
            print("loss from %.3f to %.3f, test accuracy %.4f" % (losses[0], losses[-1], accuracy))


if __name__ == "__main__":
    tf.app.run()
