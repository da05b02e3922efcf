"""tf.contrib.gan.losses.wargs: the losses of GANs as functions of tensors."""

import tensorbraid as tf
from tensorbraid.losses import Reduction

__all__ = ["acgan_discriminator_loss", "acgan_generator_loss", "combine_adversarial_loss", "cycle_consistency_loss",
           "least_squares_discriminator_loss", "least_squares_generator_loss", "minimax_discriminator_loss",
           "minimax_generator_loss", "modified_discriminator_loss", "modified_generator_loss",
           "mutual_information_penalty", "wasserstein_discriminator_loss", "wasserstein_generator_loss",
           "wasserstein_gradient_penalty"]

_LOSSES = tf.GraphKeys.LOSSES
_MEAN = Reduction.SUM_BY_NONZERO_WEIGHTS


def _sum_of_two(on_real, on_generated, loss_collection, add_summaries, name):
    """The sum of a loss of real data and a loss of generated data. It is added to the collection."""
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
    """The squared deviation of the discriminator's gradient norm from `target` between real and generated data.

    The deviation is relative to `target`. With `one_sided`, a norm below the target is not penalised. ValueError if the
    rank of the data is unknown. Source: Gulrajani et al., 2017.
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
    """The cross entropy of the discriminator's logits with the labels 1 of real data and 0 of generated data."""
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
    """Minus minimax_discriminator_loss for generated data. Source: Goodfellow et al., 2014."""
    with tf.name_scope(scope, "generator_minimax_loss") as scope:
        loss = -minimax_discriminator_loss(
            tf.ones_like(discriminator_gen_outputs), discriminator_gen_outputs, label_smoothing, weights, weights,
            scope, loss_collection, reduction, add_summaries=False)
    return _summarized(loss, add_summaries, "generator_minimax_loss")


modified_discriminator_loss = minimax_discriminator_loss


def modified_generator_loss(discriminator_gen_outputs, label_smoothing=0.0, weights=1.0, scope=None,
                            loss_collection=_LOSSES, reduction=_MEAN, add_summaries=False):
    """The cross entropy of the discriminator's logits for generated data with the label 1.

    Source: Goodfellow et al., 2014.
    """
    with tf.name_scope(scope, "generator_modified_loss", [discriminator_gen_outputs]) as scope:
        loss = tf.losses.sigmoid_cross_entropy(
            tf.ones_like(discriminator_gen_outputs), discriminator_gen_outputs, weights, label_smoothing, scope,
            loss_collection, reduction)
    return _summarized(loss, add_summaries, "generator_modified_loss")


def least_squares_generator_loss(discriminator_gen_outputs, real_label=1, weights=1.0, scope=None,
                                 loss_collection=_LOSSES, reduction=_MEAN, add_summaries=False):
    """Half the squared distance of the discriminator's outputs for generated data from `real_label`.

    Source: Mao et al., 2016.
    """
    with tf.name_scope(scope, "lsq_generator_loss", [discriminator_gen_outputs, real_label]) as scope:
        distance = tf.squared_difference(tf.cast(discriminator_gen_outputs, tf.float32), real_label) / 2.0
        loss = tf.losses.compute_weighted_loss(distance, weights, scope, loss_collection, reduction)
    return _summarized(loss, add_summaries, "generator_lsq_loss")


def least_squares_discriminator_loss(discriminator_real_outputs, discriminator_gen_outputs, real_label=1, fake_label=0,
                                     real_weights=1.0, generated_weights=1.0, scope=None, loss_collection=_LOSSES,
                                     reduction=_MEAN, add_summaries=False):
    """Half the squared distances of the outputs for real data from `real_label`, and for generated from `fake_label`.

    Source: Mao et al., 2016.
    """
    with tf.name_scope(scope, "lsq_discriminator_loss",
                       [discriminator_real_outputs, discriminator_gen_outputs]) as scope:
        on_real, on_generated = (
            tf.losses.compute_weighted_loss(tf.squared_difference(tf.cast(outputs, tf.float32), label) / 2.0, weights,
                                            scope, None, reduction)
            for outputs, label, weights in ((discriminator_real_outputs, real_label, real_weights),
                                            (discriminator_gen_outputs, fake_label, generated_weights)))
        return _sum_of_two(on_real, on_generated, loss_collection, add_summaries, "lsq")


def acgan_discriminator_loss(discriminator_real_classification_logits, discriminator_gen_classification_logits,
                             one_hot_labels, label_smoothing=0.0, real_weights=1.0, generated_weights=1.0, scope=None,
                             loss_collection=_LOSSES, reduction=_MEAN, add_summaries=False):
    """The cross entropies of the class logits for generated and for real data with the labels.

    Source: Odena et al., 2017.
    """
    with tf.name_scope(scope, "acgan_discriminator_loss", [
            discriminator_real_classification_logits, discriminator_gen_classification_logits, one_hot_labels]) as scope:
        on_generated = tf.losses.softmax_cross_entropy(
            one_hot_labels, discriminator_gen_classification_logits, generated_weights, scope=scope,
            loss_collection=None, reduction=reduction)
        on_real = tf.losses.softmax_cross_entropy(
            one_hot_labels, discriminator_real_classification_logits, real_weights, label_smoothing, scope,
            None, reduction)
        loss = on_generated + on_real
        tf.losses.add_loss(loss, loss_collection)
    if add_summaries:
        tf.summary.scalar("discriminator_gen_ac_loss", on_generated)
        tf.summary.scalar("discriminator_real_ac_loss", on_real)
    return _summarized(loss, add_summaries, "discriminator_ac_loss")


