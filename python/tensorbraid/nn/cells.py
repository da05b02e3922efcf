"""Recurrent cells."""

import collections
from typing import Any

from tensorbraid import _core, dtypes, tf_logging as logging
from tensorbraid.initializers import Constant, Zeros
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.layer_class import InputSpec, Layer
from tensorbraid.internal.variable_scope import _initial_value_of, variable_scope
from tensorbraid.nn.activations import bias_add, tanh
from tensorbraid.nn.cell_states import zero_state
from tensorbraid.ops.node import op, tensor

__all__ = ["BasicLSTMCell", "BasicRNNCell", "GRUCell", "LSTMCell", "LSTMStateTuple", "MultiRNNCell", "RNNCell"]

LSTMStateTuple = collections.namedtuple("LSTMStateTuple", ["c", "h"])


class RNNCell(Layer):
    """A cell: call(inputs, state) returns the output and the next state. Subclasses define the sizes of both."""

    @property
    def state_size(self):
        """The size of the state, or a structure of sizes."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self):
        """The size of the output."""
        raise NotImplementedError("Abstract method")

    def __call__(self, inputs, state, scope=None):
        if scope is None:
            return super().__call__(inputs, state)
        with variable_scope(scope) as opened:
            return super().__call__(inputs, state, scope=opened)

    def zero_state(self, batch_size, dtype):
        """Zeros in the structure of the state."""
        with graphs.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return zero_state(self.state_size, batch_size, dtypes.as_dtype(dtype))

    def _core_cell(self):
        """The cell of C++ that computes the same; None if there is none."""
        return None


class _WeightedCell(RNNCell):
    """A cell with weights for the inputs and the last output together."""

    def __init__(self, num_units, activation, reuse, name, dtype, **kwargs):
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units = arguments.integer("num_units", num_units)
        self._activation = activation or tanh
        self.input_spec = InputSpec(ndim=2)

    @property
    def output_size(self):
        return self._num_units

    state_size = output_size

    def _features(self, input_shape):
        size = input_shape.as_list()[-1]
        if size is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, received shape: {input_shape}")
        return size

    def _weights_of(self, prefix, rows, columns, kernel_initializer=None, bias_initializer=None):
        return (self.add_weight(f"{prefix}kernel", [rows, columns], initializer=kernel_initializer),
                self.add_weight(f"{prefix}bias", [columns], initializer=bias_initializer or Zeros(self.dtype)))

    def _is_plain(self, kind):
        """Whether C++ computes this cell: it is exactly of this class, new, and has the usual activation."""
        return type(self) is kind and not self.built and self._activation is tanh and self._reuse is None


def _linear(values, kernel, bias):
    return bias_add(op("MatMul", [op("ConcatV2", [values, 1]), kernel]), bias)


class BasicRNNCell(_WeightedCell):
    """output = state = tanh([inputs, state] kernel + bias)."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)

    def build(self, input_shape):
        self._kernel, self._bias = self._weights_of("", self._features(input_shape) + self._num_units, self._num_units)
        self.built = True

    def call(self, inputs, state):
        output = self._activation(_linear([inputs, state], self._kernel, self._bias))
        return output, output

    def _core_cell(self):
        return _core.basic_rnn_cell(self._num_units, self._base_name) if self._is_plain(BasicRNNCell) else None


