"""Configurations of columns of tf.feature_column, in TensorFlow's form: their class and their arguments by name."""

import numpy as np
import tensorbraid as tf
from tensorbraid import initializers
from tensorbraid.feature_column import base, categorical, dense, numeric, sequence, sequence_ids
from tensorbraid.keras.adapter.loaded import loaded

__all__ = []

_MODULES = (numeric, categorical, dense, sequence, sequence_ids)
_NEWER = {"use_safe_embedding_lookup": True}  # what files of TensorFlow 1.15 lack


def of_column(value):
    """The configuration of a column, or of a value in one."""
    if isinstance(value, base.FeatureColumn):
        return {"class_name": type(value).__name__,
                "config": {name: of_column(item) for name, item in value._asdict().items()}}
    if isinstance(value, initializers.Initializer):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if isinstance(value, tf.DType):
        return value.name
    if isinstance(value, (tuple, list, np.ndarray)):
        return [of_column(item) for item in value]
    return loaded("utils.generic_utils").serialize_keras_object(value) if callable(value) else value


def column_of(config, custom_objects=None):
    """The column, or the value in one, that has this configuration."""
    if isinstance(config, list):
        return tuple(column_of(item, custom_objects) for item in config)
    if not isinstance(config, dict):
        return config
    name, arguments = config["class_name"], config["config"]
    for module in _MODULES:
        kind = getattr(module, name, None)
        if kind is not None and issubclass(kind, base.FeatureColumn):
            values = {**{key: value for key, value in _NEWER.items() if key in kind._fields},
                      **{key: column_of(value, custom_objects) for key, value in arguments.items()}}
            if "dtype" in values:
                values["dtype"] = tf.as_dtype(values["dtype"])
            if isinstance(values.get("normalizer_fn"), str):
                values["normalizer_fn"] = loaded("utils.generic_utils").deserialize_keras_object(
                    values["normalizer_fn"], {}, custom_objects, f"normalizer_fn of the column {values['key']}")
            return kind(**values)
    if name.endswith("Column"):
        raise ValueError(f"the configuration of a column names the class {name}, which tf.feature_column has not")
    if isinstance(kind := getattr(initializers, name, None), type):
        return kind.from_config(arguments)
    return loaded("initializers").deserialize(config, custom_objects)
