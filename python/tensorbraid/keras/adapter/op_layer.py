"""An operation between layers of a model as a layer."""

import functools

import numpy as np
import tensorbraid as tf
from google.protobuf import text_format

from tensorbraid.keras.adapter.loaded import loaded

__all__ = []


class _Methods:
    """The methods of the class TensorFlowOpLayer."""

    def __init__(self, node_def, count=1, constants=None, name=None, trainable=True, dtype=None):
        super(layer_class(), self).__init__(name=name, trainable=trainable, dtype=dtype)
        self._node_def, self._count = tf.NodeDef(), count
        text_format.Parse(node_def, self._node_def)
        self._others = {int(index): tf.constant(values, dtype)
                        for index, (values, dtype) in (constants or {}).items()}
        self.built = True

    def call(self, inputs):
        """Adds the operation once more, for these inputs."""
        inputs = iter(inputs if isinstance(inputs, (list, tuple)) else [inputs])
        node, total = tf.NodeDef(), len([name for name in self._node_def.input if not name.startswith("^")])
        node.CopyFrom(self._node_def)
        del node.input[:]
        node.name, node.device = self._node_def.name.rpartition("/")[2], ""
        node.attr.pop("_class", None)
        node.input.extend(f"input_{index}" for index in range(total))
        sources = {f"input_{index}:0": self._others.get(index) for index in range(total)}
        sources = {name: next(inputs) if source is None else source for name, source in sources.items()}
        graph_def = tf.GraphDef()
        graph_def.node.append(node)
        scope = tf.get_default_graph().get_name_scope()
        outputs = tf.import_graph_def(graph_def, {name: tf.convert_to_tensor(source)
                                                  for name, source in sources.items()},
                                      [f"{node.name}:{index}" for index in range(self._count)], scope + "/")
        return outputs[0] if len(outputs) == 1 else outputs

    def get_config(self):
        """The operation as text, and the values of the inputs that are no layers' outputs."""
        values = {str(index): np.asarray(value) for index, value in zip(
            self._others, loaded("backend").batch_get_value([tf.convert_to_tensor(x) for x in self._others.values()]))}
        return {"name": self.name, "trainable": self.trainable, "node_def": text_format.MessageToString(self._node_def),
                "count": self._count,
                "constants": {index: (value.tolist(), value.dtype.name) for index, value in values.items()}}


@functools.cache
def layer_class():
    """The class TensorFlowOpLayer."""
    methods = {name: value for name, value in vars(_Methods).items() if name not in ("__dict__", "__weakref__")}
    return type("TensorFlowOpLayer", (loaded("engine.base_layer").Layer,), methods)


def new(node_def, count, others):
    """The layer of an operation. `others` are its inputs, by index, that are no layers' outputs."""
    name = "tf_op_layer_" + node_def.name
    layer = layer_class()(text_format.MessageToString(node_def), count, name=name)
    layer._others = others
    return layer

