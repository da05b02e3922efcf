"""Long sequences in segments of equal length: a batch has a segment of each of its sequences, and states between them."""

import tensorbraid as tf
from tensorbraid.tensorflow_python.barrier import Barrier

__all__ = ["NextQueuedSequenceBatch", "SequenceQueueingStateSaver"]


def _named_tensors(kind, values):
    """The tensors of a dictionary in the order of their names."""
    for name in values:
        if not isinstance(name, str):
            raise TypeError(f"{kind} key must be string: {name}")
        if ":" in name:
            raise ValueError(f"{kind} key may not have a colon: '{name}'")
    return {name: tf.convert_to_tensor(values[name], name=f"{kind}_{name}") for name in sorted(values)}


def _check_defined(kind, tensors, begin=0):
    """ValueError if the shape of a tensor, from the axis `begin` on, is not known."""
    for name, tensor in tensors.items():
        if tensor.shape.ndims is None or not tensor.shape[begin:].is_fully_defined():
            ignored = " (ignoring first dimension)" if begin else ""
            raise ValueError(f"Shape for {kind} {name} is not fully defined{ignored}: {tensor.shape}")


def _scalar(value, name, dtype):
    tensor = tf.convert_to_tensor(value, name=name)
    if tensor.dtype.base_dtype != dtype:
        raise TypeError(f"{name} dtype must be {dtype.name}, but received: {tensor.dtype}")
    if tensor.shape.ndims not in (None, 0):
        raise ValueError(f"Rank check failed for {tensor.name}: the shape must be [], but is {tensor.shape}")
    return tf.reshape(tensor, [])


def _assert(condition, *words):
    """An assertion with the words, of which some are numbers of the step, as message."""
    return tf.Assert(condition, [tf.string_join([word if isinstance(word, str) else tf.as_string(word)
                                                 for word in words])])


