"""Values for variables of other shapes."""

import functools

import numpy as np

from tensorbraid.keras.checks import explained

__all__ = []


def _check(what, variables, values):
    """Compares the values with the variables that they are for."""
    if len(values) != len(variables):
        raise explained.error(f"set_weights() of {what} has got {len(values)} values for its {len(variables)} "
                              f"variables: {described(variables)}")
    for index, (variable, value) in enumerate(zip(variables, values)):
        if not variable.shape.is_compatible_with(np.shape(value)):
            raise explained.error(f"set_weights() of {what}: the variable {variable.name} has the shape "
                                  f"{tuple(variable.shape.as_list())}, and the value {index} for it the shape "
                                  f"{np.shape(value)}")


def described(variables):
    """The names and shapes of variables."""
    return ", ".join(f"{variable.name} {tuple(variable.shape.as_list())}" for variable in variables) or "none"


def _checked(set_weights, what):
    @functools.wraps(set_weights)
    def checked(self, weights):
        _check(f"the {what} {self.name}", self.weights, weights)
        set_weights(self, weights)

    return checked


def change(base_layer):
    """Checks the values that the library's class engine.base_layer.Layer is given."""
    base_layer.Layer.set_weights = _checked(base_layer.Layer.set_weights, "layer")


def change_network(network):
    """Checks the values that the library's class engine.network.Network is given."""
    network.Network.set_weights = _checked(network.Network.set_weights, "model")
