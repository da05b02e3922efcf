"""Constructors of tf.keras.layers take arguments by position: Dense(8, "relu"), Conv2D(8, 3, 2, "same").

The library takes the first ones alone, or reads them as Keras 1 did.
"""

__all__ = []

_OF_METHODS = ("legacy_generator_methods_support", "legacy_get_updates_support", "legacy_add_weight_support")


def _unchanged(function):
    return function


def change(interfaces):
    """Changes the library's module legacy.interfaces, whose decorators convert arguments of Keras 1."""
    for name in list(vars(interfaces)):
        if name.endswith("_support") and name not in _OF_METHODS:
            setattr(interfaces, name, _unchanged)
