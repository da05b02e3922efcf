"""Feature specs of columns, for tf.parse_example."""

from tensorbraid.feature_column.base import FeatureColumn
from tensorbraid.internal import arguments

__all__ = ["make_parse_example_spec"]


def make_parse_example_spec(feature_columns):
    """The features that columns read, as the argument `features` of tf.parse_example."""
    spec = {}
    for column in arguments.items("feature_columns", feature_columns, "a list of feature columns"):
        if not isinstance(column, FeatureColumn):
            raise ValueError(f"All feature_columns must be feature columns. Given: {column}")
        for key, feature in column.parse_example_spec.items():
            if spec.setdefault(key, feature) != feature:
                raise ValueError(f"feature_columns contain different parse_spec for key {key}. Given {feature} and "
                                 f"{spec[key]}")
    return spec
