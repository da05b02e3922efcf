"""tf.contrib.gan.losses.wargs: the losses of GANs as functions of tensors."""

import tensorbraid as tf
from tensorbraid.losses import Reduction

__all__ = ["least_squares_discriminator_loss", "least_squares_generator_loss", "minimax_discriminator_loss",
           "minimax_generator_loss", "modified_discriminator_loss", "modified_generator_loss",
           "wasserstein_discriminator_loss", "wasserstein_generator_loss", "wasserstein_gradient_penalty"]

_LOSSES = tf.GraphKeys.LOSSES
_MEAN = Reduction.SUM_BY_NONZERO_WEIGHTS


def _sum_of_two(on_real, on_generated, loss_collection, add_summaries, name):
    """The sum of the losses of real and of generated data, in the collection."""
    loss = on_real + on_generated
    if loss_collection:
        tf.losses.add_loss(loss, loss_collection)
    if add_summaries:
        tf.summary.scalar(f"discriminator_gen_{name}_loss", on_generated)
        tf.summary.scalar(f"discriminator_real_{name}_loss", on_real)
        tf.summary.scalar(f"discriminator_{name}_loss", loss)
    return loss


def _summarized(loss, add_summaries, name):
    if add_summaries:
        tf.summary.scalar(name, loss)
    return loss


def wasserstein_generator_loss(discriminator_gen_outputs, weights=1.0, scope=None, loss_collection=_LOSSES,
                               reduction=_MEAN, add_summaries=False):
    """Minus the discriminator's mean output for generated data."""
    with tf.name_scope(scope, "generator_wasserstein_loss", [discriminator_gen_outputs, weights]) as scope:
        loss = tf.losses.compute_weighted_loss(-discriminator_gen_outputs, weights, scope, loss_collection, reduction)
    return _summarized(loss, add_summaries, "generator_wass_loss")


def wasserstein_discriminator_loss(discriminator_real_outputs, discriminator_gen_outputs, real_weights=1.0,
                                   generated_weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_MEAN,
                                   add_summaries=False):
    """The discriminator's mean output for generated data, minus that for real data."""
    with tf.name_scope(scope, "discriminator_wasserstein_loss",
                       [discriminator_real_outputs, discriminator_gen_outputs]) as scope:
        on_real, on_generated = (
            tf.losses.compute_weighted_loss(outputs, weights, scope, None, reduction)
            for outputs, weights in ((discriminator_real_outputs, real_weights),
                                     (discriminator_gen_outputs, generated_weights)))
        return _sum_of_two(-on_real, on_generated, loss_collection, add_summaries, "wass")


def wasserstein_gradient_penalty(real_data, generated_data, generator_inputs, discriminator_fn, discriminator_scope,
                                 epsilon=1e-10, target=1.0, one_sided=False, weights=1.0, scope=None,
                                 loss_collection=_LOSSES, reduction=_MEAN, add_summaries=False):
    """How far the norm of the discriminator's gradient is from `target` between real and generated data.

    With `one_sided`, a smaller norm costs nothing. See "Improved Training of Wasserstein GANs", Gulrajani et al., 2017.
    """
    with tf.name_scope(scope, "wasserstein_gradient_penalty", [real_data, generated_data]) as scope:
        real_data, generated_data = tf.convert_to_tensor(real_data), tf.convert_to_tensor(generated_data)
        if real_data.shape.ndims is None:
            raise ValueError("`real_data` can't have unknown rank.")
        if generated_data.shape.ndims is None:
            raise ValueError("`generated_data` can't have unknown rank.")
        differences = generated_data - real_data
        batch = differences.shape.as_list()[0]
        batch = tf.shape(differences)[0] if batch is None else batch
        alpha = tf.random_uniform([batch] + [1] * (differences.shape.ndims - 1), dtype=differences.dtype)
        between = real_data + alpha * differences
        with tf.name_scope(None), tf.variable_scope(discriminator_scope, "gpenalty_dscope", reuse=True):
            outputs = discriminator_fn(between, generator_inputs)
        if isinstance(outputs, tuple):  # the discriminator of an InfoGAN or ACGAN has more outputs
            outputs = outputs[0]
        gradients = tf.gradients(outputs, between)[0]
        axes = list(range(1, gradients.shape.ndims))
        norms = tf.sqrt(tf.reduce_sum(tf.square(gradients), axis=axes) + epsilon)
        excess = norms / target - 1.0
        if one_sided:
            excess = tf.maximum(0.0, excess)
        loss = tf.losses.compute_weighted_loss(tf.square(excess), weights, scope, loss_collection, reduction)
    return _summarized(loss, add_summaries, "gradient_penalty_loss")


