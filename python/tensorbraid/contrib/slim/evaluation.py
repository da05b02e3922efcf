"""tf.contrib.slim.evaluation: evaluates checkpoints, once or as they appear."""

import tensorbraid as tf
from tensorbraid.contrib import evaluation as evaluation
from tensorbraid.contrib.evaluation import (  # noqa: F401  # programs take the last one from here, too
    checkpoints_iterator, wait_for_new_checkpoint, evaluate_repeatedly as evaluate_repeatedly)

__all__ = ["checkpoints_iterator", "evaluate_once", "evaluation_loop", "wait_for_new_checkpoint"]

_USE_DEFAULT = 0


class _Evaluation:
    """The evaluation of a graph: what is run before, again and again, and at the end."""

    def __init__(self, master, logdir, num_evals, initial_op, initial_feed, eval_op, eval_feed, final_op, final_feed,
                 summary_op, summary_feed, variables_to_restore, config, hooks, init_fn=None):
        self._master, self._config, self._path = master, config, None
        self._eval_op, self._feed = evaluation.counted(eval_op), eval_feed
        self._final = tf.train.FinalOpsHook(final_op, final_feed)
        self._hooks = [evaluation.StopAfterNEvalsHook(num_evals)]
        summary_op = tf.summary.merge_all() if summary_op is _USE_DEFAULT else summary_op
        if summary_op is not None and logdir:
            tf.train.get_or_create_global_step()  # which is restored, too
            self._hooks.append(evaluation.SummaryAtEndHook(logdir, None, summary_op, summary_feed))
        self._hooks += [*(hooks or []), self._final]
        saver = tf.train.Saver(variables_to_restore or tf.contrib.framework.get_variables_to_restore())

        def restore(_, session):
            if init_fn is not None:
                init_fn(session)
            saver.restore(session, self._path)

        self._scaffold = tf.train.Scaffold(init_op=initial_op, init_feed_dict=initial_feed, init_fn=restore,
                                           saver=saver)

    def run(self, path):
        """Evaluates a checkpoint."""
        self._path = path
        self._scaffold._follow_increments_of(path)
        creator = tf.train.ChiefSessionCreator(self._scaffold, self._master, self._config)
        evaluation.run(creator, self._eval_op, self._feed, self._hooks)

    @property
    def value(self):
        """The value of the final operation at the end of the last evaluation."""
        return self._final.final_ops_values


def evaluate_once(master, checkpoint_path, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None,
                  eval_op=None, eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None, summary_op=_USE_DEFAULT,
                  summary_op_feed_dict=None, variables_to_restore=None, session_config=None, hooks=None):
    """Restores a checkpoint, runs `eval_op` several times, writes summaries, and returns the value of `final_op`."""
    once = _Evaluation(master, logdir, num_evals, initial_op, initial_op_feed_dict, eval_op, eval_op_feed_dict, final_op,
                       final_op_feed_dict, summary_op, summary_op_feed_dict, variables_to_restore, session_config, hooks)
    once.run(checkpoint_path)
    return once.value


def evaluation_loop(master, checkpoint_dir, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None,
                    init_fn=None, eval_op=None, eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None,
                    summary_op=_USE_DEFAULT, summary_op_feed_dict=None, variables_to_restore=None,
                    eval_interval_secs=60, max_number_of_evaluations=None, session_config=None, timeout=None,
                    timeout_fn=None, hooks=None):
    """evaluate_once for each checkpoint of a directory as it appears. Returns the last value of `final_op`."""
    repeated = _Evaluation(master, logdir, num_evals, initial_op, initial_op_feed_dict, eval_op, eval_op_feed_dict,
                           final_op, final_op_feed_dict, summary_op, summary_op_feed_dict, variables_to_restore,
                           session_config, hooks, init_fn)
    evaluation.repeat(repeated.run, checkpoint_dir, eval_interval_secs, max_number_of_evaluations, timeout, timeout_fn)
    return repeated.value
