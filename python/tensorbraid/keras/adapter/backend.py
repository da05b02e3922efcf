"""The library's backend as tf.keras.backend: variables of optimizers are not trained, averages start at once."""

import contextlib
import threading

import tensorbraid as tf

__all__ = []

_now = threading.local()


@contextlib.contextmanager
def variables_by(make):
    """In the block, `make(value, dtype, name)` makes the variables of K.variable, K.zeros and K.ones."""
    before = getattr(_now, "make", None)
    _now.make = make
    try:
        yield
    finally:
        _now.make = before


@contextlib.contextmanager
def delayed_updates(variable):
    """In the block, K.update_add of this variable returns nothing. The block's value lists the increments."""
    _now.delayed, _now.increments = variable, []
    try:
        yield _now.increments
    finally:
        _now.delayed = None


def change(module):
    """Changes the library's module backend.tensorflow_backend."""
    variable, update_add = module.variable, module.update_add

    def variable_of_owner(value, dtype=None, name=None, constraint=None):
        make = getattr(_now, "make", None)
        return variable(value, dtype, name, constraint) if make is None else make(value, dtype, name)

    def update_add_later(x, increment):
        if x is getattr(_now, "delayed", None):
            _now.increments.append(increment)
            return None
        return update_add(x, increment)

    def moving_average_update(x, value, momentum):
        """Moves the variable towards the value. There is no correction for the first steps."""
        with tf.name_scope("AssignMovingAvg"):
            return x.assign_sub((x - tf.cast(value, x.dtype.base_dtype)) * (1 - momentum), read_value=False)

    module.variable, module.update_add = variable_of_owner, update_add_later
    module.moving_average_update = moving_average_update
