"""The modules feature_column, feature_column_v2 and utils of tensorflow.python.feature_column.

They have the classes of columns by both of their names. The older names begin with "_", such as _EmbeddingColumn.
"""

from tensorbraid.feature_column import base, categorical, dense, numeric, sequence, sequence_ids

__all__ = ["sequence_length_from_sparse_tensor"]

_CLASSES = {name: value for module in (base, categorical, dense, numeric, sequence, sequence_ids)
            for name, value in vars(module).items() if isinstance(value, type) and issubclass(value, base.FeatureColumn)}
_OLDER = {"_LazyBuilder": base.Features, "FeatureTransformationCache": base.Features,
          "_to_sparse_input_and_drop_ignore_values": base.to_sparse}


def sequence_length_from_sparse_tensor(sp_tensor, num_elements=1):
    """For each row of a SparseTensor the number of steps, of `num_elements` columns each."""
    return sequence_ids.sequence_length(sp_tensor, num_elements)


def __getattr__(name):
    value = _OLDER.get(name) or _CLASSES.get(name.removeprefix("_"))
    if value is None:
        raise AttributeError(f"tensorflow.python.feature_column has no '{name}'")
    return value
