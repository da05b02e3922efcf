"""tf.contrib.slim: contrib's layers with default arguments, losses, variables, and loops that train and evaluate."""

from tensorbraid.contrib import layers, losses, metrics  # noqa: F401
from tensorbraid.contrib import layers_regularizers as initializers, layers_regularizers as regularizers  # noqa: F401
from tensorbraid.contrib.arg_scope import *  # noqa: F401,F403
from tensorbraid.contrib.framework.variables import *  # noqa: F401,F403
from tensorbraid.contrib.layers import *  # noqa: F401,F403
from tensorbraid.contrib.slim import evaluation, learning  # noqa: F401
from tensorbraid.contrib.slim import (  # noqa: F401
    data, data_provider, dataset, dataset_data_provider, model_analyzer, nets, parallel_reader, prefetch_queue, queues,
    summaries, tfexample_decoder, utils)
