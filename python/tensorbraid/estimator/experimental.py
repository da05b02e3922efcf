"""tf.estimator.experimental."""

from tensorbraid.estimator.early_stopping import (  # noqa: F401
    make_early_stopping_hook, make_stop_at_checkpoint_step_hook, stop_if_higher_hook, stop_if_lower_hook,
    stop_if_no_decrease_hook, stop_if_no_increase_hook)
from tensorbraid.estimator.in_memory_evaluation import InMemoryEvaluatorHook  # noqa: F401
from tensorbraid.estimator.receivers import build_raw_supervised_input_receiver_fn  # noqa: F401

__all__ = [
    "InMemoryEvaluatorHook", "build_raw_supervised_input_receiver_fn", "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook", "stop_if_higher_hook", "stop_if_lower_hook", "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook"]
