"""tf.keras.optimizers.schedules: learning rates that change with the steps of an optimizer."""

import inspect

from tensorbraid import train
from tensorbraid.keras import library

__all__ = ["ExponentialDecay", "InverseTimeDecay", "LearningRateSchedule", "PiecewiseConstantDecay", "PolynomialDecay",
           "deserialize", "serialize"]


class LearningRateSchedule:
    """A learning rate of an optimizer. A subclass returns in `__call__` the rate for a step, as a tensor."""

    def __call__(self, step):
        raise NotImplementedError(f"Learning rate schedule must override __call__: {type(self).__name__} does not.")

    def get_config(self):
        """The arguments of the constructor."""
        raise NotImplementedError(f"Learning rate schedule must override get_config: {type(self).__name__} does not.")

    @classmethod
    def from_config(cls, config):
        """The schedule with these arguments."""
        return cls(**config)


class Decay(LearningRateSchedule):
    """A schedule that keeps the arguments of its constructor as attributes."""

    def __init__(self, **arguments):
        super().__init__()
        self.__dict__.update(arguments)

    def get_config(self):
        names = [*inspect.signature(type(self).__init__).parameters][1:]
        return {name: getattr(self, name) for name in names}


class ExponentialDecay(Decay):
    """initial_learning_rate * decay_rate ^ (step / decay_steps), the quotient rounded down with `staircase`."""

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name=None):
        super().__init__(initial_learning_rate=initial_learning_rate, decay_steps=decay_steps, decay_rate=decay_rate,
                         staircase=staircase, name=name)

    def __call__(self, step):
        return train.exponential_decay(self.initial_learning_rate, step, self.decay_steps, self.decay_rate,
                                       self.staircase, self.name)


class PiecewiseConstantDecay(Decay):
    """values[i] for the first i with step <= boundaries[i]; the last value beyond all boundaries."""

    def __init__(self, boundaries, values, name=None):
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than the length of values")
        super().__init__(boundaries=boundaries, values=values, name=name)

    def __call__(self, step):
        return train.piecewise_constant(step, self.boundaries, self.values, self.name)


class PolynomialDecay(Decay):
    """From initial_learning_rate to end_learning_rate in decay_steps; with `cycle` again and again."""

    def __init__(self, initial_learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, name=None):
        super().__init__(initial_learning_rate=initial_learning_rate, decay_steps=decay_steps,
                         end_learning_rate=end_learning_rate, power=power, cycle=cycle, name=name)

    def __call__(self, step):
        return train.polynomial_decay(self.initial_learning_rate, step, self.decay_steps, self.end_learning_rate,
                                      self.power, self.cycle, self.name)


class InverseTimeDecay(Decay):
    """initial_learning_rate / (1 + decay_rate * step / decay_steps), the quotient rounded down with `staircase`."""

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name=None):
        super().__init__(initial_learning_rate=initial_learning_rate, decay_steps=decay_steps, decay_rate=decay_rate,
                         staircase=staircase, name=name)

    def __call__(self, step):
        return train.inverse_time_decay(self.initial_learning_rate, step, self.decay_steps, self.decay_rate,
                                        self.staircase, self.name)


class CosineDecay(Decay):
    """Half a wave from initial_learning_rate to alpha times it, in decay_steps."""

    def __init__(self, initial_learning_rate, decay_steps, alpha=0.0, name=None):
        super().__init__(initial_learning_rate=initial_learning_rate, decay_steps=decay_steps, alpha=alpha, name=name)

    def __call__(self, step):
        return train.cosine_decay(self.initial_learning_rate, step, self.decay_steps, self.alpha, self.name)


class CosineDecayRestarts(Decay):
    """CosineDecay that begins anew, each time `t_mul` times as long and with `m_mul` times the rate."""

    def __init__(self, initial_learning_rate, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
        super().__init__(initial_learning_rate=initial_learning_rate, first_decay_steps=first_decay_steps, t_mul=t_mul,
                         m_mul=m_mul, alpha=alpha, name=name)

    def __call__(self, step):
        return train.cosine_decay_restarts(self.initial_learning_rate, step, self.first_decay_steps, self.t_mul,
                                           self.m_mul, self.alpha, self.name)


class LinearCosineDecay(Decay):
    """A wave of `num_periods` periods around a line that goes down to 0."""

    def __init__(self, initial_learning_rate, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None):
        super().__init__(initial_learning_rate=initial_learning_rate, decay_steps=decay_steps, num_periods=num_periods,
                         alpha=alpha, beta=beta, name=name)

    def __call__(self, step):
        return train.linear_cosine_decay(self.initial_learning_rate, step, self.decay_steps, self.num_periods,
                                         self.alpha, self.beta, self.name)


class NoisyLinearCosineDecay(Decay):
    """LinearCosineDecay with normal noise, whose variance goes down too."""

    def __init__(self, initial_learning_rate, decay_steps, initial_variance=1.0, variance_decay=0.55, num_periods=0.5,
                 alpha=0.0, beta=0.001, name=None):
        super().__init__(initial_learning_rate=initial_learning_rate, decay_steps=decay_steps,
                         initial_variance=initial_variance, variance_decay=variance_decay, num_periods=num_periods,
                         alpha=alpha, beta=beta, name=name)

    def __call__(self, step):
        return train.noisy_linear_cosine_decay(
            self.initial_learning_rate, step, self.decay_steps, self.initial_variance, self.variance_decay,
            self.num_periods, self.alpha, self.beta, self.name)


EXPERIMENTAL = (CosineDecay, CosineDecayRestarts, LinearCosineDecay, NoisyLinearCosineDecay)  # in tf.keras.experimental


def serialize(learning_rate_schedule):
    """The schedule as a dictionary."""
    return {"class_name": type(learning_rate_schedule).__name__, "config": learning_rate_schedule.get_config()}


def deserialize(config, custom_objects=None):
    """The schedule of a dictionary that `serialize` has made."""
    known = {name: value for name, value in globals().items() if inspect.isclass(value)}
    return library.module("utils.generic_utils").deserialize_keras_object(
        config, module_objects=known, custom_objects=custom_objects, printable_module_name="decay")
