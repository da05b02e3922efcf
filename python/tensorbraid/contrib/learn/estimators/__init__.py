"""tf.contrib.learn.estimators: the modes and options of estimators, in the modules that programs import."""

from tensorbraid.contrib.learn import run_config as run_config  # noqa: F401
from tensorbraid.contrib.learn.estimators import model_fn as model_fn  # noqa: F401
from tensorbraid.contrib.learn.estimators.canned import *  # noqa: F401,F403
from tensorbraid.contrib.learn.estimators.estimator import *  # noqa: F401,F403
from tensorbraid.contrib.learn.estimators.metric_spec import *  # noqa: F401,F403
