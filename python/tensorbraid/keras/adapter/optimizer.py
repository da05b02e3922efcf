"""Optimizers as in tf.keras: arguments and their values, names of variables, `minimize` and `apply_gradients`."""

import functools
import re

import numpy as np
import tensorbraid as tf
from tensorbraid.keras import added_optimizers, learning_rates, own_optimizers
from tensorbraid.keras.adapter import backend
from tensorbraid.keras.adapter.loaded import loaded, replace

__all__ = []

# The arguments of each optimizer in their order, with the values that the library has not.
_ARGUMENTS = {
    "SGD": {"learning_rate": None, "momentum": None, "nesterov": None},
    "RMSprop": {"learning_rate": None, "rho": None, "momentum": None, "epsilon": None, "centered": None},
    "Adagrad": {"learning_rate": 0.001, "initial_accumulator_value": None, "epsilon": None},
    "Adadelta": {"learning_rate": 0.001, "rho": None, "epsilon": None},
    "Adam": {"learning_rate": None, "beta_1": None, "beta_2": None, "epsilon": None, "amsgrad": None},
    "Adamax": {"learning_rate": 0.001, "beta_1": None, "beta_2": None, "epsilon": None},
    "Nadam": {"learning_rate": 0.001, "beta_1": None, "beta_2": None, "epsilon": None},
    "Ftrl": {"learning_rate": None, "learning_rate_power": None, "initial_accumulator_value": None,
             "l1_regularization_strength": None, "l2_regularization_strength": None},
}
# The slots of each optimizer: the library's name, and TensorFlow's.
_SLOTS = {"SGD": {"moment": "momentum"}, "RMSprop": {"accumulator": "rms"}, "Adamax": {"u": "v"},
          "Adadelta": {"accumulator": "accum_grad", "delta_accumulator": "accum_var"}}

_OF_SUMS = ("Adagrad", "Ftrl")  # their slot "accumulator" begins with initial_accumulator_value


def arguments(kind):
    """The names of the arguments of the optimizer of this name."""
    return list(_ARGUMENTS.get(kind, ()))


def _own_variable(value, dtype, name):
    """A variable of an optimizer, which is not trained."""
    return tf.Variable(value, trainable=False, dtype=tf.as_dtype(dtype or loaded("backend").floatx()), name=name)


def _init(kind, init):
    """The constructor with TensorFlow's arguments."""
    defaults = _ARGUMENTS[kind.__name__]

    @functools.wraps(init)
    def __init__(self, *args, name=None, **kwargs):
        names = [*defaults, "name"]
        if len(args) > len(names):
            raise TypeError(f"{kind.__name__} takes {len(names)} arguments, but {len(args)} were given")
        kwargs.update(zip(names, args))
        self._name = kwargs.pop("name", name) or kind.__name__
        if kind.__name__ in _OF_SUMS:
            self._first_accumulator = kwargs.pop("initial_accumulator_value", 0.1)
        if "epsilon" in kwargs and kwargs["epsilon"] is None:
            del kwargs["epsilon"]
        if defaults["learning_rate"] is not None and "lr" not in kwargs:
            kwargs.setdefault("learning_rate", defaults["learning_rate"])
        if kind.__name__ == "Nadam" and "decay" in kwargs:
            kwargs["schedule_decay"] = kwargs.pop("decay")
        if isinstance(kwargs.get("learning_rate"), dict):
            kwargs["learning_rate"] = tf.keras.optimizers.schedules.deserialize(kwargs["learning_rate"])

        def variable(value, dtype, name):
            if callable(value) or isinstance(value, (tf.Tensor, tf.Variable)):
                return value  # a schedule, or a learning rate that the program computes
            with tf.name_scope(f"training/{kind.__name__}/"):  # as in TensorFlow, where the first step makes them
                return _own_variable(value, dtype, "iter" if name == "iterations" else name)

        with tf.name_scope("new_optimizer"), backend.variables_by(variable):
            init(self, **kwargs)

    return __init__


