"""Batches of segments of sequences, which may be sparse: tf.contrib.training.batch_sequences_with_states."""

import tensorbraid as tf
from tensorbraid.contrib.sequence_state_saver import SequenceQueueingStateSaver
from tensorbraid.internal import arguments
from tensorbraid.internal.graphs import make_op

__all__ = ["batch_sequences_with_states"]


def batch_sequences_with_states(input_key, input_sequences, input_context, input_length, initial_states, num_unroll,
                                batch_size, num_threads=3, capacity=1000, allow_small_batch=True, pad=True,
                                make_keys_unique=False, make_keys_unique_seed=None, name=None):
    """The NextQueuedSequenceBatch of a SequenceQueueingStateSaver, which a queue runner fills.

    Sequences and context may have SparseTensors. With `pad`, sequences are filled up with zeros or empty strings to a
    multiple of `num_unroll` steps, and `input_length` may be None. `make_keys_unique` adds a random number to each key.
    The other arguments are those of SequenceQueueingStateSaver.
    """
    with tf.name_scope(name, "batch_sequences_with_states"):
        sequences = _tensors(input_sequences)
        context = _tensors(input_context)
        if pad:
            if not isinstance(num_unroll, int):
                raise ValueError(f"Unsupported num_unroll expected int, got: {num_unroll}")
            length, sequences = _padded(sequences, num_unroll)
            input_length = length if input_length is None else input_length
        stored = _Stored(num_unroll)
        steps = _steps(sequences)
        dense = {label: stored.sequence(label, value) for label, value in sequences.items()}
        dense.update({stored.PREFIX + label: stored.context(label, value, steps)
                      for label, value in context.items() if _is_sparse(value)})
        if make_keys_unique:
            number = tf.random_uniform([], 0, 100000000, tf.int32,
                                       seed=arguments.seed(make_keys_unique_seed, "make_keys_unique_seed"))
            input_key = tf.string_join([input_key, tf.as_string(number)])
        saver = SequenceQueueingStateSaver(
            batch_size, num_unroll, input_length, input_key, dense,
            {label: value for label, value in context.items() if not _is_sparse(value)}, initial_states, capacity,
            allow_small_batch)
        tf.summary.scalar(f"queue/{saver.barrier.name}/ready_segment_batches_",
                          tf.cast(saver.barrier.ready_size(), tf.float32))
        tf.train.add_queue_runner(tf.train.QueueRunner(
            saver, [saver.prefetch_op] * num_threads,
            queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError)))
        batch = saver.next_batch
        stored.take(batch)
        return batch


def _is_sparse(value):
    return isinstance(value, tf.SparseTensor)


def _tensors(values):
    """The values of a dictionary as tensors or SparseTensors, in the order of their names."""
    if not isinstance(values, dict):
        raise TypeError(f"Unsupported sequences expected dict, got: {values}")
    for label in values:
        if not isinstance(label, str):
            raise TypeError(f"Unsupported sequences key expected string, got: {label}")
    return {label: tf.SparseTensor.from_value(value) if isinstance(value, (tf.SparseTensor, tf.SparseTensorValue))
            else tf.convert_to_tensor(value) for label, value in sorted(values.items())}


def _steps(sequences):
    """The number of steps of the first sequence, an int64 scalar."""
    first = next(iter(sequences.values()), None)
    if first is None:
        return tf.constant(0, tf.int64)
    return first.dense_shape[0] if _is_sparse(first) else tf.shape(first, out_type=tf.int64)[0]


def _padded(sequences, num_unroll):
    """The number of steps of the sequences, and the sequences with a multiple of `num_unroll` steps."""
    if not sequences:
        return 0, {}
    lengths = [tf.shape(value)[0] for value in sequences.values() if not _is_sparse(value)]
    if lengths:
        checks = [tf.Assert(tf.equal(other, lengths[0]), [
            "All sequence lengths must match, but received lengths: ", *lengths]) for other in lengths[1:]]
        with tf.control_dependencies(checks):
            length = tf.identity(lengths[0])
    else:
        length = tf.reduce_max([tf.cast(value.dense_shape[0], tf.int32) for value in sequences.values()])
    wanted = (length + num_unroll - 1) // num_unroll * num_unroll

    def pad(value):
        if _is_sparse(value):
            return tf.SparseTensor(value.indices, value.values,
                                   tf.concat([[tf.cast(wanted, tf.int64)], value.dense_shape[1:]], 0))
        filling = tf.constant("" if value.dtype == tf.string else 0, value.dtype)
        shape = tf.shape(value)
        return tf.concat([value, tf.fill(tf.concat([[wanted - shape[0]], shape[1:]], 0), filling)], 0)

    return length, {label: pad(value) for label, value in sequences.items()}


class _Stored:
    """SparseTensors while the state saver has their handles: one for each step."""

    PREFIX = "_context_in_seq_"

    def __init__(self, num_unroll):
        self._num_unroll = num_unroll
        self._maps = {}  # by label, or PREFIX and label: the operation that stores, and the dtype

    def sequence(self, label, value):
        """The value, or the handles of a SparseTensor [steps, ...]."""
        if not _is_sparse(value):
            return value
        stored = make_op("AddManySparseToTensorsMap", [value.indices, value.values, value.dense_shape],
                         "AddManySparseToTensorsMap")
        self._maps[label] = stored, value.dtype
        return stored.outputs[0]

    def context(self, label, value, steps):
        """The handles of a SparseTensor [...], which the first step of each segment has."""
        first = tf.range(0, steps, self._num_unroll)  # steps
        count, elements = tf.size(first), tf.shape(value.values)[0]
        step = tf.reshape(tf.tile(tf.expand_dims(first, 1), [1, elements]), [-1, 1])
        repeated = tf.SparseTensor(
            tf.concat([step, tf.tile(value.indices, [count, 1])], 1), tf.tile(value.values, [count]),
            tf.concat([tf.expand_dims(steps, 0), value.dense_shape], 0))
        return self.sequence(self.PREFIX + label, repeated)

    def take(self, batch):
        """Puts SparseTensors into the place of the handles in the batch."""
        for label, (stored, dtype) in self._maps.items():
            handles = batch.sequences.pop(label)
            with tf.colocate_with(stored):
                taken = make_op("TakeManySparseFromTensorsMap", [tf.reshape(handles, [-1])],
                                "TakeManySparseFromTensorsMap", dtype=dtype, shared_name=stored.name)
            flat = tf.SparseTensor(*taken.outputs)  # [batch * num_unroll, ...]
            count = tf.shape(handles, out_type=tf.int64)[0]
            if label.startswith(self.PREFIX):
                indices = tf.concat([flat.indices[:, :1] // self._num_unroll, flat.indices[:, 1:]], 1)
                batch.context[label.removeprefix(self.PREFIX)] = tf.SparseTensor(
                    indices, flat.values, tf.concat([[count], flat.dense_shape[1:]], 0))
            else:
                batch.sequences[label] = tf.sparse_reshape(
                    flat, tf.concat([[count, self._num_unroll], flat.dense_shape[1:]], 0))
