"""Builds a GAN, its losses and the operations that train it, and runs them in turn."""

import tensorbraid as tf
from tensorbraid.contrib import training
from tensorbraid.contrib.gan import losses
from tensorbraid.contrib.gan.namedtuples import GANLoss, GANModel, GANTrainOps, GANTrainSteps

__all__ = ["RunTrainOpsHook", "gan_loss", "gan_model", "gan_train", "gan_train_ops", "get_joint_train_hooks",
           "get_sequential_train_hooks", "get_sequential_train_steps"]


def gan_model(generator_fn, discriminator_fn, real_data, generator_inputs, generator_scope="Generator",
              discriminator_scope="Discriminator", check_shapes=True):
    """The GANModel of generator_fn(inputs) and discriminator_fn(data, inputs), which is applied to both kinds of data.

    ValueError if generated and real data have other shapes, unless check_shapes is False.
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
    return GANModel(generator_inputs, generated, variables[0], generator_scope, generator_fn, real_data, of_real,
                    of_generated, variables[1], discriminator_scope, discriminator_fn)


def gan_loss(model, generator_loss_fn=losses.wasserstein_generator_loss,
             discriminator_loss_fn=losses.wasserstein_discriminator_loss, gradient_penalty_weight=None,
             gradient_penalty_epsilon=1e-10, gradient_penalty_target=1.0, gradient_penalty_one_sided=False,
             mutual_information_penalty_weight=None, aux_cond_generator_weight=None,
             aux_cond_discriminator_weight=None, tensor_pool_fn=None, add_summaries=True):
    """The GANLoss: what the two functions return for the model, with penalties and regularization losses.

    The functions are called with the keyword argument add_summaries, as those of tf.contrib.gan.losses are.
    """
    for name, value in (("mutual_information_penalty_weight", mutual_information_penalty_weight),
                        ("aux_cond_generator_weight", aux_cond_generator_weight),
                        ("aux_cond_discriminator_weight", aux_cond_discriminator_weight)):
        if value is not None:
            raise ValueError(f"When `{name}` is provided, `model` must be an InfoGANModel or ACGANModel, which are not "
                             "part of this package")
    generator_loss = generator_loss_fn(model, add_summaries=add_summaries)
    pooled = model
    if tensor_pool_fn is not None:
        data, inputs = tensor_pool_fn((model.generated_data, model.generator_inputs))
        with tf.variable_scope(model.discriminator_scope, reuse=True):
            outputs = model.discriminator_fn(data, inputs)
        pooled = model._replace(generated_data=data, generator_inputs=inputs, discriminator_gen_outputs=outputs)
    discriminator_loss = discriminator_loss_fn(pooled, add_summaries=add_summaries)
    if gradient_penalty_weight is not None:
        if not isinstance(gradient_penalty_weight, tf.Tensor) and gradient_penalty_weight < 0:
            raise ValueError("`gradient_penalty_weight` must be greater than or equal to 0")
        discriminator_loss += gradient_penalty_weight * losses.wasserstein_gradient_penalty(
            pooled, epsilon=gradient_penalty_epsilon, target=gradient_penalty_target,
            one_sided=gradient_penalty_one_sided, add_summaries=add_summaries)
    return GANLoss(generator_loss + tf.losses.get_regularization_loss(model.generator_scope.name),
                   discriminator_loss + tf.losses.get_regularization_loss(model.discriminator_scope.name))


def gan_train_ops(model, loss, generator_optimizer, discriminator_optimizer, check_for_unused_update_ops=True,
                  is_chief=True, **kwargs):
    """The GANTrainOps: a step of each optimizer, and one of the global step.

    The update operations of each part's scope run with its optimizer. Further arguments are those of
    tf.contrib.training.create_train_op. ValueError if there are update operations of neither scope, unless the check
    is off; NotImplementedError for a SyncReplicasOptimizer.
    """
    for optimizer in (generator_optimizer, discriminator_optimizer):
        if isinstance(optimizer, tf.train.SyncReplicasOptimizer):
            raise NotImplementedError("a SyncReplicasOptimizer of tf.contrib.gan.gan_train_ops")
    updates = [tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope.name + "/")
               for scope in (model.generator_scope, model.discriminator_scope)]
    if check_for_unused_update_ops:
        unused = [op for op in tf.get_collection(tf.GraphKeys.UPDATE_OPS) if op not in [*updates[0], *updates[1]]]
        if unused:
            raise ValueError(f"There are unused update ops: {unused}")
    step = tf.train.get_or_create_global_step()
    increment = tf.assign_add(step, 1)
    trained = []
    for name, total, optimizer, variables, update_ops in (
            ("generator_train", loss.generator_loss, generator_optimizer, model.generator_variables, updates[0]),
            ("discriminator_train", loss.discriminator_loss, discriminator_optimizer, model.discriminator_variables,
             updates[1])):
        with tf.name_scope(name):
            trained.append(training.create_train_op(
                total, optimizer, global_step=None, update_ops=update_ops, variables_to_train=variables, **kwargs))
    return GANTrainOps(*trained, increment)


class RunTrainOpsHook(tf.train.SessionRunHook):
    """Runs operations a number of times before each step of the session."""

    def __init__(self, train_ops, train_steps):
        self._train_ops = list(train_ops) if isinstance(train_ops, (list, tuple)) else [train_ops]
        self._train_steps = train_steps

    def before_run(self, run_context):
        for _ in range(self._train_steps):
            run_context.session.run(self._train_ops)


def get_sequential_train_hooks(train_steps=GANTrainSteps(1, 1)):
    """A function that makes the hooks for gan_train: steps of the generator, then steps of the discriminator."""
    def hooks(train_ops):
        return [RunTrainOpsHook(train_ops.generator_train_op, train_steps.generator_train_steps),
                RunTrainOpsHook(train_ops.discriminator_train_op, train_steps.discriminator_train_steps),
                *train_ops.train_hooks]

    return hooks


def get_joint_train_hooks(train_steps=GANTrainSteps(1, 1)):
    """A function that makes the hooks for gan_train: steps of both at the same time."""
    together = min(train_steps.generator_train_steps, train_steps.discriminator_train_steps)

    def hooks(train_ops):
        both = [train_ops.generator_train_op, train_ops.discriminator_train_op]
        made = [RunTrainOpsHook(both, together)]
        for op, steps in zip(both, train_steps):
            if steps > together:
                made.append(RunTrainOpsHook(op, steps - together))
        return made + list(train_ops.train_hooks)

    return hooks


def get_sequential_train_steps(train_steps=GANTrainSteps(1, 1)):
    """The train_step_fn of slim.learning.train: steps of the generator, then steps of the discriminator."""
    def step(sess, train_ops, global_step, train_step_kwargs):
        should_stop = train_step_kwargs.get("should_stop")
        generator_loss = discriminator_loss = 0.0
        for _ in range(train_steps.generator_train_steps):
            generator_loss += sess.run(train_ops.generator_train_op)
        for _ in range(train_steps.discriminator_train_steps):
            discriminator_loss += sess.run(train_ops.discriminator_train_op)
        count = sess.run(train_ops.global_step_inc_op)
        if train_step_kwargs.get("should_log") is not None and sess.run(train_step_kwargs["should_log"]):
            tf.logging.info("global step %d: generator loss = %.4f, discriminator loss = %.4f", count,
                            generator_loss, discriminator_loss)
        return generator_loss + discriminator_loss, bool(should_stop is not None and sess.run(should_stop))

    return step


def gan_train(train_ops, logdir, get_hooks_fn=get_sequential_train_hooks(), master="", is_chief=True, scaffold=None,
              hooks=None, chief_only_hooks=None, save_checkpoint_secs=600, save_summaries_steps=100, config=None):
    """Trains in a MonitoredTrainingSession until a hook, or the end of the input, ends it. Returns the last step."""
    return training.train(
        train_ops.global_step_inc_op, logdir, master, is_chief, scaffold,
        [*get_hooks_fn(train_ops), *(hooks or [])], chief_only_hooks, save_checkpoint_secs, save_summaries_steps,
        config)
