"""Estimators: a model that a function builds is trained, evaluated and used, each in a graph of its own."""

import copy
import os
import tempfile

from tensorbraid import metrics, summary, tf_logging as logging
from tensorbraid.estimator import evaluation, exporting, prediction
from tensorbraid.estimator.arguments import check_positive, checked_hooks, checked_listeners
from tensorbraid.estimator.input_pipeline import accepted, arguments_of, features_and_labels
from tensorbraid.estimator.run_config import RunConfig, default_session_config
from tensorbraid.estimator.spec import EstimatorSpec, ModeKeys
from tensorbraid.estimator.task import TaskType
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.train.basic_hooks import CheckpointSaverHook, LoggingTensorHook, NanTensorHook, StopAtStepHook
from tensorbraid.train.checkpoint_values import as_warm_start, warm_start
from tensorbraid.train.checkpoints import latest_checkpoint, list_variables, load_checkpoint, load_variable
from tensorbraid.train.cluster import replica_device_setter
from tensorbraid.train.global_step import assert_global_step, create_global_step
from tensorbraid.train.monitored_session import MonitoredTrainingSession
from tensorbraid.train.saver import Saver

__all__ = ["Estimator"]

_MODEL_ARGUMENTS = {"features", "labels", "mode", "params", "self", "config"}


