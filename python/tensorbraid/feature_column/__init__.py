"""The namespace tf.feature_column: how the inputs of a model are made from the features of examples."""

from tensorbraid.feature_column.categorical import *  # noqa: F401,F403
from tensorbraid.feature_column.dense import *  # noqa: F401,F403
from tensorbraid.feature_column.input_layer import *  # noqa: F401,F403
from tensorbraid.feature_column.linear_model import *  # noqa: F401,F403
from tensorbraid.feature_column.numeric import *  # noqa: F401,F403
from tensorbraid.feature_column.parsing import *  # noqa: F401,F403
from tensorbraid.feature_column.sequence import *  # noqa: F401,F403
from tensorbraid.feature_column.sequence_ids import *  # noqa: F401,F403
