"""The weighted sum of columns."""

from tensorbraid import dtypes, nn
from tensorbraid.feature_column.base import CategoricalColumn, DenseColumn, Features, sorted_columns
from tensorbraid.feature_column.categorical import growing_column
from tensorbraid.feature_column.input_layer import flat, model_collections
from tensorbraid.feature_column.tables import growing_table, pieces
from tensorbraid.initializers import Zeros
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.graphs import get_collection, name_scope
from tensorbraid.internal.variable_scope import get_variable, variable_scope
from tensorbraid.nn.embeddings import safe_embedding_lookup_sparse
from tensorbraid.ops import arrays, sparse_ops
from tensorbraid.ops.node import op, tensor

__all__ = ["linear_model"]


def checked_columns(feature_columns):
    """The columns of a linear model in the order of their names."""
    columns = sorted_columns(feature_columns)
    for column in columns:
        if not isinstance(column, (DenseColumn, CategoricalColumn)):
            raise ValueError("Items of feature_columns must be either a DenseColumn or CategoricalColumn. "
                             f"Given: {column}")
    return columns


def linear_model(features, feature_columns, units=1, sparse_combiner="sum", weight_collections=None, trainable=True,
                 cols_to_vars=None, do_fusion=False):
    """The sum over all columns of their values times weights, and a bias: [batch, units].

    A categorical column has a weight for each id; `sparse_combiner` says how those of an example are combined.
    `cols_to_vars` is a dict that gets the variables of each column, and those of the bias as "bias". `do_fusion` is
    DeepRec's, and has no effect.
    """
    columns = checked_columns(feature_columns)
    scopes = []
    for column in columns:  # as in TensorFlow, a column's name is unique in the scope around the model
        with variable_scope(None, default_name=column._scope_name) as scope:
            scopes.append(scope.name.rsplit("/", 1)[-1])
    with variable_scope(None, default_name="linear_model") as scope:
        outer = scope.original_name_scope.rstrip("/").rpartition("/")[0]
    with variable_scope(scope, auxiliary_name_scope=False), name_scope(outer + "/" if outer else None), \
            name_scope("linear_model"), name_scope("linear_model"):
        total, variables = weighted_columns(Features(features), columns, scopes, units, sparse_combiner,
                                            model_collections(weight_collections), trainable)
    if cols_to_vars is not None:
        cols_to_vars.update(variables)
    return total


def weighted_columns(features, columns, scopes, units, sparse_combiner, keys, trainable):
    """The weighted sum, and a dict of the variables of each column and of the "bias".

    `scopes` are the names of the columns' variable scopes; None stands for names that are unique in the open one.
    """
    sums, variables = [], {}
    for i, column in enumerate(columns):
        with variable_scope(None if scopes is None else scopes[i], default_name=column._scope_name) as scope:
            sums.append(_weighted(column, features, units, sparse_combiner, keys, trainable))
        variables[column] = get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope.name + "/")
    total = op("AddN", [sums], "weighted_sum_no_bias") if len(sums) > 1 else arrays.identity(
        sums[0], name="weighted_sum_no_bias")
    bias = get_variable("bias_weights", [units], dtypes.float32, Zeros(), trainable=trainable, collections=keys)
    variables["bias"] = pieces(bias)
    return nn.bias_add(total, tensor(bias), name="weighted_sum"), variables


def _weighted(column, features, units, sparse_combiner, keys, trainable):
    categorical = isinstance(column, CategoricalColumn)
    size = column.num_buckets if categorical else column.variable_shape.num_elements()
    grows = growing_column(column)
    if grows:
        weights = growing_table("weights", grows, units, Zeros(), trainable, keys)
    else:
        weights = get_variable("weights", [size, units], dtypes.float32, Zeros(), trainable=trainable, collections=keys)
    if not categorical:
        return op("MatMul", [flat(column, features, keys, trainable), weights], "weighted_sum")
    ids, factors = column.ids_and_weights(features)
    rows = [arrays.shape(ids)[0], -1]
    ids = sparse_ops.sparse_reshape(ids, rows)
    if factors is not None:
        factors = sparse_ops.sparse_reshape(factors, [arrays.shape(factors)[0], -1])
    return safe_embedding_lookup_sparse(weights, ids, factors, combiner=sparse_combiner, name="weighted_sum")
