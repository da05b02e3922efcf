"""tf.contrib.learn.utils: how an Experiment exports its model."""

import collections
import inspect
import sys

from tensorbraid.estimator.exporter import Exporter, _keep_latest

__all__ = ["ExportStrategy", "make_export_strategy"]


class ExportStrategy(collections.namedtuple("ExportStrategy", ["name", "export_fn", "strip_default_attrs"])):
    """A name and a function export_fn(estimator, folder, checkpoint_path, eval_result) that exports a model."""

    def __new__(cls, name, export_fn, strip_default_attrs=None):
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(self, estimator, export_path, checkpoint_path=None, eval_result=None):
        """Calls the function. It gets the arguments that it has names for."""
        given = {"checkpoint_path": checkpoint_path, "eval_result": eval_result,
                 "strip_default_attrs": self.strip_default_attrs}
        names = inspect.signature(self.export_fn).parameters
        if given["eval_result"] is not None and "eval_result" in names and "checkpoint_path" not in names:
            raise ValueError("An export_fn accepting eval_result must also accept checkpoint_path.")
        return self.export_fn(estimator, export_path, **{
            name: value for name, value in given.items() if value is not None and name in names})


class _StrategyExporter(Exporter):
    """An ExportStrategy as an Exporter of tf.estimator."""

    def __init__(self, strategy):
        self._strategy = strategy

    name = property(lambda self: self._strategy.name)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        return self._strategy.export(estimator, export_path, checkpoint_path, eval_result)


def make_export_strategy(serving_input_fn, default_output_alternative_key=None, assets_extra=None, as_text=False,
                         exports_to_keep=5, strip_default_attrs=None):
    """A strategy that writes a SavedModel and keeps the latest ones."""
    if default_output_alternative_key is not None:
        raise ValueError("default_output_alternative_key is for models of tf.contrib.learn, not of tf.estimator")

    def export_fn(estimator, export_dir_base, checkpoint_path=None, strip_default_attrs=False):
        written = estimator.export_savedmodel(export_dir_base, serving_input_fn, assets_extra=assets_extra,
                                              as_text=as_text, checkpoint_path=checkpoint_path)
        _keep_latest(export_dir_base, exports_to_keep)
        return written

    return ExportStrategy("Servo", export_fn, strip_default_attrs)


saved_model_export_utils = sys.modules[__name__]
