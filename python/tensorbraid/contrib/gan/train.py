"""The losses of a GAN, the operations that train its generator and its discriminator, and the training loop."""

import tensorbraid as tf
from tensorbraid.contrib import training
from tensorbraid.contrib.gan import losses
from tensorbraid.contrib.gan.models import (  # noqa: F401
    acgan_model, cyclegan_model, gan_model, infogan_model, stargan_model)
from tensorbraid.contrib.gan.namedtuples import (
    ACGANModel, CycleGANLoss, CycleGANModel, GANLoss, GANTrainOps, GANTrainSteps, InfoGANModel)

__all__ = ["RunTrainOpsHook", "cyclegan_loss", "gan_loss", "gan_train", "gan_train_ops", "get_joint_train_hooks",
           "get_sequential_train_hooks", "get_sequential_train_steps", "stargan_loss"]


def gan_loss(model, generator_loss_fn=losses.wasserstein_generator_loss,
             discriminator_loss_fn=losses.wasserstein_discriminator_loss, gradient_penalty_weight=None,
             gradient_penalty_epsilon=1e-10, gradient_penalty_target=1.0, gradient_penalty_one_sided=False,
             mutual_information_penalty_weight=None, aux_cond_generator_weight=None,
             aux_cond_discriminator_weight=None, tensor_pool_fn=None, add_summaries=True):
    """The GANLoss of a model: the results of both functions, plus weighted penalties and regularization losses.

    The functions are called with the model and the keyword argument `add_summaries`, like those of
    tf.contrib.gan.losses. ValueError if a weight is negative, or is for a penalty that this kind of model does not
    have.
    """
    _check_weights(model, gradient_penalty_weight, mutual_information_penalty_weight, aux_cond_generator_weight,
                   aux_cond_discriminator_weight)
    generator_loss = generator_loss_fn(model, add_summaries=add_summaries)
    pooled = model if tensor_pool_fn is None else _with_pooled_data(model, tensor_pool_fn)
    discriminator_loss = discriminator_loss_fn(pooled, add_summaries=add_summaries)
    if gradient_penalty_weight is not None:
        discriminator_loss += gradient_penalty_weight * losses.wasserstein_gradient_penalty(
            pooled, epsilon=gradient_penalty_epsilon, target=gradient_penalty_target,
            one_sided=gradient_penalty_one_sided, add_summaries=add_summaries)
    if mutual_information_penalty_weight is not None:
        penalty = losses.mutual_information_penalty(model, add_summaries=add_summaries)
        generator_loss += mutual_information_penalty_weight * penalty
        discriminator_loss += mutual_information_penalty_weight * penalty
    if aux_cond_generator_weight is not None:
        generator_loss += aux_cond_generator_weight * losses.acgan_generator_loss(model, add_summaries=add_summaries)
    if aux_cond_discriminator_weight is not None:
        discriminator_loss += aux_cond_discriminator_weight * losses.acgan_discriminator_loss(
            model, add_summaries=add_summaries)
    return GANLoss(generator_loss + tf.losses.get_regularization_loss(model.generator_scope.name),
                   discriminator_loss + tf.losses.get_regularization_loss(model.discriminator_scope.name))


def _check_weights(model, gradient_penalty, mutual_information, of_generator, of_discriminator):
    """Raises ValueError if a weight is negative, or is for a penalty that this kind of model does not have."""
    for name, weight, kind in (("gradient_penalty_weight", gradient_penalty, None),
                               ("mutual_information_penalty_weight", mutual_information, InfoGANModel),
                               ("aux_cond_generator_weight", of_generator, ACGANModel),
                               ("aux_cond_discriminator_weight", of_discriminator, ACGANModel)):
        if weight is None:
            continue
        if not isinstance(weight, tf.Tensor) and weight < 0:
            raise ValueError(f"`{name}` must be greater than or equal to 0")
        if kind is not None and not isinstance(model, kind):
            raise ValueError(f"When `{name}` is provided, `model` must be an {kind.__name__}. Instead, was "
                             f"{type(model).__name__}.")


