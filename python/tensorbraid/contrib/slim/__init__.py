"""tf.contrib.slim: contrib's layers with default arguments, losses, variables, and loops that train and evaluate."""

from tensorbraid.contrib import layers as layers, losses as losses, metrics as metrics  # noqa: F401
from tensorbraid.contrib import layers_regularizers, layers_utils
from tensorbraid.contrib.arg_scope import *  # noqa: F401,F403
from tensorbraid.contrib.framework.variables import *  # noqa: F401,F403
from tensorbraid.contrib.layers import *  # noqa: F401,F403
from tensorbraid.contrib.slim import evaluation as evaluation, learning as learning  # noqa: F401
from tensorbraid.contrib.slim import (  # noqa: F401
    data as data, data_decoder as data_decoder, data_provider as data_provider, dataset as dataset, dataset_data_provider as dataset_data_provider,
    model_analyzer as model_analyzer, nets as nets, parallel_reader as parallel_reader,
    prefetch_queue as prefetch_queue, queues as queues, summaries as summaries, tfexample_decoder as tfexample_decoder)

initializers = regularizers = layers_regularizers
utils = layers_utils
