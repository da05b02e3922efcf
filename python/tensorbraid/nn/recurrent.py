"""Cells over sequences."""

from typing import Any

from tensorbraid import _core, dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.variable_scope import _initial_value_of, native_reuse, variable_scope
from tensorbraid.internal.variables import collect_new
from tensorbraid.nest import flatten, is_nested, map_structure, pack_sequence_as
from tensorbraid.nn.rnn_loops import loop_over_time
from tensorbraid.ops.node import cast, op, shape_of, tensor

__all__ = ["bidirectional_dynamic_rnn", "dynamic_rnn", "static_bidirectional_rnn", "static_rnn",
           "static_state_saving_rnn"]


def _check_cell(cell):
    if not (hasattr(cell, "output_size") and hasattr(cell, "state_size") and callable(cell)):
        raise TypeError(f"cell is not an RNNCell: {cell}")


def _batch_size(value, axis=0):
    size = value.shape.as_list()[axis] if value.shape.ndims is not None else None
    if size is not None:
        return size
    return op("StridedSlice", [shape_of(value), [axis], [axis + 1], [1]], shrink_axis_mask=1)


def _initial(cell, initial_state, batch, dtype):
    if initial_state is not None:
        return initial_state
    if dtype is None:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    return cell.zero_state(batch, dtype)


def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None) -> tuple[Any, ...]:
    """Runs a cell over a list of tensors [batch, features]. Returns the list of outputs and the last state."""
    _check_cell(cell)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "rnn") as opened:
        first = tensor(flatten(inputs)[0])
        state = _initial(cell, initial_state, _batch_size(first), dtype)
        lengths = None if sequence_length is None else cast(tensor(sequence_length), dtypes.int32)
        outputs = []
        for time, value in enumerate(inputs):
            if time > 0:
                opened.reuse_variables()
            output, new = cell(value, state)
            if lengths is not None:
                active = op("Greater", [lengths, time])
                output = map_structure(lambda o: _rows_where(active, o, op("ZerosLike", [o])), output)
                new = map_structure(lambda a, b: _rows_where(active, a, b), new, state)
            outputs.append(output)
            state = new
        return outputs, state


def static_state_saving_rnn(cell, inputs, state_saver, state_name, sequence_length=None,
                            scope=None) -> tuple[Any, ...]:
    """static_rnn from the states that state_saver.state(name) gives. The last state is saved with the last output.

    `state_saver` may be a batch of tf.contrib.training.batch_sequences_with_states. `state_name` has a name for each
    tensor of the cell's state, in its structure.
    """
    if is_nested(cell.state_size) != is_nested(state_name):
        raise ValueError("state_name should be the same type as cell.state_size.  state_name: "
                         f"{state_name}, cell.state_size: {cell.state_size}")
    names = flatten(state_name)
    if len(names) != len(flatten(cell.state_size)):
        raise ValueError(f"#elems(state_name) != #elems(state_size): {len(names)} vs. {len(flatten(cell.state_size))}")
    initial = pack_sequence_as(cell.state_size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, initial, sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(name, part) for name, part in zip(names, flatten(state))]
    with graphs.control_dependencies(saved):
        outputs[-1] = map_structure(lambda output: op("Identity", [output]), outputs[-1])
    return outputs, state


def _rows_where(active, first, second):
    """The rows of `first` that are active, and the other rows of `second`."""
    return op("Select", [active, first, second])


def _reversed(values, lengths):
    """The steps of each sequence in the opposite order; steps after the end stay where they are."""
    if lengths is None:
        return list(reversed(values))
    whole = op("ReverseSequence", [op("Pack", [list(values)]), lengths], seq_dim=0, batch_dim=1)
    return graphs.make_op("Unpack", [whole], num=len(values), axis=0).outputs


def static_bidirectional_rnn(cell_fw, cell_bw, inputs, initial_state_fw=None, initial_state_bw=None, dtype=None,
                             sequence_length=None, scope=None) -> tuple[Any, ...]:
    """Runs one cell forward and one backward. Returns outputs side by side, and the last state of each."""
    _check_cell(cell_fw)
    _check_cell(cell_bw)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    lengths = None if sequence_length is None else tensor(sequence_length)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            outputs_fw, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=forward)
        with variable_scope("bw") as backward:
            outputs_bw, state_bw = static_rnn(cell_bw, _reversed([tensor(value) for value in inputs], lengths),
                                              initial_state_bw, dtype, sequence_length, scope=backward)
        outputs_bw = _reversed(outputs_bw, lengths)
        return [op("ConcatV2", [pair, 1]) for pair in zip(outputs_fw, outputs_bw)], state_fw, state_bw


