"""The logits of deep and of linear models over feature columns."""

from tensorbraid import dtypes, layers, nn, summary
from tensorbraid.estimator.spec import ModeKeys
from tensorbraid.feature_column.base import Features
from tensorbraid.feature_column.input_layer import input_layer, model_collections
from tensorbraid.feature_column.linear_model import checked_columns, weighted_columns
from tensorbraid.initializers import GlorotUniform
from tensorbraid.internal.graphs import name_scope
from tensorbraid.internal.partitioners import min_max_variable_partitioner
from tensorbraid.internal.variable_scope import variable_scope
from tensorbraid.ops import arrays, math_ops
from tensorbraid.ops.node import tensor


def checked_features(features):
    """The features, if they are a dict."""
    if not isinstance(features, dict):
        raise ValueError(f"features should be a dictionary of `Tensor`s. Given type: {type(features)}")
    return features


def layer_partitioner(config):
    """Parts of layers: at most one for each parameter server, of at least 256 KB."""
    return min_max_variable_partitioner(max_partitions=_servers(config))


def input_partitioner(config):
    """Parts of tables and linear weights: at most one for each parameter server, of at least 64 MB."""
    return min_max_variable_partitioner(max_partitions=_servers(config), min_slice_size=64 << 20)


def _servers(config):
    return max(1, config.num_ps_replicas if config else 0)


def activation_summaries(value, tag):
    """Summaries of the outputs of a layer."""
    summary.scalar(f"{tag}/fraction_of_zero_values", nn.zero_fraction(value))
    summary.histogram(f"{tag}/activation", value)


def dnn_logits(features, mode, units, hidden_units, feature_columns, activation_fn, dropout, partitioner, batch_norm):
    """The logits of a fully connected network. Its variables are in the open variable scope."""
    training = mode == ModeKeys.TRAIN
    with variable_scope("input_from_feature_columns", values=list(features.values()), partitioner=partitioner):
        net = input_layer(features, feature_columns)
    for i, size in enumerate(hidden_units):
        with variable_scope(f"hiddenlayer_{i}", values=[net]) as scope:
            net = layers.Dense(size, activation_fn, kernel_initializer=GlorotUniform(), name=f"hiddenlayer_{i}",
                               _scope=scope)(net)
            if dropout is not None and training:
                net = layers.dropout(net, rate=dropout, training=True)
            if batch_norm:
                net = layers.batch_normalization(net, momentum=0.999, training=training, name=f"batchnorm_{i}")
        activation_summaries(net, scope.name)
    with variable_scope("logits", values=[net]) as scope:
        logits = layers.Dense(units, kernel_initializer=GlorotUniform(), name="logits", _scope=scope)(net)
    activation_summaries(logits, scope.name)
    return logits


def linear_logits(features, units, feature_columns, sparse_combiner):
    """The logits of a linear model. Its variables are in the open variable scope."""
    columns = checked_columns(feature_columns)
    with variable_scope("linear_model"), name_scope("linear_model"), name_scope("linear_model"):
        logits, variables = weighted_columns(Features(features), columns, None, units, sparse_combiner,
                                             model_collections(None), True)
    bias = variables.pop("bias")
    bias = arrays.concat(bias, 0) if len(bias) > 1 else tensor(bias[0])
    if units > 1:
        summary.histogram("bias", bias)
    else:
        summary.scalar("bias", bias[0])
    summary.scalar("fraction_of_zero_weights", _fraction_of_zeros([v for vs in variables.values() for v in vs]))
    return logits


def _fraction_of_zeros(variables):
    """The part of all elements of the variables that are 0."""
    with name_scope("zero_fraction"):
        zeros = [math_ops.reduce_sum(math_ops.cast(math_ops.equal(tensor(v), 0.0), dtypes.float32)) for v in variables]
        return math_ops.add_n(zeros) / float(sum(v.shape.num_elements() for v in variables))
