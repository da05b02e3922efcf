"""Feature specs of the columns and the label of a canned estimator, for tf.parse_example."""

from tensorbraid import dtypes
from tensorbraid.feature_column.numeric import NumericColumn, numeric_column
from tensorbraid.feature_column.parsing import make_parse_example_spec
from tensorbraid.ops.parsing_ops import FixedLenFeature

__all__ = ["classifier_parse_example_spec", "regressor_parse_example_spec"]


def classifier_parse_example_spec(feature_columns, label_key, label_dtype=dtypes.int64, label_default=None,
                                  weight_column=None):
    """The features of the columns, the label and the weight. Labels may be strings."""
    return _spec(feature_columns, label_key, FixedLenFeature((1,), label_dtype, label_default), weight_column)


def regressor_parse_example_spec(feature_columns, label_key, label_dtype=dtypes.float32, label_default=None,
                                 label_dimension=1, weight_column=None):
    """The features of the columns, the label, which has label_dimension numbers, and the weight."""
    label = FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _spec(feature_columns, label_key, label, weight_column)


def _spec(feature_columns, label_key, label, weight_column):
    spec = make_parse_example_spec(feature_columns)
    if label_key in spec:
        raise ValueError(f"label should not be used as feature. label_key: {label_key}, features: {spec.keys()}")
    spec[label_key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column)
    if not isinstance(weight_column, NumericColumn):
        raise ValueError("weight_column should be an instance of tf.feature_column.numeric_column. "
                         f"Given type: {type(weight_column)} value: {weight_column}")
    if weight_column.key in spec:
        raise ValueError("weight_column should not be used as feature. "
                         f"weight_column: {weight_column.key}, features: {spec.keys()}")
    spec.update(weight_column.parse_example_spec)
    return spec
