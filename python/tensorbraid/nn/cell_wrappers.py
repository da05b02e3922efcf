"""Cells that change what another cell does."""

import hashlib
from typing import Any

from tensorbraid.internal import graphs
from tensorbraid.nest import is_nested, map_structure
from tensorbraid.nn.activations import dropout
from tensorbraid.nn.cells import LSTMStateTuple, RNNCell

__all__ = ["DeviceWrapper", "DropoutWrapper", "ResidualWrapper"]


class _Wrapper(RNNCell):
    """A cell around another cell, in whose scopes it works."""

    def __init__(self, cell):
        super().__init__()
        if not hasattr(cell, "state_size") or not callable(cell):
            raise TypeError(f"The parameter cell is not an RNNCell: {cell}")
        self._cell = cell

    wrapped_cell = property(lambda self: self._cell)
    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)
    trainable_weights = property(lambda self: self._cell.trainable_weights)
    non_trainable_weights = property(lambda self: self._cell.non_trainable_weights)

    def zero_state(self, batch_size, dtype):
        with graphs.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class DropoutWrapper(_Wrapper):
    """Drops out inputs, outputs and states of a cell."""

    def __init__(self, cell, input_keep_prob: Any = 1.0, output_keep_prob: Any = 1.0, state_keep_prob: Any = 1.0,
                 variational_recurrent=False, input_size=None, dtype=None, seed=None,
                 dropout_state_filter_visitor=None):
        super().__init__(cell)
        if variational_recurrent or dropout_state_filter_visitor is not None:
            raise NotImplementedError("variational_recurrent and dropout_state_filter_visitor of DropoutWrapper")
        for name, value in (("input", input_keep_prob), ("output", output_keep_prob), ("state", state_keep_prob)):
            if isinstance(value, (int, float)) and not 0.0 <= value <= 1.0:
                raise ValueError(f"Parameter {name}_keep_prob must be between 0 and 1: {value}")
        self._input_keep_prob, self._output_keep_prob = input_keep_prob, output_keep_prob
        self._state_keep_prob, self._seed = state_keep_prob, seed

    def _seed_of(self, salt, index):
        """The seed of one dropout; each has another, which follows from the wrapper's."""
        if self._seed is None:
            return None
        digest = hashlib.md5(f"{self._seed}{salt}_{index}".encode()).hexdigest()
        return int(digest[:8], 16) & 0x7FFFFFFF

    def _drop(self, values, salt, keep_prob):
        if isinstance(keep_prob, (int, float)) and keep_prob >= 1.0:
            return values
        count = iter(range(1 << 30))
        return map_structure(lambda value: dropout(value, keep_prob=keep_prob,
                                                      seed=self._seed_of(salt, next(count))), values)

    def _drop_state(self, state):
        """As TensorFlow's default, drops all of a state but the memory of an LSTM."""
        if isinstance(state, LSTMStateTuple):
            return LSTMStateTuple(state.c, self._drop(state.h, "state", self._state_keep_prob))
        if is_nested(state):
            return type(state)([self._drop_state(part) for part in state])
        return self._drop(state, "state", self._state_keep_prob)

    def __call__(self, inputs, state, scope=None):
        inputs = self._drop(inputs, "input", self._input_keep_prob)
        output, new = self._cell(inputs, state, *([] if scope is None else [scope]))
        if not (isinstance(self._state_keep_prob, (int, float)) and self._state_keep_prob >= 1.0):
            new = self._drop_state(new)
        return self._drop(output, "output", self._output_keep_prob), new


class ResidualWrapper(_Wrapper):
    """Adds the inputs to the outputs of a cell."""

    def __init__(self, cell, residual_fn=None):
        super().__init__(cell)
        self._residual_fn = residual_fn

    def __call__(self, inputs, state, scope=None):
        output, new = self._cell(inputs, state, *([] if scope is None else [scope]))
        combine = self._residual_fn or (lambda a, b: map_structure(lambda i, o: i + o, a, b))
        return combine(inputs, output), new


class DeviceWrapper(_Wrapper):
    """Runs a cell on a device."""

    def __init__(self, cell, device):
        super().__init__(cell)
        self._device = device

    def zero_state(self, batch_size, dtype):
        with graphs.device(self._device):
            return super().zero_state(batch_size, dtype)

    def __call__(self, inputs, state, scope=None):
        with graphs.device(self._device):
            return self._cell(inputs, state, *([] if scope is None else [scope]))
