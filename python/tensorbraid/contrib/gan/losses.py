"""tf.contrib.gan.losses: the losses of GANs as functions of a GANModel; in `wargs`, of tensors."""

import inspect

from tensorbraid.contrib.gan import losses_wargs as wargs
from tensorbraid.internal.function_names import named

__all__ = ["wargs", *wargs.__all__]


def _of_model(function):
    """The loss with the arguments that are fields of a GANModel taken from one."""
    from_model = [name for name in inspect.signature(function).parameters if name in _FIELDS]

    def loss(gan_model, **kwargs):
        return function(**{name: getattr(gan_model, name) for name in from_model}, **kwargs)

    return named(loss, function.__name__, function.__doc__)


_FIELDS = ("real_data", "generated_data", "generator_inputs", "discriminator_fn", "discriminator_scope",
           "discriminator_real_outputs", "discriminator_gen_outputs")
least_squares_discriminator_loss = _of_model(wargs.least_squares_discriminator_loss)
least_squares_generator_loss = _of_model(wargs.least_squares_generator_loss)
minimax_discriminator_loss = _of_model(wargs.minimax_discriminator_loss)
minimax_generator_loss = _of_model(wargs.minimax_generator_loss)
modified_discriminator_loss = _of_model(wargs.modified_discriminator_loss)
modified_generator_loss = _of_model(wargs.modified_generator_loss)
wasserstein_discriminator_loss = _of_model(wargs.wasserstein_discriminator_loss)
wasserstein_generator_loss = _of_model(wargs.wasserstein_generator_loss)
wasserstein_gradient_penalty = _of_model(wargs.wasserstein_gradient_penalty)
