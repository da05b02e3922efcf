"""tf.contrib.slim.evaluation: evaluates checkpoints, once or as they appear."""

import time

import tensorbraid as tf

__all__ = ["checkpoints_iterator", "evaluate_once", "evaluation_loop", "wait_for_new_checkpoint"]

_USE_DEFAULT = 0


def wait_for_new_checkpoint(checkpoint_dir, last_checkpoint=None, seconds_to_sleep=1, timeout=None):
    """The path of the directory's latest checkpoint once it is another one; None after `timeout` seconds."""
    end = None if timeout is None else time.time() + timeout
    while True:
        path = tf.train.latest_checkpoint(checkpoint_dir)
        if path is not None and path != last_checkpoint:
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
            if timeout_fn is None or timeout_fn():
                return
            continue
        began, path = time.time(), new
        yield path
        time.sleep(max(0, min_interval_secs - (time.time() - began)))


class _Evaluation:
    """The evaluation of a graph: what is run before, again and again, and at the end."""

    def __init__(self, master, logdir, num_evals, initial_op, initial_feed, eval_op, eval_feed, final_op, final_feed,
                 summary_op, summary_feed, variables_to_restore, config, hooks, init_fn=None):
        self._master, self._logdir, self._num_evals, self._config = master, logdir, num_evals, config
        self._eval, self._final = (eval_op, eval_feed), (final_op, final_feed)
        self._summary = tf.summary.merge_all() if summary_op is _USE_DEFAULT else summary_op, summary_feed
        self._hooks, self._path = hooks or [], None
        self._saver = tf.train.Saver(variables_to_restore or tf.contrib.framework.get_variables_to_restore())
        tf.train.get_or_create_global_step()

        def restore(_, session):
            if init_fn is not None:
                init_fn(session)
            self._saver.restore(session, self._path)

        self._scaffold = tf.train.Scaffold(init_op=initial_op, init_feed_dict=initial_feed, init_fn=restore,
                                           saver=self._saver)

    def run(self, path):
        """Evaluates a checkpoint. Returns the value of the final operation."""
        self._path = path
        value = None
        creator = tf.train.ChiefSessionCreator(self._scaffold, self._master, self._config)
        with tf.train.MonitoredSession(creator, self._hooks) as session:
            if self._eval[0] is not None:
                for _ in range(self._num_evals):
                    session.run(*self._eval)
            if self._summary[0] is not None and self._logdir:
                step, summary = session.run([tf.train.get_global_step(), self._summary[0]], self._summary[1])
                writer = tf.summary.FileWriterCache.get(self._logdir)
                writer.add_summary(summary, step)
                writer.flush()
            if self._final[0] is not None:
                value = session.run(*self._final)
        return value


def evaluate_once(master, checkpoint_path, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None,
                  eval_op=None, eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None, summary_op=_USE_DEFAULT,
                  summary_op_feed_dict=None, variables_to_restore=None, session_config=None, hooks=None):
    """Restores a checkpoint, runs `eval_op` several times, writes summaries, and returns the value of `final_op`."""
    return _Evaluation(master, logdir, num_evals, initial_op, initial_op_feed_dict, eval_op, eval_op_feed_dict,
                       final_op, final_op_feed_dict, summary_op, summary_op_feed_dict, variables_to_restore,
                       session_config, hooks).run(checkpoint_path)


def evaluation_loop(master, checkpoint_dir, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None,
                    init_fn=None, eval_op=None, eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None,
                    summary_op=_USE_DEFAULT, summary_op_feed_dict=None, variables_to_restore=None,
                    eval_interval_secs=60, max_number_of_evaluations=None, session_config=None, timeout=None,
                    timeout_fn=None, hooks=None):
    """evaluate_once for each checkpoint of a directory as it appears. Returns the last value of `final_op`."""
    evaluation = _Evaluation(master, logdir, num_evals, initial_op, initial_op_feed_dict, eval_op, eval_op_feed_dict,
                             final_op, final_op_feed_dict, summary_op, summary_op_feed_dict, variables_to_restore,
                             session_config, hooks, init_fn)
    value = None
    for i, path in enumerate(checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)):
        value = evaluation.run(path)
        if max_number_of_evaluations is not None and i + 1 >= max_number_of_evaluations:
            break
    return value
