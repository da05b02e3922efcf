"""tf.contrib.training: samples examples by probabilities, frequencies of classes, or weights."""

import tensorbraid as tf
from tensorbraid.tensorflow_python.moving_averages import assign_moving_average

__all__ = ["rejection_sample", "resample_at_rate", "stratified_sample", "weighted_resample"]


def _single_examples(tensors, capacity, num_threads):
    """Single examples of the batches `tensors`, which pass through a queue."""
    parts = tf.train.batch(tensors, 1, num_threads, capacity, enqueue_many=True)
    return [tf.squeeze(part, [0]) for part in (parts if isinstance(parts, list) else [parts])]


def _listed(batch):
    return batch if isinstance(batch, list) else [batch]


def rejection_sample(tensors, accept_prob_fn, batch_size, queue_threads=1, enqueue_many=False, prebatch_capacity=16,
                     prebatch_threads=1, runtime_checks=False, name=None):
    """Batches of the examples that are accepted, each with the probability accept_prob_fn(tensors): a list of tensors.

    With `enqueue_many`, `tensors` are batches of examples, otherwise one example. With `runtime_checks`, a step fails
    if a probability is not in [0, 1].
    """
    with tf.name_scope(name, "rejection_sample", tensors):
        tensors = [tf.convert_to_tensor(tensor) for tensor in tensors]
        if enqueue_many:
            tensors = _single_examples(tensors, prebatch_capacity, prebatch_threads)
        probability = tf.convert_to_tensor(accept_prob_fn(tensors))
        probability.shape.assert_has_rank(0)
        if runtime_checks:
            checks = [tf.assert_less_equal(0.0, probability), tf.assert_less_equal(probability, 1.0)]
            with tf.control_dependencies(checks):
                probability = tf.identity(probability, name="prob_with_checks")
        keep = tf.less(tf.random_uniform([]), probability)
        return _listed(tf.train.maybe_batch(tensors, keep, batch_size, num_threads=queue_threads))


def _acceptance(given, wanted):
    """The acceptance probability of each class that turns the frequencies `given` into the frequencies `wanted`."""
    ratios = wanted / given
    ratios = tf.where(tf.is_nan(ratios), tf.zeros_like(ratios), ratios)
    return ratios / tf.reduce_max(ratios)


def _estimated_frequencies(labels, classes, smoothing=10):
    """The frequencies of the classes among the labels so far, which each step counts. Counts begin at `smoothing`."""
    counts = tf.Variable([smoothing] * classes, trainable=False, name="class_count", dtype=tf.int64)
    counted = tf.assign_add(counts, tf.reduce_sum(tf.one_hot(labels, classes, dtype=tf.int64), 0))
    return tf.cast(tf.truediv(counted, tf.reduce_sum(counted)), tf.float32)


def stratified_sample(tensors, labels, target_probs, batch_size, init_probs=None, enqueue_many=False, queue_capacity=16,
                      threads_per_queue=1, name=None):
    """Batches of the examples whose labels have the class frequencies `target_probs`: (list of tensors, labels).

    `init_probs` are the frequencies of the classes in the input; if it is None, they are estimated by counting. A class
    with a target above 0 must not have the frequency 0 in the input. A step fails for a label that is not a class.
    """
    with tf.name_scope(name, "stratified_sample", [*tensors, labels]):
        tensors = [tf.convert_to_tensor(tensor) for tensor in tensors]
        labels = tf.cast(labels, tf.int32)
        wanted = tf.convert_to_tensor(target_probs, tf.float32)
        classes = wanted.shape.as_list()[0]
        labels.shape.assert_has_rank(1 if enqueue_many else 0)
        if not enqueue_many:
            tensors, labels = [tf.expand_dims(tensor, 0) for tensor in tensors], tf.expand_dims(labels, 0)
        in_range = [tf.assert_less_equal(0, labels), tf.assert_less(labels, classes)]
        with tf.control_dependencies(in_range):
            labels = tf.identity(labels)
        given = _estimated_frequencies(labels, classes) if init_probs is None else tf.convert_to_tensor(init_probs,
                                                                                                        tf.float32)
        given.shape.assert_is_compatible_with(wanted.shape)
        of_classes = _acceptance(given, wanted)
        *examples, label, probability = _single_examples(
            [*tensors, labels, tf.gather(of_classes, labels)], queue_capacity, threads_per_queue)
        keep = tf.less(tf.random_uniform([]), probability)
        *batches, batch_labels = _listed(tf.train.maybe_batch([*examples, label], keep, batch_size,
                                                              num_threads=threads_per_queue))
        return batches, batch_labels


def resample_at_rate(inputs, rates, scope=None, seed=None, back_prop=False):
    """The rows of the tensors, each repeated as often as a random number from Poisson(its rate) says."""
    with tf.name_scope(scope, "resample_at_rate", [*inputs, rates]):
        rates = tf.convert_to_tensor(rates, name="rates")
        counts = tf.cast(tf.random_poisson(rates, [], rates.dtype, seed=seed), tf.int32)
        rows = tf.cast(tf.where(tf.sequence_mask(counts))[:, 0], tf.int32)
        return [tf.gather(tensor if back_prop else tf.stop_gradient(tensor), rows) for tensor in inputs]


def weighted_resample(inputs, weights, overall_rate, scope=None, mean_decay=0.999, seed=None):
    """The rows of the tensors, repeated at random in proportion to their weights, and the rates of the resulting rows.

    A row is repeated `overall_rate` * weight / mean weight times on average. The mean weight is a moving average with
    the decay `mean_decay`, or with None the mean of the step.
    """
    with tf.name_scope(scope, "weighted_resample", [*inputs, weights]):
        weights = tf.convert_to_tensor(weights, name="weights")
        mean = tf.reduce_mean(weights)
        if mean_decay is not None:
            with tf.variable_scope(scope, "estimate_mean"):
                average = tf.get_variable("mean", [], weights.dtype, tf.zeros_initializer(), trainable=False)
                mean = assign_moving_average(average, mean, mean_decay)
        rates = weights * overall_rate / mean
        rates, *rows = resample_at_rate([rates, *inputs], rates, seed=seed)
        return rows, rates
