"""tf.contrib.gan.estimator: an Estimator of a GAN."""

import enum
import functools
import inspect

import tensorbraid as tf
from tensorbraid.contrib.gan import eval as gan_eval, models, train
from tensorbraid.contrib.gan.namedtuples import GANModel

__all__ = ["GANEstimator", "SummaryType"]


class SummaryType(enum.IntEnum):
    """Which summaries a GANEstimator adds."""

    NONE = 0
    VARIABLES = 1
    IMAGES = 2
    IMAGE_COMPARISON = 3


_SUMMARIES = {
    SummaryType.NONE: lambda model: None, SummaryType.VARIABLES: gan_eval.add_gan_model_summaries,
    SummaryType.IMAGES: gan_eval.add_gan_model_image_summaries,
    SummaryType.IMAGE_COMPARISON: gan_eval.add_image_comparison_summaries,
}
_OWN = ("model", "generator_loss_fn", "discriminator_loss_fn", "add_summaries")


def _with_mode(function, mode):
    """The function with its argument `mode` bound, if it has such an argument."""
    return functools.partial(function, mode=mode) if "mode" in inspect.signature(function).parameters else function


def _generator_alone(generator_fn, inputs, mode):
    """The GANModel for predictions, without a discriminator."""
    with tf.variable_scope("Generator") as scope:
        inputs = tf.nest.map_structure(tf.convert_to_tensor, inputs)
        generated = _with_mode(generator_fn, mode)(inputs)
    return GANModel(inputs, generated, tf.trainable_variables(scope.name + "/"), scope, generator_fn, *[None] * 6)


def _made(optimizer):
    return optimizer() if callable(optimizer) else optimizer


def _loss_options(params):
    """The entries of `params` that are arguments of gan_loss. ValueError for one that the estimator sets itself."""
    params = params or {}
    for name in _OWN:
        if name in params:
            raise ValueError(f"`{name}` is not allowed in params.")
    names = inspect.signature(train.gan_loss).parameters
    return {name: params[name] for name in names if name in params}


class GANEstimator(tf.estimator.Estimator):
    """An Estimator of a GAN. Source: tf.contrib.gan.estimator.GANEstimator.

    Its features are the generator's inputs, its labels real data, its predictions generated data. The functions of
    networks and losses are those of gan_model and gan_loss; networks may take the argument `mode`. An optimizer is an
    object or a function that returns one. `add_summaries` is a SummaryType or a list of them. `params` may have further
    arguments of gan_loss.
    """

    def __init__(self, model_dir=None, generator_fn=None, discriminator_fn=None, generator_loss_fn=None,
                 discriminator_loss_fn=None, generator_optimizer=None, discriminator_optimizer=None, get_hooks_fn=None,
                 get_eval_metric_ops_fn=None, add_summaries=None, use_loss_summaries=True, config=None, params=None,
                 warm_start_from=None, is_chief=True):
        for name, function in (("generator_loss_fn", generator_loss_fn),
                               ("discriminator_loss_fn", discriminator_loss_fn)):
            if not callable(function):
                raise ValueError(f"{name} must be callable.")
        if use_loss_summaries not in (True, False, None):
            raise ValueError("use_loss_summaries must be True, False or None.")
        if get_hooks_fn is not None and not callable(get_hooks_fn):
            raise TypeError("get_hooks_fn must be callable.")
        modes = tf.estimator.ModeKeys

        def model_fn(features, labels, mode, params):
            if mode == modes.PREDICT:
                if labels is not None:
                    raise ValueError(f"`labels` must be `None` when mode is `predict`. Instead, found {labels}")
                return tf.estimator.EstimatorSpec(
                    mode, predictions=_generator_alone(generator_fn, features, mode).generated_data)
            model = models.gan_model(_with_mode(generator_fn, mode), _with_mode(discriminator_fn, mode), labels, features,
                                     check_shapes=False)
            chosen = add_summaries or []
            with tf.name_scope(None):
                for kind in chosen if isinstance(chosen, (list, tuple)) else [chosen]:
                    _SUMMARIES[kind](model)
            loss = train.gan_loss(model, generator_loss_fn, discriminator_loss_fn, add_summaries=use_loss_summaries,
                                  **_loss_options(params))
            if mode == modes.EVAL:
                return _evaluation(model, loss, get_eval_metric_ops_fn)
            ops = train.gan_train_ops(model, loss, _made(generator_optimizer), _made(discriminator_optimizer),
                                      is_chief=is_chief)
            hooks = (get_hooks_fn or train.get_sequential_train_hooks())(ops)
            return tf.estimator.EstimatorSpec(mode, loss=loss.discriminator_loss, train_op=ops.global_step_inc_op,
                                              training_hooks=hooks)

        super().__init__(model_fn, model_dir, config, params, warm_start_from)


def _evaluation(model, loss, get_eval_metric_ops_fn):
    """The EstimatorSpec of an evaluation: the means of both losses, and the metrics that the function returns."""
    with tf.name_scope("metrics"):
        metrics = {"generator_loss": tf.metrics.mean(loss.generator_loss),
                   "discriminator_loss": tf.metrics.mean(loss.discriminator_loss)}
        if get_eval_metric_ops_fn is not None:
            own = get_eval_metric_ops_fn(model)
            if not isinstance(own, dict):
                raise TypeError(f"get_eval_metric_ops_fn must return a dict, received: {own}")
            metrics.update(own)
    return tf.estimator.EstimatorSpec(tf.estimator.ModeKeys.EVAL, predictions=model.generated_data,
                                      loss=loss.discriminator_loss, eval_metric_ops=metrics)
