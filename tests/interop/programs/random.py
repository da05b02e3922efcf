"""Random ops and candidate samplers: equal seeds give TensorFlow's numbers."""
import os
import tempfile

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


def seeded_tensors(s):
    tf1.set_random_seed(11)
    for dtype in [tf.float16, tf.bfloat16, tf.float32, tf.float64]:
        draws = [tf.random.uniform([7], dtype=dtype), tf.random.normal([2, 3], dtype=dtype, seed=3),
                 tf.random.truncated_normal([9], dtype=dtype)]
        s.run(draws)
        s.run(draws)  # continues the streams of the first step
    ints = [tf.random.uniform([5], 3, 1000, tf.int32), tf.random.uniform([5], -7, 10**12, tf.int64)]
    s.run(ints)
    s.run(ints)
    s.run(tf.random.uniform([2], 5, 5, tf.int32))


def seeded_samples(s):
    tf1.set_random_seed(12)
    shuffled = [tf.random.shuffle(tf.range(9)), tf.random.shuffle([["a", "b"], ["c", "d"], ["e", "f"]])]
    s.run(shuffled)
    s.run(shuffled)
    classes = tf.random.categorical(tf.math.log([[0.1, 0.2, 0.7], [0.4, 0.3, 0.3]]), 6)
    s.run(classes)
    s.run(classes)
    s.run(tf.random.gamma([3], [0.5, 1.0, 4.0]))
    s.run(tf.random.poisson([3], [0.5, 1.0, 40.0]))
    alpha = tf.constant([0.5, 2.0])
    s.run(tf.gradients(tf.random.gamma([2], alpha), alpha), tolerance=1e-4)


def unseeded(s):
    s.run([tf.random.uniform([3]), tf.random.normal([2]), tf.random.shuffle([1, 2, 3])], shape_only=True)
    s.run(tf.raw_ops.ParameterizedTruncatedNormal(shape=[2, 3], means=[0.0], stdevs=[1.0], minvals=[-1.0],
                                                  maxvals=[1.0]), shape_only=True)


def normals_to_the_last_bit(s):
    tf1.set_random_seed(13)
    draws = [tf.random.normal([1 << 20]), tf.random.truncated_normal([1 << 20], dtype=tf.float32),
             tf.random.stateless_normal([1 << 18], [4, 5]), tf.random.normal([1 << 16], dtype=tf.float64),
             tf.random.normal([1 << 16], dtype=tf.float16)]
    for _ in range(2):
        s.run(draws, tolerance=0)


def stateless(s):
    seed = tf1.placeholder(tf.int64, [2])
    draws = [tf.random.stateless_uniform([5], seed), tf.random.stateless_normal([4], seed),
             tf.random.stateless_truncated_normal([4], seed), tf.random.stateless_uniform([4], seed, 0, 9, tf.int32),
             tf.random.stateless_categorical(tf.math.log([[0.5, 0.5]]), 5, seed),
             tf.random.stateless_gamma([3], seed, 2.0), tf.random.stateless_poisson([3], seed, 4.0)]
    s.run(draws, {seed: [1, 2]})
    s.run(draws, {seed: [-1, 2**40]})
    s.run(tf.random.experimental.stateless_split(seed, 2), {seed: [3, 4]})
    s.run(tf.random.experimental.stateless_fold_in(seed, 5), {seed: [3, 4]})


def generator(s):
    g = tf.random.Generator.from_seed(5, alg="philox")
    s.init()
    draws = [g.normal([3]), g.uniform([2], 0, 100, tf.int64)]
    s.run(draws[0])
    s.run(draws[0])
    s.run(draws[1])


def dropout(s):
    tf1.set_random_seed(3)
    x = tf.ones([4, 5])
    y = tf1.nn.dropout(x, rate=0.4, seed=8)
    s.run([y] + tf.gradients(y, x))
    s.run(tf1.nn.dropout(x, rate=0.4, noise_shape=[4, 1], seed=8))


