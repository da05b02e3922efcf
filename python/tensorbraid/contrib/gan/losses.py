"""tf.contrib.gan.losses: the losses of GANs as functions of a GANModel. The module `wargs` has them for tensors."""

import inspect

from tensorbraid.contrib.gan import losses_wargs as wargs
from tensorbraid.internal.function_names import named

__all__ = ["stargan_discriminator_loss_wrapper", "stargan_generator_loss_wrapper", "stargan_gradient_penalty_wrapper",
           "wargs", *wargs.__all__]


def _of_model(function):
    """The loss as a function of a GANModel, whose fields become the arguments of the same names."""
    from_model = [name for name in inspect.signature(function).parameters if name in _FIELDS]

    def loss(gan_model, **kwargs):
        return function(**{name: getattr(gan_model, name) for name in from_model}, **kwargs)

    return named(loss, function.__name__, function.__doc__)


_FIELDS = ("real_data", "generated_data", "generator_inputs", "discriminator_fn", "discriminator_scope",
           "discriminator_real_outputs", "discriminator_gen_outputs", "discriminator_real_classification_logits",
           "discriminator_gen_classification_logits", "one_hot_labels", "structured_generator_inputs",
           "predicted_distributions")
acgan_discriminator_loss = _of_model(wargs.acgan_discriminator_loss)
acgan_generator_loss = _of_model(wargs.acgan_generator_loss)
least_squares_discriminator_loss = _of_model(wargs.least_squares_discriminator_loss)
least_squares_generator_loss = _of_model(wargs.least_squares_generator_loss)
minimax_discriminator_loss = _of_model(wargs.minimax_discriminator_loss)
minimax_generator_loss = _of_model(wargs.minimax_generator_loss)
modified_discriminator_loss = _of_model(wargs.modified_discriminator_loss)
modified_generator_loss = _of_model(wargs.modified_generator_loss)
mutual_information_penalty = _of_model(wargs.mutual_information_penalty)
wasserstein_discriminator_loss = _of_model(wargs.wasserstein_discriminator_loss)
wasserstein_generator_loss = _of_model(wargs.wasserstein_generator_loss)
wasserstein_gradient_penalty = _of_model(wargs.wasserstein_gradient_penalty)


def cycle_consistency_loss(cyclegan_model, scope=None, add_summaries=False):
    """The mean absolute difference between the inputs of a CycleGANModel and their reconstructions."""
    return wargs.cycle_consistency_loss(
        cyclegan_model.model_x2y.generator_inputs, cyclegan_model.reconstructed_x,
        cyclegan_model.model_y2x.generator_inputs, cyclegan_model.reconstructed_y, scope, add_summaries)


def stargan_generator_loss_wrapper(loss_fn):
    """The loss of generated outputs, such as one of `wargs`, as a function of a StarGANModel."""
    def loss(stargan_model, **kwargs):
        return loss_fn(stargan_model.discriminator_generated_data_source_predication, **kwargs)

    return named(loss, loss_fn.__name__, loss_fn.__doc__)


def stargan_discriminator_loss_wrapper(loss_fn):
    """Makes a loss of the outputs for real and for generated data a function of a StarGANModel."""
    def loss(stargan_model, **kwargs):
        return loss_fn(stargan_model.discriminator_input_data_source_predication,
                       stargan_model.discriminator_generated_data_source_predication, **kwargs)

    return named(loss, loss_fn.__name__, loss_fn.__doc__)


def stargan_gradient_penalty_wrapper(loss_fn):
    """Makes a gradient penalty, such as wasserstein_gradient_penalty, a function of a StarGANModel."""
    def loss(stargan_model, **kwargs):
        return loss_fn(real_data=stargan_model.input_data, generated_data=stargan_model.generated_data,
                       generator_inputs=stargan_model.input_data_domain_label.shape.as_list()[-1],
                       discriminator_fn=stargan_model.discriminator_fn,
                       discriminator_scope=stargan_model.discriminator_scope, **kwargs)

    return named(loss, loss_fn.__name__, loss_fn.__doc__)


def combine_adversarial_loss(gan_loss, gan_model, non_adversarial_loss, weight_factor=None, gradient_ratio=None,
                             gradient_ratio_epsilon=1e-6, scalar_summaries=True, gradient_summaries=True):
    """`gan_loss` with `non_adversarial_loss` combined into the generator's loss: see wargs.combine_adversarial_loss."""
    combined = wargs.combine_adversarial_loss(
        non_adversarial_loss, gan_loss.generator_loss, weight_factor, gradient_ratio, gradient_ratio_epsilon,
        gan_model.generator_variables, scalar_summaries, gradient_summaries)
    return gan_loss._replace(generator_loss=combined)