class SequenceQueueingStateSaver:
    """Splits sequences into segments, makes batches of them, and keeps the states of their sequences.

    Each run of `prefetch_op` adds one sequence, and belongs into a QueueRunner; `next_batch` has the batches. The next
    segment of a sequence is available once the states behind the segment before were saved with
    NextQueuedSequenceBatch.save_state. The state saver is closed as a queue is. A sequence whose batches have begun can
    then still be ended, if `allow_small_batch` permits batches that are not full.
    """

    def __init__(self, batch_size, num_unroll, input_length, input_key, input_sequences, input_context, initial_states,
                 capacity=None, allow_small_batch=False, name=None):
        """Makes the state saver.

        Args:
            batch_size: The number of segments in a batch, also as a tensor.
            num_unroll: The number of steps of a segment.
            input_length: The number of steps of the sequence without its padding, an int32 scalar.
            input_key: A string scalar, which no other sequence has at the same time.
            input_sequences: A dictionary of tensors [steps, ...]. The number of steps is a multiple of `num_unroll`.
            input_context: A dictionary of tensors of known shapes, which each segment gets.
            initial_states: A dictionary of values of known shapes. At least one.
            capacity: The number of sequences that may be in work, at least `batch_size`; None for any number.
            allow_small_batch: Whether the last batches may be smaller.
            name: The name scope of the operations.

        Raises TypeError or ValueError for an argument that does not fit. A step fails with InvalidArgumentError if a
        sequence has a wrong number of steps.
        """
        for kind, values in (("initial_states", initial_states), ("sequences", input_sequences),
                             ("context", input_context)):
            if not isinstance(values, dict):
                raise TypeError(f"{kind} must be a dict")
        if not initial_states:
            raise ValueError("initial_states may not be empty: at least one state variable is required to properly "
                             "enqueue split sequences to run in separate iterations")
        if not input_sequences:
            raise ValueError("must have at least one sequence tensor")
        if capacity is not None and not isinstance(batch_size, tf.Tensor) and capacity < batch_size:
            raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
        self._batch_size, self._num_unroll, self._allow_small_batch = batch_size, num_unroll, allow_small_batch
        # One token for each sequence in work. The barrier has an element for each of its segments.
        self._tokens = tf.FIFOQueue(-1 if capacity is None else capacity, [tf.int32], [[]])
        with tf.name_scope(name, "InputQueueingStateSaver") as self._scope:
            self._states = _named_tensors("state", initial_states)
            self._context = _named_tensors("context", input_context)
            sequences = _named_tensors("sequence", input_sequences)
            _check_defined("state", self._states)
            _check_defined("context", self._context)
            _check_defined("sequence", sequences, 1)
            length = _scalar(input_length, "length", tf.int32)
            self._key = _scalar(input_key, "key", tf.string)
            steps = tf.shape(next(iter(sequences.values())))[0]
            with tf.control_dependencies(self._checks(length, steps, sequences, capacity)):
                self._length, self._steps = tf.identity(length), tf.identity(steps, "padded_length")
                self._sequences = {label: tf.identity(values) for label, values in sequences.items()}
            self._make_barrier()
        self._prefetch_op = self._next_batch = None

    def _checks(self, length, steps, sequences, capacity):
        first = next(iter(sequences.values()))
        checks = [
            _assert(tf.logical_and(tf.equal(steps % self._num_unroll, 0), tf.not_equal(steps, 0)),
                    f"Tensor {first.name} should be a multiple of: ", tf.constant(self._num_unroll),
                    ", but saw value: ", steps, ". Consider setting pad=True."),
            _assert(length <= steps, "Input length should be <= than length from sequences:", length, " vs. ", steps)]
        for label, values in sequences.items():
            checks.append(_assert(tf.equal(tf.shape(values)[0], steps),
                                  f"Dimension 0 of tensor labeled sorted_sequences_{label} should be: ", steps,
                                  ", shape received: ", tf.shape(values)[0]))
        if capacity is not None and isinstance(self._batch_size, tf.Tensor):
            checks.append(_assert(tf.cast(capacity, tf.int64) >= tf.cast(self._batch_size, tf.int64),
                                  "capacity needs to be >= batch_size."))
        return checks

    def _make_barrier(self):
        """Makes the barrier. `_index` has the numbers of its components."""
        scalars = {"length": tf.int32, "total_length": tf.int32, "next_key": tf.string, "sequence": tf.int32,
                   "sequence_count": tf.int32}
        components = {name: (dtype, []) for name, dtype in scalars.items()}
        for label, values in self._sequences.items():
            components["sequences", label] = values.dtype, [self._num_unroll, *values.shape.as_list()[1:]]
        for kind, tensors in (("context", self._context), ("states", self._states)):
            for label, values in tensors.items():
                components[kind, label] = values.dtype, values.shape.as_list()
        self._index = {name: i for i, name in enumerate(components)}
        self._barrier = Barrier(*zip(*components.values()))

    name = property(lambda self: self._scope, doc="The name scope of the operations.")
    barrier = property(lambda self: self._barrier, doc="The Barrier, whose elements are segments.")
    batch_size = property(lambda self: self._batch_size, doc="The number of segments in a batch.")
    num_unroll = property(lambda self: self._num_unroll, doc="The number of steps of a segment.")

    @property
    def prefetch_op(self):
        """The operation that adds one sequence. It waits while there are `capacity` sequences."""
        if self._prefetch_op is None:
            with tf.name_scope(None), tf.name_scope(self._scope):
                self._prefetch_op = self._prefetch()
        return self._prefetch_op

    @property
    def next_batch(self):
        """The NextQueuedSequenceBatch. A step that uses it waits for a batch of segments."""
        if self._next_batch is None:
            with tf.name_scope(None), tf.name_scope(self._scope):
                self._next_batch = NextQueuedSequenceBatch(self)
        return self._next_batch

    def close(self, cancel_pending_enqueues=False, name=None):
        """The operation after which no sequence can be added. Others can be ended, unless they are cancelled."""
        with tf.name_scope(name, "SQSSClose") as scope:
            return tf.group(self._barrier.close(cancel_pending_enqueues, "BarrierClose"),
                            self._tokens.close(cancel_pending_enqueues, "FIFOClose"), name=scope)

    def _insert(self, name, keys, values):
        label = "_".join(name) if isinstance(name, tuple) else name
        return self._barrier.insert_many(self._index[name], keys, values, f"BarrierInsert_{label}")

    def _prefetch(self):
        count = self._steps // self._num_unroll
        numbers = tf.range(count)
        keys = tf.string_join([tf.as_string(numbers, width=5, fill="0"), "_of_",
                               tf.as_string(count, width=5, fill="0"), ":", self._key])
        values = {
            "length": tf.clip_by_value(self._length - self._num_unroll * numbers, 0, self._num_unroll),
            "total_length": tf.fill([count], self._length),
            "next_key": tf.concat([keys[1:], [tf.string_join(["STOP:", self._key])]], 0),
            "sequence": numbers,
            "sequence_count": tf.fill([count], count)}
        for label, sequence in self._sequences.items():
            values["sequences", label] = tf.reshape(
                sequence, [count, self._num_unroll, *sequence.shape.as_list()[1:]])
        for label, context in self._context.items():
            values["context", label] = tf.tile(tf.expand_dims(context, 0), [count] + [1] * context.shape.ndims)
        inserts = {name: self._insert(name, keys, value) for name, value in values.items()}
        token = self._tokens.enqueue(0)
        # A key has its place in the barrier from its first insert, so all segments are inserted before the states.
        with tf.control_dependencies([inserts["sequence"], token]):
            states = [self._insert(("states", label), keys[:1], tf.expand_dims(state, 0))
                      for label, state in self._states.items()]
        return tf.group(token, *inserts.values(), *states, name="StateSaverPrefetchGroup")



