"""Heads of classifiers."""

from tensorbraid import dtypes, losses, metrics, nn
from tensorbraid.estimator.canned.head import Head
from tensorbraid.estimator.canned.labels import checked_range, checked_vocabulary, dense_labels
from tensorbraid.estimator.export_outputs import ClassificationOutput, RegressionOutput
from tensorbraid.internal import graphs
from tensorbraid.losses import Reduction
from tensorbraid.ops import arrays, math_ops, reductions, string_ops
from tensorbraid.ops.index_tables import index_table_from_tensor, index_to_string_table_from_tensor
from tensorbraid.ops.sparse_tensor import SparseTensor


def _class_strings(ids, vocabulary):
    """The names of classes: the words of the vocabulary, or the digits of the ids."""
    if not vocabulary:
        return string_ops.as_string(ids, name="str_classes")
    table = index_to_string_table_from_tensor(vocabulary, name="class_string_lookup")
    return table.lookup(ids)


def _for_each_example(row, logits):
    """The row once for each example."""
    rows = arrays.tile(arrays.expand_dims(row, 0), arrays.stack([arrays.shape(logits)[0], 1]))
    rows.set_shape([logits.shape.as_list()[0] if logits.shape.ndims else None, row.shape.as_list()[0]])
    return rows


def _all_classes(logits, n_classes, vocabulary):
    """The ids and names of all classes, for each example."""
    ids = math_ops.range(n_classes)
    names = graphs.constant(list(vocabulary), dtypes.string) if vocabulary else string_ops.as_string(ids)
    return {"all_class_ids": _for_each_example(ids, logits), "all_classes": _for_each_example(names, logits)}


def _looked_up(labels, vocabulary):
    """The ids of labels that are words of a vocabulary."""
    if labels.dtype != dtypes.string:
        raise TypeError(f"Labels dtype should be string if there is a vocabulary. Instead got {labels.dtype}")
    return index_table_from_tensor(vocabulary, name="class_id_lookup").lookup(labels)


class _Classifier(Head):
    """The base class of heads for models that predict one class for each example."""

    def __init__(self, n_classes, weight_column, label_vocabulary, loss_reduction, name, loss_fn):
        super().__init__(weight_column, loss_reduction, name, loss_fn)
        self._n_classes, self._label_vocabulary = n_classes, checked_vocabulary(label_vocabulary)

    def _classes(self, logits, class_ids, probabilities):
        return {"probabilities": probabilities, "class_ids": class_ids,
                "classes": _class_strings(class_ids, self._label_vocabulary),
                **_all_classes(logits, self._n_classes, self._label_vocabulary)}

    def _classification(self, predictions):
        """The probabilities with the names of the classes."""
        return ClassificationOutput(scores=predictions["probabilities"], classes=predictions["all_classes"])


class MultiClassHead(_Classifier):
    """One of more than two classes: softmax cross entropy. Labels are ids, or words of the vocabulary."""

    def __init__(self, n_classes, weight_column=None, label_vocabulary=None,
                 loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, loss_fn=None, name=None):
        if n_classes is None or n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        super().__init__(n_classes, weight_column, label_vocabulary, loss_reduction, name, loss_fn)

    logits_dimension = property(lambda self: self._n_classes)

    def _labels(self, labels, logits):
        labels = dense_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            labels = _looked_up(labels, self._label_vocabulary)
        elif not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
        return checked_range(labels, self._n_classes)

    def _unreduced_loss(self, labels, logits, features):
        loss = losses.sparse_softmax_cross_entropy(labels, logits, reduction=Reduction.NONE)
        return arrays.expand_dims(loss, -1)

    def _predictions(self, logits):
        class_ids = arrays.expand_dims(math_ops.argmax(logits, axis=-1), -1)
        return {"logits": logits, **self._classes(logits, class_ids, nn.softmax(logits, name="probabilities"))}

    def _metrics(self, labels, predictions, unreduced_loss, weights):
        return {self.key("average_loss"): metrics.mean(unreduced_loss, weights, name="average_loss"),
                self.key("accuracy"): metrics.accuracy(labels, predictions["class_ids"], weights, name="accuracy")}

    def _outputs(self, predictions):
        return {"classification": self._classification(predictions)}


def _accuracy_baseline(label_mean):
    """The accuracy of predicting the more frequent class always."""
    value, update = label_mean

    def better(mean):
        return math_ops.maximum(mean, 1.0 - mean)

    return better(value), better(update)


