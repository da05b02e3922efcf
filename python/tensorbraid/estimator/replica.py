"""The tasks of a cluster that train, and those that hold the variables."""

import time

from tensorbraid import tf_logging as logging
from tensorbraid.estimator.task import TaskType
from tensorbraid.train.cluster import Server

__all__ = []

_DELAY_PER_WORKER, _MAX_DELAY = 5, 60  # seconds


def _start_server(config):
    """The server of this task; None if it needs none because it is the only one."""
    if not config.master:
        return None
    server = Server(config.cluster_spec, job_name=config.task_type, task_index=config.task_id,
                    config=config.session_config, start=False, protocol=config.protocol)
    server.start()
    return server


def run_parameter_server(config):
    """Holds variables until the tasks that train have ended, and then ends the program, as Server.join does."""
    _start_server(config).join()


def run_training(estimator, train_spec, listeners):
    """Trains on the cluster. Workers begin one after the other, so that the first steps do not disturb each other."""
    config = estimator.config
    if train_spec.max_steps is None:
        logging.warning("Training on a cluster without max_steps: the evaluator does not know when to end.")
    server = _start_server(config)
    delay = _delay(config)
    if delay > 0:
        logging.info("Waiting %d secs before starting training.", delay)
        time.sleep(delay)
    estimator.train(train_spec.input_fn, hooks=train_spec.hooks, max_steps=train_spec.max_steps,
                    saving_listeners=listeners)
    del server  # leaves the cluster


def _delay(config):
    if config.task_type != TaskType.WORKER:
        return 0
    longest = config.experimental_max_worker_delay_secs
    return min(_MAX_DELAY if longest is None else int(longest), (config.task_id + 1) * _DELAY_PER_WORKER)
