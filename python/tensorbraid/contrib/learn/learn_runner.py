"""tf.contrib.learn.learn_runner: runs an Experiment."""

from tensorbraid.contrib.learn.experiment import Experiment
from tensorbraid.estimator.run_config import RunConfig

__all__ = ["run"]


def run(experiment_fn, output_dir=None, schedule=None, run_config=None, hparams=None):
    """Makes an Experiment and calls its method `schedule`, by default train_and_evaluate, or a task's part of it.

    experiment_fn gets the folder, or run_config and hparams if there is a run_config.
    """
    if not callable(experiment_fn):
        raise TypeError("Experiment builder [%s] is not callable." % experiment_fn)
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if not output_dir and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if run_config is not None:
        if not isinstance(run_config, RunConfig):
            raise ValueError("`run_config` must be `tf.contrib.learn.RunConfig` instance")
        if not run_config.model_dir:
            raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
        experiment = experiment_fn(run_config=run_config, hparams=hparams)
    else:
        if hparams is not None:
            raise ValueError("hparams needs a run_config")
        experiment = experiment_fn(output_dir)
    if not isinstance(experiment, Experiment):
        raise TypeError("Experiment builder did not return an Experiment instance, got %s instead." % type(experiment))
    method = getattr(experiment, schedule or "train_and_evaluate", None)
    if not callable(method):
        raise ValueError(f"Schedule [{schedule}] is not a method of Experiment")
    return method()
