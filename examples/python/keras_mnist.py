"""A classifier of tf.keras layers on MNIST: by `fit` in one process, or in a training loop over parameter servers.

    pip install 'tensorbraid[keras]'
    python examples/python/keras_mnist.py
    tensorbraid launch --ps=1 --workers=2 -- python examples/python/keras_mnist.py --issync
"""

import cluster
import numpy as np
import tensorbraid as tf
from tensorbraid.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("data_dir", cluster.MNIST, "MNIST in idx format")
flags.DEFINE_integer("train_steps", 600, "stop at this global step", lower_bound=1)
flags.DEFINE_integer("batch_size", 50, "examples per step of one worker", lower_bound=1)
flags.DEFINE_float("learning_rate", 0.001, "learning rate of Adam")
flags.DEFINE_string("checkpoint_dir", None, "checkpoints of a training in a cluster, which starts from the latest one")
FLAGS = flags.FLAGS


def classifier():
    """A model from images [batch, 28, 28, 1] to the logits of the ten digits."""
    layers = tf.keras.layers
    return tf.keras.Sequential([
        layers.Conv2D(16, 5, strides=2, activation="relu", input_shape=(28, 28, 1)),
        layers.Conv2D(32, 3, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.Dense(10),
    ])


def pixels(images):
    return np.reshape(images, [-1, 28, 28, 1])


def fit(mnist):
    """Trains by `fit`, and prints the accuracy."""
    model = classifier()
    model.compile(tf.keras.optimizers.Adam(FLAGS.learning_rate),
                  tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    count = min(FLAGS.train_steps * FLAGS.batch_size, len(mnist.train.images))
    epochs = max(FLAGS.train_steps * FLAGS.batch_size // count, 1)
    model.fit(pixels(mnist.train.images[:count]), mnist.train.labels[:count], FLAGS.batch_size, epochs, verbose=2)
    _, accuracy = model.evaluate(pixels(mnist.test.images), mnist.test.labels, batch_size=500, verbose=0)
    print("test accuracy %.4f" % accuracy)


def train(mnist, target, device, is_chief):
    """Trains the tasks of a cluster. The layers' variables are on its parameter servers."""
    with tf.device(device):
        images = tf.placeholder(tf.float32, [None, 28, 28, 1], name="images")
        labels = tf.placeholder(tf.int64, [None], name="labels")
        model = classifier()
        trained, tested = model(images, training=True), model(images, training=False)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, trained)
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(tested, 1), labels), tf.float32))

        global_step = tf.train.get_or_create_global_step()
        hooks = [tf.train.StopAtStepHook(last_step=FLAGS.train_steps), tf.train.NanTensorHook(loss)]
        optimizer = tf.train.AdamOptimizer(FLAGS.learning_rate)
        sync = cluster.synchronous(optimizer)
        if sync:
            hooks.append(sync.make_session_run_hook(is_chief))
        train_op = (sync or optimizer).minimize(loss, global_step=global_step)

    with tf.train.MonitoredTrainingSession(target, is_chief, FLAGS.checkpoint_dir, hooks=hooks) as session:
        while not session.should_stop():
            batch = mnist.train.next_batch(FLAGS.batch_size)
            session.run(train_op, {images: pixels(batch[0]), labels: batch[1]})
        if is_chief:
            test = {images: pixels(mnist.test.images), labels: mnist.test.labels}
            # Without the hooks of the session, which has ended its steps.
            value = session.run_step_fn(lambda step_context: step_context.session.run(accuracy, test))
            print("test accuracy %.4f" % value)


def main(argv):
    target, device, is_chief = cluster.start(argv)
    mnist = input_data.read_data_sets(FLAGS.data_dir, validation_size=0, seed=FLAGS.task_index + 1)
    tf.set_random_seed(1)
    if target:
        train(mnist, target, device, is_chief)
    else:
        fit(mnist)


if __name__ == "__main__":
    tf.app.run()
