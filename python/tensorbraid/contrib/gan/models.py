"""Builds the networks of a GAN: a generator, and a discriminator that is applied to generated and to real data."""

import tensorbraid as tf
from tensorbraid.contrib.gan.namedtuples import ACGANModel, CycleGANModel, GANModel, InfoGANModel, StarGANModel

__all__ = ["acgan_model", "cyclegan_model", "gan_model", "infogan_model", "stargan_model"]


def _first(outputs):
    return outputs[0]


def _networks(generator_fn, discriminator_fn, real_data, generator_inputs, generator_scope, discriminator_scope,
              check_shapes, of=lambda outputs: outputs):
    """The fields of a GANModel, and what the discriminator returns for real and for generated data.

    `of` takes the discriminator's output, such as its first element, from what the discriminator returns.
    """
    with tf.variable_scope(generator_scope) as generator_scope:
        generator_inputs = tf.nest.map_structure(tf.convert_to_tensor, generator_inputs)
        generated = generator_fn(generator_inputs)
    with tf.variable_scope(discriminator_scope) as discriminator_scope:
        of_generated = discriminator_fn(generated, generator_inputs)
    with tf.variable_scope(discriminator_scope, reuse=True):
        real_data = tf.convert_to_tensor(real_data)
        of_real = discriminator_fn(real_data, generator_inputs)
    if check_shapes and not generated.shape.is_compatible_with(real_data.shape):
        raise ValueError(f"Generator output shape ({generated.shape}) must be the same shape as real data "
                         f"({real_data.shape}).")
    variables = [tf.trainable_variables(scope.name + "/") for scope in (generator_scope, discriminator_scope)]
    fields = [generator_inputs, generated, variables[0], generator_scope, generator_fn, real_data, of(of_real),
              of(of_generated), variables[1], discriminator_scope, discriminator_fn]
    return fields, of_real, of_generated


def gan_model(generator_fn, discriminator_fn, real_data, generator_inputs, generator_scope="Generator",
              discriminator_scope="Discriminator", check_shapes=True):
    """The GANModel of generator_fn(inputs) and discriminator_fn(data, inputs), for real and for generated data.

    ValueError if the shapes of generated and real data differ, unless `check_shapes` is False.
    """
    return GANModel(*_networks(generator_fn, discriminator_fn, real_data, generator_inputs, generator_scope,
                               discriminator_scope, check_shapes)[0])


def infogan_model(generator_fn, discriminator_fn, real_data, unstructured_generator_inputs,
                  structured_generator_inputs, generator_scope="Generator", discriminator_scope="Discriminator"):
    """The InfoGANModel. The generator's argument is the list of the unstructured and then the structured inputs.

    The discriminator returns a pair: its output, and a list with a tf.distributions object for each structured input.
    Source: Chen et al., 2016.
    """
    inputs = list(unstructured_generator_inputs) + list(structured_generator_inputs)
    fields, _, (_, predicted) = _networks(generator_fn, discriminator_fn, real_data, inputs, generator_scope,
                                          discriminator_scope, False, _first)
    for distribution in predicted:
        if not hasattr(distribution, "log_prob"):
            raise ValueError(f"`predicted_distributions` must be a list of Distributions, but found {distribution!r}")
    if len(predicted) != len(structured_generator_inputs):
        raise ValueError("`structured_generator_inputs` and `predicted_distributions` must be the same length: "
                         f"{len(structured_generator_inputs)} and {len(predicted)}")
    fields[-1] = lambda data, given: discriminator_fn(data, given)[0]
    return InfoGANModel(*fields, list(structured_generator_inputs), predicted, discriminator_fn)


def acgan_model(generator_fn, discriminator_fn, real_data, generator_inputs, one_hot_labels,
                generator_scope="Generator", discriminator_scope="Discriminator", check_shapes=True):
    """The ACGANModel. The discriminator returns a pair: its output, and the logits of the classes of the labels.

    Source: Odena et al., 2017.
    """
    fields, (_, of_real), (_, of_generated) = _networks(
        generator_fn, discriminator_fn, real_data, generator_inputs, generator_scope, discriminator_scope, check_shapes,
        _first)
    return ACGANModel(*fields, one_hot_labels, of_real, of_generated)


def cyclegan_model(generator_fn, discriminator_fn, data_x, data_y, generator_scope="Generator",
                   discriminator_scope="Discriminator", model_x2y_scope="ModelX2Y", model_y2x_scope="ModelY2X",
                   check_shapes=True):
    """The CycleGANModel: two GANModels of the same functions, from x to y and from y to x, each in its own scope.

    Source: Zhu et al., 2017.
    """
    models = []
    for scope, inputs, outputs in ((model_x2y_scope, data_x, data_y), (model_y2x_scope, data_y, data_x)):
        with tf.variable_scope(scope):
            models.append(gan_model(generator_fn, discriminator_fn, outputs, inputs, generator_scope,
                                    discriminator_scope, check_shapes))
    x2y, y2x = models
    with tf.variable_scope(y2x.generator_scope, reuse=True):
        x = y2x.generator_fn(x2y.generated_data)
    with tf.variable_scope(x2y.generator_scope, reuse=True):
        y = x2y.generator_fn(y2x.generated_data)
    return CycleGANModel(x2y, y2x, x, y)


def _one_batch(data):
    """A tensor, or a list of tensors along the first axis, as one tensor."""
    if isinstance(data, (list, tuple)):
        return tf.concat([tf.convert_to_tensor(part) for part in data], 0)
    return tf.convert_to_tensor(data)


def stargan_model(generator_fn, discriminator_fn, input_data, input_data_domain_label, generator_scope="Generator",
                  discriminator_scope="Discriminator"):
    """The StarGANModel. Each example is translated to a random domain, and back to its own.

    The generator takes data and one-hot labels [batch, domains] of the domains to which it translates. The discriminator
    takes data and the number of domains. It returns a pair: its output, and the logits of the domains. Data and labels
    may be lists of batches. ValueError if the shape of the labels is not known. Source: Choi et al., 2017.
    """
    data, labels = _one_batch(input_data), _one_batch(input_data_domain_label)
    labels.shape.assert_has_rank(2)
    labels.shape.assert_is_fully_defined()
    batch, domains = labels.shape.as_list()
    with tf.variable_scope(generator_scope) as generator_scope:
        targets = tf.one_hot(tf.random_uniform([batch], 0, domains, tf.int32), domains)
        generated = generator_fn(data, targets)
    with tf.variable_scope(generator_scope, reuse=True):
        reconstructed = generator_fn(generated, labels)
    with tf.variable_scope(discriminator_scope) as discriminator_scope:
        source_of_generated, domain_of_generated = discriminator_fn(generated, domains)
    with tf.variable_scope(discriminator_scope, reuse=True):
        source_of_input, domain_of_input = discriminator_fn(data, domains)
    of_generator, of_discriminator = (tf.trainable_variables(scope.name + "/")
                                      for scope in (generator_scope, discriminator_scope))
    return StarGANModel(data, labels, generated, targets, reconstructed, source_of_input, source_of_generated,
                        domain_of_input, domain_of_generated, of_generator, generator_scope, generator_fn,
                        of_discriminator, discriminator_scope, discriminator_fn)
