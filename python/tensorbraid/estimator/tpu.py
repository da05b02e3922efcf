"""TPUEstimator and its configuration, for programs that run on TPUs or, with use_tpu=False, on CPUs."""

import functools

from tensorbraid import summary, tf_logging as logging
from tensorbraid.estimator.estimator import Estimator
from tensorbraid.estimator.input_pipeline import arguments_of, features_and_labels
from tensorbraid.estimator.spec import ModeKeys
from tensorbraid.estimator.tpu_config import *  # noqa: F401,F403
from tensorbraid.estimator.tpu_config import RunConfig
from tensorbraid.estimator.tpu_spec import *  # noqa: F401,F403
from tensorbraid.estimator.tpu_spec import TPUEstimatorSpec
from tensorbraid.train.global_step import get_global_step
from tensorbraid.train.hooks import SessionRunArgs, SessionRunHook
from tensorbraid.train.hooks import SecondOrStepTimer

__all__ = ["TPUEstimator"]

_RESERVED = ("batch_size", "context")
_MESSAGE = "required by TPUEstimator to pass batch size as params['batch_size']"


class TPUEstimator(Estimator):
    """An Estimator on CPUs whose functions get the batch size as params["batch_size"]. Source: tf.contrib.tpu.

    `use_tpu` must be False: there are no TPUs. The arguments that are for TPUs have no effect then, as in TensorFlow.
    """

    def __init__(self, model_fn=None, model_dir=None, config=None, params=None, use_tpu=True, train_batch_size=None,
                 eval_batch_size=None, predict_batch_size=None, batch_axis=None, eval_on_tpu=True, export_to_tpu=True,
                 export_to_cpu=True, warm_start_from=None, embedding_config_spec=None):
        if not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(f"{list(_RESERVED)} are reserved keys but existed in params {params}.")
        if use_tpu:
            raise NotImplementedError("use_tpu=True of TPUEstimator: there are no TPUs in this package; use_tpu=False "
                                      "trains on CPUs")
        if embedding_config_spec is not None:
            raise ValueError("the argument embedding_config_spec of TPUEstimator is for TPUs")
        if not export_to_cpu:
            raise NotImplementedError("export_to_cpu=False of TPUEstimator: models are exported for CPUs only")
        self._batch_sizes = {ModeKeys.TRAIN: train_batch_size, ModeKeys.EVAL: eval_batch_size,
                             ModeKeys.PREDICT: predict_batch_size}
        self._has_input = False
        super().__init__(model_fn and _on_cpus(model_fn), model_dir, config, params, warm_start_from)
        if "params" not in arguments_of(model_fn):
            raise ValueError(f"model_fn ({model_fn}) does not include params argument, {_MESSAGE}")

    def _params_of(self, mode):
        """The hyperparameters with the batch size of a mode."""
        params, size = self.params, self._batch_sizes[mode]
        if size is not None:
            _set(params, "batch_size", size)
        return params

    def _call_input_fn(self, input_fn, mode):
        if "params" not in arguments_of(input_fn):
            raise ValueError(f"input_fn ({input_fn}) does not include params argument, {_MESSAGE}")
        self._has_input = True
        return features_and_labels(input_fn, mode, self._params_of(mode), self.config)

    def _call_model_fn(self, features, labels, mode, config):
        """The model of an export, which has no input_fn, gets no batch size."""
        params, self._has_input = self._params_of(mode) if self._has_input else self.params, False
        _set(params, "use_tpu", False)
        spec = self._spec_of_model(features, labels, mode, config, params)
        every, size = self._config.log_step_count_steps, self._batch_sizes[ModeKeys.TRAIN]
        if mode == ModeKeys.TRAIN and every and size:
            spec = spec._replace(training_hooks=(*spec.training_hooks, _ExamplesHook(size, every, self._model_dir)))
        return spec


def _on_cpus(model_fn):
    """The function, which may return a TPUEstimatorSpec, as one that returns an EstimatorSpec."""
    @functools.wraps(model_fn)
    def call(*args, **kwargs):
        spec = model_fn(*args, **kwargs)
        return spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec

    return call


def _set(params, key, value):
    """Sets a hyperparameter, which may be new."""
    if hasattr(params, "set_hparam"):
        (params.set_hparam if key in params else params.add_hparam)(key, value)
    else:
        params[key] = value


class _ExamplesHook(SessionRunHook):
    """Logs the examples per second, and writes them to an event file."""

    def __init__(self, batch_size, every_steps, directory):
        self._batch_size, self._directory = batch_size, directory
        self._timer = SecondOrStepTimer(every_steps=every_steps)

    def begin(self):
        self._step = get_global_step()

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        step = int(run_values.results)
        if not self._timer.should_trigger_for_step(step):
            return
        seconds, steps = self._timer.update_last_triggered_step(step)
        if seconds:
            from tensorbraid import proto

            rate = self._batch_size * steps / seconds
            logging.info("examples/sec: %g", rate)
            message = proto.Summary()
            message.value.add(tag="examples/sec", simple_value=rate)
            summary.FileWriterCache.get(self._directory).add_summary(message, step)
