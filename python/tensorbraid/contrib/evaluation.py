"""tf.contrib.training: evaluates one checkpoint, or each new one, in a MonitoredSession."""

import time

import tensorbraid as tf

__all__ = ["StopAfterNEvalsHook", "SummaryAtEndHook", "checkpoints_iterator", "evaluate_once", "evaluate_repeatedly",
           "get_or_create_eval_step", "wait_for_new_checkpoint"]


def wait_for_new_checkpoint(checkpoint_dir, last_checkpoint=None, seconds_to_sleep=1, timeout=None):
    """The path of the directory's latest checkpoint once it is another one; None after `timeout` seconds.

    It looks every `seconds_to_sleep` seconds, and does not begin a sleep that would end after the timeout.
    """
    tf.logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    end = None if timeout is None else time.time() + timeout
    while True:
        path = tf.train.latest_checkpoint(checkpoint_dir)
        if path is not None and path != last_checkpoint:
            tf.logging.info("Found new checkpoint at %s", path)
            return path
        if end is not None and time.time() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None):
    """The checkpoints of a directory as they appear. It ends after `timeout` seconds without a new one.

    With `timeout_fn`, it ends only if this function then returns True.
    """
    path = None
    while True:
        new = wait_for_new_checkpoint(checkpoint_dir, path, timeout=timeout)
        if new is None:
            if timeout_fn is None:
                tf.logging.info("Timed-out waiting for a checkpoint.")
                return
            if timeout_fn():
                return
            continue
        began, path = time.time(), new
        yield path
        time.sleep(max(0, min_interval_secs - (time.time() - began)))


def get_or_create_eval_step():
    """The local int64 variable that counts the evaluation steps of a session."""
    graph = tf.get_default_graph()
    steps = graph.get_collection(tf.GraphKeys.EVAL_STEP)
    if len(steps) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if steps:
        return steps[0]
    return tf.get_variable("eval_step", [], tf.int64, tf.zeros_initializer(), trainable=False,
                           collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.EVAL_STEP])


class StopAfterNEvalsHook(tf.train.SessionRunHook):
    """Ends a session after `num_evals` runs. With None, the end of the input ends it.

    Logs the progress about ten times, or for None at each run, unless `log_progress` is False.
    """

    def __init__(self, num_evals, log_progress=True):
        self._num_evals, self._log_progress, self._done = num_evals, log_progress, 0

    def after_create_session(self, session, coord):
        self._done = 0

    def after_run(self, run_context, run_values):
        self._done += 1
        if self._log_progress:
            if self._num_evals is None:
                tf.logging.info("Evaluation [%d]", self._done)
            elif self._done % max(1, self._num_evals // 10) == 0 or self._done == self._num_evals:
                tf.logging.info("Evaluation [%d/%d]", self._done, self._num_evals)
        if self._num_evals is not None and self._done >= self._num_evals:
            run_context.request_stop()


class SummaryAtEndHook(tf.train.SessionRunHook):
    """Writes summaries with the global step at the end of a session: `summary_op`, or else all of the graph."""

    def __init__(self, log_dir=None, summary_writer=None, summary_op=None, feed_dict=None):
        if log_dir is None and summary_writer is None:
            raise ValueError("log_dir or summary_writer must be specified.")
        self._log_dir, self._writer = log_dir, summary_writer
        self._summary_op, self._feed_dict, self._step = summary_op, feed_dict, None

    def begin(self):
        if self._summary_op is None:
            self._summary_op = tf.summary.merge_all()
        self._step = tf.train.get_or_create_global_step()

    def after_create_session(self, session, coord):
        if self._writer is None:
            self._writer = tf.summary.FileWriterCache.get(self._log_dir)

    def end(self, session):
        if self._summary_op is not None:
            step, summary = session.run([self._step, self._summary_op], self._feed_dict)
            self._writer.add_summary(summary, step)
        self._writer.flush()


def counted(eval_ops):
    """The fetches of each run: `eval_ops`, and the increment of the evaluation step. None without `eval_ops`."""
    if eval_ops is None:
        return None
    return [eval_ops, tf.assign_add(get_or_create_eval_step(), 1)]


def run(session_creator, eval_ops, feed_dict, hooks):
    """Runs the operations in a session until a hook, or the end of the input, ends it. Then the hooks end."""
    with tf.train.MonitoredSession(session_creator, hooks) as session:
        tf.logging.info("Starting evaluation at %s", _now())
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    tf.logging.info("Finished evaluation at %s", _now())


def _now():
    return time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime())


def repeat(evaluate, checkpoint_dir, eval_interval_secs, max_number_of_evaluations, timeout, timeout_fn):
    """Calls evaluate(path) for each checkpoint of a directory as it appears."""
    checkpoints = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)
    for i, path in enumerate(checkpoints):
        evaluate(path)
        if max_number_of_evaluations is not None and i + 1 >= max_number_of_evaluations:
            break


def _creator(scaffold, master, config, path):
    return tf.train.ChiefSessionCreator(scaffold, master, config, checkpoint_filename_with_path=path)


def evaluate_once(checkpoint_path, master="", scaffold=None, eval_ops=None, feed_dict=None, final_ops=None,
                  final_ops_feed_dict=None, hooks=None, config=None):
    """Restores a checkpoint and runs `eval_ops` until a hook or the end of the input stops the session.

    Then runs `final_ops` and returns their values.
    """
    final = tf.train.FinalOpsHook(final_ops, final_ops_feed_dict)
    run(_creator(scaffold, master, config, checkpoint_path), counted(eval_ops), feed_dict, [*(hooks or []), final])
    return final.final_ops_values


def evaluate_repeatedly(checkpoint_dir, master="", scaffold=None, eval_ops=None, feed_dict=None, final_ops=None,
                        final_ops_feed_dict=None, eval_interval_secs=60, hooks=None, config=None,
                        max_number_of_evaluations=None, timeout=None, timeout_fn=None):
    """Calls evaluate_once for each new checkpoint of a directory. Returns the values of `final_ops` for the last one.

    Ends after `max_number_of_evaluations`, or when no checkpoint appears for `timeout` seconds and `timeout_fn`, if it
    is given, returns True.
    """
    eval_ops = counted(eval_ops)
    final = tf.train.FinalOpsHook(final_ops, final_ops_feed_dict)
    hooks = [*(hooks or []), final]
    repeat(lambda path: run(_creator(scaffold, master, config, path), eval_ops, feed_dict, hooks), checkpoint_dir,
           eval_interval_secs, max_number_of_evaluations, timeout, timeout_fn)
    return final.final_ops_values
