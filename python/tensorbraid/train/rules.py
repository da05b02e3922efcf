"""The optimizers: a class for each rule by which a gradient changes a variable."""

import numbers
from typing import Any

from tensorbraid import _core
from tensorbraid.internal import arguments, graphs
from tensorbraid.train.optimizer import Optimizer

__all__ = [
    "AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "AdamOptimizer", "FtrlOptimizer",
    "GradientDescentOptimizer", "MomentumOptimizer", "ProximalAdagradOptimizer", "ProximalGradientDescentOptimizer",
    "RMSPropOptimizer"]


_TENSORS = ("learning_rate", "momentum", "weight_decay")  # the parameters that may be known in a step only


class _Rule(Optimizer):
    """The base class of optimizers that C++ implements.

    `_native` names the function of `_core` that makes the C++ object. `_parameters` are its arguments, in its order, by
    the names that they have here; a value may be a function that returns it. `attributes` are attributes that
    TensorFlow's class has, which derived classes of a program use.
    """

    def __init__(self, native, use_locking, name, parameters, **attributes):
        super().__init__(use_locking, name)
        self._native = native
        self._parameters = parameters
        self.__dict__.update(attributes)

    def __getattr__(self, name):
        """The tensor of a parameter: "_lr_t" of `_lr`, "_momentum_tensor" of `_momentum`."""
        parameter = name.removesuffix("_tensor").removesuffix("_t")
        if parameter == name or parameter not in self.__dict__:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        value = self._call_if_callable(self.__dict__[parameter])
        return graphs.convert_to_tensor(value, name=parameter.removeprefix("_"))

    def _make_library(self):
        values = {name: self._call_if_callable(value) for name, value in self._parameters.items()}
        for name, value in values.items():
            is_number = isinstance(value, numbers.Number) or getattr(value, "shape", None) == ()
            if not (is_number or isinstance(value, (graphs.Tensor, _core.Variable))):
                wanted = "a number, a tensor or a variable" if name in _TENSORS else "a number"
                raise TypeError(f"{type(self).__name__}: the argument {name!r} must be {wanted}, but got {value!r}")
        return getattr(_core, self._native)(self._owner(), *values.values(), self._use_locking, self._name)


class GradientDescentOptimizer(_Rule):
    """Subtracts the gradient times the learning rate."""

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__("gradient_descent", use_locking, name, {"learning_rate": learning_rate},
                         _learning_rate=learning_rate)


class MomentumOptimizer(_Rule):
    """Gradient descent along a decaying sum of the gradients, which is the slot "momentum"."""

    def __init__(self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False):
        super().__init__("momentum", use_locking, name, dict(
            learning_rate=learning_rate, momentum=momentum, use_nesterov=use_nesterov),
                         _learning_rate=learning_rate, _momentum=momentum, _use_nesterov=use_nesterov)


class AdadeltaOptimizer(_Rule):
    """Scales steps by running means of squared gradients and of squared steps. Source: Zeiler, 2012."""

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon=1e-8, use_locking=False, name="Adadelta"):
        super().__init__("adadelta", use_locking, name, dict(learning_rate=learning_rate, rho=rho, epsilon=epsilon))


class AdagradOptimizer(_Rule):
    """Scales steps by the sum of the squared gradients. Source: Duchi et al., 2011."""

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"):
        if arguments.number("initial_accumulator_value", initial_accumulator_value) <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__("adagrad", use_locking, name, dict(
            learning_rate=learning_rate, initial_accumulator_value=initial_accumulator_value))


class AdagradDAOptimizer(_Rule):
    """Adagrad by dual averaging, for sparse linear models. Source: Duchi et al., 2011."""

    def __init__(self, learning_rate, global_step, initial_gradient_squared_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="AdagradDA"):
        initial = initial_gradient_squared_accumulator_value
        if initial <= 0.0:
            raise ValueError(f"initial_gradient_squared_accumulator_value must be positive: {initial}")
        super().__init__("adagrad_da", use_locking, name, dict(
            learning_rate=learning_rate, global_step=global_step, initial_gradient_squared_accumulator_value=initial,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength))


class AdamOptimizer(_Rule):
    """Scales steps by running means of the gradients and of their squares. Source: Kingma and Ba, 2015."""

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon=1e-8,
                 use_locking=False, name="Adam", use_own_namescope_for_non_slot_vars=False):
        if use_own_namescope_for_non_slot_vars:
            raise NotImplementedError("use_own_namescope_for_non_slot_vars")
        super().__init__("adam", use_locking, name, dict(
            learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon),
                         _lr=learning_rate, _beta1=beta1, _beta2=beta2, _epsilon=epsilon)

    def _get_beta_accumulators(self):
        """The variables with the powers of beta1 and beta2."""
        return self._library._shared("beta1_power"), self._library._shared("beta2_power")


class RMSPropOptimizer(_Rule):
    """Scales steps by a running mean of the squared gradients. Source: Hinton, lecture 6e, 2012."""

    def __init__(self, learning_rate, decay: Any = 0.9, momentum: Any = 0.0, epsilon=1e-10, use_locking=False,
                 centered=False, name="RMSProp"):
        super().__init__("rms_prop", use_locking, name, dict(
            learning_rate=learning_rate, decay=decay, momentum=momentum, epsilon=epsilon, centered=centered))


class FtrlOptimizer(_Rule):
    """Follow the regularised leader: with L1, weights of little use become 0. Source: McMahan et al., 2013."""

    def __init__(self, learning_rate, learning_rate_power=-0.5, initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="Ftrl",
                 accum_name=None, linear_name=None, l2_shrinkage_regularization_strength=0.0, beta=None):
        if accum_name is not None or linear_name is not None or beta:
            raise NotImplementedError("accum_name, linear_name and beta of FtrlOptimizer")
        if arguments.number("initial_accumulator_value", initial_accumulator_value) < 0.0:
            raise ValueError(f"initial_accumulator_value {initial_accumulator_value} needs to be positive or zero")
        if arguments.number("learning_rate_power", learning_rate_power) > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power} needs to be negative or zero")
        for strength, kind in ((l1_regularization_strength, "l1"), (l2_regularization_strength, "l2"),
                               (l2_shrinkage_regularization_strength, "l2_shrinkage")):
            if arguments.number(f"{kind}_regularization_strength", strength) < 0.0:
                raise ValueError(f"{kind}_regularization_strength {strength} needs to be positive or zero")
        super().__init__("ftrl", use_locking, name, dict(
            learning_rate=learning_rate, learning_rate_power=learning_rate_power,
            initial_accumulator_value=initial_accumulator_value,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
            l2_shrinkage_regularization_strength=l2_shrinkage_regularization_strength))


class ProximalGradientDescentOptimizer(_Rule):
    """Gradient descent followed by L1 and L2 regularisation. Source: Duchi and Singer, 2009."""

    def __init__(self, learning_rate, l1_regularization_strength=0.0, l2_regularization_strength=0.0,
                 use_locking=False, name="ProximalGradientDescent"):
        super().__init__("proximal_gradient_descent", use_locking, name, dict(
            learning_rate=learning_rate, l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength))


class ProximalAdagradOptimizer(_Rule):
    """Adagrad with the regularisation of ProximalGradientDescentOptimizer."""

    def __init__(self, learning_rate, initial_accumulator_value=0.1, l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, use_locking=False, name="ProximalAdagrad"):
        if arguments.number("initial_accumulator_value", initial_accumulator_value) <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__("proximal_adagrad", use_locking, name, dict(
            learning_rate=learning_rate, initial_accumulator_value=initial_accumulator_value,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength))
