"""tf.losses and tf.metrics."""

import numpy as np
from registry import Result, case, each, floats

LABELS, PREDICTIONS = floats(3, 2, seed=1), floats(3, 2, seed=2)
FLAGS, PROBABILITIES = np.array([True, False, True, False]), np.array([0.9, 0.6, 0.3, 0.2], np.float32)
CLASSES, GUESSES = np.array([0, 2, 1, 2]), np.array([0, 1, 1, 2])
QUIET = {"names": False}

# Losses.


def two(tf, f, labels=LABELS, predictions=PREDICTIONS, **arguments):
    labels, predictions = tf.constant(labels), tf.constant(predictions)
    loss = f(labels, predictions, **arguments)
    return Result([loss, tf.get_collection("losses"), tf.get_collection("own")], wrt=[predictions])


ROWS = np.array([[1.0], [0.0], [2.0]], np.float32)
for name, options in (("absolute_difference", {}), ("mean_squared_error", {}), ("cosine_distance", {"axis": 1}),
                      ("hinge_loss", {}), ("huber_loss", {"delta": 0.5}), ("log_loss", {"epsilon": 0.1}),
                      ("mean_pairwise_squared_error", {}), ("sigmoid_cross_entropy", {"label_smoothing": 0.1}),
                      ("softmax_cross_entropy", {"label_smoothing": 0.1})):
    name = f"losses.{name}"
    rows = ROWS[:, 0] if "softmax" in name else ROWS
    values = {"predictions": np.abs(PREDICTIONS) / 3} if "log_loss" in name else {}
    each(name, lambda tf, f, o=options, v=values: two(tf, f, **v, **o), **QUIET)
    each(name, lambda tf, f, o=options, v=values, r=rows: two(tf, f, **v, weights=r, scope="given",
                                                              loss_collection="own", **o), **QUIET)
    if "pairwise" not in name:
        for reduction in ("NONE", "SUM", "MEAN", "SUM_OVER_BATCH_SIZE", "SUM_BY_NONZERO_WEIGHTS"):
            each(name, lambda tf, f, o=options, v=values, r=reduction, w=rows: two(
                tf, f, **v, weights=w, reduction=getattr(tf.losses.Reduction, r), **o), **QUIET)
        each(name, lambda tf, f, o=options: two(tf, f, reduction="no", **o))
    each(name, lambda tf, f, o=options: two(tf, f, weights=None, **o))
    each(name, lambda tf, f, o=options: two(tf, f, weights=np.ones([2, 5, 7], np.float32), **o))
    each(name, lambda tf, f, o=options: two(tf, f, labels=LABELS[:2], **o))
case("losses.cosine_distance", lambda tf: tf.losses.cosine_distance(LABELS, PREDICTIONS))
for labels, weights in ((np.array([1, 0, 1]), 1.0), (np.array([[1], [0], [1]]), ROWS),
                        (np.array([1, 0, 1]), ROWS[:, 0])):
    case("losses.sparse_softmax_cross_entropy", lambda tf, y=labels, w=weights: two(
        tf, tf.losses.sparse_softmax_cross_entropy, labels=y, weights=w, scope="given"), **QUIET)
case("losses.sparse_softmax_cross_entropy", lambda tf: tf.losses.sparse_softmax_cross_entropy(
    labels=np.array([1, 0, 1]), logits=tf.constant(PREDICTIONS), reduction=tf.losses.Reduction.NONE), **QUIET)
for weights in (2.0, ROWS, 0.0):
    case("losses.compute_weighted_loss", lambda tf, w=weights: two(
        tf, lambda labels, predictions: tf.losses.compute_weighted_loss(predictions, w, scope="given")), **QUIET)
case("losses.compute_weighted_loss", lambda tf: tf.losses.compute_weighted_loss(
    tf.constant([1, 2, 3]), [1.0, 0.0, 0.5], reduction=tf.losses.Reduction.MEAN), **QUIET)
