"""tf.losses with gradients and reductions, and tf.metrics over several batches."""

import numpy as np


def show(session, tensors, feed=None):
    for value in session.run(tensors, feed):
        print(*[repr(float(number)) for number in np.asarray(value).ravel()])


def made_losses(tf, labels, predictions, weights):
    losses = tf.losses
    rows = tf.constant([[1.0], [0.0], [2.0]])
    onehot = tf.constant([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    classes = tf.constant([1, 0, 1])
    made = []
    for reduction in (losses.Reduction.NONE, losses.Reduction.SUM, losses.Reduction.MEAN,
                      losses.Reduction.SUM_OVER_BATCH_SIZE, losses.Reduction.SUM_BY_NONZERO_WEIGHTS):
        made.append(losses.mean_squared_error(labels, predictions, weights, reduction=reduction))
        made.append(losses.compute_weighted_loss(predictions, rows, reduction=reduction))
    return made + [
        losses.absolute_difference(labels, predictions), losses.absolute_difference(labels, predictions, 0.0),
        losses.absolute_difference(labels, predictions, rows), losses.cosine_distance(labels, predictions, axis=1),
        losses.cosine_distance(labels, predictions, dim=0, weights=0.5), losses.hinge_loss(onehot, predictions),
        losses.huber_loss(labels, predictions, delta=0.3), losses.huber_loss(labels, predictions, rows),
        losses.log_loss(onehot, tf.nn.sigmoid(predictions)), losses.log_loss(onehot, tf.nn.sigmoid(predictions), rows, 0.1),
        losses.mean_pairwise_squared_error(labels, predictions),
        losses.mean_pairwise_squared_error(labels, predictions, rows),
        losses.sigmoid_cross_entropy(onehot, predictions), losses.sigmoid_cross_entropy(onehot, predictions, weights, 0.2),
        losses.softmax_cross_entropy(onehot, predictions), losses.softmax_cross_entropy(onehot, predictions, [1.0, 0.0, 2.0]),
        losses.softmax_cross_entropy(onehot, predictions, label_smoothing=0.1),
        losses.sparse_softmax_cross_entropy(classes, predictions),
        losses.sparse_softmax_cross_entropy(tf.reshape(classes, [3, 1]), predictions, rows),
        losses.sparse_softmax_cross_entropy(labels=classes, logits=predictions, loss_collection=None),
    ]


def made_metrics(tf, labels, predictions, flags, probabilities, classes, guesses, weights):
    metrics = tf.metrics
    limits = [0.1, 0.5, 0.9]
    made = [metrics.mean(predictions), metrics.mean(predictions, weights), metrics.mean_tensor(predictions),
            metrics.accuracy(classes, guesses), metrics.accuracy(classes, guesses, [1.0, 0.0, 2.0]),
            metrics.accuracy(labels=classes, predictions=tf.reshape(guesses, [3, 1]), name="named"),
            metrics.mean_absolute_error(labels, predictions), metrics.mean_squared_error(labels, predictions, weights),
            metrics.root_mean_squared_error(labels, predictions),
            metrics.mean_relative_error(labels, predictions, tf.maximum(labels, 0.0)),
            metrics.mean_cosine_distance(labels, predictions, 1), metrics.percentage_below(predictions, 0.25),
            metrics.true_positives(flags, guesses), metrics.false_positives(flags, guesses),
            metrics.true_negatives(flags, guesses), metrics.false_negatives(flags, guesses, [0.5, 1.0, 2.0]),
            metrics.precision(flags, guesses), metrics.precision(flags, guesses, [1.0, 1.0, 3.0]), metrics.recall(flags, guesses), metrics.recall(flags, guesses, [0.0, 0.0, 0.0]),
            metrics.precision_at_thresholds(flags, probabilities, limits),
            metrics.recall_at_thresholds(flags, probabilities, limits, [1.0, 2.0, 0.5]),
            metrics.true_positives_at_thresholds(flags, probabilities, limits),
            metrics.false_positives_at_thresholds(flags, probabilities, limits),
            metrics.true_negatives_at_thresholds(flags, probabilities, limits),
            metrics.false_negatives_at_thresholds(flags, probabilities, limits),
            metrics.sensitivity_at_specificity(flags, probabilities, 0.6),
            metrics.specificity_at_sensitivity(flags, probabilities, 0.6),
            metrics.mean_iou(classes, guesses, 3), metrics.mean_iou(classes, guesses, 3, tf.constant([1.0, 0.5, 2.0])),
            metrics.mean_per_class_accuracy(classes, guesses, 3)]
    for curve in ("ROC", "PR"):
        for method in ("trapezoidal", "careful_interpolation", "minoring", "majoring"):
            made.append(metrics.auc(flags, probabilities, curve=curve, summation_method=method))
    return made + [metrics.auc(flags, probabilities, [1.0, 2.0, 3.0], num_thresholds=7),
                   metrics.auc(flags, probabilities, thresholds=[0.7, 0.2])]


def run(tf, target=""):
    rng = np.random.RandomState(0)
    labels, predictions = tf.placeholder(tf.float32, [3, 2]), tf.placeholder(tf.float32, [3, 2])
    weights = tf.constant([[1.0, 0.0], [2.0, 0.5], [0.0, 1.0]])
    flags, classes, guesses = (tf.placeholder(dtype, [None]) for dtype in (tf.bool, tf.int64, tf.int64))
    probabilities = tf.placeholder(tf.float32, [None])
    losses = made_losses(tf, labels, predictions, weights)
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(3.0))
    count = len(tf.losses.get_losses())
    scalars = [loss for loss in losses if loss.shape.ndims == 0]
    for loss in tf.losses.get_losses():
        if loss.shape.ndims != 0:
            tf.get_default_graph().get_collection_ref(tf.GraphKeys.LOSSES).remove(loss)
    totals = [tf.losses.get_total_loss(), tf.losses.get_total_loss(add_regularization_losses=False),
              tf.losses.get_regularization_loss(), tf.losses.get_total_loss(scope="huber")]
    gradients = [g for loss in losses for g in tf.gradients(loss, [predictions]) if g is not None]
    made = made_metrics(tf, labels, predictions, flags, probabilities, classes, guesses, weights)
    values, updates = [value for value, _ in made], [update for _, update in made]
    with tf.Session(target) as session:
        session.run(tf.local_variables_initializer())
        feed = {labels: rng.randn(3, 2), predictions: rng.randn(3, 2)}
        show(session, losses + totals + gradients, feed)
        for batch in range(3):
            feed.update({labels: rng.randn(3, 2), predictions: rng.randn(3, 2), flags: rng.rand(3) < 0.5,
                         classes: rng.randint(0, 3, 3), guesses: rng.randint(0, 3 if batch else 2, 3),
                         probabilities: rng.rand(3)})
            show(session, updates, feed)
            show(session, values)
    print(count, len(scalars), len(tf.local_variables()), len(tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)))
    for name in sorted(v.name for v in tf.local_variables()):
        print(sum((i + 1) * ord(letter) for i, letter in enumerate(name)))
