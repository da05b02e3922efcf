"""tf.nn: cross entropies, CTC, sampled losses, embeddings, top k."""

import numpy as np
from registry import Result, case, each, floats, op

LOGITS = floats(3, 4)
SOFT = np.exp(floats(3, 4, seed=1)) / np.exp(floats(3, 4, seed=1)).sum(1, keepdims=True)
CUBE = floats(2, 3, 4)
SAME = {"names": False}
UNNAMED = "TensorFlow 1 refused arguments without names, as the library does; their order was another one before"

for name in ("softmax_cross_entropy_with_logits", "softmax_cross_entropy_with_logits_v2"):
    op(f"nn.{name}", labels=SOFT, logits=LOGITS, _options=SAME)
    op(f"nn.{name}", labels=CUBE, logits=CUBE[::-1], axis=1, name="given", _options=SAME)
    op(f"nn.{name}", labels=CUBE, logits=CUBE, dim=0, _options=SAME)
    op(f"nn.{name}", labels=None, logits=LOGITS)
op("nn.softmax_cross_entropy_with_logits", SOFT, LOGITS, _options={**SAME, "known": UNNAMED})
op("nn.softmax_cross_entropy_with_logits", labels=SOFT[np.newaxis], logits=LOGITS, _options=SAME)
for dtype in ("float64", "int32", "float16", "bool"):  # labels of another dtype are converted
    for name in ("softmax_cross_entropy_with_logits", "softmax_cross_entropy_with_logits_v2"):
        op(f"nn.{name}", labels=np.eye(4)[[0, 3, 1]].astype(dtype), logits=LOGITS, name="given", _options=SAME)
op("nn.sparse_softmax_cross_entropy_with_logits", labels=np.array([0, 3, 1]), logits=LOGITS, name="given",
   _options=SAME)
op("nn.sparse_softmax_cross_entropy_with_logits", labels=np.array([[0, 3, 1], [1, 1, 2]], np.int32), logits=CUBE,
   _options=SAME)
op("nn.sparse_softmax_cross_entropy_with_logits", labels=np.array([[0, 3, 1]]), logits=LOGITS)
op("nn.sparse_softmax_cross_entropy_with_logits", np.array([0, 3, 1]), LOGITS, _options={"known": UNNAMED})
op("nn.sigmoid_cross_entropy_with_logits", labels=SOFT, logits=LOGITS, _options=SAME)
op("nn.sigmoid_cross_entropy_with_logits", labels=SOFT, logits=5 * LOGITS, name="given", _options=SAME)
op("nn.sigmoid_cross_entropy_with_logits", labels=SOFT, logits=CUBE)
op("nn.weighted_cross_entropy_with_logits", SOFT, LOGITS, 2.0, _options=SAME)
op("nn.weighted_cross_entropy_with_logits", targets=SOFT, logits=LOGITS, pos_weight=floats(4, low=0.1), name="given",
   _options=SAME)
op("nn.log_poisson_loss", np.abs(LOGITS), SOFT, _options=SAME)
op("nn.log_poisson_loss", 3 * np.abs(LOGITS), log_input=SOFT, compute_full_loss=True, name="given", _options=SAME)
op("nn.l2_loss", LOGITS)
op("nn.l2_loss", LOGITS, name="given")
for names in ("nn.in_top_k math.in_top_k",):
    op(names, LOGITS, np.array([0, 3, 1], np.int32), 2, _options=SAME)
    op(names, predictions=LOGITS, targets=np.array([0, 3, 1]), k=1, name="given", _options=SAME)
for names in ("nn.top_k math.top_k",):
    op(names, LOGITS, 2)
    op(names, LOGITS, k=3, sorted=True, name="given")
    op(names, LOGITS)
    op(names, LOGITS, k=9)


def ctc(tf, f, **options):
    logits = tf.constant(floats(5, 2, 4))
    labels = tf.SparseTensor(np.array([[0, 0], [0, 1], [1, 0]], np.int64), np.array([1, 2, 0], np.int32), [2, 2])
    return Result(f(labels, logits, [5, 4], **options), wrt=[logits])