case("losses.Reduction", lambda tf: [getattr(tf.losses.Reduction, name) for name in (
    "NONE", "SUM", "SUM_OVER_BATCH_SIZE", "MEAN", "SUM_OVER_NONZERO_WEIGHTS", "SUM_BY_NONZERO_WEIGHTS")]
    + [list(tf.losses.Reduction.all()), tf.losses.Reduction.validate("none")])
case("losses.Reduction", lambda tf: tf.losses.Reduction.validate("no"))


def collected(tf):
    with tf.name_scope("a"):
        tf.losses.mean_squared_error(LABELS, PREDICTIONS)
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(2.0, name="penalty"))
    tf.losses.add_loss(tf.constant(3.0, name="own"), loss_collection="others")
    tf.losses.add_loss(tf.constant(5.0, name="b"))
    tf.losses.add_loss(tf.constant(7.0), loss_collection=None)
    return [tf.losses.get_losses(), tf.losses.get_losses(scope="a"), tf.losses.get_losses(loss_collection="others"),
            tf.losses.get_regularization_losses(scope="a"), tf.losses.get_regularization_losses("b"),
            tf.losses.get_regularization_loss(scope="a", name="given"), tf.losses.get_regularization_loss("b"),
            tf.losses.get_total_loss(), tf.losses.get_total_loss(add_regularization_losses=False, name="given"),
            tf.losses.get_total_loss(scope="a")]


case("losses.add_loss losses.get_losses losses.get_regularization_losses losses.get_regularization_loss "
     "losses.get_total_loss", collected, **QUIET)
case("losses.get_total_loss", lambda tf: tf.losses.get_total_loss(scope="none"))

# Metrics: the update in two steps, and then the value.


def measured(tf, f, *values, **arguments):
    if "weights" in arguments:
        arguments["weights"] = tf.constant(arguments["weights"])
    value, update = f(*[tf.constant(v) if isinstance(v, np.ndarray) else v for v in values], **arguments)
    names = sorted(v.name for v in tf.get_collection("metric_variables"))
    return Result([update, names, len(tf.get_collection("values")), len(tf.get_collection("updates"))], steps=2,
                  after=value)


COLLECTIONS = {"metrics_collections": "values", "updates_collections": ["updates"], "name": "given"}
WEIGHTS = np.array([1.0, 0.5, 0.0, 2.0], np.float32)
LIMITS = [0.25, 0.5, 0.75]
for name, values, options in (
    ("mean", (LABELS,), {"weights": ROWS}), ("mean_tensor", (LABELS,), {"weights": np.ones([3, 2], np.float32)}),
    ("percentage_below", (LABELS, 0.3), {"weights": ROWS}), ("accuracy", (CLASSES, GUESSES), {"weights": WEIGHTS}),
    ("mean_absolute_error", (LABELS, PREDICTIONS), {"weights": ROWS}),
    ("mean_squared_error", (LABELS, PREDICTIONS), {"weights": ROWS}),
    ("root_mean_squared_error", (LABELS, PREDICTIONS), {"weights": ROWS}),
    ("mean_relative_error", (LABELS, PREDICTIONS, np.abs(LABELS)), {"weights": ROWS}),
    ("mean_cosine_distance", (LABELS, PREDICTIONS, 1), {"weights": ROWS}),
    ("mean_iou", (CLASSES, GUESSES, 3), {"weights": WEIGHTS}),
    ("mean_per_class_accuracy", (CLASSES, GUESSES, 3), {"weights": WEIGHTS}),
    ("auc", (FLAGS, PROBABILITIES), {"weights": WEIGHTS, "num_thresholds": 9}),
    ("auc", (FLAGS, PROBABILITIES), {"curve": "PR", "summation_method": "careful_interpolation"}),
    ("auc", (FLAGS, PROBABILITIES), {"thresholds": [0.5], "summation_method": "minoring"}),
    ("sensitivity_at_specificity", (FLAGS, PROBABILITIES, 0.4), {"weights": WEIGHTS, "num_thresholds": 10}),
    ("specificity_at_sensitivity", (FLAGS, PROBABILITIES, 0.4), {"weights": WEIGHTS, "num_thresholds": 10}),
    *((name, (FLAGS, GUESSES > 0), {"weights": WEIGHTS}) for name in (
        "true_positives", "false_positives", "true_negatives", "false_negatives", "precision", "recall")),
    *((f"{name}_at_thresholds", (FLAGS, PROBABILITIES, LIMITS), {"weights": WEIGHTS}) for name in (
        "true_positives", "false_positives", "true_negatives", "false_negatives", "precision", "recall")),
):
    each(f"metrics.{name}", lambda tf, f, v=values: measured(tf, f, *v), **QUIET)
    each(f"metrics.{name}", lambda tf, f, v=values, o=options: measured(tf, f, *v, **o, **COLLECTIONS), **QUIET)
