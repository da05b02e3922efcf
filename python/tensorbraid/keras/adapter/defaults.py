"""Layers that have other defaults in tf.keras than in the library, or take other inputs."""

import functools
import inspect
import math
import re

import tensorbraid as tf
from tensorbraid.keras import added_arguments, added_cells, graph_seeds
from tensorbraid.keras.adapter.loaded import replace

__all__ = []


def _with(kind, **values):
    """Gives arguments of the constructor these values, where a call does not name them."""
    init, signature = kind.__init__, inspect.signature(kind.__init__)

    @functools.wraps(init)
    def __init__(self, *args, **kwargs):
        given = signature.bind_partial(self, *args).arguments
        init(self, *args, **{**{name: value for name, value in values.items() if name not in given}, **kwargs})

    kind.__init__ = __init__


def change_recurrent(recurrent):
    """Changes the library's module layers.recurrent."""
    for kind in (recurrent.GRU, recurrent.GRUCell, recurrent.LSTM, recurrent.LSTMCell):
        _with(kind, recurrent_activation="hard_sigmoid")
    added_cells.change_recurrent(recurrent)


def change_initializers(initializers):
    """Changes the library's module initializers: it reads the configurations of TensorFlow's, which have a dtype."""
    deserialize = initializers.deserialize

    def of_tensorflow(config, custom_objects=None):
        values = {key: value for key, value in (config.get("config") or {}).items() if key != "dtype"}
        name, snake = config["class_name"], re.sub(r"(?<=.)([A-Z])", r"_\1", config["class_name"]).lower()
        if name not in vars(initializers) and name not in (custom_objects or {}) and snake in vars(initializers):
            return getattr(initializers, snake)(**values)  # GlorotUniform is a function of the library
        return deserialize({**config, "config": values}, custom_objects)

    initializers.deserialize = of_tensorflow
    added_arguments.change_initializers(initializers)


class _FlattenMethods:
    """Methods of tf.keras.layers.Flatten, which takes any number of dimensions."""

    def call(self, inputs):
        """One row for each sample."""
        if self.data_format == "channels_first" and inputs.shape.ndims > 2:
            inputs = tf.transpose(inputs, [0, *range(2, inputs.shape.ndims), 1])
        outputs = tf.reshape(inputs, [tf.shape(inputs)[0], -1])
        outputs.set_shape(self.compute_output_shape(tuple(inputs.shape.as_list())))
        return outputs

    def compute_output_shape(self, input_shape):
        """The number of samples, and the number of values of each."""
        sizes = input_shape[1:]
        return (input_shape[0], None if None in sizes else math.prod(sizes))


def change_core(core):
    """Changes the library's module layers.core."""
    init = core.Flatten.__init__

    @functools.wraps(init)
    def __init__(self, *args, **kwargs):
        init(self, *args, **kwargs)
        self.input_spec = core.InputSpec(min_ndim=1)

    graph_seeds.change(core)
    replace(core.Flatten, _FlattenMethods)
    core.Flatten.__init__ = __init__
