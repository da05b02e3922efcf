"""Optimizers that TensorFlow 1.15's tf.keras has and the library has not, and further rules of the library's."""

import functools
import itertools
import numbers

import tensorbraid as tf
from tensorbraid.keras.adapter.loaded import loaded

__all__ = []


def _slots(optimizer, params, *names):
    """For each parameter its variables of these names, which begin with zeros."""
    backend = loaded("backend")
    made = [[backend.zeros(backend.int_shape(param), param.dtype.base_dtype.name, f"{name}_{index}")
             for index, param in enumerate(params)] for name in names]
    optimizer.weights = [optimizer.iterations, *itertools.chain(*made)]
    return zip(*made)


def _begin(optimizer, loss, params):
    """Begins the updates of a step. Returns the gradients and the learning rate."""
    gradients = optimizer.get_gradients(loss, params)
    optimizer.updates = [loaded("backend").update_add(optimizer.iterations, 1)]
    optimizer.weights = [optimizer.iterations]
    rate = optimizer.learning_rate
    if optimizer.initial_decay > 0:
        rate = rate / (1.0 + optimizer.decay * tf.cast(optimizer.iterations, tf.float32))
    return gradients, rate


def _set(optimizer, variable, value):
    """Adds the update of a variable to those of the step."""
    constraint = getattr(variable, "constraint", None)
    optimizer.updates.append(tf.assign(variable, value if constraint is None else constraint(value)))


def _sgd(kind):
    """Without momentum, SGD has no variables for it."""
    init, get_updates = kind.__init__, kind.get_updates

    @functools.wraps(init)
    def __init__(self, learning_rate=0.01, momentum=0.0, nesterov=False, **kwargs):
        init(self, learning_rate, momentum, nesterov, **kwargs)
        self._has_momentum = not isinstance(momentum, numbers.Number) or momentum > 0

    @functools.wraps(get_updates)
    def updates_of_step(self, loss, params):
        if self._has_momentum:
            return get_updates(self, loss, params)
        gradients, rate = _begin(self, loss, params)
        for param, gradient in zip(params, gradients):
            _set(self, param, param - rate * gradient)
        return self.updates

    kind.__init__, kind.get_updates = __init__, updates_of_step


def _rmsprop(kind):
    """RMSprop with a momentum, and with gradients minus their average."""
    init, get_updates, get_config = kind.__init__, kind.get_updates, kind.get_config

    @functools.wraps(init)
    def __init__(self, learning_rate=0.001, rho=0.9, momentum=0.0, centered=False, **kwargs):
        init(self, learning_rate, rho, **kwargs)
        self.momentum, self.centered = loaded("backend").variable(momentum, name="momentum"), centered
        self._has_momentum = not isinstance(momentum, numbers.Number) or momentum > 0

    @functools.wraps(get_updates)
    def updates_of_step(self, loss, params):
        if not self._has_momentum and not self.centered:
            return get_updates(self, loss, params)
        gradients, rate = _begin(self, loss, params)
        names = ["rms"] + ["momentum"] * self._has_momentum + ["mg"] * self.centered
        for param, gradient, slots in zip(params, gradients, _slots(self, params, *names)):
            slots = dict(zip(names, slots))
            square = self.rho * slots["rms"] + (1.0 - self.rho) * tf.square(gradient)
            _set(self, slots["rms"], square)
            if self.centered:
                mean = self.rho * slots["mg"] + (1.0 - self.rho) * gradient
                _set(self, slots["mg"], mean)
                square -= tf.square(mean)
            if self._has_momentum:  # as in TensorFlow, where the other rule has epsilon outside of the root
                step = self.momentum * slots["momentum"] + rate * gradient / tf.sqrt(square + self.epsilon)
                _set(self, slots["momentum"], step)
            else:
                step = rate * gradient / (tf.sqrt(square) + self.epsilon)
            _set(self, param, param - step)
        return self.updates

    @functools.wraps(get_config)
    def config_of(self):
        return {**get_config(self), "momentum": float(loaded("backend").get_value(self.momentum)),
                "centered": self.centered}

    kind.__init__, kind.get_updates, kind.get_config = __init__, updates_of_step, config_of


def _ftrl(optimizer):
    class Ftrl(optimizer):
        """Follow the regularized leader: weights are exactly 0 while their gradients are small.

        Source: McMahan et al., 2013.
        """

        def __init__(self, learning_rate=0.001, learning_rate_power=-0.5, l1_regularization_strength=0.0,
                     l2_regularization_strength=0.0, l2_shrinkage_regularization_strength=0.0, beta=0.0, **kwargs):
            if beta:
                raise NotImplementedError("the argument beta of Ftrl, which only newer versions of TensorFlow have")
            backend = loaded("backend")
            self.initial_decay = kwargs.pop("decay", 0.0)
            rate = kwargs.pop("lr", learning_rate)
            super().__init__(**kwargs)
            self.iterations = backend.variable(0, dtype="int64", name="iterations")
            self.learning_rate = backend.variable(rate, name="learning_rate")
            self.decay = backend.variable(self.initial_decay, name="decay")
            self._numbers = {"learning_rate_power": learning_rate_power,
                             "l1_regularization_strength": l1_regularization_strength,
                             "l2_regularization_strength": l2_regularization_strength,
                             "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength}

        def get_updates(self, loss, params):
            """The updates of one step."""
            power, l1, l2, shrinkage = self._numbers.values()
            gradients, rate = _begin(self, loss, params)
            slots = list(_slots(self, params, "accumulator", "linear"))
            self.weights = [self.iterations, *itertools.chain(*slots)]  # as in TensorFlow, by parameters
            for param, gradient, (sums, linear) in zip(params, gradients, slots):
                new_sums = sums + tf.square(gradient)
                change = (tf.pow(new_sums, -power) - tf.pow(sums, -power)) / rate
                new_linear = linear + gradient + 2.0 * shrinkage * param - change * param
                root = tf.pow(new_sums, -power) / rate + 2.0 * l2
                beyond = tf.clip_by_value(new_linear, -l1, l1) - new_linear
                _set(self, sums, new_sums)
                _set(self, linear, new_linear)
                _set(self, param, beyond / root)
            return self.updates

        def get_config(self):
            """The arguments of the constructor."""
            rate, decay = map(loaded("backend").get_value, (self.learning_rate, self.decay))
            return {**super().get_config(), "learning_rate": float(rate), "decay": float(decay), **self._numbers}

    Ftrl.__qualname__ = "Ftrl"
    return Ftrl


def change(optimizers):
    """Changes the library's module `optimizers`."""
    _sgd(optimizers.SGD)
    _rmsprop(optimizers.RMSprop)
    optimizers.Ftrl = _ftrl(optimizers.Optimizer)
    deserialize = optimizers.deserialize

    @functools.wraps(deserialize)
    def deserialize_all(config, custom_objects=None):
        return deserialize(config, {"Ftrl": optimizers.Ftrl, "ftrl": optimizers.Ftrl, **(custom_objects or {})})

    optimizers.deserialize = deserialize_all
