"""tf.contrib.crf against sums over all sequences of labels."""

import itertools
import unittest

import numpy as np
import tensorbraid as tf

crf = tf.contrib.crf
LABELS, TIME = 3, 4
random = np.random.RandomState(1)
INPUTS = random.randn(3, TIME, LABELS).astype(np.float32)
TRANSITIONS = random.randn(LABELS, LABELS).astype(np.float32)
TAGS = np.array([[0, 2, 1, 1], [1, 1, 0, 0], [2, 0, 0, 0]], np.int32)
LENGTHS = [4, 2, 1]


def score_of(inputs, tags):
    steps = sum(inputs[i, tag] for i, tag in enumerate(tags))
    return steps + sum(TRANSITIONS[a, b] for a, b in zip(tags, tags[1:]))


def all_scores(row):
    return {tags: score_of(INPUTS[row], tags) for tags in itertools.product(range(LABELS), repeat=LENGTHS[row])}


class CrfTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_the_likelihood_is_the_score_among_all_scores(self):
        lengths = tf.constant(LENGTHS)
        likelihood, _ = crf.crf_log_likelihood(INPUTS, TAGS, lengths, tf.constant(TRANSITIONS))
        score = crf.crf_sequence_score(INPUTS, TAGS, lengths, tf.constant(TRANSITIONS))
        with tf.Session() as session:
            likelihood, score = session.run([likelihood, score])
        for row, length in enumerate(LENGTHS):
            wanted = score_of(INPUTS[row], TAGS[row][:length])
            norm = np.log(sum(np.exp(value) for value in all_scores(row).values()))
            self.assertAlmostEqual(float(score[row]), wanted, places=4)
            self.assertAlmostEqual(float(likelihood[row]), wanted - norm, places=4)

    def test_decoding_finds_the_best_labels(self):
        tags, best = crf.crf_decode(INPUTS, tf.constant(TRANSITIONS), tf.constant(LENGTHS))
        with tf.Session() as session:
            tags, best = session.run([tags, best])
        for row, length in enumerate(LENGTHS):
            scores = all_scores(row)
            wanted = max(scores, key=scores.get)
            self.assertEqual(tuple(tags[row][:length]), wanted)
            self.assertEqual(tags[row][length:].tolist(), [0] * (TIME - length))
            self.assertAlmostEqual(float(best[row]), scores[wanted], places=4)
        self.assertEqual(crf.viterbi_decode(INPUTS[0], TRANSITIONS)[0], tags[0].tolist())

    def test_transitions_are_trained(self):
        likelihood, transitions = crf.crf_log_likelihood(tf.constant(INPUTS), TAGS, tf.constant(LENGTHS))
        self.assertEqual(transitions.name, "transitions:0")
        loss = -tf.reduce_mean(likelihood)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            before = session.run(loss)
            for _ in range(5):
                session.run(train)
            self.assertLess(session.run(loss), before)


if __name__ == "__main__":
    unittest.main()
