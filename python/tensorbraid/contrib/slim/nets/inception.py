"""The Inception networks of all versions."""

from tensorbraid.contrib.slim.nets.inception_v1 import *  # noqa: F401,F403
from tensorbraid.contrib.slim.nets.inception_v2 import *  # noqa: F401,F403
from tensorbraid.contrib.slim.nets.inception_v3 import *  # noqa: F401,F403

__all__ = []
