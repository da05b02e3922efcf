"""tf.distributions: probability distributions, their samples and divergences."""

from tensorbraid.distributions.base import *  # noqa: F401,F403
from tensorbraid.distributions.discrete import *  # noqa: F401,F403
from tensorbraid.distributions.divergences import *  # noqa: F401,F403
from tensorbraid.distributions.gamma import *  # noqa: F401,F403
from tensorbraid.distributions.location_scale import *  # noqa: F401,F403
from tensorbraid.distributions.simplex import *  # noqa: F401,F403
