"""Learning rates of tf.keras's optimizers that are schedules or functions."""

import functools

import tensorbraid as tf
from tensorbraid.keras.adapter.loaded import loaded

__all__ = []


class _Zero:
    """Stands for the variable of a learning rate that is a function."""

    def eval(self, session=None):
        return 0.0


def _is_schedule(rate):
    return isinstance(rate, tf.keras.optimizers.schedules.LearningRateSchedule)


def of_step(rate, iterations):
    """The learning rate as a tensor: a schedule's for the number of the step, or what a function returns."""
    if _is_schedule(rate):
        return rate(tf.cast(iterations, loaded("backend").floatx()))
    return tf.convert_to_tensor(rate(), loaded("backend").floatx())


def config_with_schedule(get_config):
    """The method `get_config` of an optimizer, with the configuration of a schedule in it."""
    @functools.wraps(get_config)
    def config_of(self):
        rate, more = self.learning_rate, {"name": self._name}
        if "_first_accumulator" in self.__dict__:
            more["initial_accumulator_value"] = self._first_accumulator
        if not callable(rate):
            return {**get_config(self), **more}
        self.learning_rate = _Zero()
        try:
            config = get_config(self)
        finally:
            self.learning_rate = rate
        rate = tf.keras.optimizers.schedules.serialize(rate) if _is_schedule(rate) else rate()
        return {**config, **more, "learning_rate": rate}

    return config_of