each("nn.ctc_loss", ctc, names=False)
each("nn.ctc_loss", lambda tf, f: ctc(tf, f, preprocess_collapse_repeated=True, ctc_merge_repeated=False), names=False)
each("nn.ctc_loss", lambda tf, f: f(tf.SparseTensor([[0, 0]], [1], [2, 1]), sequence_length=[3, 2], time_major=False,
                                    logits=floats(2, 3, 4)), names=False)


def dense_ctc(tf, **options):
    logits = tf.constant(floats(5, 2, 4))
    labels = tf.constant([[1, 2, 0], [3, 0, 0]])
    return Result(tf.nn.ctc_loss_v2(labels, logits, [2, 1], [5, 4], **options), wrt=[logits])


case("nn.ctc_loss_v2", dense_ctc, names=False)
case("nn.ctc_loss_v2", lambda tf: dense_ctc(tf, blank_index=0, name="given"), names=False)
case("nn.ctc_loss_v2", lambda tf: dense_ctc(tf, unique=tf.nn.ctc_unique_labels(tf.constant([[1, 2, 0], [3, 0, 0]]))),
     names=False)
case("nn.ctc_loss_v2", lambda tf: tf.nn.ctc_loss_v2(
    tf.SparseTensor([[0, 0], [1, 0]], [1, 2], [2, 1]), tf.constant(floats(2, 5, 4)), None, [5, 4],
    logits_time_major=False,
    blank_index=-1), names=False)
case("nn.ctc_unique_labels", lambda tf: tf.nn.ctc_unique_labels(tf.constant([[1, 2, 1], [3, 3, 0]]), name="given"),
     names=False)
case("nn.collapse_repeated", lambda tf: tf.nn.collapse_repeated(tf.constant([[1, 1, 2, 2], [3, 1, 1, 0]]), [4, 3],
                                                                name="given"),
     names=False, shapes="the shape rules of C++ do not compute with values that ops make of constants")
for name in ("nn.ctc_greedy_decoder", "nn.ctc_beam_search_decoder", "nn.ctc_beam_search_decoder_v2"):
    each(name, lambda tf, f: f(3 * floats(5, 2, 4), [5, 4]), names=False)
each("nn.ctc_greedy_decoder", lambda tf, f: f(3 * floats(5, 2, 4), [5, 4], merge_repeated=False, blank_index=0),
     names=False)
each("nn.ctc_beam_search_decoder", lambda tf, f: f(floats(5, 2, 4), [5, 4], beam_width=5, top_paths=2,
                                                   merge_repeated=False),
     names=False)
each("nn.ctc_beam_search_decoder_v2", lambda tf, f: f(floats(5, 2, 4), [5, 4], beam_width=5, top_paths=2), names=False)

# Sampled losses.


def sampled(tf, f, **options):
    tf.set_random_seed(3)
    weights, biases, inputs = (tf.constant(value) for value in (floats(6, 4), floats(6), floats(2, 4, seed=2)))
    labels = tf.constant(np.array([[1], [4]], np.int64))
    return Result(f(weights, biases, labels, inputs, 3, 6, **options), wrt=[weights, biases, inputs])


for name in ("nn.nce_loss", "nn.sampled_softmax_loss"):
    def with_values(tf, f, **options):
        drawn = tf.nn.uniform_candidate_sampler(np.array([[1], [4]], np.int64), 1, 3, True, 6, seed=5)
        return sampled(tf, f, sampled_values=drawn, **options)

    each(name, lambda tf, f, run=with_values: run(tf, f), names=False)
    each(name, lambda tf, f, run=with_values: run(tf, f, remove_accidental_hits=True, partition_strategy="div",
                                                  name="given"),
         names=False)
