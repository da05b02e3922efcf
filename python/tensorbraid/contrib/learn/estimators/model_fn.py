"""tf.contrib.learn.estimators.model_fn: what a model is made for."""

from tensorbraid.contrib.learn.estimators.estimator import ModelFnOps  # noqa: F401
from tensorbraid.contrib.learn.run_config import ModeKeys  # noqa: F401

__all__ = []
