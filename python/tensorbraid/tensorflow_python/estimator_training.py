"""tensorflow.python.distribute.estimator_training: whether a strategy distributes a training."""

__all__ = ["should_run_distribute_coordinator"]


def should_run_distribute_coordinator(config):
    """False: there are no strategies of tf.distribute."""
    return False
