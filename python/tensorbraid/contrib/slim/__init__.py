"""tf.contrib.slim: contrib's layers with default arguments, losses, variables, and loops that train and evaluate."""

from tensorbraid import metrics  # noqa: F401
from tensorbraid.contrib import layers, losses  # noqa: F401
from tensorbraid.contrib.arg_scope import *  # noqa: F401,F403
from tensorbraid.contrib.framework.variables import *  # noqa: F401,F403
from tensorbraid.contrib.layers import *  # noqa: F401,F403
from tensorbraid.contrib.slim import evaluation, learning  # noqa: F401
