"""Recurrent networks of any cell, as loops over time."""

import numpy as np

from tensorbraid import dtypes, nest
from tensorbraid.internal.graphs import constant, convert_to_tensor, make_op
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.internal.variable_scope import variable_scope
from tensorbraid.ops.control_flow import while_loop
from tensorbraid.ops.node import op
from tensorbraid.ops.tensor_array import TensorArray

__all__ = ["raw_rnn"]


def _swap_batch_and_time(tensor):
    rank = tensor.shape.ndims
    if rank is None:
        raise ValueError(f"the rank of {tensor} must be known")
    return make_op("Transpose", [tensor, np.array([1, 0, *range(2, rank)], np.int32)], "transpose").outputs[0]


def _dimension(tensor, axis):
    """A dimension as a number if it is known, else as a tensor."""
    if tensor.shape.ndims is not None and tensor.shape.as_list()[axis] is not None:
        return tensor.shape.as_list()[axis]
    shape = make_op("Shape", [tensor]).outputs[0]
    return make_op("StridedSlice", [shape, [axis], [axis + 1], [1]], shrink_axis_mask=1).outputs[0]


def _zeros(batch, size, dtype):
    """Zeros for a batch of outputs of this size, a number or a TensorShape."""
    sizes = TensorShape(size if isinstance(size, (list, tuple, TensorShape)) else [size]).as_list()
    dims = make_op("Pack", [[batch, *sizes]], axis=0).outputs[0] if not isinstance(batch, int) else [batch, *sizes]
    zeros = make_op("Fill", [dims, np.zeros((), dtype.as_numpy_dtype)], "zeros").outputs[0]
    zeros.set_shape([batch if isinstance(batch, int) else None, *sizes])
    return zeros


def _choose(finished, old, new):
    """Rows of `old` for the sequences that are finished, rows of `new` for the others."""
    if new.shape.ndims == 0:
        return new  # the same for all sequences, such as a counter
    chosen = make_op("Select", [finished, old, new]).outputs[0]
    chosen.set_shape(new.shape)
    return chosen


def loop_over_time(cell, inputs, sequence_length, initial_state, dtype, parallel_iterations, time_major):
    """tf.nn.dynamic_rnn for any cell: a loop whose body calls the cell once."""
    flat = [convert_to_tensor(leaf) for leaf in nest.flatten(inputs)]
    if not time_major:
        flat = [_swap_batch_and_time(leaf) for leaf in flat]
    steps, batch = _dimension(flat[0], 0), _dimension(flat[0], 1)
    if initial_state is not None:
        state = nest.map_structure(convert_to_tensor, initial_state)
    elif dtype is None:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    else:
        state = cell.zero_state(batch, dtypes.as_dtype(dtype))
    if sequence_length is not None:
        sequence_length = convert_to_tensor(sequence_length)
        if sequence_length.shape.ndims not in (None, 1):
            raise ValueError(f"sequence_length must be a vector of length batch_size, "
                             f"but saw shape: {sequence_length.shape}")
        sequence_length = make_op("Cast", [sequence_length], DstT=dtypes.int32).outputs[0]
    arrays = [TensorArray(leaf.dtype, steps, element_shape=leaf.shape[1:]).unstack(leaf) for leaf in flat]
    kind = nest.flatten(state)[0].dtype if dtype is None else dtypes.as_dtype(dtype)
    outputs = [TensorArray(kind, steps) for _ in nest.flatten(cell.output_size)]
    nothing = [_zeros(batch, size, kind) for size in nest.flatten(cell.output_size)]

    def step(time, outputs, state):
        at_time = []
        for array, leaf in zip(arrays, flat):
            value = array.read(time)
            value.set_shape(leaf.shape[1:])
            at_time.append(value)
        output, new_state = cell(nest.pack_sequence_as(inputs, at_time), state)
        nest.assert_same_structure(state, new_state)
        flat_output = nest.flatten(output)
        if sequence_length is not None:
            finished = make_op("GreaterEqual", [time, sequence_length]).outputs[0]
            flat_output = [_choose(finished, zero, value) for zero, value in zip(nothing, flat_output)]
            new_state = nest.map_structure(lambda old, new: _choose(finished, old, new), state, new_state)
        outputs = [array.write(time, value) for array, value in zip(outputs, flat_output)]
        return time + 1, outputs, new_state

    _, outputs, state = while_loop(
        lambda time, *_: time < steps, step, (convert_to_tensor(0, name="time"), outputs, state),
        parallel_iterations=parallel_iterations or 32, swap_memory=False,
        maximum_iterations=steps if isinstance(steps, int) else None)
    made = []
    for array, zero in zip(outputs, nothing):
        value = array.stack()
        value.set_shape([steps if isinstance(steps, int) else None, *zero.shape.as_list()])
        made.append(value if time_major else _swap_batch_and_time(value))
    return nest.pack_sequence_as(cell.output_size, made), state