def acgan_generator_loss(discriminator_gen_classification_logits, one_hot_labels, weights=1.0, scope=None,
                         loss_collection=_LOSSES, reduction=_MEAN, add_summaries=False):
    """The cross entropy of the class logits for generated data with the labels. Source: Odena et al., 2017."""
    with tf.name_scope(scope, "acgan_generator_loss",
                       [discriminator_gen_classification_logits, one_hot_labels]) as scope:
        loss = tf.losses.softmax_cross_entropy(one_hot_labels, discriminator_gen_classification_logits, weights,
                                               scope=scope, loss_collection=loss_collection, reduction=reduction)
    return _summarized(loss, add_summaries, "generator_ac_loss")


def mutual_information_penalty(structured_generator_inputs, predicted_distributions, weights=1.0, scope=None,
                               loss_collection=_LOSSES, reduction=_MEAN, add_summaries=False):
    """Minus the mean log probability of the structured inputs in the predicted distributions.

    Source: Chen et al., 2016.
    """
    with tf.name_scope(scope, "mutual_information_loss") as scope:
        log_probs = [tf.reduce_mean(distribution.log_prob(values))
                     for distribution, values in zip(predicted_distributions, structured_generator_inputs)]
        loss = -1 * tf.losses.compute_weighted_loss(log_probs, weights, scope, loss_collection, reduction)
    return _summarized(loss, add_summaries, "mutual_information_penalty")


def cycle_consistency_loss(data_x, reconstructed_data_x, data_y, reconstructed_data_y, scope=None,
                           add_summaries=False):
    """The mean absolute difference between data and their reconstructions by both generators.

    Source: Zhu et al., 2017.
    """
    with tf.name_scope(scope, "cycle_consistency_loss",
                       [data_x, reconstructed_data_x, data_y, reconstructed_data_y]):
        of_x = tf.losses.absolute_difference(data_x, reconstructed_data_x)
        of_y = tf.losses.absolute_difference(data_y, reconstructed_data_y)
        loss = (of_x + of_y) / 2.0
        if add_summaries:
            tf.summary.scalar("cycle_consistency_loss_x2x", of_x)
            tf.summary.scalar("cycle_consistency_loss_y2y", of_y)
        return _summarized(loss, add_summaries, "cycle_consistency_loss")


def _magnitude(values):
    """The global norm of gradients, computed so that no square overflows. Gradients that are None count as 0."""
    values = [value for value in values if value is not None]
    if not values:
        return 0.0
    greatest = tf.reduce_max([tf.reduce_max(tf.abs(value)) for value in values])
    return greatest * tf.global_norm([value / greatest for value in values])


def combine_adversarial_loss(main_loss, adversarial_loss, weight_factor=None, gradient_ratio=None,
                             gradient_ratio_epsilon=1e-6, variables=None, scalar_summaries=True,
                             gradient_summaries=True, scope=None):
    """main_loss + weight * adversarial_loss.

    The weight is `weight_factor`. With `gradient_ratio` in its place, the weight is such that the gradient of the main
    loss has `gradient_ratio` times the norm of the weighted adversarial loss's gradient. Both gradients are with
    respect to `variables`, or to all trainable variables. No gradient flows through the weight. ValueError unless
    exactly one of both arguments is given.
    """
    if (weight_factor is None) == (gradient_ratio is None):
        raise ValueError("`weight_factor` and `gradient_ratio` cannot both be `None.`" if weight_factor is None
                         else "`weight_factor` and `gradient_ratio` cannot both be specified.")
    variables = tf.trainable_variables() if variables is None else variables
    with tf.name_scope(scope, "adversarial_loss", [main_loss, adversarial_loss]):
        if gradient_summaries or gradient_ratio is not None:
            of_main, of_other = (_magnitude(tf.gradients(loss, variables)) for loss in (main_loss, adversarial_loss))
        if scalar_summaries:
            tf.summary.scalar("main_loss", main_loss)
            tf.summary.scalar("adversarial_loss", adversarial_loss)
        if gradient_summaries:
            tf.summary.scalar("main_loss_gradients", of_main)
            tf.summary.scalar("adversarial_loss_gradients", of_other)
        given = tf.convert_to_tensor(gradient_ratio if weight_factor is None else weight_factor)
        if tf.get_static_value(given) == 0:
            return main_loss
        weight = weight_factor
        if weight is None:
            weight = of_main / (of_other + gradient_ratio_epsilon) / gradient_ratio
            tf.summary.scalar("adversarial_coefficient", weight)
        return main_loss + tf.stop_gradient(weight) * adversarial_loss