class Estimator:
    """Trains, evaluates and uses the model that `model_fn` builds. Source: tf.estimator.Estimator.

    `model_fn` takes features, and may take labels, mode, params and config; it returns an EstimatorSpec. Checkpoints
    and event files are in `model_dir`. `warm_start_from` is the path of a checkpoint, or WarmStartSettings.
    """

    def __init__(self, model_fn, model_dir=None, config=None, params=None, warm_start_from=None):
        self._check_members()
        self._config = _with_directory(config, model_dir)
        self._model_dir = self._config.model_dir
        self._session_config = self._config.session_config or default_session_config()
        self._device_fn = self._config.device_fn or _default_device_fn(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        _check_model_fn(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy({} if params is None else params)
        self._warm_start_settings = as_warm_start(warm_start_from)
        logging.info("Using config: %s", vars(self._config))

    def _check_members(self):
        """A subclass gives its own model_fn; what uses it is the same for all estimators."""
        own = {name for name in vars(Estimator) if not name.startswith("_")} - {"model_fn"}
        replaced = sorted(name for name in own if getattr(type(self), name) is not getattr(Estimator, name))
        if replaced:
            raise ValueError("Subclasses of Estimator cannot override members of Estimator. "
                             f"{type(self)} does override {replaced}")

    @property
    def model_dir(self):
        """The folder of checkpoints and events."""
        return self._model_dir

    @property
    def config(self):
        """The RunConfig."""
        return self._config.replace()

    @property
    def params(self):
        """The hyperparameters that the model function gets."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self):
        """The function, which takes features, labels, mode and config."""
        return lambda features, labels, mode, config: self._call_model_fn(features, labels, mode, config)

    def latest_checkpoint(self):
        """The path of the latest checkpoint; None if there is none."""
        return latest_checkpoint(self._model_dir)

    def get_variable_names(self):
        """The names of the variables in the latest checkpoint."""
        self._trained()
        return [name for name, _ in list_variables(self._model_dir)]

    def get_variable_value(self, name):
        """The value of a variable in the latest checkpoint."""
        self._trained()
        return load_variable(self._model_dir, name)

    def _trained(self):
        path = self.latest_checkpoint()
        if path is None:
            raise ValueError(f"Could not find trained model in model_dir: {self._model_dir}.")
        return path

    def eval_dir(self, name=None):
        """The directory of the event files of an evaluation."""
        return os.path.join(self._model_dir, f"eval_{name}" if name else "eval")

    def train(self, input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None):
        """Trains for `steps` further steps, or up to the global step `max_steps`, or until the input ends."""
        if self.config.task_type in (TaskType.EVALUATOR, TaskType.PS):
            raise ValueError(f"a task of type {self.config.task_type} does not train; "
                             "tf.estimator.train_and_evaluate does what each task of a cluster has to do")
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        check_positive(steps=steps, max_steps=max_steps)
        if max_steps is not None and self._saved_step() >= max_steps:
            logging.info("Skipping training since max_steps has already saved.")
            return self
        hooks = checked_hooks(hooks)
        listeners = checked_listeners(saving_listeners)
        if steps is not None or max_steps is not None:
            hooks.append(StopAtStepHook(steps, max_steps))
        logging.info("Loss for final step: %s.", self._train(input_fn, hooks, listeners))
        return self

    def _saved_step(self):
        """The global step of the latest checkpoint; 0 without one."""
        path = self.latest_checkpoint()
        return int(load_checkpoint(path).get_tensor(GraphKeys.GLOBAL_STEP)) if path else 0

    def _train(self, input_fn, hooks, listeners):
        with self._graph(self._config.master) as graph:
            step = self._global_step(graph)
            features, labels, input_hooks = self._call_input_fn(input_fn, ModeKeys.TRAIN)
            spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)
            self._maybe_warm_start(self.latest_checkpoint())
            _collect_loss(graph, spec.loss)
            worker_hooks = input_hooks + hooks + [NanTensorHook(spec.loss)]
            if self._config.log_step_count_steps:
                worker_hooks.append(LoggingTensorHook({"loss": spec.loss, "step": step},
                                                      every_n_iter=self._config.log_step_count_steps))
            worker_hooks += spec.training_hooks
            self._add_saver(spec.scaffold)
            chief_hooks = list(spec.training_chief_hooks)
            chief_hooks += self._saver_hooks(worker_hooks + chief_hooks, spec.scaffold, listeners)
            loss = None
            with MonitoredTrainingSession(
                    master=self._config.master, is_chief=self._config.is_chief, checkpoint_dir=self._model_dir,
                    scaffold=spec.scaffold, hooks=worker_hooks, chief_only_hooks=chief_hooks, save_checkpoint_secs=0,
                    save_summaries_steps=self._config.save_summary_steps, config=self._session_config,
                    max_wait_secs=self._config.session_creation_timeout_secs,
                    log_step_count_steps=self._config.log_step_count_steps) as session:
                while not session.should_stop():
                    _, loss = session.run([spec.train_op, spec.loss])
        if loss is None:
            logging.warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")
        return loss

    def _add_saver(self, scaffold):
        """Gives the scaffold a saver that keeps as many checkpoints as the configuration says, unless it has one."""
        if scaffold.saver is None and not graphs.get_collection(GraphKeys.SAVERS):
            saver = Saver(sharded=True, allow_empty=True, defer_build=True,
                          max_to_keep=self._config.keep_checkpoint_max,
                          keep_checkpoint_every_n_hours=self._config.keep_checkpoint_every_n_hours)
            graphs.add_to_collection(GraphKeys.SAVERS, saver)

    def _saver_hooks(self, hooks, scaffold, listeners):
        """The hook that saves, if none of `hooks` does; `listeners` hear of its saves."""
        savers = [hook for hook in hooks if isinstance(hook, CheckpointSaverHook)]
        config = self._config
        added = []
        if not savers and (config.save_checkpoints_secs or config.save_checkpoints_steps):
            savers = added = [CheckpointSaverHook(
                self._model_dir, save_secs=config.save_checkpoints_secs or None,
                save_steps=config.save_checkpoints_steps or None, scaffold=scaffold,
                save_graph_def=config.checkpoint_save_graph_def)]
        if listeners:
            if not savers:
                raise ValueError("There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                                 "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs.")
            savers[0]._listeners.extend(listeners)
        return added

    def evaluate(self, input_fn, steps=None, hooks=None, checkpoint_path=None, name=None):
        """The metrics, the loss and the global_step as a dict: of `steps` batches, or of all until the input ends.

        They are also written to event files in eval_dir(name). Without a checkpoint the model has its initial values.
        The latest checkpoint is restored with the increments that follow it, and another one alone.
        """
        check_positive(steps=steps)
        hooks = checked_hooks(hooks)
        checkpoint_path = checkpoint_path or self.latest_checkpoint()
        if checkpoint_path is None:
            logging.info("Could not find trained model in model_dir: %s, running initialization to evaluate.",
                         self._model_dir)
        with self._graph(self._config.evaluation_master) as graph:
            step = self._global_step(graph)
            features, labels, input_hooks = self._call_input_fn(input_fn, ModeKeys.EVAL)
            spec = self._call_model_fn(features, labels, ModeKeys.EVAL, self.config)
            self._maybe_warm_start(checkpoint_path)
            if "loss" in spec.eval_metric_ops:
                raise ValueError('Metric with name "loss" is not allowed, because Estimator already defines a default '
                                 "metric with the same name.")
            if GraphKeys.GLOBAL_STEP in spec.eval_metric_ops:
                raise ValueError("Metric with name `global_step` is not allowed, because Estimator already defines a "
                                 "default metric with the same name.")
            metric_ops = {**spec.eval_metric_ops, "loss": metrics.mean(spec.loss)}
            all_hooks = input_hooks + hooks + list(spec.evaluation_hooks)
            values = evaluation.evaluate(metric_ops, step, steps, all_hooks, spec.scaffold, checkpoint_path,
                                         self._config.evaluation_master, self._session_config)
        evaluation.write(self.eval_dir(name), values, checkpoint_path)
        return values

    def predict(self, input_fn, predict_keys=None, hooks=None, checkpoint_path=None, yield_single_examples=True):
        """Yields the predictions for each example; with yield_single_examples=False, for each batch.

        Without a checkpoint the model has its initial values. The latest one is restored with the increments that
        follow it, and another one alone.
        """
        hooks = checked_hooks(hooks)
        checkpoint_path = checkpoint_path or self.latest_checkpoint()
        if checkpoint_path is None:
            logging.info("Could not find trained model in model_dir: %s, running initialization to predict.",
                         self._model_dir)
        with self._graph("") as graph:
            self._global_step(graph)
            features, _, input_hooks = self._call_input_fn(input_fn, ModeKeys.PREDICT)
            prediction.warn_without_end(graph, input_hooks)
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            self._maybe_warm_start(checkpoint_path)
            predictions = prediction.selected(spec.predictions, predict_keys)
            all_hooks = input_hooks + hooks + list(spec.prediction_hooks)
        yield from prediction.values(graph, predictions, all_hooks, spec.scaffold, checkpoint_path,
                                     self._session_config, yield_single_examples)

    def export_saved_model(self, export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False,
                           checkpoint_path=None, experimental_mode=ModeKeys.PREDICT):
        """Writes the model for serving to a new directory in `export_dir_base`. Returns the directory as bytes.

        The values come from the latest checkpoint and the increments that follow it, or from another one alone.
        """
        return self.experimental_export_all_saved_models(
            export_dir_base, {experimental_mode: serving_input_receiver_fn}, assets_extra, as_text, checkpoint_path)

    def export_savedmodel(self, export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False,
                          checkpoint_path=None, strip_default_attrs=False):
        """The old name of export_saved_model."""
        return self.export_saved_model(export_dir_base, serving_input_receiver_fn, assets_extra, as_text,
                                       checkpoint_path)

    def experimental_export_all_saved_models(self, export_dir_base, input_receiver_fn_map, assets_extra=None,
                                             as_text=False, checkpoint_path=None):
        """export_saved_model for several modes; the map has an input receiver function for each mode."""
        return exporting.export(self, export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path)

    def _graph(self, target):
        """A new default graph whose nodes are placed on the tasks of the target."""
        return _graph_with_devices(self._device_fn if target or self._config.device_fn else None,
                                   self._config.tf_random_seed)

    def _create_global_step(self, graph):
        """Subclasses may make the global step in their own way."""
        return create_global_step(graph)

    def _global_step(self, graph):
        step = self._create_global_step(graph)
        assert_global_step(step)
        return step

    def _call_input_fn(self, input_fn, mode):
        """Subclasses may call the input_fn in their own way."""
        return features_and_labels(input_fn, mode, self.params, self.config)

    def _call_model_fn(self, features, labels, mode, config):
        """Subclasses may call the model_fn in their own way."""
        return self._spec_of_model(features, labels, mode, config, self.params)

    def _spec_of_model(self, features, labels, mode, config, params):
        if labels is not None and "labels" not in arguments_of(self._model_fn):
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        given = {"labels": labels, "mode": mode, "params": params, "config": config}
        logging.info("Calling model_fn.")
        spec = self._model_fn(features=features, **accepted(self._model_fn, given))
        logging.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec

    def _maybe_warm_start(self, checkpoint_path):
        if not checkpoint_path and self._warm_start_settings:
            logging.info("Warm-starting with WarmStartSettings: %s", self._warm_start_settings)
            warm_start(*self._warm_start_settings)


class _graph_with_devices:
    """A new default graph inside of the `with`."""

    def __init__(self, device_fn, seed):
        self._graph = graphs.Graph()
        self._scopes = [self._graph.as_default(), self._graph.device(device_fn)] if device_fn else [
            self._graph.as_default()]
        self._seed = seed

    def __enter__(self):
        for scope in self._scopes:
            scope.__enter__()
        if self._seed is not None:
            graphs.set_random_seed(self._seed)
        return self._graph

    def __exit__(self, *error):
        for scope in reversed(self._scopes):
            scope.__exit__(*error)


def _with_directory(config, model_dir):
    """The configuration with a directory: that of the constructor, of the configuration, or a new one in /tmp."""
    config = RunConfig() if config is None else config
    if not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    if model_dir and config.model_dir not in (None, model_dir):
        raise ValueError("`model_dir` are set both in constructor and `RunConfig`, but with different values. In "
                         f"constructor: '{model_dir}', in `RunConfig`: '{config.model_dir}' ")
    model_dir = arguments.path("model_dir", model_dir) if model_dir else config.model_dir
    if not model_dir:
        model_dir = tempfile.mkdtemp()
        logging.warning("Using temporary folder as model directory: %s", model_dir)
    return config.replace(model_dir=model_dir)


def _default_device_fn(config):
    if config.num_ps_replicas == 0:
        return None
    return replica_device_setter(config.num_ps_replicas, cluster=config.cluster_spec,
                                 worker_device=f"/job:{config.task_type}/task:{config.task_id}")


def _check_model_fn(model_fn, params):
    names = arguments_of(model_fn)
    if "features" not in names:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in names:
        raise ValueError(f"model_fn ({model_fn}) does not include params argument, but params ({params}) is passed to "
                         "Estimator.")
    unknown = sorted(names - _MODEL_ARGUMENTS)
    if unknown:
        raise ValueError(f"model_fn ({model_fn}) has following not expected args: {unknown}")


def _collect_loss(graph, loss):
    """The loss is among the losses of the graph, and among its summaries unless the program has one of that name."""
    graph.add_to_collection(GraphKeys.LOSSES, loss)
    if not any(element.op.name == "loss" for element in graph.get_collection(GraphKeys.SUMMARIES)):
        summary.scalar("loss", loss)