def candidate_samplers(s):
    classes = tf.constant([[1, 2], [3, 1]], tf.int64)
    common = dict(true_classes=classes, num_true=2, range_max=50)
    for unique in [True, False]:
        s.run(tf.random.uniform_candidate_sampler(num_sampled=7, unique=unique, seed=3, **common))
        s.run(tf.random.log_uniform_candidate_sampler(num_sampled=7, unique=unique, seed=3, **common))
        learned = tf.random.learned_unigram_candidate_sampler(num_sampled=7, unique=unique, seed=3, **common)
        s.run(learned)
        s.run(learned)  # the sampler has learned the classes of the steps before
        s.run(tf.random.fixed_unigram_candidate_sampler(num_sampled=7, unique=unique, seed=3,
                                                        unigrams=[float(i + 1) for i in range(50)], **common))
    s.run(tf.random.all_candidate_sampler(classes, 2, 5, True))
    s.run(tf.random.uniform_candidate_sampler(num_sampled=51, unique=True, **common))
    hits = tf.nn.compute_accidental_hits(classes, tf.constant([3, 7, 1], tf.int64), 2)
    s.run(hits)


def fixed_unigrams(s):
    classes = tf.constant([[1], [3]], tf.int64)

    def sample(num, unique, **options):
        drawn = tf.random.fixed_unigram_candidate_sampler(classes, 1, num, unique, seed=4, **options)
        s.run(drawn)
        s.run(drawn)

    sample(200, False, range_max=5, unigrams=[1.0, 0.0, 2.5, 1e-3, 7.0])
    sample(4, True, range_max=5, unigrams=[1.0, 0.0, 2.5, 1e-3, 7.0])
    sample(100, False, range_max=6, unigrams=[3.0, 2.0, 1.0, 5.0], num_reserved_ids=2, distortion=0.75)
    sample(100, False, range_max=4, unigrams=[3.0, 2.0, 1.0, 5.0, 4.0, 2.0, 9.0, 1.0], num_shards=2, shard=1)
    sample(100, False, range_max=5, unigrams=[3.0, 2.0, 1.0, 5.0, 4.0, 2.0, 9.0, 1.0], num_shards=2, shard=0,
           num_reserved_ids=2)
    sample(50, False, range_max=4, unigrams=[1.0] * 4, distortion=0.0)
    zipf = [1.0 / (i + 1) for i in range(1000)]
    sample(500, False, range_max=1000, unigrams=zipf, distortion=0.4)
    sample(100, True, range_max=1000, unigrams=zipf)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "vocab.csv")
        with open(path, "w") as f:
            f.write("\n".join(f"word{i},{i % 7},{1.0 / (i + 1)}" for i in range(30)) + "\n")
        sample(100, False, range_max=30, vocab_file=path, distortion=0.75)
        sample(20, True, range_max=32, vocab_file=path, num_reserved_ids=2)


def sampled_losses_train(s):
    with tf.device(s.ps):
        weights = tf1.get_variable("weights", initializer=np.arange(40.0, dtype=np.float32).reshape(10, 4) / 40)
        biases = tf1.get_variable("biases", initializer=np.zeros(10, np.float32))
    inputs = tf.constant(np.arange(12.0, dtype=np.float32).reshape(3, 4) / 12)
    labels = tf.constant([[1], [4], [1]], tf.int64)
    with tf.device(s.worker(0)):
        losses = []
        for loss in [tf1.nn.sampled_softmax_loss, tf1.nn.nce_loss]:
            sampled = tf.random.log_uniform_candidate_sampler(labels, 1, 5, True, 10, seed=9)
            losses.append(tf.reduce_sum(loss(weights, biases, labels, inputs, 5, 10, sampled_values=sampled)))
    train = tf1.train.GradientDescentOptimizer(0.1).minimize(losses[0] + losses[1])
    s.init()
    s.run([train] + losses)
    s.run([weights, biases])
