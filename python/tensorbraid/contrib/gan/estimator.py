"""tf.contrib.gan.estimator: Estimators of GANs and of StarGANs."""

import enum
import functools
import inspect

import tensorbraid as tf
from tensorbraid.contrib.gan import eval as gan_eval, models, train
from tensorbraid.contrib.gan.namedtuples import GANModel

__all__ = ["GANEstimator", "StarGANEstimator", "SummaryType", "stargan_prediction_input_fn_wrapper"]


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
_STARGAN_SUMMARIES = {SummaryType.VARIABLES: gan_eval.add_gan_model_summaries,
                      SummaryType.IMAGES: gan_eval.add_stargan_image_summaries}
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


def _check(use_loss_summaries, get_hooks_fn, **loss_functions):
    """Raises an error for an argument that is no function, or not one of the possible values."""
    for name, function in loss_functions.items():
        if not callable(function):
            raise ValueError(f"{name} must be callable.")
    if use_loss_summaries not in (True, False, None):
        raise ValueError("use_loss_summaries must be True, False or None.")
    if get_hooks_fn is not None and not callable(get_hooks_fn):
        raise TypeError("get_hooks_fn must be callable.")


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
        _check(use_loss_summaries, get_hooks_fn, generator_loss_fn=generator_loss_fn,
               discriminator_loss_fn=discriminator_loss_fn)
        modes = tf.estimator.ModeKeys

        def model_fn(features, labels, mode, params):
            if mode == modes.PREDICT:
                if labels is not None:
                    raise ValueError(f"`labels` must be `None` when mode is `predict`. Instead, found {labels}")
                return tf.estimator.EstimatorSpec(
                    mode, predictions=_generator_alone(generator_fn, features, mode).generated_data)
            model = models.gan_model(_with_mode(generator_fn, mode), _with_mode(discriminator_fn, mode), labels, features,
                                     check_shapes=False)
            _add_summaries(_SUMMARIES, model, add_summaries)
            loss = train.gan_loss(model, generator_loss_fn, discriminator_loss_fn, add_summaries=use_loss_summaries,
                                  **_loss_options(params))
            if mode == modes.EVAL:
                return _evaluation(model, loss, loss.discriminator_loss, get_eval_metric_ops_fn)
            ops = train.gan_train_ops(model, loss, _made(generator_optimizer), _made(discriminator_optimizer),
                                      is_chief=is_chief)
            return _training(ops, loss.discriminator_loss, get_hooks_fn)

        super().__init__(model_fn, model_dir, config, params, warm_start_from)


class StarGANEstimator(tf.estimator.Estimator):
    """An Estimator whose features are data and whose labels are one-hot labels of the data's domains.

    The functions are those of stargan_model. `loss_fn` makes the GANLoss of a StarGANModel, and adds its summaries. The
    features of predict are pairs of data and the labels of the domains to which the generator translates. The other
    arguments are those of GANEstimator.
    """

    def __init__(self, model_dir=None, generator_fn=None, discriminator_fn=None, loss_fn=None, generator_optimizer=None,
                 discriminator_optimizer=None, get_hooks_fn=None, get_eval_metric_ops_fn=None, add_summaries=None,
                 use_loss_summaries=True, config=None, params=None):
        _check(use_loss_summaries, get_hooks_fn, loss_fn=loss_fn)
        modes = tf.estimator.ModeKeys

        def model_fn(features, labels, mode):
            if mode == modes.PREDICT:
                with tf.variable_scope("Generator"):
                    inputs = [tf.convert_to_tensor(part) for part in features]
                    return tf.estimator.EstimatorSpec(mode, predictions=_with_mode(generator_fn, mode)(*inputs))
            model = models.stargan_model(_with_mode(generator_fn, mode), _with_mode(discriminator_fn, mode), features,
                                         labels)
            _add_summaries(_STARGAN_SUMMARIES, model, add_summaries)
            loss = loss_fn(model)
            total = loss.generator_loss + loss.discriminator_loss
            if mode == modes.EVAL:
                return _evaluation(model, loss, total, get_eval_metric_ops_fn)
            ops = train.gan_train_ops(model, loss, _made(generator_optimizer), _made(discriminator_optimizer))
            return _training(ops, total, get_hooks_fn)

        super().__init__(model_fn, model_dir, config, params)


def stargan_prediction_input_fn_wrapper(fn):
    """The input_fn for predict of a StarGANEstimator, from a function that returns data and labels."""
    return lambda: (fn(), None)


def _add_summaries(functions, model, kinds):
    """Adds the summaries of one kind, or of each kind of a list."""
    kinds = kinds or []
    with tf.name_scope(None):
        for kind in kinds if isinstance(kinds, (list, tuple)) else [kinds]:
            functions[kind](model)


def _training(ops, total, get_hooks_fn):
    """The EstimatorSpec that trains."""
    hooks = (get_hooks_fn or train.get_sequential_train_hooks())(ops)
    return tf.estimator.EstimatorSpec(tf.estimator.ModeKeys.TRAIN, loss=total, train_op=ops.global_step_inc_op,
                                      training_hooks=hooks)


def _evaluation(model, loss, total, get_eval_metric_ops_fn):
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
                                      loss=total, eval_metric_ops=metrics)
