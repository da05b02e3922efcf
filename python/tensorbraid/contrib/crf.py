"""tf.contrib.crf: conditional random fields over sequences of labels. Source: Lafferty et al., 2001."""

import numpy as np

import tensorbraid as tf
from tensorbraid.internal import arguments

__all__ = ["crf_binary_score", "crf_decode", "crf_log_likelihood", "crf_log_norm", "crf_multitag_sequence_score",
           "crf_sequence_score", "crf_unary_score", "viterbi_decode"]


def _count(tensor, axis):
    """The size of an axis: a number if it is known, else a tensor."""
    known = tensor.shape.as_list()[axis] if tensor.shape.ndims is not None else None
    return tf.shape(tensor)[axis] if known is None else known


def _shape_of(value):
    """The shape of a tensor, of an array, or of nested lists without tensors; of other values, an unknown shape."""
    try:
        return tf.TensorShape(value.shape if hasattr(value, "shape") else np.shape(value))
    except (NotImplementedError, TypeError, ValueError):
        return tf.TensorShape(None)


def _check(**values):
    """Raises ValueError for an argument whose rank does not fit, or whose sizes contradict those of earlier ones.

    `values` has pairs of an argument's value and the names of its axes, such as "batch time".
    """
    sizes = {}
    for name, (value, axes) in values.items():
        axes = axes.split()
        shape = _shape_of(value)
        if not shape.is_compatible_with([sizes.get(axis) for axis in axes]):
            known = " and ".join(f"{axis} is {sizes[axis]}" for axis in dict.fromkeys(axes) if axis in sizes)
            raise ValueError(arguments.must_be(
                name, f"a tensor [{', '.join(axes)}]" + (f", where {known}" if known else ""), value))
        for axis, size in zip(axes, shape.as_list() if shape.ndims is not None else ()):
            if size is not None:
                sizes[axis] = size


def _mask(lengths, count):
    return tf.sequence_mask(lengths, maxlen=count, dtype=tf.float32)


def crf_unary_score(tag_indices, sequence_lengths, inputs):
    """The sum of the scores that the inputs [batch, time, labels] give to the labels of each sequence."""
    _check(inputs=(inputs, "batch time labels"), tag_indices=(tag_indices, "batch time"),
           sequence_lengths=(sequence_lengths, "batch"))
    inputs, tags = tf.convert_to_tensor(inputs), tf.cast(tag_indices, tf.int32)
    scores = tf.reduce_sum(inputs * tf.one_hot(tags, _count(inputs, 2), dtype=inputs.dtype), 2)
    return tf.reduce_sum(scores * _mask(sequence_lengths, _count(inputs, 1)), 1)


def crf_binary_score(tag_indices, sequence_lengths, transition_params):
    """The sum of the scores of the transitions from each label of a sequence to the next."""
    _check(tag_indices=(tag_indices, "batch time"), sequence_lengths=(sequence_lengths, "batch"),
           transition_params=(transition_params, "labels labels"))
    tags = tf.cast(tag_indices, tf.int32)
    scores = tf.gather_nd(transition_params, tf.stack([tags[:, :-1], tags[:, 1:]], 2))
    return tf.reduce_sum(scores * _mask(sequence_lengths, _count(tags, 1))[:, 1:], 1)


def crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params):
    """The score of the labels of each sequence, which is not normalized."""
    return (crf_unary_score(tag_indices, sequence_lengths, inputs)
            + crf_binary_score(tag_indices, sequence_lengths, transition_params))


def crf_multitag_sequence_score(inputs, tag_bitmap, sequence_lengths, transition_params):
    """The log of the summed scores of all sequences whose labels a bitmap [batch, time, labels] allows."""
    _check(inputs=(inputs, "batch time labels"), tag_bitmap=(tag_bitmap, "batch time labels"))
    allowed = tf.where(tf.cast(tag_bitmap, tf.bool), tf.convert_to_tensor(inputs),
                       tf.fill(tf.shape(inputs), float("-inf")))
    return crf_log_norm(allowed, sequence_lengths, transition_params)


def _steps(inputs, lengths):
    """The inputs and the mask after the first position, with the time as the first axis."""
    mask = _mask(lengths, _count(inputs, 1)) > 0
    return tf.transpose(inputs, [1, 0, 2])[1:], tf.transpose(mask, [1, 0])[1:]


def _where(mask, yes, no):
    """Rows of `yes` where the mask [batch] is set, rows of `no` elsewhere."""
    return tf.where_v2(tf.expand_dims(mask, 1), yes, no)


