"""The recurrent loop whose inputs and end a function of the program determines."""

from tensorbraid import nest
from tensorbraid.control_flow import while_loop
from tensorbraid.graphs import constant, convert_to_tensor, make_op
from tensorbraid.node import op
from tensorbraid.rnn_loops import _choose, _dimension, _zeros
from tensorbraid.tensor_array import TensorArray
from tensorbraid.variable_scope import variable_scope

__all__ = ["raw_rnn"]


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
        loop_state = constant(0) if no_loop_state else nest.map_structure(convert_to_tensor, loop_state)

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