def dynamic_rnn(cell, inputs, sequence_length=None, initial_state=None, dtype=None, parallel_iterations=None,
                swap_memory=False, time_major=False, scope=None) -> tuple[Any, ...]:
    """Runs a cell over sequences [batch, time, features]. Returns the outputs and the last state.

    C++ runs the cells that it has, each as one op for all steps. Other cells run in a loop.
    """
    _check_cell(cell)
    if initial_state is None and dtype is None:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    sequence_length = _whole(sequence_length)
    make_core_cell = getattr(cell, "_core_cell", None)
    core_cell = make_core_cell and make_core_cell()
    if core_cell is None or is_nested(inputs):
        with variable_scope(scope or "rnn"):
            return loop_over_time(cell, inputs, sequence_length, initial_state, dtype, parallel_iterations, time_major)
    inputs = tensor(inputs)
    if dtype is not None and dtypes.as_dtype(dtype) != inputs.dtype:
        raise ValueError(f"the inputs are {inputs.dtype.name}, but dtype is {dtypes.as_dtype(dtype).name}")
    graph = inputs.graph
    with graph.as_default(), variable_scope(scope or "rnn") as opened:
        count = len(_core.variables(graph))
        losses = []

        def regularize(value):
            loss = opened.regularizer(value)
            if loss is not None:
                losses.append(loss)
            return loss

        initializer = opened.initializer and _initial_value_of(opened.name, opened.initializer, inputs.dtype)
        state = [] if initial_state is None else flatten(initial_state)
        outputs, state, weights = _core.dynamic_rnn(core_cell, inputs, sequence_length, state, time_major, opened.name,
                                                    native_reuse(opened.reuse), initializer,
                                                    opened.regularizer and regularize)
        collect_new(graph, count)
        for loss in losses:
            graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
        _adopt(cell, iter(weights))
    return outputs, pack_sequence_as(cell.state_size, state)


def _whole(lengths):
    """The sequence lengths, cast to int32 if they are floating point numbers. None remains None."""
    if lengths is None:
        return None
    lengths = tensor(lengths)
    return cast(lengths, dtypes.int32) if lengths.dtype.is_floating else lengths


def _adopt(cell, weights):
    """Makes the variables of C++ those of the cell, which has been used from now on.

    `weights` is an iterator over the variables of each cell. A cell with cells in it takes one element for each of them.
    """
    cell.built = True
    inner_cells = getattr(cell, "_cells", None)
    if inner_cells is None:
        cell._weights = [(variable, True) for variable in next(weights)]
        return
    for inner in inner_cells:
        _adopt(inner, weights)


def bidirectional_dynamic_rnn(cell_fw, cell_bw, inputs, sequence_length=None, initial_state_fw=None,
                              initial_state_bw=None, dtype=None, parallel_iterations=None, swap_memory=False,
                              time_major=False, scope=None) -> tuple[Any, ...]:
    """dynamic_rnn with one cell forward and one backward. Returns pairs of outputs and of last states."""
    inputs, sequence_length = tensor(inputs), _whole(sequence_length)
    axes = {"seq_dim": 0 if time_major else 1, "batch_dim": 1 if time_major else 0}

    def backwards(value):
        if sequence_length is not None:
            return op("ReverseSequence", [value, sequence_length], **axes)
        return op("ReverseV2", [value, [axes["seq_dim"]]])

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            outputs_fw, state_fw = dynamic_rnn(cell_fw, inputs, sequence_length, initial_state_fw, dtype,
                                               parallel_iterations, swap_memory, time_major, scope=forward)
        with variable_scope("bw") as backward:
            outputs_bw, state_bw = dynamic_rnn(cell_bw, backwards(inputs), sequence_length, initial_state_bw, dtype,
                                               parallel_iterations, swap_memory, time_major, scope=backward)
    return (outputs_fw, backwards(outputs_bw)), (state_fw, state_bw)
