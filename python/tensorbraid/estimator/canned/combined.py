"""The sum of a linear model and a fully connected network, "wide and deep"."""

from tensorbraid import nn
from tensorbraid.estimator.canned.heads import classifier_head
from tensorbraid.estimator.canned.linear import linear_learning_rate
from tensorbraid.estimator.canned.models import (
    activation_summaries, checked_features, dnn_logits, input_partitioner, layer_partitioner, linear_logits)
from tensorbraid.estimator.canned.optimizers import optimizer_of
from tensorbraid.estimator.canned.regression_heads import RegressionHead
from tensorbraid.estimator.estimator import Estimator
from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.variable_scope import variable_scope
from tensorbraid.losses import Reduction
from tensorbraid.ops import control
from tensorbraid.train.global_step import get_global_step

__all__ = ["DNNLinearCombinedClassifier", "DNNLinearCombinedEstimator", "DNNLinearCombinedRegressor"]

_DNN_LEARNING_RATE, _LINEAR_LEARNING_RATE = 0.001, 0.005  # of optimizers that are given by name


class DNNLinearCombinedEstimator(Estimator):
    """A linear model and a network, whose logits are added. The head makes the loss and the predictions of the sum."""

    def __init__(self, head, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl",
                 dnn_feature_columns=None, dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=nn.relu,
                 dnn_dropout=None, input_layer_partitioner=None, config=None, batch_norm=False,
                 linear_sparse_combiner="sum", warm_start_from=None):
        linear_columns, dnn_columns = list(linear_feature_columns or []), list(dnn_feature_columns or [])
        if not linear_columns and not dnn_columns:
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")

        def model_fn(features, labels, mode, config):
            checked_features(features)
            parts, optimizers = [], {}
            values = list(features.values())
            partitioner = input_layer_partitioner or input_partitioner(config)
            if dnn_columns:
                if not dnn_hidden_units:
                    raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
                optimizers["dnn"] = optimizer_of(dnn_optimizer, _DNN_LEARNING_RATE)
                with variable_scope("dnn", values=values, partitioner=layer_partitioner(config)):
                    parts.append(dnn_logits(features, mode, head.logits_dimension, dnn_hidden_units, dnn_columns,
                                            dnn_activation_fn, dnn_dropout, partitioner, batch_norm))
            if linear_columns:
                optimizers["linear"] = optimizer_of(linear_optimizer,
                                                    linear_learning_rate(linear_columns, _LINEAR_LEARNING_RATE))
                with variable_scope("linear", values=values, partitioner=partitioner) as scope:
                    parts.append(linear_logits(features, head.logits_dimension, linear_columns, linear_sparse_combiner))
                    activation_summaries(parts[-1], scope.name)
            logits = parts[0] + parts[1] if len(parts) > 1 else parts[0]
            return head.create_estimator_spec(features, mode, logits, labels,
                                              train_op_fn=lambda loss: _train(loss, optimizers))

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


def _train(loss, optimizers):
    """Minimizes the loss: the variables of each scope by its optimizer."""
    trained = [optimizer.minimize(loss, var_list=graphs.get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=scope))
               for scope, optimizer in optimizers.items()]
    with graphs.control_dependencies([control.group(*trained)]):
        return get_global_step().assign_add(1, read_value=False)


class DNNLinearCombinedClassifier(DNNLinearCombinedEstimator):
    """A linear model and a network that choose one of `n_classes` classes."""

    def __init__(self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
                 dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=nn.relu, dnn_dropout=None,
                 n_classes=2, weight_column=None, label_vocabulary=None, input_layer_partitioner=None, config=None,
                 warm_start_from=None, loss_reduction=Reduction.SUM, batch_norm=False, linear_sparse_combiner="sum"):
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
                         dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner, config, batch_norm,
                         linear_sparse_combiner, warm_start_from)


class DNNLinearCombinedRegressor(DNNLinearCombinedEstimator):
    """A linear model and a network that predict `label_dimension` numbers."""

    def __init__(self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
                 dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=nn.relu, dnn_dropout=None,
                 label_dimension=1, weight_column=None, input_layer_partitioner=None, config=None, warm_start_from=None,
                 loss_reduction=Reduction.SUM, batch_norm=False, linear_sparse_combiner="sum"):
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        super().__init__(head, model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
                         dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner, config, batch_norm,
                         linear_sparse_combiner, warm_start_from)
