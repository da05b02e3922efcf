"""tf.contrib.training: input, hyperparameters, the operation that trains, and evaluations of checkpoints."""

import tensorbraid as tf
from tensorbraid.contrib.buckets import *  # noqa: F401,F403
from tensorbraid.contrib.device_strategies import *  # noqa: F401,F403
from tensorbraid.contrib.evaluation import *  # noqa: F401,F403
from tensorbraid.contrib.failure_tolerator import *  # noqa: F401,F403
from tensorbraid.contrib.hparams import *  # noqa: F401,F403
from tensorbraid.contrib.python_input import *  # noqa: F401,F403
from tensorbraid.contrib.sampling import *  # noqa: F401,F403
from tensorbraid.contrib.sequence_batches import *  # noqa: F401,F403
from tensorbraid.contrib.sequence_state_saver import *  # noqa: F401,F403
from tensorbraid.contrib.slim import learning
from tensorbraid.contrib.slim.learning import (  # noqa: F401
    add_gradients_summaries as add_gradients_summaries, clip_gradient_norms as clip_gradient_norms,
    multiply_gradients as multiply_gradients)

__all__ = ["clip_gradient_norms_fn", "create_train_op", "train"]


def clip_gradient_norms_fn(max_norm):
    """A transform_grads_fn for create_train_op: it applies clip_gradient_norms with `max_norm`."""
    return lambda gradients_to_variables: clip_gradient_norms(gradients_to_variables, max_norm)


def create_train_op(total_loss, optimizer, global_step=0, update_ops=None, variables_to_train=None,
                    transform_grads_fn=None, summarize_gradients=False, gate_gradients=1, aggregation_method=None,
                    colocate_gradients_with_ops=False, check_numerics=True):
    """slim.learning.create_train_op, with a function that changes the pairs of a gradient and a variable."""
    if transform_grads_fn is not None:
        optimizer = _Transformed(optimizer, transform_grads_fn)
    return learning.create_train_op(
        total_loss, optimizer, global_step, update_ops, variables_to_train, summarize_gradients=summarize_gradients,
        gate_gradients=gate_gradients, aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops, check_numerics=check_numerics)


class _Transformed:
    """An optimizer whose gradients a function changes."""

    def __init__(self, optimizer, transform):
        self._optimizer, self._transform = optimizer, transform

    def compute_gradients(self, *args, **kwargs):
        return self._transform(self._optimizer.compute_gradients(*args, **kwargs))

    def apply_gradients(self, *args, **kwargs):
        return self._optimizer.apply_gradients(*args, **kwargs)


def train(train_op, logdir, master="", is_chief=True, scaffold=None, hooks=None, chief_only_hooks=None,
          save_checkpoint_secs=600, save_summaries_steps=100, config=None, max_wait_secs=7200, run_metadata=None):
    """Runs the operation in a MonitoredTrainingSession until a hook, or the end of the input, stops it.

    Returns the last loss.
    """
    if logdir is None and is_chief and (save_summaries_steps or save_checkpoint_secs):
        raise ValueError("logdir cannot be None when save_summaries_steps or save_checkpoint_secs are not None")
    loss = None
    with tf.train.MonitoredTrainingSession(
            master=master, is_chief=is_chief, checkpoint_dir=logdir, scaffold=scaffold, hooks=hooks,
            chief_only_hooks=chief_only_hooks, save_checkpoint_secs=save_checkpoint_secs,
            save_summaries_steps=save_summaries_steps, config=config, max_wait_secs=max_wait_secs) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
