"""Exporters: they write a SavedModel after an evaluation in train_and_evaluate."""

import abc
import inspect
import os
import re

from tensorbraid import gfile, tf_logging as logging
from tensorbraid.train.event_files import summary_iterator

__all__ = ["BestExporter", "Exporter", "FinalExporter", "LatestExporter"]


class Exporter(abc.ABC):
    """Exports a model. Source: tf.estimator.Exporter."""

    @property
    @abc.abstractmethod
    def name(self):
        """The name of the directory of its exports."""

    @abc.abstractmethod
    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        """Writes an export to a new directory in `export_path` and returns its path, or returns None without one."""


class _SavedModelExporter(Exporter):
    def __init__(self, name, serving_input_receiver_fn, assets_extra, as_text):
        self._name = name
        self._receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text

    name = property(lambda self: self._name)

    def _write(self, estimator, export_path, checkpoint_path):
        return estimator.export_saved_model(export_path, self._receiver_fn, self._assets_extra, self._as_text,
                                            checkpoint_path)


class FinalExporter(_SavedModelExporter):
    """Exports once, at the end of the training."""

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        if not is_the_final_export:
            return None
        logging.info("Performing the final export in the end of training.")
        return self._write(estimator, export_path, checkpoint_path)


class LatestExporter(_SavedModelExporter):
    """Exports after every evaluation, and keeps the latest exports."""

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False, exports_to_keep=5):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._keep = _checked_count(exports_to_keep)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        written = self._write(estimator, export_path, checkpoint_path)
        _keep_latest(export_path, self._keep)
        return written


def _loss_smaller(best_eval_result, current_eval_result):
    """Whether the present loss is smaller than the best so far."""
    for result, which in ((best_eval_result, "best_eval_result"), (current_eval_result, "current_eval_result")):
        if not result or "loss" not in result:
            raise ValueError(f"{which} cannot be empty or no loss is found in it.")
    return best_eval_result["loss"] > current_eval_result["loss"]


class BestExporter(_SavedModelExporter):
    """Exports after every evaluation that is better than all before, by `compare_fn(best, current)`.

    What earlier processes have evaluated is read from the event files, whose pattern is relative to the model_dir.
    """

    def __init__(self, name="best_exporter", serving_input_receiver_fn=None, event_file_pattern="eval/*.tfevents.*",
                 compare_fn=_loss_smaller, assets_extra=None, as_text=False, exports_to_keep=5):
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        if list(inspect.signature(compare_fn).parameters) != ["best_eval_result", "current_eval_result"]:
            raise ValueError("`compare_fn` must have exactly the arguments best_eval_result and current_eval_result.")
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._better = compare_fn
        self._pattern = event_file_pattern
        self._keep = _checked_count(exports_to_keep)
        self._model_dir = self._best = None

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        if self._model_dir != estimator.model_dir:  # the first export, or one of another model
            self._model_dir = estimator.model_dir
            self._best = self._best_in_event_files(eval_result)
        if self._best is not None and not self._better(best_eval_result=self._best, current_eval_result=eval_result):
            return None
        self._best = eval_result
        logging.info("Performing best model export.")
        written = self._write(estimator, export_path, checkpoint_path)
        _keep_latest(export_path, self._keep)
        return written

    def _best_in_event_files(self, present):
        """The best of earlier evaluations; the present one may be in the files already and does not count."""
        if not self._pattern:
            return None
        best = None
        for path in sorted(gfile.glob(os.path.join(self._model_dir, self._pattern))):
            for event in summary_iterator(path):
                found = {value.tag: value.simple_value for value in event.summary.value
                         if value.WhichOneof("value") == "simple_value"}
                if not found or event.step == present.get("global_step"):
                    continue
                if best is None or self._better(best_eval_result=best, current_eval_result=found):
                    best = found
        return best


def _checked_count(exports_to_keep):
    if exports_to_keep is not None and exports_to_keep <= 0:
        raise ValueError("`exports_to_keep`, if provided, must be a positive number. Got {}".format(exports_to_keep))
    return exports_to_keep


def _keep_latest(export_path, count):
    """Removes all exports but the latest; their names are times."""
    if count is None:
        return
    exports = [name for name in gfile.listdir(export_path) if re.fullmatch(r"\d{10}", name.rstrip("/"))]
    for name in sorted(exports)[:-count]:
        gfile.rmtree(os.path.join(export_path, name))
