"""tensorflow.python.keras.optimizer_v2: its files, which all have the names of tf.keras.optimizers."""

import types

import tensorbraid as tf

__all__ = []

_FILES = ("adadelta", "adagrad", "adam", "adamax", "ftrl", "gradient_descent", "learning_rate_schedule", "nadam",
          "optimizer_v2", "rmsprop")


class _File(types.ModuleType):
    """The file of this name."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "OptimizerV2":
            return tf.keras.optimizers.Optimizer
        if name in _files:
            return _files[name]
        schedules = tf.keras.optimizers.schedules
        return getattr(schedules if hasattr(schedules, name) else tf.keras.optimizers, name)


_files = {name: _File(f"{__name__}.{name}") for name in _FILES}


def __getattr__(name):
    if name in _files:
        return _files[name]
    raise AttributeError(f"module 'tensorflow.python.keras.optimizer_v2' has no attribute '{name}'")
