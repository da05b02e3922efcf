"""What the functions of tf.contrib.gan pass to each other."""

import collections

__all__ = ["GANLoss", "GANModel", "GANTrainOps", "GANTrainSteps"]

GANModel = collections.namedtuple("GANModel", [
    "generator_inputs", "generated_data", "generator_variables", "generator_scope", "generator_fn", "real_data",
    "discriminator_real_outputs", "discriminator_gen_outputs", "discriminator_variables", "discriminator_scope",
    "discriminator_fn"])
GANLoss = collections.namedtuple("GANLoss", ["generator_loss", "discriminator_loss"])
GANTrainOps = collections.namedtuple(
    "GANTrainOps", ["generator_train_op", "discriminator_train_op", "global_step_inc_op", "train_hooks"], defaults=[()])
GANTrainSteps = collections.namedtuple("GANTrainSteps", ["generator_train_steps", "discriminator_train_steps"])