def _with_pooled_data(model, tensor_pool_fn):
    """The model whose discriminator gets the generated data and inputs that tensor_pool_fn returns."""
    data, inputs = tensor_pool_fn((model.generated_data, model.generator_inputs))
    with tf.variable_scope(model.discriminator_scope, reuse=True):
        if isinstance(model, InfoGANModel):
            outputs, predicted = model.discriminator_and_aux_fn(data, inputs)
            return model._replace(discriminator_gen_outputs=outputs, predicted_distributions=predicted)
        if isinstance(model, ACGANModel):
            outputs, logits = model.discriminator_fn(data, inputs)
            return model._replace(discriminator_gen_outputs=outputs, discriminator_gen_classification_logits=logits)
        outputs = model.discriminator_fn(data, inputs)
    return model._replace(generated_data=data, generator_inputs=inputs, discriminator_gen_outputs=outputs)


def cyclegan_loss(model, generator_loss_fn=losses.least_squares_generator_loss,
                  discriminator_loss_fn=losses.least_squares_discriminator_loss,
                  cycle_consistency_loss_fn=losses.cycle_consistency_loss, cycle_consistency_loss_weight=10.0, **kwargs):
    """The CycleGANLoss: gan_loss of both models, plus the weighted cycle consistency loss for each generator.

    Further arguments are those of gan_loss.
    """
    if not isinstance(model, CycleGANModel):
        raise ValueError(f"`model` must be a CycleGANModel. Instead, was {type(model).__name__}.")
    weight = cycle_consistency_loss_weight
    if not isinstance(weight, tf.Tensor) and weight < 0:
        raise ValueError("`cycle_consistency_loss_weight` must be greater than or equal to 0")
    of_cycle = weight * cycle_consistency_loss_fn(model, add_summaries=kwargs.get("add_summaries", True))
    made = []
    for scope, part in (("cyclegan_loss_x2y", model.model_x2y), ("cyclegan_loss_y2x", model.model_y2x)):
        with tf.name_scope(scope):
            loss = gan_loss(part, generator_loss_fn, discriminator_loss_fn, **kwargs)
        made.append(loss._replace(generator_loss=loss.generator_loss + of_cycle))
    return CycleGANLoss(*made)


def stargan_loss(
        model, generator_loss_fn=losses.stargan_generator_loss_wrapper(losses.wargs.wasserstein_generator_loss),
        discriminator_loss_fn=losses.stargan_discriminator_loss_wrapper(losses.wargs.wasserstein_discriminator_loss),
        gradient_penalty_weight=10.0, gradient_penalty_epsilon=1e-10, gradient_penalty_target=1.0,
        gradient_penalty_one_sided=False, reconstruction_loss_fn=tf.losses.absolute_difference,
        reconstruction_loss_weight=10.0, classification_loss_fn=tf.losses.softmax_cross_entropy,
        classification_loss_weight=1.0, classification_one_hot=True, add_summaries=True):
    """The GANLoss of a StarGANModel: adversarial losses, the gradient penalty, and what follows.

    The generator also loses by the reconstruction and by the domains that the discriminator sees in generated data, the
    discriminator by the domains that it sees in real data. `classification_loss_fn` is called with the arguments
    onehot_labels and logits; without `classification_one_hot` it gives a loss for each domain. Weights of 0 or None turn
    the gradient penalty off.
    """
    model.input_data_domain_label.shape.assert_has_rank(2)
    model.input_data_domain_label.shape[1:].assert_is_fully_defined()
    generator_loss = generator_loss_fn(model, add_summaries=add_summaries)
    discriminator_loss = discriminator_loss_fn(model, add_summaries=add_summaries)
    weight = gradient_penalty_weight
    if weight is not None and (isinstance(weight, tf.Tensor) or weight > 0):
        penalty_fn = losses.stargan_gradient_penalty_wrapper(losses.wargs.wasserstein_gradient_penalty)
        discriminator_loss += weight * penalty_fn(
            model, epsilon=gradient_penalty_epsilon, target=gradient_penalty_target,
            one_sided=gradient_penalty_one_sided, add_summaries=add_summaries)
    of_reconstruction = reconstruction_loss_fn(model.input_data, model.reconstructed_data)
    if add_summaries:
        tf.summary.scalar("reconstruction_loss", of_reconstruction)

    def of_domains(name, labels, logits):
        with tf.name_scope(name, values=[labels, logits]):
            loss = classification_loss_fn(onehot_labels=labels, logits=logits)
            loss = tf.reduce_mean(loss if classification_one_hot else tf.reduce_sum(loss, 1))
            if add_summaries:
                tf.summary.scalar(name, loss)
        return loss * classification_loss_weight

    generator_loss += of_reconstruction * reconstruction_loss_weight + of_domains(
        "generator_classification_loss", model.generated_data_domain_target,
        model.discriminator_generated_data_domain_predication)
    discriminator_loss += of_domains("discriminator_classification_loss", model.input_data_domain_label,
                                     model.discriminator_input_data_domain_predication)
    return GANLoss(generator_loss, discriminator_loss)