class NextQueuedSequenceBatch:
    """A batch of segments. A step takes it once. A SequenceQueueingStateSaver makes it."""

    def __init__(self, state_saver):
        self._state_saver = saver = state_saver
        self._indices, self._keys, values = saver.barrier.take_many(
            saver.batch_size, saver._allow_small_batch, name="BarrierTakeMany")
        taken = {name: values[i] for name, i in saver._index.items()}
        self._taken = taken
        self._is_last = taken["sequence"] + 1 >= taken["sequence_count"]
        ended = saver._tokens.dequeue_many(tf.reduce_sum(tf.cast(self._is_last, tf.int32)))
        with tf.control_dependencies([ended]):
            self._states = {label: tf.identity(taken["states", label]) for label in saver._states}
        self._sequences = {label: taken["sequences", label] for label in saver._sequences}
        self._context = {label: taken["context", label] for label in saver._context}

    total_length = property(lambda self: self._taken["total_length"], doc="The lengths of the whole sequences.")
    length = property(lambda self: self._taken["length"], doc="The lengths of the segments without padding.")
    insertion_index = property(lambda self: self._indices,
                               doc="The numbers of the sequences in the order of their insertion, from -2**63 on.")
    key = property(lambda self: self._keys, doc='The keys of the segments, "00000_of_00003:KEY".')
    next_key = property(lambda self: self._taken["next_key"], doc='The keys of the next segments, or "STOP:KEY".')
    sequence = property(lambda self: self._taken["sequence"], doc="The numbers of the segments in their sequences.")
    sequence_count = property(lambda self: self._taken["sequence_count"], doc="How many segments the sequences have.")
    context = property(lambda self: self._context, doc="The context, by name: tensors [batch, ...].")
    sequences = property(lambda self: self._sequences, doc="The segments, by name: tensors [batch, num_unroll, ...].")

    @property
    def batch_size(self):
        """The number of segments in this batch."""
        return tf.size(self.length)

    def state(self, state_name):
        """The state of the sequences before these segments: the initial one, or the one saved behind the last segment."""
        return self._states[state_name]

    def save_state(self, state_name, value, name=None):
        """The operation that saves the state behind these segments. Each step needs it for each state.

        KeyError for a name that is not among the initial states, ValueError for a wrong shape.
        """
        if state_name not in self._states:
            raise KeyError(f"state was not declared: {state_name}")
        before = self._states[state_name]
        with tf.name_scope(name, "InputQueueingStateSaver_SaveState", [value]):
            value = tf.convert_to_tensor(value, before.dtype, name=f"convert_{state_name}")
            value.shape.assert_is_compatible_with(before.shape)
            continued = tf.reshape(tf.where(tf.logical_not(self._is_last)), [-1])
            saver = self._state_saver
            return saver._insert(("states", state_name), tf.gather(self.next_key, continued),
                                 tf.gather(value, continued))