each("nn.sampled_softmax_loss", lambda tf, f: sampled(tf, f, seed=4), names=False)
for module in ("nn",):
    for name in ("uniform", "log_uniform", "learned_unigram"):
        each(f"{module}.{name}_candidate_sampler", lambda tf, f: f(
            np.array([[1], [4]], np.int64), num_true=1, num_sampled=3, unique=True, range_max=6, seed=5, name="given"),
             names=False)
    each(f"{module}.all_candidate_sampler", lambda tf, f: f(np.array([[1], [4]], np.int64), 1, 6, unique=True, seed=5,
                                                            name="given"), names=False)
    each(f"{module}.fixed_unigram_candidate_sampler", lambda tf, f: f(
        np.array([[1], [2]], np.int64), 1, 2, True, 4, distortion=0.75, num_reserved_ids=1, unigrams=[1.0, 2.0, 3.0],
        seed=5,
        name="given"), names=False)
case("nn.compute_accidental_hits", lambda tf: tf.nn.compute_accidental_hits(
    np.array([[1, 3], [4, 0]], np.int64), np.array([3, 4, 5], np.int64), num_true=2, seed=1, name="given"), names=False)

# Embeddings.


def embedded(tf, f, ids, parts=1, **options):
    tables = [tf.get_variable(f"t{i}", initializer=tf.constant(floats(4, 2, seed=i))) for i in range(parts)]
    return Result(f(tables if parts > 1 else tables[0], ids(tf), **options), wrt=tables)


def sparse_ids(tf):
    return tf.SparseTensor(np.array([[0, 0], [0, 1], [2, 0]], np.int64), np.array([1, 3, 2], np.int64), [3, 2])


def sparse_weights(tf):
    return tf.SparseTensor(np.array([[0, 0], [0, 1], [2, 0]], np.int64), np.array([0.5, 2.0, 1.0], np.float32), [3, 2])


def dense_ids(tf):
    return tf.constant([[0, 3], [2, 2]], tf.int64)


for arguments in ({}, {"name": "given", "max_norm": 1.0}):
    each("nn.embedding_lookup", lambda tf, f, a=arguments: embedded(tf, f, dense_ids, **a), names=False)
for strategy in ("mod", "div", "no"):
    each("nn.embedding_lookup", lambda tf, f, s=strategy: embedded(
        tf, f, lambda tf: tf.constant([0, 5, 7, 1], tf.int64), 2, partition_strategy=s), names=False)
each("nn.embedding_lookup", lambda tf, f: f(tf.constant(floats(4, 2)), [1, 3], max_norm=0.5), names=False)
each("nn.embedding_lookup", lambda tf, f: f([tf.constant(floats(4, 2)), tf.constant(floats(4, 2, seed=2))], [1, 6, 3]),
     names=False)
each("nn.embedding_lookup", lambda tf, f: f(None, [1, 3]))
for combiner in ("sum", "mean", "sqrtn", "no"):
    each("nn.embedding_lookup_sparse", lambda tf, f, c=combiner: embedded(
        tf, lambda p, ids: f(p, ids, None, combiner=c, name="given"), sparse_ids), names=False)
    each("nn.embedding_lookup_sparse", lambda tf, f, c=combiner: embedded(
        tf, lambda p, ids: f(p, ids, sparse_weights(tf), combiner=c, max_norm=1.0), sparse_ids), names=False)
each("nn.safe_embedding_lookup_sparse", lambda tf, f: embedded(tf, f, sparse_ids), names=False)
each("nn.safe_embedding_lookup_sparse", lambda tf, f: embedded(
    tf, lambda p, ids: f(p, ids, sparse_weights(tf), combiner="sum", default_id=3, name="given"), sparse_ids),
     names=False)

# What only distributed training asks for.
op("nn.scale_regularization_loss", LOGITS, _options=SAME)
op("nn.compute_average_loss", floats(4), _options=SAME)
op("nn.compute_average_loss", floats(4), sample_weight=floats(4, low=0.1), global_batch_size=8, _options=SAME)
