"""A deep interest network: whether a user clicks an item depends on the items that the user has clicked before.

    python examples/python/din.py
    tensorbraid launch --ps=2 --workers=2 -- python examples/python/din.py --train_steps=3000

An attention weighs the earlier items by how well they fit to the item that is shown. All of them are rows of one growing
table. Each step looks up its rows while the step before it runs (tf.staged). Without --log, the program makes a log of
clicks; the best AUC that a model can reach on it is known then.
"""

import os
import tempfile

import clicks
import cluster
import numpy as np
import tensorbraid as tf

flags = tf.app.flags
flags.DEFINE_string("log", os.path.join(tempfile.gettempdir(), "tensorbraid_interests"),
                    "the log: LOG.train.csv and LOG.test.csv")
flags.DEFINE_integer("make_lines", 60000, "how many lines a log has that is made", lower_bound=100)
flags.DEFINE_integer("train_steps", 1500, "stop at this global step", lower_bound=1)
flags.DEFINE_integer("batch_size", 256, "lines per step of one worker", lower_bound=1)
flags.DEFINE_integer("dimensions", 16, "numbers of a row of the table", lower_bound=1)
flags.DEFINE_float("learning_rate", 0.005, "learning rate of Adam")
flags.DEFINE_string("checkpoint_dir", "", "where to save checkpoints; empty: nowhere")
FLAGS = flags.FLAGS
EARLIER = 8  # items of a user's history; items are numbers from 1 on, and 0 stands for none


def make_log():
    """Writes a log. Users like a few kinds of items, and click an item if they have clicked others of its kind."""
    random = np.random.RandomState(1)
    items, kinds, lines = 300, 15, FLAGS.make_lines
    kind = random.randint(kinds, size=items + 1)
    quality = random.randn(items + 1) / 2
    of_kind = [np.flatnonzero(kind[1:] == k) + 1 for k in range(kinds)]
    text, logit = [], np.empty(lines)
    for i in range(lines):
        liked = random.randint(kinds, size=2)
        earlier = [random.choice(of_kind[k]) for k in liked[random.randint(2, size=random.randint(2, EARLIER + 1))]]
        item = random.choice(of_kind[liked[0]]) if random.rand() < 0.5 else random.randint(1, items + 1)
        logit[i] = min(3, (kind[earlier] == kind[item]).sum()) * 1.2 + quality[item] - 1.5
        text.append("%d,%s\n" % (item, " ".join(str(number) for number in earlier)))
    clicked = (random.rand(lines) < 1 / (1 + np.exp(-logit))).astype(int)
    clicks.write_log(FLAGS.log, ["%d,%s" % line for line in zip(clicked, text)], logit, clicked)


def batches(name):
    """A dataset of batches: the items [batch], the earlier items [batch, EARLIER], and whether they were clicked."""
    def parse(lines):
        clicked, item, earlier = tf.decode_csv(lines, [[0.0], [0], [""]])
        words = tf.sparse.to_dense(tf.strings.split(earlier, " "), default_value="0")
        earlier = tf.string_to_number(words, tf.int64)
        missing = EARLIER - tf.shape(earlier)[1]
        return tf.cast(item, tf.int64), tf.pad(earlier, [[0, 0], [0, missing]]), clicked

    lines = tf.data.TextLineDataset("%s.%s.csv" % (FLAGS.log, name))
    if name == "test":
        return lines.batch(2000).map(parse).repeat()
    if FLAGS.worker_hosts:
        lines = lines.shard(len(FLAGS.worker_hosts), FLAGS.task_index)
    return lines.shuffle(10000, seed=1).repeat().batch(FLAGS.batch_size).map(parse).prefetch(2)


def scores_of(item, earlier):
    """The logits of clicks."""
    with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
        parts = tf.fixed_size_partitioner(max(1, len(FLAGS.ps_hosts)))
        table = tf.get_embedding_variable("items", FLAGS.dimensions, partitioner=parts,
                                          initializer=tf.truncated_normal_initializer(stddev=0.3))
        shown = tf.nn.embedding_lookup(table, item)
        history = tf.reshape(tf.nn.embedding_lookup(table, earlier), [-1, EARLIER, FLAGS.dimensions])
        beside = tf.tile(tf.expand_dims(shown, 1), [1, EARLIER, 1])
        x = tf.concat([beside, history, beside * history], 2)
        fit = tf.squeeze(tf.layers.dense(tf.layers.dense(x, 16, tf.nn.relu, name="pair"), 1, name="fit"), 2)
        exists = tf.cast(tf.not_equal(earlier, 0), tf.float32)
        interest = tf.reduce_sum(tf.expand_dims(tf.sigmoid(fit) * exists, 2) * history, 1)
        x = tf.concat([shown, interest, shown * interest], 1)
        for units in (32, 16):
            x = tf.layers.dense(x, units, tf.nn.relu, name="hidden%d" % units)
        return tf.squeeze(tf.layers.dense(x, 1, name="score"), 1)


def main(argv):
    target, device, is_chief = cluster.start(argv)
    if not clicks.exists(FLAGS.log):
        make_log()
    with tf.device(device):
        item, earlier, clicked = tf.staged(tf.data.make_one_shot_iterator(batches("train")).get_next())
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=clicked, logits=scores_of(item, earlier)))
        item, earlier, labels = tf.data.make_one_shot_iterator(batches("test")).get_next()
        test = [tf.sigmoid(scores_of(item, earlier)), labels]
        global_step = tf.train.get_or_create_global_step()
        train_op = tf.train.AdamAsyncOptimizer(FLAGS.learning_rate).minimize(loss, global_step=global_step)
        rows = tf.add_n([table.total_count() for table in tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)])

    hooks = [tf.train.StopAtStepHook(last_step=FLAGS.train_steps), tf.train.NanTensorHook(loss)]
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.do_smart_stage = True
    with tf.train.MonitoredTrainingSession(target, is_chief, checkpoint_dir=FLAGS.checkpoint_dir or None, hooks=hooks,
                                           log_step_count_steps=0, config=config) as session:
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
