"""tensorflow.python.ops.variable_scope: names that tf does not have."""

import tensorbraid as tf

__all__ = []


def _pure_variable_scope(name_or_scope, **options):
    """A variable scope that opens no name scope. The options are those of tf.variable_scope."""
    return tf.variable_scope(name_or_scope, auxiliary_name_scope=False, **options)