def crf_log_norm(inputs, sequence_lengths, transition_params):
    """The log of the sum of exp(score) over all sequences of labels."""
    _check(inputs=(inputs, "batch time labels"), sequence_lengths=(sequence_lengths, "batch"),
           transition_params=(transition_params, "labels labels"))
    inputs, lengths = tf.convert_to_tensor(inputs), tf.convert_to_tensor(sequence_lengths)
    transitions = tf.expand_dims(transition_params, 0)

    def step(before, now):
        scores, mask = now
        after = scores + tf.reduce_logsumexp(tf.expand_dims(before, 2) + transitions, [1])
        return _where(mask, after, before)

    last = tf.foldl(step, _steps(inputs, lengths), inputs[:, 0])
    norm = tf.reduce_logsumexp(last, [1])
    return tf.where_v2(lengths <= 0, tf.zeros_like(norm), norm)


def crf_log_likelihood(inputs, tag_indices, sequence_lengths, transition_params=None):
    """The log-likelihood of each sequence, and the transitions, a variable "transitions" if none are given."""
    given = {} if transition_params is None else {"transition_params": (transition_params, "labels labels")}
    _check(inputs=(inputs, "batch time labels"), tag_indices=(tag_indices, "batch time"),
           sequence_lengths=(sequence_lengths, "batch"), **given)
    inputs = tf.convert_to_tensor(inputs)
    if transition_params is None:
        labels = None if inputs.shape.ndims is None else inputs.shape.as_list()[2]
        if labels is None:
            raise ValueError(arguments.must_be("inputs", "a tensor with a known number of labels, its last axis, if there "
                                               "are no transition_params", inputs))
        transition_params = tf.get_variable("transitions", [labels, labels])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_decode(potentials, transition_params, sequence_length):
    """The best labels [batch, time], which are 0 after the end of a sequence, and their scores."""
    _check(potentials=(potentials, "batch time labels"), transition_params=(transition_params, "labels labels"),
           sequence_length=(sequence_length, "batch"))
    potentials, lengths = tf.convert_to_tensor(potentials), tf.convert_to_tensor(sequence_length)
    if potentials.shape.as_list()[1] == 1:
        return (tf.cast(tf.argmax(potentials, 2), tf.int32), tf.reduce_max(potentials[:, 0], 1))
    transitions = tf.expand_dims(transition_params, 0)
    first = potentials[:, 0]

    def forward(before, now):
        scores, mask = now
        reached = tf.expand_dims(before[0], 2) + transitions
        best = tf.cast(tf.argmax(reached, 1), tf.int32)
        return (_where(mask, scores + tf.reduce_max(reached, [1]), before[0]),
                _where(mask, best, tf.zeros_like(best)))

    steps, mask = _steps(potentials, lengths)
    scores, sources = tf.scan(forward, (steps, mask), (first, tf.zeros_like(first, tf.int32)))
    last = tf.concat([tf.expand_dims(first, 0), scores], 0)[-1]
    shorter = tf.maximum(tf.cast(lengths, tf.int32) - 1, 0)
    sources = tf.reverse_sequence(sources, shorter, seq_axis=0, batch_axis=1)  # the last step of each comes first

    def backward(after, now):
        sources, mask = now
        rows = tf.stack([tf.range(tf.shape(after)[0]), after], 1)
        return tf.where_v2(mask, tf.gather_nd(sources, rows), tf.zeros_like(after))

    end = tf.cast(tf.argmax(last, 1), tf.int32)
    earlier = tf.scan(backward, (sources, mask), end)
    tags = tf.transpose(tf.concat([tf.expand_dims(end, 0), earlier], 0))
    return tf.reverse_sequence(tags, tf.maximum(shorter + 1, 1), seq_axis=1, batch_axis=0), tf.reduce_max(last, 1)


_decoders = {}


def viterbi_decode(score, transition_params):
    """The best labels of one sequence as a list, and their score, of arrays [time, labels] and [labels, labels]."""
    _check(score=(score, "time labels"), transition_params=(transition_params, "labels labels"))
    labels = len(transition_params)
    if labels not in _decoders:
        with tf.Graph().as_default() as graph:
            fed = tf.placeholder(tf.float32, [None, labels]), tf.placeholder(tf.float32, [labels, labels])
            found = crf_decode(fed[0][tf.newaxis], fed[1], tf.shape(fed[0])[:1])
            _decoders[labels] = tf.Session(graph=graph), fed, [part[0] for part in found]
    session, fed, found = _decoders[labels]
    tags, best = session.run(found, dict(zip(fed, (score, transition_params))))
    return tags.tolist(), best
