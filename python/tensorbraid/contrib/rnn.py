"""tf.contrib.rnn: the cells and the unrolled recurrent layers."""

from tensorbraid.rnn import static_bidirectional_rnn, static_rnn  # noqa: F401
from tensorbraid.rnn_cell import *  # noqa: F401,F403
from tensorbraid.rnn_cell import RNNCell
from tensorbraid.rnn_wrappers import *  # noqa: F401,F403
from tensorbraid.rnn_wrappers import _Wrapper


class OutputProjectionWrapper(_Wrapper):
    """A cell whose output is projected to another size."""

    def __init__(self, cell, output_size, activation=None, reuse=None):
        super().__init__(cell)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._size, self._activation, self._reuse = output_size, activation, reuse

    output_size = property(lambda self: self._size)

    @property
    def trainable_weights(self):
        """The variables of the cell and of the projection."""
        return [variable for variable, trains in self._weights if trains] + self._cell.trainable_weights

    def __call__(self, inputs, state, scope=None):
        return RNNCell.__call__(self, inputs, state, scope)

    def build(self, input_shape):
        self._kernel = self.add_weight("kernel", [self._cell.output_size, self._size])
        self._bias = self.add_weight("bias", [self._size], initializer=_zeros())
        self.built = True

    def call(self, inputs, state):
        from tensorbraid import nn
        from tensorbraid.node import op

        output, new = self._cell(inputs, state)
        projected = nn.bias_add(op("MatMul", [output, self._kernel]), self._bias)
        return projected if self._activation is None else self._activation(projected), new


def _zeros():
    from tensorbraid.initializers import Zeros

    return Zeros()
