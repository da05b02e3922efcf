"""word2vec: learns word vectors from a text, with skip-grams. They are partitioned over the parameter servers.

    python examples/python/word2vec.py
    tensorbraid launch --ps=2 --workers=2 -- python examples/python/word2vec.py --train_steps=20000

Without --text, the text is the documentation of this project.
"""

import collections
import os
import re

import cluster
import numpy as np
import tensorbraid as tf

flags = tf.app.flags
flags.DEFINE_multi_string("text", [os.path.join(cluster.ROOT, pattern) for pattern in (
    "*.md", "docs/*.md", "docs/*/*.md", "src/*/README.md", "include/*/*/*.h")], "patterns of text files")
flags.DEFINE_integer("train_steps", 10000, "stop at this global step", lower_bound=1)
flags.DEFINE_integer("batch_size", 128, "pairs of words per step of one worker", lower_bound=1)
flags.DEFINE_integer("vocabulary", 2000, "how many words get a vector", lower_bound=100)
flags.DEFINE_integer("dimensions", 64, "numbers of a vector", lower_bound=1)
flags.DEFINE_integer("window", 4, "how far apart the words of a pair may be", lower_bound=1)
flags.DEFINE_float("learning_rate", 0.5, "learning rate of Adagrad")
FLAGS = flags.FLAGS


def read_words():
    """The words of the vocabulary, the most frequent first, and the text as positions in it; 0 is any other word."""
    paths = sorted(path for pattern in FLAGS.text for path in tf.gfile.Glob(pattern))
    if not paths:
        raise SystemExit("no file matches --text")
    words = []
    for path in paths:
        with tf.gfile.GFile(path) as file:
            words += re.findall("[a-z]+", file.read().lower())
    vocabulary = ["(other)"] + [word for word, _ in collections.Counter(words).most_common(FLAGS.vocabulary - 1)]
    index = {word: i for i, word in enumerate(vocabulary)}
    return vocabulary, np.array([index.get(word, 0) for word in words], np.int32)


def batches(text, random):
    """Yields batches of words, each with one of its neighbours, without end."""
    frequency = np.bincount(text) / len(text)
    text = text[random.rand(len(text)) < np.sqrt(1e-3 / np.maximum(frequency, 1e-3))[text]]  # many of the frequent words are left out
    while True:
        centers = random.randint(FLAGS.window, len(text) - FLAGS.window, FLAGS.batch_size)
        offsets = random.randint(1, FLAGS.window + 1, FLAGS.batch_size) * random.choice([-1, 1], FLAGS.batch_size)
        yield text[centers], text[centers + offsets][:, np.newaxis]


def main(argv):
    target, device, is_chief = cluster.start(argv)
    vocabulary, text = read_words()
    size, parts = len(vocabulary), max(1, len(FLAGS.ps_hosts))
    with tf.device(device), tf.variable_scope("word2vec", partitioner=tf.fixed_size_partitioner(parts)):
        words = tf.placeholder(tf.int32, [None], name="words")
        neighbours = tf.placeholder(tf.int64, [None, 1], name="neighbours")
        vectors = tf.get_variable("vectors", [size, FLAGS.dimensions],
                                  initializer=tf.random_uniform_initializer(-0.1, 0.1))
        weights = tf.get_variable("weights", [size, FLAGS.dimensions],
                                  initializer=tf.truncated_normal_initializer(stddev=0.1))
        biases = tf.get_variable("biases", [size], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.nn.nce_loss(
            weights, biases, labels=neighbours, inputs=tf.nn.embedding_lookup(vectors, words, partition_strategy="div"),
            num_sampled=32, num_classes=size, partition_strategy="div"))
        normalized = tf.nn.l2_normalize(vectors, 1)
        chosen = tf.placeholder(tf.int32, [None], name="chosen")
        likeness = tf.matmul(tf.gather(normalized, chosen), normalized, transpose_b=True)

        global_step = tf.train.get_or_create_global_step()
        hooks = [tf.train.StopAtStepHook(last_step=FLAGS.train_steps), tf.train.NanTensorHook(loss)]
        optimizer = tf.train.AdagradOptimizer(FLAGS.learning_rate)
        sync = cluster.synchronous(optimizer)
        if sync:
            hooks.append(sync.make_session_run_hook(is_chief))
        train_op = (sync or optimizer).minimize(loss, global_step=global_step)

    with tf.train.MonitoredTrainingSession(target, is_chief, hooks=hooks) as session:
        losses = []
        for batch in batches(text, np.random.RandomState(FLAGS.task_index)):
            if session.should_stop():
                break
            _, value, step = session.run([train_op, loss, global_step], dict(zip((words, neighbours), batch)))
            if len(losses) % 1000 == 0:
                print("step %d: loss %.2f" % (step, value), flush=True)
            losses.append(value)
        if is_chief and losses:
            wanted = [word for word in ("server", "worker", "tensor", "gradient", "file") if word in vocabulary]
            rows = session.run_step_fn(lambda step_context: step_context.session.run(
                likeness, {chosen: [vocabulary.index(word) for word in wanted]}))
            for word, row in zip(wanted, rows):
                print("%s: %s" % (word, ", ".join(vocabulary[i] for i in np.argsort(-row)[1:6])))
            some = min(100, (len(losses) + 3) // 4)  # other workers may have run most of the steps
            print("loss from %.2f to %.2f" % (np.mean(losses[:some]), np.mean(losses[-some:])))


if __name__ == "__main__":
    tf.app.run()
