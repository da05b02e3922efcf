"""Trains models of sequences: prints the loss of each step. Weights begin with the values of seeds."""

import numpy as np

from networks import initial, train


def language_model(tf):
    """Two layers of LSTM that predict the next letter of a text; the state goes on from batch to batch."""
    text = np.array([ord(letter) % 16 for letter in "the quick brown fox jumps over the lazy dog " * 12])
    rows, length, units = 4, 8, 12
    text = text[:len(text) // rows * rows].reshape(rows, -1)
    letters, following = (tf.placeholder(tf.int32, [rows, length]) for _ in range(2))
    with tf.variable_scope("model", initializer=tf.random_uniform_initializer(-0.3, 0.3, seed=1)):
        table = tf.get_variable("table", [16, units])
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(units) for _ in range(2)])
        before = cell.zero_state(rows, tf.float32)
        outputs, after = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(table, letters), initial_state=before)
        logits = tf.layers.dense(outputs, 16)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=following, logits=logits))
    variables = tf.trainable_variables()
    gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 0.5)
    train_op = tf.train.GradientDescentOptimizer(1.0).apply_gradients(zip(gradients, variables))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        state = session.run(before)
        for k in range(30):
            begin = k * length % (text.shape[1] - length - 1)
            feeds = {letters: text[:, begin:begin + length], following: text[:, begin + 1:begin + length + 1]}
            for place, value in zip(before, state):
                feeds.update({place.c: value.c, place.h: value.h})
            value, length_of_gradient, state, _ = session.run([loss, norm, after, train_op], feeds)
            print(repr(float(value)), repr(float(length_of_gradient)))


def lines(tf):
    """A CRNN: convolutions, a bidirectional LSTM and the CTC loss, for lines of different lengths."""
    random = np.random.RandomState(1)
    count, width = 6, 24
    shapes = random.rand(5, 8, 6).astype(np.float32)
    values = np.zeros([count, 8, width, 1], np.float32)
    words = [random.randint(0, 5, random.randint(2, 5)) for _ in range(count)]
    for word, value in zip(words, values):
        for k, letter in enumerate(word):
            value[:, 6 * k:6 * k + 6, 0] = shapes[letter]
    indices = [[line, k] for line, word in enumerate(words) for k in range(len(word))]
    labels = tf.sparse_placeholder(tf.int32)
    images, lengths = tf.placeholder(tf.float32, [None, 8, width, 1]), tf.placeholder(tf.int32, [None])
    x = tf.layers.conv2d(images, 6, 3, padding="same", activation=tf.nn.relu, kernel_initializer=initial(tf, 1))
    x = tf.layers.max_pooling2d(x, 2, 2)
    x = tf.layers.conv2d(x, 8, [4, 1], activation=tf.nn.relu, kernel_initializer=initial(tf, 2))
    x = tf.squeeze(x, [1])
    with tf.variable_scope("rnn", initializer=initial(tf, 3)):
        cells = [tf.nn.rnn_cell.LSTMCell(6) for _ in range(2)]
        outputs, _ = tf.nn.bidirectional_dynamic_rnn(cells[0], cells[1], x, lengths, dtype=tf.float32)
    logits = tf.layers.dense(tf.concat(outputs, 2), 6, kernel_initializer=initial(tf, 4))
    logits = tf.transpose(logits, [1, 0, 2])
    loss = tf.reduce_mean(tf.nn.ctc_loss(labels, logits, lengths))
    decoded, scores = tf.nn.ctc_beam_search_decoder(logits, lengths, beam_width=5)
    mistakes = tf.reduce_mean(tf.edit_distance(tf.cast(decoded[0], tf.int32), labels))
    train_op = tf.train.MomentumOptimizer(0.02, 0.9).minimize(loss)
    feeds = {images: values, lengths: [3 * len(word) for word in words],
             labels: tf.SparseTensorValue(indices, np.concatenate(words), [count, 4])}
    train(tf, 30, lambda k: feeds, train_op, loss, mistakes, tf.reduce_sum(scores))


def words(tf):
    """word2vec: a table in parts, the loss of noise contrastive estimation with given samples, and Adagrad."""
    random = np.random.RandomState(2)
    size, batch = 20, 8
    centers, neighbours = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int64, [None, 1])
    sampled = tf.placeholder(tf.int64, [5])
    with tf.variable_scope("words", partitioner=tf.fixed_size_partitioner(3)):
        table = tf.get_variable("table", [size, 6], initializer=tf.random_uniform_initializer(-1, 1, seed=1))
        weights = tf.get_variable("weights", [size, 6], initializer=tf.truncated_normal_initializer(stddev=0.3, seed=2))
        biases = tf.get_variable("biases", [size], initializer=tf.zeros_initializer())
    vectors = tf.nn.embedding_lookup(table, centers, partition_strategy="div")
    expected = tf.fill([batch, 1], 0.25), tf.fill([5], 0.25)
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, neighbours, vectors, 5, size, partition_strategy="div",
                                         sampled_values=(sampled, *expected)))
    train_op = tf.train.AdagradOptimizer(0.3).minimize(loss)

    def feeds(_):
        chosen = random.randint(0, size, batch)
        return {centers: chosen, neighbours: (chosen[:, None] + 1) % size, sampled: random.choice(size, 5, False)}

    train(tf, 40, feeds, train_op, loss)


def run(tf):
    for part in (language_model, lines, words):
        with tf.Graph().as_default():
            part(tf)
