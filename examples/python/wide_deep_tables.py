"""A wide and deep model of clicks, whose tables grow with the users and items that the log has. Reads CSV.

    python examples/python/wide_deep_tables.py
    tensorbraid launch --ps=2 --workers=2 -- python examples/python/wide_deep_tables.py --train_steps=6000

Without --log, the program makes a log of clicks. The probability of each click is known then, and with it the best
AUC (the probability that a click gets a higher score than another line) that a model can reach.
"""

import os
import tempfile

import clicks
import cluster
import numpy as np
import tensorbraid as tf

flags = tf.app.flags
flags.DEFINE_string("log", os.path.join(tempfile.gettempdir(), "tensorbraid_clicks"), "the log: LOG.train.csv and LOG.test.csv")
flags.DEFINE_integer("make_lines", 60000, "how many lines a log has that is made", lower_bound=100)
flags.DEFINE_integer("train_steps", 3000, "stop at this global step", lower_bound=1)
flags.DEFINE_integer("batch_size", 256, "lines per step of one worker", lower_bound=1)
flags.DEFINE_integer("dimensions", 8, "numbers of a row of a table", lower_bound=1)
flags.DEFINE_float("learning_rate", 0.2, "learning rate of Adagrad")
flags.DEFINE_string("checkpoint_dir", "", "where to save checkpoints; empty: nowhere")
FLAGS = flags.FLAGS
COLUMNS = ["user", "item", "place"]


def make_log():
    """Writes a log. A click depends on the tastes of the user, the qualities of the item, the place, and the hour."""
    random = np.random.RandomState(1)
    users, items, places, tastes = 500, 300, 10, 3
    taste, quality = random.randn(users, tastes), random.randn(items, tastes)
    of_user, of_item, of_place = (random.randn(count) for count in (users, items, places))
    lines = FLAGS.make_lines
    user, item = ((size * random.rand(lines) ** 2).astype(int) for size in (users, items))  # the first are frequent
    place, hour = random.randint(places, size=lines), random.rand(lines)
    logit = (taste[user] * quality[item]).sum(1) / 2 + of_user[user] + of_item[item] + of_place[place] + np.sin(6 * hour) - 1
    clicked = (random.rand(lines) < 1 / (1 + np.exp(-logit))).astype(int)
    text = ["%d,u%d,i%d,p%d,%.4f\n" % line for line in zip(clicked, user, item, place, hour)]
    clicks.write_log(FLAGS.log, text, logit, clicked)


def read(name):
    """The lines of a file as a dataset of features and labels."""
    def parse(line):
        clicked, user, item, place, hour = tf.decode_csv(line, [[0.0], [""], [""], [""], [0.0]])
        return {"user": user, "item": item, "place": place, "hour": hour}, clicked

    return tf.data.TextLineDataset("%s.%s.csv" % (FLAGS.log, name)), parse


def scores_of(features):
    """The logits of clicks: the sum of a linear model and a network of embeddings."""
    fc = tf.feature_column
    keys = [fc.categorical_column_with_embedding(name, dtype=tf.string) for name in COLUMNS]
    parts = tf.fixed_size_partitioner(max(1, len(FLAGS.ps_hosts)))
    with tf.variable_scope("wide", partitioner=parts, reuse=tf.AUTO_REUSE):
        wide = fc.linear_model(features, keys)
    with tf.variable_scope("deep", reuse=tf.AUTO_REUSE):
        with tf.variable_scope("tables", partitioner=parts):
            x = fc.input_layer(features, [fc.embedding_column(key, FLAGS.dimensions) for key in keys]
                               + [fc.numeric_column("hour")])
        for units in (64, 32):
            x = tf.layers.dense(x, units, activation=tf.nn.relu, name="hidden%d" % units)
        return tf.squeeze(wide + tf.layers.dense(x, 1, name="score"), 1)


def main(argv):
    target, device, is_chief = cluster.start(argv)
    if not clicks.exists(FLAGS.log):
        make_log()
    with tf.device(device):
        lines, parse = read("train")
        if FLAGS.worker_hosts:
            lines = lines.shard(len(FLAGS.worker_hosts), FLAGS.task_index)
        batches = lines.shuffle(10000, seed=1).repeat().batch(FLAGS.batch_size).map(parse).prefetch(2)
        features, clicked = tf.data.make_one_shot_iterator(batches).get_next()
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=clicked, logits=scores_of(features)))
        lines, parse = read("test")
        tested, labels = tf.data.make_one_shot_iterator(lines.batch(2000).map(parse).repeat()).get_next()
        test = [tf.sigmoid(scores_of(tested)), labels]

        global_step = tf.train.get_or_create_global_step()
        train_op = tf.train.AdagradOptimizer(FLAGS.learning_rate).minimize(loss, global_step=global_step)
        rows = tf.add_n([table.total_count() for table in tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)])

    hooks = [tf.train.StopAtStepHook(last_step=FLAGS.train_steps), tf.train.NanTensorHook(loss)]
    with tf.train.MonitoredTrainingSession(target, is_chief, checkpoint_dir=FLAGS.checkpoint_dir or None, hooks=hooks,
                                           log_step_count_steps=0) as session:
        steps = 0
        while not session.should_stop():
            _, value, step = session.run([train_op, loss, global_step])
            if steps % 500 == 0:
                print("step %d: loss %.3f" % (step, value), flush=True)
            steps += 1
        if is_chief:
            clicks.print_auc(session, test, rows)


if __name__ == "__main__":
    tf.app.run()
