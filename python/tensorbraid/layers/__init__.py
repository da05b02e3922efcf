"""Layers. The modules of the package have the classes and functions, by subject."""

from tensorbraid.internal.layer_class import *  # noqa: F401,F403
from tensorbraid.layers.convolutions import *  # noqa: F401,F403
from tensorbraid.layers.core import Dense, Dropout, Flatten, dense, dropout, flatten  # noqa: F401
from tensorbraid.layers.normalization import *  # noqa: F401,F403
from tensorbraid.layers.pooling import *  # noqa: F401,F403
