"""Layers. The modules layers_... have the classes and functions, by subject."""

from tensorbraid.layers_base import *  # noqa: F401,F403
from tensorbraid.layers_convolutions import *  # noqa: F401,F403
from tensorbraid.layers_core import Dense, Dropout, Flatten, dense, dropout, flatten  # noqa: F401
from tensorbraid.layers_normalization import *  # noqa: F401,F403
from tensorbraid.layers_pooling import *  # noqa: F401,F403
