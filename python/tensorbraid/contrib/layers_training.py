"""The operation that trains, with what is usual around an optimizer."""

import tensorbraid as tf
from tensorbraid.internal.graph_keys import GraphKeys

__all__ = ["OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "optimize_loss"]

OPTIMIZER_CLS_NAMES = {
    "Adagrad": tf.train.AdagradOptimizer,
    "Adam": tf.train.AdamOptimizer,
    "Ftrl": tf.train.FtrlOptimizer,
    "Momentum": lambda learning_rate: tf.train.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": tf.train.RMSPropOptimizer,
    "SGD": tf.train.GradientDescentOptimizer,
}

OPTIMIZER_SUMMARIES = ["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"]


def _rate(learning_rate):
    if learning_rate is None or (isinstance(learning_rate, tf.Tensor) and learning_rate.shape.ndims == 0):
        return learning_rate
    if not isinstance(learning_rate, float):
        raise ValueError(f"Learning rate should be 0d Tensor or float. Got {learning_rate} of type "
                         f"{type(learning_rate)}")
    if learning_rate < 0.0:
        raise ValueError(f"Invalid learning_rate {learning_rate}.")
    return tf.get_variable("learning_rate", [], trainable=False, initializer=tf.constant_initializer(learning_rate))


def _optimizer(optimizer, rate):
    """The optimizer that a name, a class, a function of the learning rate or an optimizer stands for."""
    if isinstance(optimizer, tf.train.Optimizer):
        return optimizer
    if isinstance(optimizer, str):
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError(f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided "
                             f"{optimizer}.")
        optimizer, needs_rate = OPTIMIZER_CLS_NAMES[optimizer], True
    elif not callable(optimizer):
        raise ValueError("Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of "
                         f"Optimizer or function with one argument. Got {optimizer}.")
    else:
        needs_rate = isinstance(optimizer, type)
    if needs_rate and rate is None:
        raise ValueError("Learning rate is None, but should be specified if optimizer is a string or a class.")
    made = optimizer() if rate is None else optimizer(rate)
    if not isinstance(made, tf.train.Optimizer):
        raise ValueError(f"Unrecognized optimizer: function should return subclass of Optimizer. Got {made}.")
    return made


def _map_values(function, grad):
    """The gradient with a function of its values in their place."""
    if isinstance(grad, tf.IndexedSlices):
        return tf.IndexedSlices(function(grad.values), grad.indices, grad.dense_shape)
    return None if grad is None else function(grad)


def _with_noise(pairs, scale):
    def noisy(values):
        return values + scale * tf.truncated_normal(tf.shape(values), dtype=values.dtype)

    return [(_map_values(noisy, grad), variable) for grad, variable in pairs]


def _multiplied(pairs, multipliers):
    """The gradients of the variables, some of them times a number, which is found by the variable or its name."""
    def multiplied(grad, variable):
        factor = multipliers.get(variable, multipliers.get(variable.name))
        return grad if factor is None else _map_values(lambda v: v * tf.cast(factor, v.dtype), grad)

    return [(multiplied(grad, variable), variable) for grad, variable in pairs]


def _clipped(pairs, norm):
    grads, variables = zip(*pairs)
    return list(zip(tf.clip_by_global_norm(grads, norm)[0], variables))


def _summarize(pairs, summaries):
    for grad, variable in pairs:
        values = grad.values if isinstance(grad, tf.IndexedSlices) else grad
        if values is None:
            continue
        name = variable.name.replace(":", "_")
        if "gradients" in summaries:
            tf.summary.histogram(f"gradients/{name}", values)
        if "gradient_norm" in summaries:
            tf.summary.scalar(f"gradient_norm/{name}", tf.global_norm([values]))


def optimize_loss(loss, global_step, learning_rate, optimizer, gradient_noise_scale=None, gradient_multipliers=None,
                  clip_gradients=None, learning_rate_decay_fn=None, update_ops=None, variables=None, name=None,
                  summaries=None, colocate_gradients_with_ops=False, increment_global_step=True):
    """The loss, after a step of an optimizer, which may be the name of one. Adds summaries of what `summaries` names.

    The operations `update_ops`, by default those of the collection, run before. `clip_gradients` is the largest global
    norm of the gradients, or a function of pairs of a gradient and a variable.
    """
    loss = tf.convert_to_tensor(loss)
    if loss.shape.ndims not in (0, None):
        raise ValueError(f"Expected scalar shape for {loss.name}, saw shape: {loss.shape}.")
    if global_step is None:
        global_step = tf.train.get_global_step()
    else:
        tf.train.assert_global_step(global_step)
    with tf.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        updates = tf.get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)
        if updates:
            with tf.control_dependencies(list(dict.fromkeys(updates))):
                loss = tf.identity(loss)
        rate = _rate(learning_rate)
        summaries = ["loss", "learning_rate", "global_gradient_norm"] if summaries is None else summaries
        for wanted in summaries:
            if wanted not in OPTIMIZER_SUMMARIES:
                raise ValueError(f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided "
                                 f"{wanted}.")
        if rate is not None and learning_rate_decay_fn is not None:
            if global_step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in summaries:
                tf.summary.scalar("learning_rate", rate)
        optimizer = _optimizer(optimizer, rate)
        pairs = optimizer.compute_gradients(loss, tf.trainable_variables() if variables is None else variables,
                                            colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gradient_noise_scale is not None:
            pairs = _with_noise(pairs, gradient_noise_scale)
        if gradient_multipliers is not None:
            pairs = _multiplied(pairs, gradient_multipliers)
        norms = "global_gradient_norm" in summaries or "gradient_norm" in summaries
        if norms:
            tf.summary.scalar("global_norm/gradient_norm", tf.global_norm([grad for grad, _ in pairs]))
        if isinstance(clip_gradients, float):
            pairs = _clipped(pairs, clip_gradients)
        elif callable(clip_gradients):
            pairs = clip_gradients(pairs)
        elif clip_gradients is not None:
            raise ValueError(f"Unknown type {type(clip_gradients)} for clip_gradients")
        if "loss" in summaries:
            tf.summary.scalar("loss", loss)
        _summarize(pairs, summaries)
        if clip_gradients is not None and norms:
            tf.summary.scalar("global_norm/clipped_gradient_norm", tf.global_norm([grad for grad, _ in pairs]))
        train = optimizer.apply_gradients(pairs, global_step if increment_global_step else None, name="train")
        with tf.control_dependencies([train]):
            return tf.identity(loss)
