"""tf.contrib.slim.learning: the operation that trains, and the loop that runs it."""

import time

import tensorbraid as tf
from tensorbraid.contrib import layers_training
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.train import saver as tf_saver, supervisor as supervisor  # noqa: F401  # programs take them from here

__all__ = ["add_gradients_summaries", "clip_gradient_norms", "create_train_op", "multiply_gradients", "train",
           "train_step"]

_USE_DEFAULT = 0
_USE_GLOBAL_STEP = 0


def clip_gradient_norms(gradients_to_variables, max_norm):
    """Pairs of a gradient, whose norm is at most `max_norm`, and a variable."""
    return [(layers_training._map_values(lambda values: tf.clip_by_norm(values, max_norm), grad), variable)
            for grad, variable in gradients_to_variables]


def multiply_gradients(grads_and_vars, gradient_multipliers):
    """Pairs of a gradient and a variable; some gradients are multiplied by a number for the variable or its name."""
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    factors = {**gradient_multipliers}
    pairs = []
    for grad, variable in grads_and_vars:
        key = variable if variable in factors else variable.op.name
        if key in factors:
            if grad is None:
                raise ValueError("Requested multiple of `None` gradient.")
            grad = layers_training._multiplied([(grad, variable)], {variable: factors[key]})[0][0]
        pairs.append((grad, variable))
    return pairs


def add_gradients_summaries(grads_and_vars):
    """Summaries of the gradients and their norms."""
    made = []
    for grad, variable in grads_and_vars:
        values = grad.values if isinstance(grad, tf.IndexedSlices) else grad
        if values is None:
            tf.logging.info("Var %s has no gradient", variable.op.name)
            continue
        made.append(tf.summary.histogram(variable.op.name + "/gradient", values))
        made.append(tf.summary.scalar(variable.op.name + "/gradient_norm", tf.global_norm([values])))
    return made


def create_train_op(total_loss, optimizer, global_step=_USE_GLOBAL_STEP, update_ops=None, variables_to_train=None,
                    clip_gradient_norm=0, summarize_gradients=False, gate_gradients=1, aggregation_method=None,
                    colocate_gradients_with_ops=False, gradient_multipliers=None, check_numerics=True):
    """The loss after one step of the optimizer. The `update_ops`, by default of the collection, run before."""
    if global_step is _USE_GLOBAL_STEP:
        global_step = tf.train.get_or_create_global_step()
    collected = tf.get_collection(GraphKeys.UPDATE_OPS)
    updates = list(dict.fromkeys(collected if update_ops is None else update_ops))
    if not set(collected) <= set(updates):
        tf.logging.warning("update_ops in create_train_op does not contain all the update_ops in GraphKeys.UPDATE_OPS")
    if updates:
        with tf.control_dependencies(updates):
            barrier = tf.no_op(name="update_barrier")
        with tf.control_dependencies([barrier]):
            total_loss = tf.identity(total_loss)
    variables = tf.trainable_variables() if variables_to_train is None else variables_to_train
    pairs = optimizer.compute_gradients(total_loss, variables, gate_gradients=gate_gradients,
                                        aggregation_method=aggregation_method,
                                        colocate_gradients_with_ops=colocate_gradients_with_ops)
    if gradient_multipliers:
        with tf.name_scope("multiply_grads"):
            pairs = multiply_gradients(pairs, gradient_multipliers)
    if clip_gradient_norm > 0:
        with tf.name_scope("clip_grads"):
            pairs = clip_gradient_norms(pairs, clip_gradient_norm)
    if summarize_gradients:
        with tf.name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    updated = optimizer.apply_gradients(pairs, global_step=global_step)
    with tf.name_scope("train_op"):
        if check_numerics:
            total_loss = tf.check_numerics(total_loss, "LossTensor is inf or nan")
        with tf.control_dependencies([updated]):
            train_op = tf.identity(total_loss)
    if train_op not in tf.get_collection(GraphKeys.TRAIN_OP):
        tf.add_to_collection(GraphKeys.TRAIN_OP, train_op)
    return train_op


def train_step(sess, train_op, global_step, train_step_kwargs):
    """One step of train(). Returns the loss, and whether train() should stop."""
    began = time.time()
    loss, step = sess.run([train_op, global_step])
    if train_step_kwargs.get("should_log") is not None and sess.run(train_step_kwargs["should_log"]):
        tf.logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, time.time() - began)
    should_stop = train_step_kwargs.get("should_stop")
    return loss, False if should_stop is None else bool(sess.run(should_stop))


def train(train_op, logdir, train_step_fn=train_step, train_step_kwargs=_USE_DEFAULT, log_every_n_steps=1, graph=None,
          master="", is_chief=True, global_step=None, number_of_steps=None, init_op=_USE_DEFAULT, init_feed_dict=None,
          local_init_op=_USE_DEFAULT, init_fn=None, ready_op=_USE_DEFAULT, summary_op=_USE_DEFAULT,
          save_summaries_secs=600, summary_writer=_USE_DEFAULT, startup_delay_steps=0, saver=None,
          save_interval_secs=600, sync_optimizer=None, session_config=None, session_wrapper=None,
          trace_every_n_steps=None, ignore_live_threads=False):
    """Trains under a tf.train.Supervisor until `number_of_steps`, or the end of the input. Returns the last loss."""
    for name, value in (("sync_optimizer", sync_optimizer), ("session_wrapper", session_wrapper),
                        ("trace_every_n_steps", trace_every_n_steps), ("startup_delay_steps", startup_delay_steps)):
        if value:
            raise NotImplementedError(f"{name} of slim.learning.train")
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None and (saver is not None or summary_op not in (_USE_DEFAULT, None)):
        raise ValueError("Cannot provide summary_op or saver because logdir=None")
    graph = graph or tf.get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = tf.train.get_or_create_global_step()
        saver = saver or tf.train.Saver()
        kwargs = _kwargs(train_step_kwargs, global_step, number_of_steps, log_every_n_steps)
        if logdir is None:
            summary_op = summary_writer = None
        sv = tf.train.Supervisor(
            graph=graph, is_chief=is_chief, logdir=logdir, init_op=init_op, init_feed_dict=init_feed_dict,
            local_init_op=local_init_op, ready_op=ready_op, summary_op=summary_op, summary_writer=summary_writer,
            global_step=global_step, saver=saver if logdir else None, save_summaries_secs=save_summaries_secs,
            save_model_secs=save_interval_secs, init_fn=init_fn)
    loss = None
    with sv.managed_session(master, start_standard_services=False, config=session_config) as session:
        if is_chief and logdir:
            sv.start_standard_services(session)
        sv.start_queue_runners(session)
        try:
            while not sv.should_stop():
                loss, should_stop = train_step_fn(session, train_op, global_step, kwargs)
                if should_stop:
                    break
        except tf.errors.OutOfRangeError:
            tf.logging.info("the input has ended")
        if logdir and is_chief:
            sv.saver.save(session, sv.save_path, global_step=sv.global_step)
        if ignore_live_threads:
            sv.stop(ignore_live_threads=True)
        else:
            sv.request_stop()
    return loss


def _kwargs(given, global_step, number_of_steps, log_every_n_steps):
    """What train_step gets: tensors that say whether it logs, and whether it is the last one."""
    if given is not _USE_DEFAULT:
        return given or {}
    kwargs = {}
    with tf.name_scope("train_step"):
        if number_of_steps:
            kwargs["should_stop"] = tf.greater_equal(global_step, number_of_steps)
        if log_every_n_steps > 0:
            kwargs["should_log"] = tf.equal(tf.math.mod(global_step, log_every_n_steps), 0)
    return kwargs
