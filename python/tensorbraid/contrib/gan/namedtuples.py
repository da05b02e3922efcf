"""Models, losses and train operations of GANs, as named tuples."""

import collections

__all__ = ["ACGANModel", "CycleGANLoss", "CycleGANModel", "GANLoss", "GANModel", "GANTrainOps", "GANTrainSteps",
           "InfoGANModel", "StarGANModel"]

GANModel = collections.namedtuple("GANModel", [
    "generator_inputs", "generated_data", "generator_variables", "generator_scope", "generator_fn", "real_data",
    "discriminator_real_outputs", "discriminator_gen_outputs", "discriminator_variables", "discriminator_scope",
    "discriminator_fn"])


class InfoGANModel(collections.namedtuple("InfoGANModel", GANModel._fields + (
        "structured_generator_inputs", "predicted_distributions", "discriminator_and_aux_fn"))):
    """A GANModel whose discriminator also predicts the distributions of some of the generator's inputs."""


class ACGANModel(collections.namedtuple("ACGANModel", GANModel._fields + (
        "one_hot_labels", "discriminator_real_classification_logits", "discriminator_gen_classification_logits"))):
    """A GANModel whose discriminator also predicts the class of an example."""


class CycleGANModel(collections.namedtuple("CycleGANModel", [
        "model_x2y", "model_y2x", "reconstructed_x", "reconstructed_y"])):
    """Two GANModels, from x to y and from y to x, and the reconstructions of x and of y after both."""


class StarGANModel(collections.namedtuple("StarGANModel", [
        "input_data", "input_data_domain_label", "generated_data", "generated_data_domain_target", "reconstructed_data",
        "discriminator_input_data_source_predication", "discriminator_generated_data_source_predication",
        "discriminator_input_data_domain_predication", "discriminator_generated_data_domain_predication",
        "generator_variables", "generator_scope", "generator_fn", "discriminator_variables", "discriminator_scope",
        "discriminator_fn"])):
    """A generator that translates data to any of several domains, and a discriminator that also predicts the domain.

    The reconstructed data is the generated data, translated back to the domain of the input.
    """


GANLoss = collections.namedtuple("GANLoss", ["generator_loss", "discriminator_loss"])


class CycleGANLoss(collections.namedtuple("CycleGANLoss", ["loss_x2y", "loss_y2x"])):
    """The GANLosses of the two models of a CycleGANModel."""


GANTrainOps = collections.namedtuple(
    "GANTrainOps", ["generator_train_op", "discriminator_train_op", "global_step_inc_op", "train_hooks"], defaults=[()])
GANTrainSteps = collections.namedtuple("GANTrainSteps", ["generator_train_steps", "discriminator_train_steps"])
