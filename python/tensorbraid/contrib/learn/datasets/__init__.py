"""tf.contrib.learn.datasets: small data sets."""

from tensorbraid.contrib.learn.datasets import base as base, mnist as mnist  # noqa: F401
from tensorbraid.contrib.learn.datasets.small import *  # noqa: F401,F403
