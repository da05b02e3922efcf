"""Helpers, which choose the next input of a decoder: the true inputs, or its own outputs."""

import tensorbraid as tf
from tensorbraid import nest
from tensorbraid.internal import arguments

__all__ = ["CustomHelper", "GreedyEmbeddingHelper", "Helper", "SampleEmbeddingHelper", "TrainingHelper"]


class Helper:
    """Samples symbols from outputs, and says what the next inputs are. Subclasses define the methods."""

    @property
    def batch_size(self):
        """The number of sequences."""
        raise NotImplementedError("batch_size has not been implemented")

    sample_ids_shape = property(lambda self: tf.TensorShape([]))
    sample_ids_dtype = property(lambda self: tf.int32)

    def initialize(self, name=None):
        """Which sequences have ended before the first step, and the first inputs."""
        raise NotImplementedError("initialize has not been implemented")

    def sample(self, time, outputs, state, name=None):
        """The symbols that are chosen for the outputs."""
        raise NotImplementedError("sample has not been implemented")

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        """Which sequences have ended, the next inputs, and the next state."""
        raise NotImplementedError("next_inputs has not been implemented")


class CustomHelper(Helper):
    """A helper that calls functions."""

    def __init__(self, initialize_fn, sample_fn, next_inputs_fn, sample_ids_shape=None, sample_ids_dtype=None):
        self._initialize, self._sample, self._next_inputs = initialize_fn, sample_fn, next_inputs_fn
        self._shape, self._dtype, self._batch_size = tf.TensorShape(sample_ids_shape or []), sample_ids_dtype, None

    @property
    def batch_size(self):
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    sample_ids_shape = property(lambda self: self._shape)
    sample_ids_dtype = property(lambda self: self._dtype or tf.int32)

    def initialize(self, name=None):
        with tf.name_scope(name, "CustomHelperInitialize"):
            finished, inputs = self._initialize()
            self._batch_size = tf.size(finished)
        return finished, inputs

    def sample(self, time, outputs, state, name=None):
        with tf.name_scope(name, "CustomHelperSample", [time, outputs]):
            return self._sample(time=time, outputs=outputs, state=state)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with tf.name_scope(name, "CustomHelperNextInputs", [time, outputs]):
            return self._next_inputs(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class TrainingHelper(Helper):
    """Feeds the true inputs, whatever the decoder writes."""

    def __init__(self, inputs, sequence_length, time_major=False, name=None):
        with tf.name_scope(name, "TrainingHelper", [sequence_length]):
            inputs = nest.map_structure(tf.convert_to_tensor, inputs)
            self._inputs = inputs
            if not time_major:
                inputs = nest.map_structure(_exchanged, inputs)
            self._arrays = nest.map_structure(_array_of, inputs)
            self._sequence_length = tf.convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.ndims != 1:
                raise ValueError("Expected sequence_length to be a vector, but received shape: "
                                 f"{self._sequence_length.shape}")
            self._zeros = nest.map_structure(lambda value: tf.zeros_like(value[0, :]), inputs)
            self._batch_size = tf.size(self._sequence_length)

    inputs = property(lambda self: self._inputs)
    sequence_length = property(lambda self: self._sequence_length)
    batch_size = property(lambda self: self._batch_size)

    def _read(self, all_finished, time):
        inputs = tf.cond(all_finished, lambda: self._zeros,
                         lambda: nest.map_structure(lambda array: array.read(time), self._arrays))
        nest.map_structure(lambda value, zeros: value.set_shape(zeros.shape), inputs, self._zeros)
        return inputs

    def initialize(self, name=None):
        with tf.name_scope(name, "TrainingHelperInitialize"):
            finished = tf.equal(0, self._sequence_length)
            return finished, self._read(tf.reduce_all(finished), 0)

    def sample(self, time, outputs, state, name=None):
        with tf.name_scope(name, "TrainingHelperSample", [time, outputs]):
            return tf.argmax(outputs, axis=-1, output_type=tf.int32)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with tf.name_scope(name, "TrainingHelperNextInputs", [time, outputs]):
            finished = tf.greater_equal(time + 1, self._sequence_length)
            return finished, self._read(tf.reduce_all(finished), time + 1), state


def _exchanged(value):
    return tf.transpose(value, [1, 0] + list(range(2, value.shape.ndims)))


def _array_of(value):
    return tf.TensorArray(value.dtype, size=tf.shape(value)[0], element_shape=value.shape[1:]).unstack(value)


class GreedyEmbeddingHelper(Helper):
    """Feeds the embedding of the symbol with the highest score, until it is `end_token`."""

    def __init__(self, embedding, start_tokens, end_token):
        self._embed = embedding if callable(embedding) else lambda ids: tf.nn.embedding_lookup(embedding, ids)
        self._start = tf.convert_to_tensor(start_tokens, tf.int32, name="start_tokens")
        self._end = tf.convert_to_tensor(end_token, tf.int32, name="end_token")
        if self._start.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        if self._end.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = tf.size(self._start)
        self._inputs = self._embed(self._start)

    batch_size = property(lambda self: self._batch_size)

    def initialize(self, name=None):
        return tf.tile([False], [self._batch_size]), self._inputs

    def sample(self, time, outputs, state, name=None):
        if not isinstance(outputs, tf.Tensor):
            raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
        return tf.argmax(outputs, axis=-1, output_type=tf.int32)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        finished = tf.equal(sample_ids, self._end)
        inputs = tf.cond(tf.reduce_all(finished), lambda: self._inputs, lambda: self._embed(sample_ids))
        inputs.set_shape(self._inputs.shape)
        return finished, inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Feeds the embedding of a symbol that is drawn with the probabilities of the scores."""

    def __init__(self, embedding, start_tokens, end_token, softmax_temperature=None, seed=None):
        super().__init__(embedding, start_tokens, end_token)
        self._temperature, self._seed = softmax_temperature, arguments.seed(seed)

    def sample(self, time, outputs, state, name=None):
        logits = outputs if self._temperature is None else outputs / self._temperature
        return tf.reshape(tf.multinomial(logits, 1, seed=self._seed, output_dtype=tf.int32), [-1])
