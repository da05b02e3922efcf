"""Fully connected networks over feature columns."""

from tensorbraid import nn
from tensorbraid.estimator.canned.heads import classifier_head
from tensorbraid.estimator.canned.models import checked_features, dnn_logits, input_partitioner, layer_partitioner
from tensorbraid.estimator.canned.optimizers import optimizer_of
from tensorbraid.estimator.canned.regression_heads import RegressionHead
from tensorbraid.estimator.estimator import Estimator
from tensorbraid.internal.variable_scope import variable_scope
from tensorbraid.losses import Reduction

__all__ = ["DNNClassifier", "DNNEstimator", "DNNRegressor"]

_LEARNING_RATE = 0.05  # of an optimizer that is given by name


class DNNEstimator(Estimator):
    """A fully connected network whose loss and predictions the head makes."""

    def __init__(self, head, hidden_units, feature_columns, model_dir=None, optimizer="Adagrad", activation_fn=nn.relu,
                 dropout=None, input_layer_partitioner=None, config=None, warm_start_from=None, batch_norm=False):
        def model_fn(features, labels, mode, config):
            checked_features(features)
            with variable_scope("dnn", values=list(features.values()), partitioner=layer_partitioner(config)):
                logits = dnn_logits(features, mode, head.logits_dimension, hidden_units, feature_columns, activation_fn,
                                    dropout, input_layer_partitioner or input_partitioner(config), batch_norm)
                return head.create_estimator_spec(features, mode, logits, labels,
                                                  optimizer=optimizer_of(optimizer, _LEARNING_RATE))

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNClassifier(DNNEstimator):
    """A fully connected network that chooses one of `n_classes` classes."""

    def __init__(self, hidden_units, feature_columns, model_dir=None, n_classes=2, weight_column=None,
                 label_vocabulary=None, optimizer="Adagrad", activation_fn=nn.relu, dropout=None,
                 input_layer_partitioner=None, config=None, warm_start_from=None, loss_reduction=Reduction.SUM,
                 batch_norm=False):
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout,
                         input_layer_partitioner, config, warm_start_from, batch_norm)


class DNNRegressor(DNNEstimator):
    """A fully connected network that predicts `label_dimension` numbers."""

    def __init__(self, hidden_units, feature_columns, model_dir=None, label_dimension=1, weight_column=None,
                 optimizer="Adagrad", activation_fn=nn.relu, dropout=None, input_layer_partitioner=None, config=None,
                 warm_start_from=None, loss_reduction=Reduction.SUM, batch_norm=False):
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        super().__init__(head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout,
                         input_layer_partitioner, config, warm_start_from, batch_norm)
