"""Layers of tf.feature_column: tf.keras.layers.DenseFeatures and tf.keras.experimental.SequenceFeatures."""

import contextlib
import functools

import tensorbraid as tf
from tensorbraid.feature_column import base, sequence
from tensorbraid.feature_column.input_layer import flat
from tensorbraid.keras import column_configurations
from tensorbraid.tensorflow_python.keras import sessions

__all__ = []


@functools.cache
def classes(layer):
    """The layers, as subclasses of the library's Layer."""
    class _OfColumns(layer):
        _builds_when_called = True

        def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
            super().__init__(name=name, trainable=trainable, **kwargs)
            self._tables = {}
            columns = base.sorted_columns(feature_columns)
            for column in columns:
                if not isinstance(column, self._kind) or hasattr(column, "shared_embedding_collection_name"):
                    raise ValueError(f"Items of feature_columns must be a {self._kind.__name__}, and no column of "
                                     f"shared_embedding_columns. Given: {column}. You can wrap a categorical column "
                                     "with an embedding_column or an indicator_column")
            self._feature_columns = columns

        @contextlib.contextmanager
        def _scope(self, column):
            """In the block, the column's variables are those of this layer, with names "LAYER/COLUMN/NAME".

            Tables of words that it makes are initialised with the variables.
            """
            graph = tf.get_default_graph()
            tables = len(graph.get_collection(tf.GraphKeys.TABLE_INITIALIZERS))
            scope = "/".join(filter(None, [tf.get_variable_scope().name, self.name, column._scope_name])) + "/"

            def variable(getter, name, shape=None, dtype=None, initializer=None, trainable=True, **kwargs):
                name = name.rpartition("/")[2]
                if (column, name) not in self._tables:
                    with tf.name_scope(scope):
                        self._tables[column, name] = self.add_weight(
                            name, shape, dtype, lambda shape, dtype=None: initializer(shape, tf.as_dtype(dtype)),
                            trainable=trainable)
                return self._tables[column, name]

            with tf.variable_scope(column._scope_name, custom_getter=variable):
                yield
            sessions.track_tables(graph, graph.get_collection(tf.GraphKeys.TABLE_INITIALIZERS)[tables:])

        def get_config(self):
            return {**super().get_config(),
                    "feature_columns": [column_configurations.of_column(column) for column in self._feature_columns]}

        @classmethod
        def from_config(cls, config, custom_objects=None):
            """The layer of this configuration. Functions of columns are in `custom_objects`."""
            columns = [column_configurations.column_of(column, custom_objects)
                       for column in config["feature_columns"]]
            return cls(**{**config, "feature_columns": columns})

    class DenseFeatures(_OfColumns):
        """Dense columns as one tensor [batch, size], in the order of their names. Its input is a dictionary."""

        _kind = base.DenseColumn

        def call(self, features, cols_to_output_tensors=None):
            columns, outputs = _checked(self, features), []
            for column in self._feature_columns:
                with self._scope(column):
                    outputs.append(flat(column, columns, None, self.trainable))
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = outputs[-1]
            return tf.concat(outputs, 1)

    class SequenceFeatures(_OfColumns):
        """Columns of sequences as one tensor [batch, steps, size], and the length of each sequence."""

        _kind = base.SequenceDenseColumn

        def call(self, features):
            columns, outputs = _checked(self, features), []
            for column in self._feature_columns:
                with self._scope(column):
                    outputs.append(sequence.flat(column, columns, None, self.trainable))
            return sequence.joined(outputs)

    for kind in (DenseFeatures, SequenceFeatures):
        kind.__qualname__ = kind.__name__
    return DenseFeatures, SequenceFeatures


def _checked(layer, features):
    """The features by their names. In a model that is made of its configuration, they have those of its inputs."""
    if not isinstance(features, dict):
        tensors = tf.nest.flatten(features)
        if all(hasattr(tensor, "_keras_history") for tensor in tensors):
            layer._names = getattr(layer, "_names", [tensor._keras_history[0].name for tensor in tensors])
        features = dict(zip(layer._names, tensors)) if hasattr(layer, "_names") else features
    if not isinstance(features, dict):
        raise ValueError(f"We expected a dictionary here. Instead we got: {features}. The layer {layer.name} takes "
                         "features by their names")
    return base.Features(features)