def gan_train_ops(model, loss, generator_optimizer, discriminator_optimizer, check_for_unused_update_ops=True,
                  is_chief=True, **kwargs):
    """The GANTrainOps: the train operations of the generator and the discriminator, and the global step's increment.

    A train operation also runs the UPDATE_OPS of its network's scope. Further arguments are those of
    tf.contrib.training.create_train_op. ValueError if one of UPDATE_OPS is in neither scope, unless
    `check_for_unused_update_ops` is False.

    A SyncReplicasOptimizer has a global step of its own, the variable "dummy_global_step_generator" or
    "dummy_global_step_discriminator", and its hook is among the hooks of the GANTrainOps. Two of them need hooks or steps
    that train in sequence. NotImplementedError for a SyncReplicasOptimizer and a CycleGANModel, whose two models train in
    one run.
    """
    synchronous = [optimizer for optimizer in (generator_optimizer, discriminator_optimizer)
                   if isinstance(optimizer, tf.train.SyncReplicasOptimizer)]
    if isinstance(model, CycleGANModel):
        if synchronous:
            raise NotImplementedError("a SyncReplicasOptimizer of a CycleGANModel: workers that train both models in one "
                                      "run could wait for each other for ever")
        return _cyclegan_train_ops(model, loss, generator_optimizer, discriminator_optimizer,
                                   check_for_unused_update_ops, is_chief, **kwargs)
    if len(synchronous) == 2 and generator_optimizer is discriminator_optimizer:
        raise ValueError("The generator and the discriminator need a SyncReplicasOptimizer each, since it has the tokens "
                         "and the stale gradients of one training.")
    updates = [tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope.name + "/")
               for scope in (model.generator_scope, model.discriminator_scope)]
    if check_for_unused_update_ops:
        unused = [op for op in tf.get_collection(tf.GraphKeys.UPDATE_OPS) if op not in [*updates[0], *updates[1]]]
        if unused:
            raise ValueError(f"There are unused update ops: {unused}")
    step = tf.train.get_or_create_global_step()
    increment = tf.assign_add(step, 1)
    trained, hooks = [], []
    for name, total, optimizer, variables, update_ops in (
            ("generator_train", loss.generator_loss, generator_optimizer, model.generator_variables, updates[0]),
            ("discriminator_train", loss.discriminator_loss, discriminator_optimizer, model.discriminator_variables,
             updates[1])):
        own_step = _own_global_step(name.removesuffix("_train"), step.dtype) if optimizer in synchronous else None
        with tf.name_scope(name):
            trained.append(training.create_train_op(
                total, optimizer, global_step=own_step, update_ops=update_ops, variables_to_train=variables, **kwargs))
        if own_step is not None:
            trained[-1]._is_synchronous = True
            hooks.append(optimizer.make_session_run_hook(is_chief))
    return GANTrainOps(*trained, increment, hooks)


