"""tf.contrib.slim.learning: the operation that trains, and the loop that runs it."""

import os
import sys
import time

import tensorbraid as tf
from tensorbraid.contrib import layers_training
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.tensorflow_python.timeline import Timeline
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
    """One step of train(). Returns the loss, and whether train() should stop.

    The dictionary may have the bool tensors "should_stop", "should_log" and "should_trace". A trace is written to the
    folder "logdir", and to the "summary_writer" if there is one. ValueError for a trace without a folder.
    """
    def is_true(name):
        return train_step_kwargs.get(name) is not None and bool(sess.run(train_step_kwargs[name]))

    if "should_trace" in train_step_kwargs and "logdir" not in train_step_kwargs:
        raise ValueError("logdir must be present in train_step_kwargs when should_trace is present")
    options = metadata = None
    if is_true("should_trace"):
        options, metadata = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()
    began = time.time()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    elapsed = time.time() - began
    if metadata is not None:
        _write_trace(metadata, step, train_step_kwargs)
    if is_true("should_log"):
        tf.logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, elapsed)
    return loss, is_true("should_stop")


def _write_trace(metadata, step, kwargs):
    path = os.path.join(kwargs["logdir"], f"tf_trace-{step}.json")
    tf.logging.info("Writing trace to %s", path)
    with tf.gfile.GFile(path, "w") as file:
        file.write(Timeline(metadata.step_stats).generate_chrome_trace_format())
    if kwargs.get("summary_writer") is not None:
        kwargs["summary_writer"].add_run_metadata(metadata, f"run_metadata-{step}")


def _wait_for_step(session, global_step, step):
    """Returns once the global step is so far."""
    while session.run(global_step) < step:
        time.sleep(1.0)


def train(train_op, logdir, train_step_fn=train_step, train_step_kwargs=_USE_DEFAULT, log_every_n_steps=1, graph=None,
          master="", is_chief=True, global_step=None, number_of_steps=None, init_op=_USE_DEFAULT, init_feed_dict=None,
          local_init_op=_USE_DEFAULT, init_fn=None, ready_op=_USE_DEFAULT, summary_op=_USE_DEFAULT,
          save_summaries_secs=600, summary_writer=_USE_DEFAULT, startup_delay_steps=0, saver=None,
          save_interval_secs=600, sync_optimizer=None, session_config=None, session_wrapper=None,
          trace_every_n_steps=None, ignore_live_threads=False):
    """Trains under a tf.train.Supervisor until `number_of_steps`, or the end of the input. Returns the last loss.

    `sync_optimizer` is the SyncReplicasOptimizer that made the train_op, or a list of them. A worker that is not the
    chief waits for the global step `startup_delay_steps`. session_wrapper(session) returns the session that trains. Every
    `trace_every_n_steps` steps the chief writes a trace to `logdir`. After an AbortedError, which a task that was restarted
    causes, the training goes on in a new session. ValueError for arguments that exclude each other.
    """
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        for name, is_given in (("summary_op", summary_op not in (_USE_DEFAULT, None)), ("saver", saver is not None),
                               ("trace_every_n_steps", trace_every_n_steps is not None)):
            if is_given:
                raise ValueError(f"Cannot provide {name} because logdir=None")
    optimizers = sync_optimizer if isinstance(sync_optimizer, (list, tuple)) else [sync_optimizer] * bool(sync_optimizer)
    if not all(isinstance(optimizer, tf.train.SyncReplicasOptimizer) for optimizer in optimizers):
        raise ValueError("`sync_optimizer` must be a tf.train.SyncReplicasOptimizer.")
    if optimizers and startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")
    graph = graph or tf.get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = tf.train.get_or_create_global_step()
        saver = saver or tf.train.Saver()
        ready_for_local_init_op = _USE_DEFAULT
        if optimizers:
            local_init_op, ready_for_local_init_op = _synchronous(optimizers, is_chief, local_init_op)
        runners, init_tokens = [], []
        if is_chief:
            runners = [optimizer.get_chief_queue_runner() for optimizer in optimizers]
            init_tokens = [optimizer.get_init_tokens_op() for optimizer in optimizers]
        kwargs = _kwargs(train_step_kwargs, global_step, number_of_steps, log_every_n_steps)
        if train_step_kwargs is _USE_DEFAULT and is_chief and trace_every_n_steps is not None:
            kwargs["should_trace"] = tf.equal(tf.math.mod(global_step, trace_every_n_steps), 0)
            kwargs["logdir"] = logdir
        if logdir is None:
            summary_op = summary_writer = None
        sv = tf.train.Supervisor(
            graph=graph, is_chief=is_chief, logdir=logdir, init_op=init_op, init_feed_dict=init_feed_dict,
            local_init_op=local_init_op, ready_op=ready_op, ready_for_local_init_op=ready_for_local_init_op,
            summary_op=summary_op, summary_writer=summary_writer, global_step=global_step,
            saver=saver if logdir else None, save_summaries_secs=save_summaries_secs, save_model_secs=save_interval_secs,
            init_fn=init_fn)
        if summary_writer is not None:
            kwargs = {**kwargs, "summary_writer": sv.summary_writer}
    def train_in_session():
        """Trains in a session of the supervisor. Returns the last loss."""
        loss = None
        with sv.managed_session(master, start_standard_services=False, config=session_config) as managed:
            session = managed if session_wrapper is None else session_wrapper(managed)
            if is_chief and logdir:
                sv.start_standard_services(managed)
            elif not is_chief and startup_delay_steps > 0:
                _wait_for_step(session, global_step, min(startup_delay_steps, number_of_steps or sys.maxsize))
            sv.start_queue_runners(managed)
            if runners:
                sv.start_queue_runners(managed, runners)
                session.run(init_tokens)
            try:
                while not sv.should_stop():
                    loss, should_stop = train_step_fn(session, train_op, global_step, kwargs)
                    if should_stop:
                        break
            except tf.errors.OutOfRangeError:
                tf.logging.info("the input has ended")
            if logdir and is_chief:
                sv.saver.save(managed, sv.save_path, global_step=sv.global_step)
            if ignore_live_threads:
                sv.stop(ignore_live_threads=True)
            else:
                sv.request_stop()
        return loss

    while True:
        try:
            return train_in_session()
        except tf.errors.AbortedError as error:
            tf.logging.info("a task of the cluster has been restarted, so the training goes on in a new session: %s",
                            error.message)


def _synchronous(optimizers, is_chief, local_init_op):
    """What initialises this task for the optimizers, and the names of variables that have no value before that."""
    if local_init_op is _USE_DEFAULT:
        local_init_op = tf.group(tf.local_variables_initializer(), tf.tables_initializer())
    with tf.control_dependencies([] if local_init_op is None else [local_init_op]):
        local_init_op = tf.group(*[optimizer.chief_init_op if is_chief else optimizer.local_step_init_op
                                   for optimizer in optimizers])
    names = [optimizer.ready_for_local_init_op for optimizer in optimizers]
    return local_init_op, names[0] if len(names) == 1 else tf.concat(names, 0)


def _kwargs(given, global_step, number_of_steps, log_every_n_steps):
    """The train_step_kwargs: bool tensors that say whether a step logs, and whether it is the last one."""
    if given is not _USE_DEFAULT:
        return given or {}
    kwargs = {}
    with tf.name_scope("train_step"):
        if number_of_steps:
            kwargs["should_stop"] = tf.greater_equal(global_step, number_of_steps)
        if log_every_n_steps > 0:
            kwargs["should_log"] = tf.equal(tf.math.mod(global_step, log_every_n_steps), 0)
    return kwargs
