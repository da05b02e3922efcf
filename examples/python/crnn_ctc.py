"""Recognises lines of digits with a CRNN and the CTC loss, under a Supervisor. The lines consist of MNIST's digits.

    python examples/python/crnn_ctc.py
    tensorbraid launch --ps=1 --workers=2 -- python examples/python/crnn_ctc.py --issync
"""

import cluster
import numpy as np
import tensorbraid as tf
from tensorbraid.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("data_dir", cluster.MNIST, "MNIST in idx format")
flags.DEFINE_integer("train_steps", 2500, "stop at this global step", lower_bound=1)
flags.DEFINE_integer("batch_size", 32, "lines per step of one worker", lower_bound=1)
flags.DEFINE_integer("test_lines", 2000, "how many lines the test has", lower_bound=1)
flags.DEFINE_string("checkpoint_dir", None, "the chief saves checkpoints here, and starts from the latest one")
FLAGS = flags.FLAGS
DIGITS, HEIGHT, WIDTH, REDUCTION = 5, 32, 144, 4  # of a line; columns of the image for each step of the LSTM


def make_lines(data, count, random):
    """Images of lines, their lengths in steps of the LSTM, and their digits as a sparse value."""
    digits, labels = data.next_batch(DIGITS * count, shuffle=True)
    images = np.zeros([count, HEIGHT, WIDTH, 1], np.float32)
    lengths = np.zeros([count], np.int32)
    for line in range(count):
        left = random.randint(0, 5)
        for digit in digits[DIGITS * line:DIGITS * (line + 1)]:
            top = random.randint(0, 5)
            place = images[line, top:top + 28, left:left + 28, 0]
            np.maximum(place, digit.reshape(28, 28), out=place)
            left += random.randint(20, 29)
        lengths[line] = min(WIDTH, left + 8) // REDUCTION
    indices = [[line, k] for line in range(count) for k in range(DIGITS)]
    return images, lengths, tf.SparseTensorValue(indices, labels.astype(np.int32), [count, DIGITS])


def crnn(images, lengths, training):
    """The logits of the ten digits and the blank, [step, line, 11]."""
    x = images
    for filters, pool in ((16, [2, 2]), (32, [2, 2]), (64, [2, 1])):
        x = tf.layers.conv2d(x, filters, 3, padding="same", use_bias=False)
        x = tf.nn.relu(tf.layers.batch_normalization(x, training=training))
        x = tf.layers.max_pooling2d(x, pool, pool)
    x = tf.layers.conv2d(x, 96, [HEIGHT // 8, 1], activation=tf.nn.relu)  # each column becomes a vector
    x = tf.transpose(tf.squeeze(x, [1]), [1, 0, 2])
    forward, backward = tf.nn.rnn_cell.LSTMCell(64), tf.nn.rnn_cell.LSTMCell(64)
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(forward, backward, x, lengths, dtype=tf.float32, time_major=True)
    return tf.layers.dense(tf.concat(outputs, 2), 11, name="logits")


def main(argv):
    target, device, is_chief = cluster.start(argv)
    tf.set_random_seed(1)
    with tf.device(device):
        images = tf.placeholder(tf.float32, [None, HEIGHT, WIDTH, 1], name="images")
        lengths = tf.placeholder(tf.int32, [None], name="lengths")
        labels = tf.sparse_placeholder(tf.int32, name="labels")
        training = tf.placeholder_with_default(False, [], name="training")
        logits = crnn(images, lengths, training)
        loss = tf.reduce_mean(tf.nn.ctc_loss(labels, logits, lengths))
        (decoded,), _ = tf.nn.ctc_beam_search_decoder(logits, lengths, beam_width=10)
        distance = tf.edit_distance(tf.cast(decoded, tf.int32), labels, normalize=False)
        accuracy = tf.reduce_mean(tf.cast(tf.equal(distance, 0), tf.float32))

        global_step = tf.train.get_or_create_global_step()
        rate = tf.train.cosine_decay(1.0, global_step, FLAGS.train_steps, alpha=0.02)
        optimizer = tf.train.AdadeltaOptimizer(rate, epsilon=1e-6)
        sync = cluster.synchronous(optimizer)
        gradients, variables = zip(*optimizer.compute_gradients(loss))
        clipped, _ = tf.clip_by_global_norm(gradients, 10.0)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)  # of batch normalization
        train_op = tf.group((sync or optimizer).apply_gradients(zip(clipped, variables), global_step), *updates)
        with tf.control_dependencies([train_op]):
            step_after = global_step.read_value()

    mnist = input_data.read_data_sets(FLAGS.data_dir, validation_size=0, seed=FLAGS.task_index + 1)
    random = np.random.RandomState(FLAGS.task_index)
    supervisor = tf.train.Supervisor(is_chief=is_chief, logdir=FLAGS.checkpoint_dir, global_step=global_step,
                                     summary_op=None)
    with supervisor.managed_session(target) as session:
        if sync and is_chief:
            supervisor.start_queue_runners(session, [sync.get_chief_queue_runner()])
            session.run(sync.get_init_tokens_op())
        step, losses = session.run(global_step), []
        while not supervisor.should_stop() and step < FLAGS.train_steps:
            feeds = {training: True, **dict(zip((images, lengths, labels),
                                                make_lines(mnist.train, FLAGS.batch_size, random)))}
            value, step = session.run([loss, step_after], feeds)
            if len(losses) % 50 == 0:
                print("step %d: loss %.3f" % (step, value), flush=True)
            losses.append(value)
        if is_chief:
            feeds = dict(zip((images, lengths, labels), make_lines(mnist.test, FLAGS.test_lines, random)))
            print("loss from %.3f to %.3f, " % (losses[0], losses[-1]) if losses else "",
                  "sequence accuracy %.4f" % session.run(accuracy, feeds), sep="")


if __name__ == "__main__":
    tf.app.run()