class BinaryClassHead(_Classifier):
    """One of two classes: sigmoid cross entropy of one logit. Labels are 0 and 1, or words of the vocabulary."""

    logits_dimension = 1

    def __init__(self, weight_column=None, thresholds=None, label_vocabulary=None,
                 loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, loss_fn=None, name=None):
        super().__init__(2, weight_column, label_vocabulary, loss_reduction, name, loss_fn)
        self._thresholds = checked_thresholds(thresholds)

    def _labels(self, labels, logits):
        labels = dense_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            labels = _looked_up(labels, self._label_vocabulary)
        elif labels.dtype == dtypes.string:
            raise ValueError("labels are strings: give a label_vocabulary, or numbers")
        return checked_range(math_ops.cast(labels, dtypes.float32), 2)

    def _unreduced_loss(self, labels, logits, features):
        return nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _predictions(self, logits):
        both = arrays.concat([arrays.zeros_like(logits), logits], axis=-1, name="two_class_logits")
        class_ids = arrays.expand_dims(math_ops.argmax(both, axis=-1), -1)
        return {"logits": logits, "logistic": nn.sigmoid(logits, name="logistic"),
                **self._classes(logits, class_ids, nn.softmax(both, name="probabilities"))}

    def _metrics(self, labels, predictions, unreduced_loss, weights):
        logistic, class_ids = predictions["logistic"], predictions["class_ids"]
        label_mean = metrics.mean(labels, weights, name="label/mean")
        found = {
            "average_loss": metrics.mean(unreduced_loss, weights, name="average_loss"),
            "accuracy": metrics.accuracy(labels, class_ids, weights, name="accuracy"),
            "precision": metrics.precision(labels, class_ids, weights, name="precision"),
            "recall": metrics.recall(labels, class_ids, weights, name="recall"),
            "prediction/mean": metrics.mean(logistic, weights, name="prediction/mean"),
            "label/mean": label_mean, "accuracy_baseline": _accuracy_baseline(label_mean),
            **areas(labels, logistic, weights)}
        for threshold in self._thresholds:
            found.update(at_threshold(labels, logistic, weights, threshold))
        return {self.key(name): metric for name, metric in found.items()}

    def _outputs(self, predictions):
        return {"classification": self._classification(predictions),
                "regression": RegressionOutput(predictions["logistic"])}


def areas(labels, probabilities, weights):
    """The areas under the curves ROC and PR."""
    return {"auc": metrics.auc(labels, probabilities, weights, name="auc"),
            "auc_precision_recall": metrics.auc(labels, probabilities, weights, curve="PR",
                                                name="auc_precision_recall")}


def checked_thresholds(thresholds):
    """The thresholds as a tuple of numbers between 0 and 1."""
    thresholds = tuple(thresholds or ())
    for threshold in thresholds:
        if not 0.0 < threshold < 1.0:
            raise ValueError(f"thresholds not in (0, 1): {thresholds}.")
    return thresholds


def at_threshold(labels, probabilities, weights, threshold):
    """The metrics of predicting those whose probability is above a threshold."""
    above = math_ops.cast(math_ops.greater(probabilities, threshold), dtypes.float32)
    suffix = f"positive_threshold_{threshold:g}"

    def only(pair):
        return pair[0][0], pair[1][0]

    return {f"accuracy/{suffix}": metrics.accuracy(labels, above, weights),
            f"precision/{suffix}": only(metrics.precision_at_thresholds(labels, probabilities, [threshold], weights)),
            f"recall/{suffix}": only(metrics.recall_at_thresholds(labels, probabilities, [threshold], weights))}


class MultiLabelHead(Head):
    """Any number of the classes for each example: sigmoid cross entropy, meaned over the classes.

    Labels are a dense tensor [batch, n_classes] of 0 and 1, or a SparseTensor of the ids or words of each example.
    """

    def __init__(self, n_classes, weight_column=None, thresholds=None, label_vocabulary=None,
                 loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, loss_fn=None, classes_for_class_based_metrics=None,
                 name=None):
        if n_classes is None or n_classes < 2:
            raise ValueError(f"n_classes must be > 1 for multi-label classification. Given: {n_classes}")
        super().__init__(weight_column, loss_reduction, name, loss_fn)
        if classes_for_class_based_metrics:
            raise NotImplementedError("classes_for_class_based_metrics of MultiLabelHead")
        self._n_classes, self._thresholds = n_classes, checked_thresholds(thresholds)
        self._label_vocabulary = checked_vocabulary(label_vocabulary, n_classes)

    logits_dimension = property(lambda self: self._n_classes)

    def _labels(self, labels, logits):
        if labels is None:
            raise ValueError("You must provide a labels Tensor. Given: None.")
        if not isinstance(labels, SparseTensor):
            return dense_labels(labels, logits, self._n_classes)
        from tensorbraid.ops import sparse_ops

        ids = labels.values
        if self._label_vocabulary is not None:
            ids = _looked_up(ids, self._label_vocabulary)
        elif not ids.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {ids.dtype}.")
        labels = labels.with_values(checked_range(math_ops.cast(ids, dtypes.int64), self._n_classes))
        return math_ops.cast(sparse_ops.sparse_to_indicator(labels, self._n_classes), dtypes.int64)

    def _unreduced_loss(self, labels, logits, features):
        loss = losses.sigmoid_cross_entropy(labels, logits, reduction=Reduction.NONE)
        return reductions.reduce_mean(loss, axis=-1, keepdims=True)

    def _predictions(self, logits):
        return {"logits": logits, "probabilities": nn.sigmoid(logits, name="probabilities")}

    def _metrics(self, labels, predictions, unreduced_loss, weights):
        probabilities = predictions["probabilities"]
        found = {"average_loss": metrics.mean(unreduced_loss, weights), **areas(labels, probabilities, weights)}
        for threshold in self._thresholds:
            found.update(at_threshold(labels, probabilities, weights, threshold))
        return {self.key(name): metric for name, metric in found.items()}

    def _outputs(self, predictions):
        classes = _all_classes(predictions["probabilities"], self._n_classes, self._label_vocabulary)["all_classes"]
        return {"classification": ClassificationOutput(scores=predictions["probabilities"], classes=classes)}
