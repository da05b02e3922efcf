"""Layers. The modules of the package have the classes and functions, by subject."""

from tensorbraid.internal.layer_class import *  # noqa: F401,F403
from tensorbraid.layers.convolutions import *  # noqa: F401,F403
from tensorbraid.layers.core import (  # noqa: F401
    Dense as Dense, Dropout as Dropout, Flatten as Flatten, dense as dense, dropout as dropout, flatten as flatten)
from tensorbraid.layers.normalization import *  # noqa: F401,F403
from tensorbraid.layers.pooling import *  # noqa: F401,F403
