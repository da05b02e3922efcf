"""tensorflow.python.distribute.estimator_training: whether a tf.distribute strategy coordinates the training."""

__all__ = ["should_run_distribute_coordinator"]


def should_run_distribute_coordinator(config):
    """False, because this package has no strategies of tf.distribute."""
    return False