def _loop_value(value):
    return value if isinstance(value, TensorArray) else convert_to_tensor(value)


def raw_rnn(cell, loop_fn, parallel_iterations=None, swap_memory=False, scope=None):
    """Calls the cell until all sequences are finished. Returns arrays of the outputs, the last state and loop state.

    loop_fn(time, cell_output, cell_state, loop_state) returns which sequences are finished, the next input and state,
    what is emitted, and the next loop state. It is called once before the loop, with None instead of an output.
    """
    if not callable(loop_fn):
        raise TypeError(f"`loop_fn` must be a function, got {loop_fn!r}")
    with variable_scope(scope or "rnn"):
        finished, inputs, state, emitted, loop_state = loop_fn(constant(0, name="time"), None, None, None)
        inputs, state = (nest.map_structure(convert_to_tensor, value) for value in (inputs, state))
        batch = _dimension(nest.flatten(inputs)[0], 0)
        if emitted is None:
            sizes, kinds = cell.output_size, [nest.flatten(state)[0].dtype] * len(nest.flatten(cell.output_size))
        else:
            emitted = nest.map_structure(convert_to_tensor, emitted)
            sizes = nest.map_structure(lambda value: value.shape, emitted)
            kinds = [value.dtype for value in nest.flatten(emitted)]
        nothing = [_zeros(batch, size, kind) for size, kind in zip(nest.flatten(sizes), kinds)]
        arrays = [TensorArray(kind, 0, dynamic_size=True) for kind in kinds]
        no_loop_state = loop_state is None
        loop_state = constant(0) if no_loop_state else nest.map_structure(_loop_value, loop_state)

        def unfinished(time, finished, *_):
            return op("LogicalNot", [op("All", [finished, [0]])])

        def step(time, finished, inputs, arrays, state, loop_state):
            output, new_state = cell(inputs, state)
            following = op("AddV2", [time, 1])
            given = None if no_loop_state else loop_state
            now_finished, inputs, new_state, emit, new_loop_state = loop_fn(following, output, new_state, given)
            nest.assert_same_structure(state, new_state)
            emit = nest.flatten(sizes if emit is None else emit)
            emit = [_choose(finished, zero, convert_to_tensor(value)) for zero, value in zip(nothing, emit)]
            new_state = [_choose(finished, old, convert_to_tensor(new))
                         for old, new in zip(nest.flatten(state), nest.flatten(new_state))]
            arrays = [array.write(time, value) for array, value in zip(arrays, emit)]
            finished = make_op("LogicalOr", [finished, now_finished]).outputs[0]
            return (following, finished, inputs, arrays, nest.pack_sequence_as(state, new_state),
                    loop_state if new_loop_state is None else new_loop_state)

        values = (constant(0), convert_to_tensor(finished), inputs, arrays, state, loop_state)
        found = while_loop(unfinished, step, values, parallel_iterations=parallel_iterations or 32)
        return (nest.pack_sequence_as(sizes, found[3]), found[4], None if no_loop_state else found[5])
