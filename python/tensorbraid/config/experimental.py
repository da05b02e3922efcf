"""tf.config.experimental: the devices of this process, under their names in TensorFlow 1.14."""

from tensorbraid.internal.device_details import *  # noqa: F401,F403
from tensorbraid.internal.devices import *  # noqa: F401,F403
from tensorbraid.internal.math_switches import *  # noqa: F401,F403


def enable_distributed_strategy(strategy="localized"):
    """Has no effect: lookups of tf.nn.group_embedding_lookup_sparse are each task's own. Source: DeepRec.

    NotImplementedError for other strategies, which spread tables over the GPUs of all tasks.
    """
    if strategy != "localized":
        raise NotImplementedError(f"the strategy {strategy!r} of tf.config.experimental.enable_distributed_strategy; "
                                  "tables are on parameter servers, so leave the call out, or use 'localized'")