def _get_updates(kind, get_updates):
    """The updates of one step. Slots have the names of their variables, and the number of the step changes last."""
    slots = _SLOTS.get(kind.__name__, {})

    @functools.wraps(get_updates)
    def updates_of_step(self, loss, params):
        def slot(value, dtype, name):
            found = re.fullmatch(r"([a-z_]+)_(\d+)", name or "")
            if found is None:
                return _own_variable(value, dtype, name)
            name = slots.get(found[1], found[1])
            if name == "vhat" and not self.amsgrad:
                return value  # which the updates do not use
            if kind.__name__ in _OF_SUMS and name == "accumulator":
                value = tf.ones_like(value) * self._first_accumulator
            return _own_variable(value, dtype, f"{params[int(found[2])].op.name}/{name}")

        rate = self.learning_rate
        if callable(rate):
            self.learning_rate = learning_rates.of_step(rate, self.iterations)
        try:
            with backend.variables_by(slot), backend.delayed_updates(self.iterations) as increments:
                get_updates(self, loss, params)
        finally:
            self.learning_rate = rate
        updates = [tf.assign(*update) if isinstance(update, tuple) else update
                   for update in self.updates if update is not None]
        with tf.control_dependencies(updates):
            updates += [tf.assign_add(self.iterations, increment) for increment in increments]
        self.updates = updates
        self.weights = [weight for weight in self.weights if isinstance(weight, tf.Variable)]
        return updates

    return updates_of_step


class _Methods:
    """Methods of tf.keras.optimizers.Optimizer that the library's have not."""

    def __setattr__(self, name, value):
        """A number that is assigned to `learning_rate` or another variable of the optimizer becomes its value."""
        variable = self.__dict__.get(name)
        if isinstance(variable, tf.Variable) and isinstance(value, (int, float, np.number)):
            loaded("backend").set_value(variable, value)
        elif name in self.__dict__.get("_hyper", ()):
            self._set_hyper(name, value)
        else:
            object.__setattr__(self, name, value)

    def get_gradients(self, loss, params):
        """The gradients, each clipped by its own norm if there is a `clipnorm`."""
        gradients = tf.gradients(loss, params)
        for gradient, variable in zip(gradients, params):
            if gradient is None:
                raise ValueError(f"Variable {variable.name} has `None` for gradient. Please make sure that all of your "
                                 "ops have a gradient defined (i.e. are differentiable).")
        if getattr(self, "clipnorm", None):
            gradients = [tf.clip_by_norm(gradient, self.clipnorm) for gradient in gradients]
        if getattr(self, "clipvalue", None):
            gradients = [tf.clip_by_value(gradient, -self.clipvalue, self.clipvalue) for gradient in gradients]
        return gradients

    def minimize(self, loss, var_list=None, grad_loss=None, name=None):
        """An operation that makes one step. Without `var_list`, all trainable variables of the graph are trained."""
        loss = loss() if callable(loss) else loss
        variables = var_list() if callable(var_list) else var_list
        variables = tf.trainable_variables() if variables is None else list(variables)
        if grad_loss is not None:
            raise NotImplementedError("grad_loss of minimize(); multiply the loss by it")
        return self.apply_gradients(zip(self.get_gradients(loss, variables), variables), name)

    def apply_gradients(self, grads_and_vars, name=None):
        """An operation that makes one step with these gradients. Variables without a gradient stay as they are."""
        pairs = [(gradient, variable) for gradient, variable in grads_and_vars if gradient is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        self.get_gradients = lambda loss, params: [gradient for gradient, _ in pairs]
        try:
            with tf.name_scope(self._name):
                return tf.group(*self.get_updates(None, [variable for _, variable in pairs]), name=name or "update")
        finally:
            del self.get_gradients

    @property
    def lr(self):
        """The variable of the learning rate. Setting it sets the variable's value."""
        return self.learning_rate

    @lr.setter
    def lr(self, value):
        self.learning_rate = value

    variables = property(lambda self: (lambda: list(self.weights)))


def change(optimizers):
    """Changes the library's module optimizers."""
    optimizers.Optimizer._library_init = optimizers.Optimizer.__init__
    replace(optimizers.Optimizer, own_optimizers.Methods)
    replace(optimizers.Optimizer, _Methods)
    added_optimizers.change(optimizers)
    for name in _ARGUMENTS:
        kind = getattr(optimizers, name)
        kind.__init__, kind.get_updates = _init(kind, kind.__init__), _get_updates(kind, kind.get_updates)
        kind.get_config = learning_rates.config_with_schedule(kind.get_config)
