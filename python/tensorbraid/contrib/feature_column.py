"""tf.contrib.feature_column: columns of sequences."""

from tensorbraid.feature_column.sequence import sequence_input_layer, sequence_numeric_column  # noqa: F401
from tensorbraid.feature_column.sequence_ids import (  # noqa: F401
    sequence_categorical_column_with_embedding, sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity, sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list)
