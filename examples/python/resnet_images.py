"""Residual networks (He et al., 2016) on images of stripes, whose angle is the class. The program makes the images.

    python examples/python/resnet_images.py
    python examples/python/resnet_images.py --depth=50 --device_type=GPU --num_devices=2 --fixed_batch
    tensorbraid launch --ps=1 --workers=2 -- python examples/python/resnet_images.py --issync
"""

import time

import cluster
import numpy as np
import tensorbraid as tf

flags = tf.app.flags
flags.DEFINE_enum("depth", "20", ["20", "50"], "layers of the network")
flags.DEFINE_integer("size", 0, "width and height of the images; 0: 32 for 20 layers, 224 for 50", lower_bound=0)
flags.DEFINE_enum("device_type", "CPU", ["CPU", "GPU", "XLA_CPU"], "where to compute")
flags.DEFINE_integer("num_devices", 1, "devices of this task that share each batch", lower_bound=1)
flags.DEFINE_integer("train_steps", 200, "stop at this global step", lower_bound=1)
flags.DEFINE_integer("batch_size", 64, "images per step of one worker", lower_bound=1)
flags.DEFINE_float("learning_rate", 0.05, "learning rate of Momentum at the start")
flags.DEFINE_integer("test_images", 1000, "how many images the test takes; 0: no test", lower_bound=0)
flags.DEFINE_bool("bfloat16", False, "compute activations in bfloat16, with weights of float32")
flags.DEFINE_bool("fixed_batch", False, "train with one batch, which stays in the memory of the devices")
FLAGS = flags.FLAGS
CLASSES = 10


def stripes(random, count, size):
    """Images with stripes of random widths, colours and noise, from 0 to 1, and their classes."""
    labels = random.integers(CLASSES, size=count)
    angles = (labels * np.pi / CLASSES)[:, None, None]
    y, x = np.mgrid[:size, :size] * (2 * np.pi / size)
    waves, phases = random.uniform(3, 6, (count, 1, 1)), random.uniform(0, 2 * np.pi, (count, 1, 1))
    wave = np.sin(waves * (np.cos(angles) * x + np.sin(angles) * y) + phases)
    noise = random.uniform(-0.1, 0.1, wave.shape)
    colours = random.uniform(0.2, 0.5, (count, 1, 1, 3))
    return (0.5 + colours * wave[..., None] + noise[..., None]).astype(np.float32), labels


def bfloat16_convolution(x, filters, kernel, stride, training, relu):
    """The layers would make weights of the dtype of x."""
    with tf.variable_scope(None, default_name="convolution"):
        weights = tf.get_variable("kernel", [kernel, kernel, x.shape[-1], filters],
                                  initializer=tf.variance_scaling_initializer(2.0),
                                  regularizer=lambda w: 1e-4 * tf.nn.l2_loss(w))
    x = tf.nn.conv2d(x, tf.cast(weights, tf.bfloat16), [1, stride, stride, 1], "SAME")
    x = tf.layers.batch_normalization(tf.cast(x, tf.float32), training=training, momentum=0.9)
    x = tf.cast(x, tf.bfloat16)
    return tf.nn.relu(x) if relu else x


def convolution(x, filters, kernel, stride, training, relu=True):
    if FLAGS.bfloat16:
        return bfloat16_convolution(x, filters, kernel, stride, training, relu)
    x = tf.layers.conv2d(x, filters, kernel, stride, padding="same", use_bias=False,
                         kernel_initializer=tf.variance_scaling_initializer(2.0),
                         kernel_regularizer=lambda w: 1e-4 * tf.nn.l2_loss(w))
    x = tf.layers.batch_normalization(x, training=training, momentum=0.9)
    return tf.nn.relu(x) if relu else x


def block(x, filters, stride, training, bottleneck):
    outputs = 4 * filters if bottleneck else filters
    shortcut = x
    if stride > 1 or x.shape[-1] != outputs:
        shortcut = convolution(x, outputs, 1, stride, training, relu=False)
    if bottleneck:
        x = convolution(x, filters, 1, 1, training)
        x = convolution(x, filters, 3, stride, training)
        x = convolution(x, outputs, 1, 1, training, relu=False)
    else:
        x = convolution(x, filters, 3, stride, training)
        x = convolution(x, filters, 3, 1, training, relu=False)
    return tf.nn.relu(x + shortcut)


def resnet(x, training):
    """The scores of the classes. The first call makes the variables, which later calls share."""
    with tf.variable_scope("resnet", reuse=tf.AUTO_REUSE):
        if FLAGS.bfloat16:
            x = tf.cast(x, tf.bfloat16)
        if FLAGS.depth == "20":
            x = convolution(x, 16, 3, 1, training)
            stages, bottleneck = [(16, 3), (32, 3), (64, 3)], False
        else:
            x = tf.layers.max_pooling2d(convolution(x, 64, 7, 2, training), 3, 2, padding="same")
            stages, bottleneck = [(64, 3), (128, 4), (256, 6), (512, 3)], True
        for stage, (filters, blocks) in enumerate(stages):
            for i in range(blocks):
                x = block(x, filters, 2 if stage and not i else 1, training, bottleneck)
        return tf.layers.dense(tf.reduce_mean(tf.cast(x, tf.float32), [1, 2]), CLASSES, name="scores")