def _own_global_step(network, dtype):
    """The variable that counts the updates of a SyncReplicasOptimizer, which finds stale gradients by it.

    The global step does not count them: it is incremented once for the steps of both networks. The name is TensorFlow's.
    """
    return tf.get_variable(f"dummy_global_step_{network}", [], dtype.base_dtype, tf.zeros_initializer(), trainable=False,
                           collections=[tf.GraphKeys.GLOBAL_VARIABLES])


def _cyclegan_train_ops(model, loss, *arguments, **kwargs):
    """The GANTrainOps of a CycleGANModel: lists with the train operations of both models, and one increment."""
    ops = []
    for scope, part, its_loss in (("cyclegan_x2y_train", model.model_x2y, loss.loss_x2y),
                                  ("cyclegan_y2x_train", model.model_y2x, loss.loss_y2x)):
        with tf.variable_scope(scope):
            ops.append(gan_train_ops(part, its_loss, *arguments, **kwargs))
    generator, discriminator = ([getattr(op, name) for op in ops]
                                for name in ("generator_train_op", "discriminator_train_op"))
    return GANTrainOps(generator, discriminator, ops[0].global_step_inc_op,
                       [hook for op in ops for hook in op.train_hooks])


class RunTrainOpsHook(tf.train.SessionRunHook):
    """Runs operations a number of times before each step of the session."""

    def __init__(self, train_ops, train_steps):
        self._train_ops = list(train_ops) if isinstance(train_ops, (list, tuple)) else [train_ops]
        self._train_steps = train_steps

    def before_run(self, run_context):
        for _ in range(self._train_steps):
            run_context.session.run(self._train_ops)


def get_sequential_train_hooks(train_steps=GANTrainSteps(1, 1)):
    """A function that returns the hooks for gan_train: steps of the generator, then steps of the discriminator."""
    def hooks(train_ops):
        return [RunTrainOpsHook(train_ops.generator_train_op, train_steps.generator_train_steps),
                RunTrainOpsHook(train_ops.discriminator_train_op, train_steps.discriminator_train_steps),
                *train_ops.train_hooks]

    return hooks


def get_joint_train_hooks(train_steps=GANTrainSteps(1, 1)):
    """A function that returns the hooks for gan_train: each run is a step of the generator and of the discriminator.

    The function raises ValueError if both networks have a SyncReplicasOptimizer: use get_sequential_train_hooks.
    """
    together = min(train_steps.generator_train_steps, train_steps.discriminator_train_steps)

    def hooks(train_ops):
        both = [train_ops.generator_train_op, train_ops.discriminator_train_op]
        if all(getattr(op, "_is_synchronous", False) for op in both):
            raise ValueError("Workers that train with two SyncReplicasOptimizers in one run could wait for each other for "
                             "ever; use get_sequential_train_hooks.")
        made = [RunTrainOpsHook(both, together)]
        for op, steps in zip(both, train_steps):
            if steps > together:
                made.append(RunTrainOpsHook(op, steps - together))
        return made + list(train_ops.train_hooks)

    return hooks


def get_sequential_train_steps(train_steps=GANTrainSteps(1, 1)):
    """A train_step_fn for slim.learning.train: steps of the generator, then steps of the discriminator."""
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
    """Trains in a MonitoredTrainingSession until a hook or the end of the input stops it.

    Returns the last global step.
    """
    return training.train(
        train_ops.global_step_inc_op, logdir, master, is_chief, scaffold,
        [*get_hooks_fn(train_ops), *(hooks or [])], chief_only_hooks, save_checkpoint_secs, save_summaries_steps,
        config)