def minimax_discriminator_loss(discriminator_real_outputs, discriminator_gen_outputs, label_smoothing=0.25,
                               real_weights=1.0, generated_weights=1.0, scope=None, loss_collection=_LOSSES,
                               reduction=_MEAN, add_summaries=False):
    """The cross entropy of the discriminator's logits: real data is 1, generated data 0."""
    with tf.name_scope(scope, "discriminator_minimax_loss",
                       [discriminator_real_outputs, discriminator_gen_outputs]) as scope:
        on_real = tf.losses.sigmoid_cross_entropy(
            tf.ones_like(discriminator_real_outputs), discriminator_real_outputs, real_weights, label_smoothing,
            scope, None, reduction)
        on_generated = tf.losses.sigmoid_cross_entropy(
            tf.zeros_like(discriminator_gen_outputs), discriminator_gen_outputs, generated_weights, scope=scope,
            loss_collection=None, reduction=reduction)
        return _sum_of_two(on_real, on_generated, loss_collection, add_summaries, "minimax")


def minimax_generator_loss(discriminator_gen_outputs, label_smoothing=0.0, weights=1.0, scope=None,
                           loss_collection=_LOSSES, reduction=_MEAN, add_summaries=False):
    """Minus the discriminator's loss for generated data."""
    with tf.name_scope(scope, "generator_minimax_loss") as scope:
        loss = -minimax_discriminator_loss(
            tf.ones_like(discriminator_gen_outputs), discriminator_gen_outputs, label_smoothing, weights, weights,
            scope, loss_collection, reduction, add_summaries=False)
    return _summarized(loss, add_summaries, "generator_minimax_loss")


modified_discriminator_loss = minimax_discriminator_loss


def modified_generator_loss(discriminator_gen_outputs, label_smoothing=0.0, weights=1.0, scope=None,
                            loss_collection=_LOSSES, reduction=_MEAN, add_summaries=False):
    """The cross entropy of the discriminator's logits for generated data, which is to look real."""
    with tf.name_scope(scope, "generator_modified_loss", [discriminator_gen_outputs]) as scope:
        loss = tf.losses.sigmoid_cross_entropy(
            tf.ones_like(discriminator_gen_outputs), discriminator_gen_outputs, weights, label_smoothing, scope,
            loss_collection, reduction)
    return _summarized(loss, add_summaries, "generator_modified_loss")


def least_squares_generator_loss(discriminator_gen_outputs, real_label=1, weights=1.0, scope=None,
                                 loss_collection=_LOSSES, reduction=_MEAN, add_summaries=False):
    """Half the squared distance of the discriminator's outputs for generated data from `real_label`."""
    with tf.name_scope(scope, "lsq_generator_loss", [discriminator_gen_outputs, real_label]) as scope:
        distance = tf.squared_difference(tf.cast(discriminator_gen_outputs, tf.float32), real_label) / 2.0
        loss = tf.losses.compute_weighted_loss(distance, weights, scope, loss_collection, reduction)
    return _summarized(loss, add_summaries, "generator_lsq_loss")


def least_squares_discriminator_loss(discriminator_real_outputs, discriminator_gen_outputs, real_label=1, fake_label=0,
                                     real_weights=1.0, generated_weights=1.0, scope=None, loss_collection=_LOSSES,
                                     reduction=_MEAN, add_summaries=False):
    """Half the squared distances of the discriminator's outputs from the labels of real and of generated data."""
    with tf.name_scope(scope, "lsq_discriminator_loss",
                       [discriminator_real_outputs, discriminator_gen_outputs]) as scope:
        on_real, on_generated = (
            tf.losses.compute_weighted_loss(tf.squared_difference(tf.cast(outputs, tf.float32), label) / 2.0, weights,
                                            scope, None, reduction)
            for outputs, label, weights in ((discriminator_real_outputs, real_label, real_weights),
                                            (discriminator_gen_outputs, fake_label, generated_weights)))
        return _sum_of_two(on_real, on_generated, loss_collection, add_summaries, "lsq")