def place_on(setter, i):
    """Device i of this task computes. `setter` places the variables of a cluster; without a cluster, they are on the
    device if there is one, and on the CPU if there are several."""
    device = "/device:%s:%d" % (FLAGS.device_type, i)
    if setter is not None:
        return tf.train.replica_device_setter(worker_device="/job:worker/task:%d%s" % (FLAGS.task_index, device),
                                              cluster={"ps": FLAGS.ps_hosts, "worker": FLAGS.worker_hosts})
    variables = device if FLAGS.num_devices == 1 else "/cpu:0"
    return lambda op: variables if op.type in ("VariableV2", "VarHandleOp") else device


def main(argv):
    devices = tf.ConfigProto(device_count={FLAGS.device_type: FLAGS.num_devices})
    target, setter, is_chief = cluster.start(argv, config=devices)
    size = FLAGS.size or (32 if FLAGS.depth == "20" else 224)
    share, rest = divmod(FLAGS.batch_size, FLAGS.num_devices)
    if rest:
        raise SystemExit("--batch_size must be a multiple of --num_devices")
    random = np.random.default_rng(1 + FLAGS.task_index)
    tf.set_random_seed(1)
    with tf.device(place_on(setter, 0)):
        images = tf.placeholder(tf.float32, [None, size, size, 3], name="images")
        labels = tf.placeholder(tf.int64, [None], name="labels")
        global_step = tf.train.get_or_create_global_step()
        rate = tf.train.cosine_decay(FLAGS.learning_rate, global_step, FLAGS.train_steps, alpha=0.01)
        optimizer = tf.train.MomentumOptimizer(rate, 0.9)
        sync = cluster.synchronous(optimizer)

    # Each device computes the gradients of its share of the batch.
    losses, gradients = [], []
    image_shares, label_shares = tf.split(images, FLAGS.num_devices), tf.split(labels, FLAGS.num_devices)
    for i in range(FLAGS.num_devices):
        with tf.device(place_on(setter, i)):
            x, y = image_shares[i], label_shares[i]
            if FLAGS.fixed_batch:
                with tf.device("/job:worker/task:%d/device:%s:%d" % (FLAGS.task_index, FLAGS.device_type, i)
                               if setter is not None else "/device:%s:%d" % (FLAGS.device_type, i)):
                    x, y = (tf.Variable(value, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES])
                            for value in stripes(random, share, size))
            loss = tf.losses.sparse_softmax_cross_entropy(y, resnet(x, training=True), loss_collection=None)
            if i == 0:  # one tower moves the averages of the batch normalisation
                with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
                    loss = tf.identity(loss)
            losses.append(loss)
            penalty = tf.losses.get_regularization_loss() if i == 0 else 0
            gradients.append((sync or optimizer).compute_gradients(loss + penalty))
    with tf.device(place_on(setter, 0)):
        mean = [(tf.add_n([g for g, _ in each]) / len(each), each[0][1]) for each in zip(*gradients)]
        train_op = (sync or optimizer).apply_gradients(mean, global_step=global_step)
        loss = tf.add_n(losses) / len(losses)
        right = tf.reduce_sum(tf.cast(tf.equal(tf.argmax(resnet(images, training=False), 1), labels), tf.float32))

    def test(step_context):
        """The accuracy on new images, in batches that fit into memory."""
        tests, total = np.random.default_rng(0), 0
        for begin in range(0, FLAGS.test_images, 100):
            x, y = stripes(tests, min(100, FLAGS.test_images - begin), size)
            total += step_context.session.run(right, {images: x, labels: y})
        return total / FLAGS.test_images

    hooks = [tf.train.StopAtStepHook(last_step=FLAGS.train_steps), tf.train.NanTensorHook(loss)]
    if sync:
        hooks.append(sync.make_session_run_hook(is_chief))
    with tf.train.MonitoredTrainingSession(target, is_chief, hooks=hooks, config=devices) as session:
        values, seconds = [], []
        while not session.should_stop():
            feeds = {} if FLAGS.fixed_batch else dict(zip((images, labels), stripes(random, FLAGS.batch_size, size)))
            began = time.perf_counter()
            _, value, step = session.run([train_op, loss, global_step], feeds)
            seconds.append(time.perf_counter() - began)
            if len(values) % 20 == 0:
                print("step %d: loss %.3f" % (step, value), flush=True)
            values.append(value)
        if seconds:
            print("ResNet-%s, %d %s, batch %d: %.0f images/s" % (FLAGS.depth, FLAGS.num_devices, FLAGS.device_type,
                                                                 FLAGS.batch_size, FLAGS.batch_size / np.median(seconds)))
        if is_chief:
            tested = ", test accuracy %.4f" % session.run_step_fn(test) if FLAGS.test_images else ""
            print("loss from %.3f to %.3f%s" % (values[0], values[-1], tested))


if __name__ == "__main__":
    tf.app.run()
