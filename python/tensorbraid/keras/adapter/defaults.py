"""Arguments of layers that have other values in tf.keras than in the library."""

import functools
import inspect

__all__ = []


def _with(kind, **values):
    """Gives arguments of the constructor these values, where a call does not name them."""
    init, signature = kind.__init__, inspect.signature(kind.__init__)

    @functools.wraps(init)
    def __init__(self, *args, **kwargs):
        given = signature.bind_partial(self, *args).arguments
        init(self, *args, **{**{name: value for name, value in values.items() if name not in given}, **kwargs})

    kind.__init__ = __init__


def change_recurrent(recurrent):
    """Changes the library's module layers.recurrent."""
    for kind in (recurrent.GRU, recurrent.GRUCell, recurrent.LSTM, recurrent.LSTMCell):
        _with(kind, recurrent_activation="hard_sigmoid")
