"""K.rnn: a step function over the times of a sequence."""

import tensorbraid as tf
from tensorbraid import nest

__all__ = ["rnn"]


def _times_first(x):
    """Swaps the first two dimensions, those of the batch and of the time."""
    return tf.transpose(x, [1, 0, *range(2, x.shape.ndims)])


def _chosen(mask, values, others):
    """The values where the mask, which has a row for each sample, is True, and the others elsewhere."""
    def choose(value, other):
        dims = [1] * (value.shape.ndims - mask.shape.ndims)
        wide = tf.reshape(mask, tf.concat([tf.shape(mask), dims], 0)) if dims else mask
        return tf.where(tf.logical_and(wide, tf.ones_like(value, tf.bool)), value, other)

    return nest.map_structure(choose, values, others)


class _Loop:
    """What both kinds of loops share: the step function, and how masked samples keep their states and outputs."""

    def __init__(self, step_function, constants, states, zero_output_for_mask):
        self._step_function, self._constants = step_function, tuple(constants or ())
        self._states, self._zero_output_for_mask = states, zero_output_for_mask

    def step(self, inputs, mask, last_output, states):
        """The output, and the new states as a flat list. `last_output` is None before the first step."""
        packed = nest.pack_sequence_as(self._states, states)
        output, new_states = self._step_function(inputs, tuple(packed) + self._constants)
        new_states = nest.flatten(new_states)
        if mask is not None:
            if last_output is None or self._zero_output_for_mask:
                last_output = nest.map_structure(tf.zeros_like, output)
            output = _chosen(mask, output, last_output)
            new_states = _chosen(mask, new_states, states)
        for state, new_state in zip(states, new_states):
            if isinstance(new_state, tf.Tensor):
                new_state.set_shape(state.shape)
        return output, new_states


def _unrolled(loop, inputs, mask, states, count, go_backwards):
    """The outputs, stacked along the time, and the last states, of a loop that is written into the graph."""
    if not count:
        raise ValueError("Unrolling requires a fixed number of timesteps.")
    times = range(count - 1, -1, -1) if go_backwards else range(count)
    parts = [tf.unstack(x, count) for x in nest.flatten(inputs)]
    masks = [None] * count if mask is None else tf.unstack(mask, count)
    output, outputs = None, []
    for time in times:
        now = nest.pack_sequence_as(inputs, [part[time] for part in parts])
        output, states = loop.step(now, masks[time], output, states)
        outputs.append(output)
    return nest.map_structure(lambda *values: tf.stack(values), *outputs), states


def _symbolic(loop, inputs, mask, states, count, go_backwards):
    """The same as `_unrolled`, of a tf.while_loop."""
    flat = nest.flatten(inputs)
    count = tf.shape(flat[0])[0] if count is None else count

    def array(x, name):
        values = tf.reverse(x, [0]) if go_backwards else x
        return tf.TensorArray(x.dtype, count, tensor_array_name=name).unstack(values)

    arrays = [array(x, f"input_ta_{i}") for i, x in enumerate(flat)]
    masks = None if mask is None else array(mask, "mask_ta")
    # The shapes and dtypes of an output are those of a first step, which no step runs.
    first, _ = loop.step(nest.pack_sequence_as(inputs, [x[0] for x in flat]), None, None, states)
    kinds = nest.flatten(first)
    results = [tf.TensorArray(kind.dtype, count, element_shape=kind.shape, tensor_array_name=f"output_ta_{i}")
               for i, kind in enumerate(kinds)]
    zeros = [] if mask is None else [tf.zeros_like(kind) for kind in kinds]

    def body(time, results, last, states):
        now = nest.pack_sequence_as(inputs, [array.read(time) for array in arrays])
        before = nest.pack_sequence_as(first, last) if last else None
        output, states = loop.step(now, None if masks is None else masks.read(time), before, states)
        output = nest.flatten(output)
        return (time + 1, [result.write(time, value) for result, value in zip(results, output)],
                output if last else [], states)

    shapes = [tf.TensorShape([]), [tf.TensorShape(None)] * len(results), [zero.shape for zero in zeros],
              [state.shape for state in states]]
    last = tf.while_loop(lambda time, *_: time < count, body, [tf.constant(0, name="time"), results, zeros, states],
                         shape_invariants=shapes, maximum_iterations=count, parallel_iterations=32)
    return nest.pack_sequence_as(first, [result.stack() for result in last[1]]), last[3]


def rnn(step_function, inputs, initial_states, go_backwards=False, mask=None, constants=None, unroll=False,
        input_length=None, time_major=False, zero_output_for_mask=False):
    """Calls the step function for each time. Returns the last output, all outputs, and the last states.

    `step_function(inputs, states)` gets the inputs of one time, and the states with the constants after them; it
    returns an output and the new states. A sample whose `mask` is False keeps its states, and its last output or zeros.
    With `unroll`, each step has nodes of its own, and the number of times must be known.
    """
    inputs = nest.map_structure(tf.convert_to_tensor, inputs)
    for x in nest.flatten(inputs):
        if x.shape.ndims is not None and x.shape.ndims < 3:
            raise ValueError(f"Input should be at least 3D, but is {x.shape}.")
    if not time_major:
        inputs = nest.map_structure(_times_first, inputs)
    first = nest.flatten(inputs)[0]
    count = first.shape[0].value or (input_length if isinstance(input_length, int) else None)
    if mask is not None:
        if not nest.flatten(initial_states):
            raise ValueError("No initial states provided! When using masking in an RNN, you should provide initial "
                             "states (and your step function should return as its first state at time `t` the output "
                             "at time `t-1`).")
        mask = tf.cast(mask, tf.bool)
        mask = mask if mask.shape.ndims != 2 else tf.expand_dims(mask, -1)
        mask = tf.squeeze(mask if time_major else _times_first(mask), -1)
    states = [tf.convert_to_tensor(state) for state in nest.flatten(initial_states)]
    loop = _Loop(step_function, constants, initial_states, zero_output_for_mask)
    run = _unrolled if unroll else _symbolic
    outputs, states = run(loop, inputs, mask, states, count, go_backwards)
    last_output = nest.map_structure(lambda values: values[-1], outputs)

    def finished(values):
        values.set_shape([first.shape[0], first.shape[1], *values.shape[2:]])
        return values if time_major else _times_first(values)

    return last_output, nest.map_structure(finished, outputs), nest.pack_sequence_as(initial_states, states)
