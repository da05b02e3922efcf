"""tf.contrib.learn.estimators: the modes and options of estimators, in the modules that programs import."""

from tensorbraid.contrib.learn import run_config  # noqa: F401
from tensorbraid.contrib.learn.estimators import model_fn  # noqa: F401
