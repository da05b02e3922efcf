"""CTC from tf.compat.v1.nn: losses, their gradients in training, and decoders."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1

TIME, BATCH, INPUTS, CLASSES = 12, 4, 6, 5
LENGTHS = np.array([12, 9, 5, 7], np.int32)
LABELS = tf1.SparseTensorValue(np.array([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1], [3, 0], [3, 1], [3, 2], [3, 3]], np.int64),
                               np.array([0, 1, 1, 3, 2, 0, 3, 3, 1, 0], np.int32), np.array([4, 4], np.int64))


def _model(s):
    """Logits [time, batch, classes] of a small network with its variables on the parameter server."""
    random = np.random.RandomState(7)
    x = tf1.placeholder(tf.float32, [None, None, INPUTS])
    with tf.device(s.ps):
        w = tf1.get_variable("w", initializer=random.randn(INPUTS, CLASSES).astype(np.float32))
        b = tf1.get_variable("b", initializer=np.zeros(CLASSES, np.float32))
    with tf.device(s.worker(0)):
        logits = tf.tensordot(x, w, 1) + b
    return x, random.randn(TIME, BATCH, INPUTS).astype(np.float32), logits


def _training(batch_major=False, optimizer=lambda: tf1.train.AdadeltaOptimizer(1.0), **kwargs):
    def run(s):
        x, values, logits = _model(s)
        labels = tf1.sparse_placeholder(tf.int32)
        lengths = tf1.placeholder(tf.int32, [None])
        with tf.device(s.worker(0)):
            if batch_major:
                logits = tf.transpose(logits, [1, 0, 2])
            losses = tf1.nn.ctc_loss(labels, logits, lengths, time_major=not batch_major, **kwargs)
            step = tf1.train.get_or_create_global_step()
            train = optimizer().minimize(tf.reduce_mean(losses), global_step=step)
            gradient = tf1.gradients(losses, logits)
        feeds = {x: values, labels: LABELS, lengths: LENGTHS}
        s.init()
        s.run([losses, gradient], feeds, tolerance=1e-4)
        for _ in range(6):
            s.run([train, losses], feeds, tolerance=1e-3)
        s.run(tf1.trainable_variables(), tolerance=1e-3)
        s.run(losses, {x: values, labels: LABELS, lengths: [12, 9, 1, 7]})
        s.run(losses, {x: values, labels: LABELS, lengths: [13, 9, 5, 7]})
    return run


adadelta = _training()
batch_major_momentum = _training(True, lambda: tf1.train.MomentumOptimizer(0.01, 0.9))
collapsed_labels = _training(preprocess_collapse_repeated=True)
unmerged = _training(ctc_merge_repeated=False)
too_long_labels_are_ignored = _training(ignore_longer_outputs_than_inputs=True)


def second_version(s):
    x, values, logits = _model(s)
    labels = tf1.sparse_placeholder(tf.int32)
    with tf.device(s.worker(0)):
        for blank in (0, -1):
            shift = 1 if blank == 0 else 0
            sparse = tf.SparseTensor(labels.indices, labels.values + shift, labels.dense_shape)
            losses = tf.nn.ctc_loss(sparse, logits, None, LENGTHS, blank_index=blank)
            gradient = tf1.gradients(losses, logits)
            s.init()
            s.run([losses, gradient], {x: values, labels: LABELS}, tolerance=1e-4)
        dense = np.array([[1, 2, 2, 0], [4, 0, 0, 0], [3, 1, 0, 0], [4, 4, 2, 1]], np.int32)
        losses = tf.nn.ctc_loss(dense, logits, [3, 1, 2, 4], LENGTHS, blank_index=0)
        s.run([losses, tf1.gradients(losses, logits)], {x: values}, tolerance=1e-4)


def half_precision_is_computed_in_float(s):
    random = np.random.RandomState(8)
    logits = tf1.placeholder(tf.float16, [TIME, BATCH, CLASSES])
    losses = tf1.nn.ctc_loss(tf.SparseTensor(*LABELS), logits, LENGTHS)
    s.run([losses, tf1.gradients(losses, logits)], {logits: random.randn(TIME, BATCH, CLASSES).astype(np.float16)}, tolerance=1e-2)


def decoders(s):
    x, values, logits = _model(s)
    lengths = tf1.placeholder(tf.int32, [None])
    with tf.device(s.worker(1)):
        found = [tf.nn.ctc_greedy_decoder(logits, lengths), tf.nn.ctc_greedy_decoder(logits, lengths, merge_repeated=False),
                 tf.nn.ctc_greedy_decoder(logits, lengths, blank_index=1),
                 tf1.nn.ctc_beam_search_decoder(logits, lengths),
                 tf1.nn.ctc_beam_search_decoder(logits, lengths, beam_width=5, top_paths=3, merge_repeated=False),
                 tf.nn.ctc_beam_search_decoder(logits, lengths, beam_width=20, top_paths=2)]
        truth = tf1.sparse_placeholder(tf.int64)
        errors = [tf.edit_distance(one, truth) for decoded, _ in found for one in decoded]
    wide = tf1.SparseTensorValue(LABELS.indices, LABELS.values.astype(np.int64), LABELS.dense_shape)
    s.init()
    for counts in (LENGTHS, [1, 2, 3, 4], [0, 12, 12, 12]):
        for one in found + [errors]:
            s.run(one, {x: values, lengths: counts, truth: wide}, tolerance=1e-4)
    s.run(found[0], {x: values, lengths: [13, 1, 1, 1]})
    s.run(found[3], {x: values, lengths: [1, 1, 1]})


def _refused(s, indices, values, shape=(4, 4), lengths=LENGTHS, x=None):
    x = np.random.RandomState(9).randn(TIME, BATCH, CLASSES).astype(np.float32) if x is None else x
    at = [tf1.placeholder_with_default(v, None) for v in (np.array(indices, np.int64), np.array(values, np.int32), x, np.array(lengths, np.int32))]
    s.run(tf.raw_ops.CTCLoss(inputs=at[2], labels_indices=at[0], labels_values=at[1], sequence_length=at[3]))


def mistakes(s):
    every = [[0, 0], [1, 0], [2, 0], [3, 0]]
    _refused(s, every, [0, 1, 2, 3])
    _refused(s, every, [0, 1, -2, 3])
    _refused(s, every + [[3, 1]], [0, 1, 2, 3, 40])
    _refused(s, every[:3], [0, 1, 2])
    _refused(s, every[::-1], [0, 1, 2, 3])
    _refused(s, every + [[4, 0]], [0, 1, 2, 3, 0])
    _refused(s, every + [[-1, 0]], [0, 1, 2, 3, 0])
    _refused(s, every, [0, 1, 2, 3], lengths=[1, 2, 3])
    _refused(s, every, [0, 1, 2, 3], lengths=[1, 2, 3, -4])
    _refused(s, every, [0, 1, 2])
    _refused(s, every, [0, 1, 2, 3], x=np.full([TIME, BATCH, CLASSES], np.nan, np.float32))
    _refused(s, np.zeros([0, 2]), [], x=np.zeros([TIME, 0, CLASSES], np.float32), lengths=[])
    s.run(tf1.nn.ctc_loss(tf.SparseTensor(*LABELS), np.zeros([TIME, BATCH, CLASSES], np.float32), np.int32([1, 1, 1, 1])),
          text="Not enough time for target transition sequence")
