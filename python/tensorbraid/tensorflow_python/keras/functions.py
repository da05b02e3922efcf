"""K.function: a step with values in and values out."""

import inspect

import numpy as np
import tensorbraid as tf
from tensorbraid import nest
from tensorbraid.tensorflow_python.keras.sessions import get_session
from tensorbraid.tensorflow_python.keras.values import sparse_parts

__all__ = ["function"]

_ARGUMENTS = [*inspect.signature(tf.Session.run).parameters][1:]


def _is_symbolic(value):
    return isinstance(value, (tf.Tensor, tf.Variable))


def _is_flat_list(structure):
    return type(structure) is list and not any(map(nest.is_nested, structure))


class _Function:
    """Runs a step that feeds `inputs`, fetches `outputs`, and makes `updates` once the first output has its value.

    An update is an operation, or a pair of a variable and its new value. `fetches` run in addition, `feed_dict` has
    further values, and its owner may change both.
    """

    def __init__(self, inputs, outputs, updates=None, name=None, feed_dict=None, fetches=None, options=None,
                 run_metadata=None):
        if not isinstance(updates or [], (list, tuple)):
            raise TypeError("`updates` in a Keras backend function should be a list or tuple.")
        self.name = name
        self.inputs = nest.flatten(inputs)
        self._inputs_structure, self._outputs_structure = inputs, outputs
        self._takes_list, self._gives_list = _is_flat_list(inputs), _is_flat_list(outputs)
        self.outputs = [tf.convert_to_tensor(output) if isinstance(output, tf.Variable) else output
                        for output in nest.flatten(outputs)]
        with tf.control_dependencies([self.outputs[0]] if self.outputs else []):
            self.updates_op = tf.group(*[tf.assign(*update) if isinstance(update, tuple) else update
                                         for update in updates or []])
        self.feed_dict = feed_dict or {}
        fetches = fetches if isinstance(fetches, list) else [] if fetches is None else [fetches]
        self.fetches = [tf.identity(fetch) for fetch in fetches]
        self.fetch_callbacks = {}  # by fetch: what is called with its value
        self.run_options, self.run_metadata = options, run_metadata

    def __call__(self, inputs):
        if not (self._takes_list and type(inputs) is list and len(inputs) == len(self.inputs)):
            inputs = self._values(inputs)
        session = get_session(inputs)
        feeds, connected = {}, {}
        for tensor, value in zip(self.inputs, inputs):
            if value is None:
                continue
            if _is_symbolic(value):
                connected[tensor] = value
            elif hasattr(value, "tocoo"):
                feeds[tensor] = sparse_parts(value)
            elif isinstance(tensor, tf.SparseTensor):
                feeds[tensor] = value
            else:
                feeds[tensor] = np.asarray(value, tensor.dtype.as_numpy_dtype)
        if connected:  # the values are those of a step before
            feeds.update(session.run(connected))
        feeds.update(self.feed_dict)
        fetched = session.run([*self.outputs, *self.fetches, self.updates_op], feeds, self.run_options,
                              self.run_metadata)
        for fetch, value in zip(self.fetches, fetched[len(self.outputs):]):
            if fetch in self.fetch_callbacks:
                self.fetch_callbacks[fetch](value)
        values = fetched[:len(self.outputs)]
        return values if self._gives_list else nest.pack_sequence_as(self._outputs_structure, values)

    def _values(self, inputs):
        """The values for the inputs as a list."""
        if self._takes_list and isinstance(inputs, (list, tuple)) and len(inputs) != len(self.inputs):
            names = ", ".join(getattr(tensor, "name", str(tensor)) for tensor in self.inputs)
            raise ValueError(f"the function {self.name or 'of K.function'} has {len(self.inputs)} inputs, {names}, and was "
                             f"called with {len(inputs)} values; each input needs one (a model's inputs, then its targets "
                             "and their weights)")
        return nest.flatten_up_to(self._inputs_structure, inputs, check_types=False)


def function(inputs, outputs, updates=None, name=None, **kwargs):
    """A function that runs a step of the graph. Further arguments are those of tf.Session.run."""
    for key in kwargs:
        if key not in _ARGUMENTS:
            raise ValueError(f'Invalid argument "{key}" passed to K.function with TensorFlow backend')
    return _Function(inputs, outputs, updates, name, **kwargs)