for name in ("true_positives", "precision", "accuracy", "mean_squared_error"):
    each(f"metrics.{name}", lambda tf, f: measured(tf, f, np.array([1, 0]), np.array([[1], [0]])), **QUIET)
    each(f"metrics.{name}", lambda tf, f: measured(tf, f, np.array([1, 0]), np.array([1, 0, 1])))
    each(f"metrics.{name}", lambda tf, f: measured(tf, f, CLASSES, GUESSES, np.ones([7, 3], np.float32)))
case("metrics.auc", lambda tf: tf.metrics.auc(FLAGS, PROBABILITIES, curve="no"))
case("metrics.auc", lambda tf: tf.metrics.auc(FLAGS, PROBABILITIES, summation_method="no"))
case("metrics.sensitivity_at_specificity", lambda tf: tf.metrics.sensitivity_at_specificity(FLAGS, PROBABILITIES, 2.0))
SCORES = floats(4, 5, seed=3)
TOP = np.array([[0, 3], [2, 1], [4, 0], [1, 2]])
for name, values, options in (
    ("recall_at_k", (CLASSES[:, None], SCORES, 2), {"class_id": 2}),
    ("recall_at_k", (TOP, SCORES, 3), {"weights": WEIGHTS}),
    ("precision_at_k", (CLASSES[:, None], SCORES, 2), {"class_id": 2}),
    ("precision_at_k", (TOP, SCORES, 3), {"weights": WEIGHTS}),
    ("sparse_precision_at_k", (TOP, SCORES, 3), {"weights": WEIGHTS}),
    ("precision_at_top_k", (CLASSES[:, None], TOP), {"k": 2, "class_id": 1}),
    ("recall_at_top_k", (CLASSES[:, None], TOP), {"k": 2, "class_id": 1}),
    ("average_precision_at_k", (CLASSES[:, None], SCORES, 3), {"weights": WEIGHTS}),
    ("average_precision_at_k", (TOP, SCORES, 4), {}),
    ("sparse_average_precision_at_k", (TOP, SCORES, 4), {"weights": WEIGHTS}),
):
    each(f"metrics.{name}", lambda tf, f, v=values: measured(tf, f, *v), **QUIET)
    each(f"metrics.{name}", lambda tf, f, v=values, o=options: measured(tf, f, *v, **o, **COLLECTIONS), **QUIET)
case("metrics.precision_at_k", lambda tf: measured(tf, tf.metrics.precision_at_k, CLASSES, SCORES, 2), **QUIET)


def sparse_labels(tf, f):
    labels = tf.SparseTensor(np.array([[0, 0], [1, 0], [1, 1], [3, 0]], np.int64), np.array([0, 2, 4, 1], np.int64),
                             [4, 2])
    return measured(tf, f, labels, SCORES, 2, name="given")


for name in ("recall_at_k", "precision_at_k", "average_precision_at_k"):
    each(f"metrics.{name}", sparse_labels, **QUIET)