class GRUCell(_WeightedCell):
    """A gated recurrent unit. Source: Cho et al., 2014."""

    def __init__(self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None,
                 name=None, dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    def build(self, input_shape):
        rows = self._features(input_shape) + self._num_units
        self._gates = self._weights_of("gates/", rows, 2 * self._num_units, self._kernel_initializer,
                                       self._bias_initializer or Constant(1.0, self.dtype))
        self._candidate = self._weights_of("candidate/", rows, self._num_units, self._kernel_initializer,
                                           self._bias_initializer)
        self.built = True

    def call(self, inputs, state):
        gates = op("Sigmoid", [_linear([inputs, state], *self._gates)])
        r, u = graphs.make_op("Split", [1, gates], num_split=2).outputs
        candidate = self._activation(_linear([inputs, r * state], *self._candidate))
        new = u * state + (1 - u) * candidate
        return new, new

    def _core_cell(self):
        if not self._is_plain(GRUCell):
            return None
        kernel, bias = (given and _initial_value_of(self.name, given, None)
                        for given in (self._kernel_initializer, self._bias_initializer))
        return _core.gru_cell(self._num_units, kernel, bias, self._base_name)


class LSTMCell(_WeightedCell):
    """A long short-term memory. Source: Hochreiter and Schmidhuber, 1997."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None, proj_clip=None,
                 num_unit_shards=None, num_proj_shards=None, forget_bias: Any = 1.0, state_is_tuple=True,
                 activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        if num_unit_shards is not None or num_proj_shards is not None:
            raise NotImplementedError("num_unit_shards and num_proj_shards; use a partitioner of the variable scope")
        self._use_peepholes, self._cell_clip, self._initializer = use_peepholes, cell_clip, initializer
        self._num_proj, self._proj_clip = num_proj, proj_clip
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple

    @property
    def output_size(self):
        """The size of the outputs."""
        return self._num_proj or self._num_units

    @property
    def state_size(self):
        """The sizes of the state."""
        if self._state_is_tuple:
            return LSTMStateTuple(self._num_units, self.output_size)
        return self._num_units + self.output_size

    def build(self, input_shape):
        rows = self._features(input_shape) + self.output_size
        self._kernel, self._bias = self._weights_of("", rows, 4 * self._num_units, self._initializer)
        if self._use_peepholes:
            self._peepholes = [self.add_weight(f"w_{gate}_diag", [self._num_units], initializer=self._initializer)
                               for gate in "fio"]
        if self._num_proj is not None:
            self._projection = self.add_weight("projection/kernel", [self._num_units, self._num_proj],
                                               initializer=self._initializer)
        self.built = True

    def call(self, inputs, state):
        if self._state_is_tuple:
            is_pair = isinstance(state, (list, tuple)) and len(state) == 2
            arguments.check(is_pair, "state", "a tuple of c and h, as zero_state returns it", state)
        c, h = state if self._state_is_tuple else (
            op("Slice", [state, [0, 0], [-1, self._num_units]]),
            op("Slice", [state, [0, self._num_units], [-1, self.output_size]]))
        i, j, f, o = graphs.make_op("Split", [1, _linear([inputs, h], self._kernel, self._bias)], num_split=4).outputs
        f = f + self._forget_bias
        if self._use_peepholes:
            w_f, w_i, w_o = self._peepholes
            f, i = f + w_f * c, i + w_i * c
        c = op("Sigmoid", [f]) * c + op("Sigmoid", [i]) * self._activation(j)
        c = _clipped(c, self._cell_clip)
        if self._use_peepholes:
            o = o + w_o * c
        h = op("Sigmoid", [o]) * self._activation(c)
        if self._num_proj is not None:
            h = _clipped(op("MatMul", [h, self._projection]), self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else op("ConcatV2", [[c, h], 1])

    def _core_cell(self):
        is_plain = self._is_plain(LSTMCell) or self._is_plain(BasicLSTMCell)
        if not is_plain or self._num_proj or not self._state_is_tuple:
            return None
        initializer = self._initializer and _initial_value_of(self.name, self._initializer, None)
        return _core.lstm_cell(self._num_units, self._forget_bias, self._cell_clip or 0.0, self._use_peepholes,
                               initializer, self._base_name)


def _clipped(value, limit):
    if limit is None:
        return value
    return op("Maximum", [op("Minimum", [value, float(limit)]), -float(limit)])


class BasicLSTMCell(LSTMCell):
    """An LSTM without peepholes, clipping and projection."""

    def __init__(self, num_units, forget_bias: Any = 1.0, state_is_tuple=True, activation=None, reuse=None, name=None,
                 dtype=None, **kwargs):
        super().__init__(num_units, forget_bias=forget_bias, state_is_tuple=state_is_tuple, activation=activation,
                         reuse=reuse, name=name, dtype=dtype, **kwargs)


class MultiRNNCell(RNNCell):
    """Cells on top of each other: the output of each is the input of the next."""

    def __init__(self, cells, state_is_tuple=True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not isinstance(cells, (list, tuple)):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}")
        self._shares = len({id(cell) for cell in cells}) < len(cells)
        if self._shares:
            logging.warning("At least two cells provided to MultiRNNCell are the same object and will share weights.")
        self._cells, self._state_is_tuple = list(cells), state_is_tuple
        if not state_is_tuple and any(isinstance(cell.state_size, (list, tuple)) for cell in self._cells):
            raise ValueError("Some cells return tuples of states, but the flag state_is_tuple is not set")

    @property
    def output_size(self):
        """The size of the last cell's outputs."""
        return self._cells[-1].output_size

    @property
    def state_size(self):
        """The sizes of the cells' states."""
        sizes = [cell.state_size for cell in self._cells]
        return tuple(sizes) if self._state_is_tuple else sum(sizes)

    @property
    def trainable_weights(self):
        """The variables of the cells that training changes."""
        return [weight for cell in self._cells for weight in cell.trainable_weights]

    @property
    def non_trainable_weights(self):
        """The variables of the cells that training does not change."""
        return [weight for cell in self._cells for weight in cell.non_trainable_weights]

    def zero_state(self, batch_size, dtype):
        if not self._state_is_tuple:
            return super().zero_state(batch_size, dtype)
        with graphs.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)

    def call(self, inputs, state):
        states, start = [], 0
        for i, cell in enumerate(self._cells):
            with variable_scope(f"cell_{i}"):
                if self._state_is_tuple:
                    current = state[i]
                else:
                    current = op("Slice", [state, [0, start], [-1, cell.state_size]])
                    start += cell.state_size
                inputs, new = cell(inputs, current)
                states.append(new)
        return inputs, tuple(states) if self._state_is_tuple else op("ConcatV2", [states, 1])

    def _converted(self, inputs):
        inputs = tensor(inputs)
        return inputs, inputs

    def _core_cell(self):
        cells = [cell._core_cell() for cell in self._cells] if not self._shares else [None]
        if type(self) is not MultiRNNCell or self.built or not self._state_is_tuple or None in cells:
            return None
        return _core.multi_rnn_cell(cells, self._base_name)


