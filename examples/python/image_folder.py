"""A convolutional network that learns from a folder of images: each class has a folder of PNG or JPEG files in it.

    python examples/python/image_folder.py --make_from=examples/data/mnist --images=build/digits
    python examples/python/image_folder.py --images=build/digits
    tensorbraid launch --ps=1 --workers=2 -- python examples/python/image_folder.py --images=build/digits

With --make_from, the example writes digits of MNIST into the folder if it does not exist yet, and learns from them.
"""

import os

import cluster
import tensorbraid as tf
from tensorbraid.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("images", "build/digits", "a folder with a folder of images for each class")
flags.DEFINE_string("make_from", None, "MNIST in idx format; makes the folder if it does not exist")
flags.DEFINE_integer("make_count", 3000, "how many images are made", lower_bound=10)
flags.DEFINE_integer("size", 28, "width and height to which images are scaled", lower_bound=8)
flags.DEFINE_integer("train_steps", 400, "stop at this global step", lower_bound=1)
flags.DEFINE_integer("batch_size", 50, "images per step of one worker", lower_bound=1)
FLAGS = flags.FLAGS


def make_folder():
    """Writes digits of MNIST as PNG files, in a folder for each digit."""
    if FLAGS.worker_hosts:
        raise SystemExit("run once without a cluster to make the folder; all tasks of a cluster would write it")
    for digit in range(10):
        tf.gfile.MakeDirs(os.path.join(FLAGS.images, str(digit)))
    mnist = input_data.read_data_sets(FLAGS.make_from, validation_size=0, dtype=tf.uint8, reshape=False, seed=1)
    image, path = tf.placeholder(tf.uint8, [28, 28, 1]), tf.placeholder(tf.string, [])
    write = tf.write_file(path, tf.image.encode_png(image))
    with tf.Session() as session:
        for i, (pixels, label) in enumerate(zip(*mnist.train.next_batch(FLAGS.make_count))):
            session.run(write, {image: pixels, path: "%s/%d/%05d.png" % (FLAGS.images, label, i)})
    tf.reset_default_graph()


def read(path, classes):
    """The image of a file, and the index of its class."""
    image = tf.image.decode_image(tf.read_file(path), channels=1)
    image.set_shape([None, None, 1])
    image = tf.image.resize_images(tf.image.convert_image_dtype(image, tf.float32), [FLAGS.size, FLAGS.size])
    folder = tf.string_split([path], "/").values[-2]
    return image, tf.argmax(tf.cast(tf.equal(classes, folder), tf.int32))


def datasets(classes):
    """The dataset for training, repeated without end, and the one for the test, which has every tenth file."""
    files = tf.data.Dataset.list_files(os.path.join(FLAGS.images, "*", "*"), shuffle=False)
    numbered = files.apply(tf.data.experimental.enumerate_dataset())
    training = numbered.filter(lambda i, path: tf.not_equal(i % 10, 0)).map(lambda i, path: path)
    testing = numbered.filter(lambda i, path: tf.equal(i % 10, 0)).map(lambda i, path: path)
    if cluster.FLAGS.worker_hosts:
        training = training.shard(len(FLAGS.worker_hosts), FLAGS.task_index)
    training = training.shuffle(10000, seed=1).repeat().map(lambda path: read(path, classes), num_parallel_calls=2)
    return training.batch(FLAGS.batch_size).prefetch(2), testing.map(lambda path: read(path, classes)).batch(100)


def network(images, classes, training):
    """The logits of the classes. The calls for training and for the test share the variables."""
    with tf.variable_scope("network", reuse=tf.AUTO_REUSE):
        x = images
        for filters in (16, 32):
            x = tf.layers.conv2d(x, filters, 5, padding="same", activation=tf.nn.relu, name="conv%d" % filters)
            x = tf.layers.max_pooling2d(x, 2, 2)
        x = tf.layers.dense(tf.layers.flatten(x), 128, activation=tf.nn.relu, name="dense")
        return tf.layers.dense(tf.layers.dropout(x, 0.4, training=training), classes, name="scores")


def main(argv):
    target, device, is_chief = cluster.start(argv)
    if FLAGS.make_from and not tf.gfile.Exists(FLAGS.images):
        make_folder()
    if not tf.gfile.IsDirectory(FLAGS.images):
        raise SystemExit("the folder %s does not exist; --make_from=%s makes it" % (FLAGS.images, cluster.MNIST))
    classes = sorted(name.rstrip("/") for name in tf.gfile.ListDirectory(FLAGS.images))
    with tf.device(device):
        iterators = [tf.data.make_initializable_iterator(dataset) for dataset in datasets(classes)]
        (images, labels), (test_images, test_labels) = [iterator.get_next() for iterator in iterators]
        loss = tf.losses.sparse_softmax_cross_entropy(labels, network(images, len(classes), True))
        found = tf.argmax(network(test_images, len(classes), False), 1)
        right = tf.cast(tf.equal(found, test_labels), tf.float32)

        global_step = tf.train.get_or_create_global_step()
        hooks: list[tf.train.SessionRunHook] = [tf.train.StopAtStepHook(last_step=FLAGS.train_steps)]
        optimizer = tf.train.AdamOptimizer(0.001)
        sync = cluster.synchronous(optimizer)
        if sync:
            hooks.append(sync.make_session_run_hook(is_chief))
        train_op = (sync or optimizer).minimize(loss, global_step=global_step)
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterators[0].initializer)

    def test(step_context):
        step_context.session.run(iterators[1].initializer)
        results = []
        while True:
            try:
                results.extend(step_context.session.run(right))
            except tf.errors.OutOfRangeError:
                return sum(results) / len(results)

    with tf.train.MonitoredTrainingSession(target, is_chief, hooks=hooks) as session:
        losses = []
        while not session.should_stop():
            _, value, step = session.run([train_op, loss, global_step])
            if len(losses) % 50 == 0:
                print("step %d: loss %.3f" % (step, value), flush=True)
            losses.append(value)
        if is_chief:
            print("loss from %.3f to %.3f, test accuracy %.4f" % (
                losses[0], losses[-1], session.run_step_fn(test)))


if __name__ == "__main__":
    tf.app.run()
