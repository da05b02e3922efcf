"""The layer that joins dense columns to one tensor."""

from tensorbraid.feature_column.base import DenseColumn, Features, sorted_columns
from tensorbraid.internal import arguments
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.graphs import get_collection
from tensorbraid.internal.variable_scope import variable_scope
from tensorbraid.ops import arrays

__all__ = ["input_layer"]


def model_collections(weight_collections):
    """The collections into which a layer puts its variables."""
    keys = list(weight_collections or [])
    return keys + [key for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES) if key not in keys]


def input_layer(features, feature_columns, weight_collections=None, trainable=True, cols_to_vars=None,
                cols_to_output_tensors=None, adaptive_mask_tensors=None):
    """All dense columns as one tensor [batch, size], in the order of their names.

    `cols_to_vars` and `cols_to_output_tensors` are dicts that get the variables and the tensor of each column.
    """
    if adaptive_mask_tensors is not None:
        raise NotImplementedError("adaptive_mask_tensors of tf.feature_column.input_layer: columns have no adaptive "
                                  "embedding; use tf.feature_column.categorical_column_with_embedding")
    arguments.check(hasattr(features, "items"), "features", "a dictionary of tensors", features)
    columns = sorted_columns(feature_columns)
    for column in columns:
        if not isinstance(column, DenseColumn):
            raise ValueError("Items of feature_columns must be a DenseColumn. You can wrap a categorical column with "
                             f"an embedding_column or indicator_column. Given: {column}")
    keys = model_collections(weight_collections)
    with variable_scope(None, default_name="input_layer", values=list(features.values())):
        builder = Features(features)
        outputs = []
        for column in columns:
            with variable_scope(None, default_name=column._scope_name) as scope:
                output = flat(column, builder, keys, trainable)
                outputs.append(output)
                if cols_to_vars is not None:
                    cols_to_vars[column] = get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope.name + "/")
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = output
        _check_batch_sizes(columns, outputs)
        return arrays.concat(outputs, 1)


def flat(column, features, keys, trainable):
    """The tensor of a dense column as [batch, size]."""
    dense = column.dense_tensor(features, keys, trainable)
    batch = dense.shape.as_list()[0] if dense.shape.ndims else None
    rows = arrays.shape(dense)[0] if batch is None else batch
    return arrays.reshape(dense, [rows, column.variable_shape.num_elements()])


def _check_batch_sizes(columns, outputs):
    first = None
    for column, output in zip(columns, outputs):
        size = output.shape.as_list()[0] if output.shape.ndims else None
        if size is None:
            continue
        if first is not None and size != first[1]:
            raise ValueError("Batch size (first dimension) of each feature must be same. Batch size of columns "
                             f"({first[0].name}, {column.name}): ({first[1]}, {size})")
        first = first or (column, size)
