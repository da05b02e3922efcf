"""tf.contrib.slim: contrib's layers with default arguments, losses and variables."""

from tensorbraid import losses  # noqa: F401
from tensorbraid.contrib import layers  # noqa: F401
from tensorbraid.contrib.arg_scope import *  # noqa: F401,F403
from tensorbraid.contrib.layers import (  # noqa: F401
    avg_pool2d, batch_norm, conv2d, dropout, flatten, fully_connected, l1_regularizer, l2_regularizer, max_pool2d,
    variance_scaling_initializer, xavier_initializer)
from tensorbraid.graphs import model_variables as get_model_variables  # noqa: F401
from tensorbraid.graphs import trainable_variables as get_trainable_variables  # noqa: F401


def repeat(inputs, repetitions, layer, *args, **kwargs):
    """Applies a layer several times, in the scopes scope/scope_1, scope/scope_2, ..."""
    from tensorbraid.variable_scope import variable_scope

    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        scope = scope or getattr(layer, "__name__", "repeat")
        for i in range(repetitions):
            inputs = layer(inputs, *args, scope=f"{scope}_{i + 1}", **kwargs)
    return inputs
