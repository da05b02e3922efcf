"""Graphs as GraphDefs, and what operations and tensors say about themselves: node_def, op_def, attributes, inputs."""

import itertools
import os

from tensorbraid import _core, compat, dtypes, errors
from tensorbraid.internal import graphs, own_gradients
from tensorbraid.internal.graphs import Graph, Operation, Tensor

__all__ = ["import_graph_def"]


def _proto():
    from tensorbraid import proto

    return proto


def _attrs(data):
    """The attributes that C++ has serialised, by name."""
    return {name[1:]: value for name, value in _proto().GraphDef.FromString(data).node[0].attr.items()}


def attr_value(value):
    """The value of an AttrValue, as Operation.get_attr returns it."""
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "list":
        for field in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
            items = list(getattr(value.list, field))
            if items:
                return [dtypes.as_dtype(item) for item in items] if field == "type" else items
        return []
    return dtypes.as_dtype(value.type) if kind == "type" else getattr(value, kind)


def _input_name(tensor):
    return tensor.op.name if tensor.value_index == 0 else tensor.name


def _node_def(op):
    node = _proto().NodeDef(name=op.name, op=op.type, device=op.device)
    node.input.extend(_input_name(tensor) for tensor in op.inputs)
    node.input.extend("^" + control.name for control in op.control_inputs)
    for name, value in _attrs(_core.attrs_of(op)).items():
        node.attr[name].CopyFrom(value)
    return node


def _get_attr(self, name):
    """The value of an attribute: bytes, numbers, DTypes, messages, or a list of them."""
    attrs = _attrs(_core.attrs_of(self))
    if name not in attrs:
        raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
    return attr_value(attrs[name])


def _op_def(parts):
    proto = _proto()
    name, inputs, outputs, attrs, defaults, is_stateful = parts
    op = proto.OpDef(name=name, is_stateful=is_stateful)
    for args, target in ((inputs, op.input_arg), (outputs, op.output_arg)):
        for arg_name, dtype, type_attr, number_attr, type_list_attr, is_ref in args:
            target.add(name=arg_name, type=dtype, type_attr=type_attr, number_attr=number_attr,
                       type_list_attr=type_list_attr, is_ref=is_ref)
    default_values = _attrs(defaults)
    for attr_name, kind, minimum, types, strings in attrs:
        attr = op.attr.add(name=attr_name, type=kind)
        if minimum is not None:
            attr.has_minimum, attr.minimum = True, minimum
        attr.allowed_values.list.type.extend(types)
        attr.allowed_values.list.s.extend(text.encode() for text in strings)
        if not types and not strings:
            attr.ClearField("allowed_values")
        if attr_name in default_values:
            attr.default_value.CopyFrom(default_values[attr_name])
    return op


def _values(self):
    """The outputs as a tuple."""
    return tuple(self.outputs)


def _consumers(self):
    """The operations that have this tensor as an input."""
    return _core.consumers_of(self)


def _colocation_groups(self):
    """The operations with which this one shares its device, as b"loc:@NAME"."""
    attrs = _attrs(_core.attrs_of(self))
    names = [name for name in attrs["_class"].list.s if name.startswith(b"loc:@")] if "_class" in attrs else []
    return names or [b"loc:@" + self.name.encode()]


Operation.inputs = property(_core.inputs_of)
Operation.control_inputs = property(_core.control_inputs_of)
Operation.node_def = property(_node_def)
Operation.op_def = property(lambda self: _op_def(_core.op_def_of(self)))
Operation.get_attr = _get_attr
Operation.values = _values
Operation.colocation_groups = _colocation_groups
Operation._set_device = lambda self, device: _core.set_device(self, device)
Tensor.consumers = _consumers


def _set_shape(self, shape):
    """Adds what `shape` says to what is known about the shape; raises ValueError if they disagree."""
    dims = graphs.TensorShape(shape)._dims
    if dims is not None:
        _core.set_shape(self, dims)


Tensor.set_shape = _set_shape


def _as_graph_def(self, from_version=None, add_shapes=False):
    """The GraphDef. With `from_version`, only of the nodes that were added since the graph had this version."""
    graph_def = _proto().GraphDef.FromString(self._graph_def())
    if from_version:
        del graph_def.node[:from_version]
    if add_shapes:
        for node in graph_def.node:
            for tensor in self.get_operation_by_name(node.name).outputs:
                node.attr["_output_shapes"].list.shape.append(tensor.shape.as_proto())
    return graph_def


def _op_def_for_type(self, type):
    """The definition of an op, as an OpDef; ValueError if the op does not exist."""
    parts = _core.op_def_for_type(self, type)
    if parts is None:
        raise ValueError(f"the op '{type}' does not exist")
    return _op_def(parts)


Graph.as_graph_def = _as_graph_def
Graph.op_def_for_type = _op_def_for_type
Graph.graph_def_versions = property(lambda self: _proto().GraphDef.FromString(_core.Graph()._graph_def()).versions)


class Import:
    """The import of a GraphDef. rewrite_all() changes the GraphDef, whose nodes can then be added to a graph."""

    def __init__(self, graph_def, input_map, prefix, graph):
        self.prefix = prefix
        self.graph_def = graph_def
        self.names = {node.name for node in graph_def.node}
        self.renamed = self._free_names(graph)
        self.frame_suffix = f"_{len(graph.get_operations())}".encode() if self.renamed else b""
        self.input_map = {self._full(key): value for key, value in input_map.items()}
        self.keys = {self._full(key): key for key in input_map}
        self.used = set()

    @staticmethod
    def _full(name):
        name = compat.as_str(name)
        return name if name.startswith("^") or ":" in name else name + ":0"

    def _free_names(self, graph):
        """{old name: new name} for nodes whose names are taken in the graph. As in TensorFlow, the first is NAME_1."""
        taken = {op.name for op in graph.get_operations()}
        used = taken | {self.prefix + name for name in self.names}
        renamed = {}
        for node in self.graph_def.node:
            if self.prefix + node.name in taken:
                numbered = (f"{self.prefix}{node.name}_{i}" for i in itertools.count(1))
                renamed[node.name] = next(name for name in numbered if name not in used)
                used.add(renamed[node.name])
        return renamed

    def named(self, name):
        """The name in the graph of a node of the GraphDef."""
        return self.renamed.get(name) or self.prefix + name

    def tensor_named(self, name):
        """The name in the graph of a tensor, such as "node:1", or a node of the GraphDef."""
        node, colon, index = name.partition(":")
        return self.named(node) + colon + index

    def input(self, name):
        """The name in the graph of an input that is written as `name` in the GraphDef."""
        full = self._full(name)
        if full in self.input_map:
            self.used.add(full)
            value = self.input_map[full]
            return "^" + getattr(value, "op", value).name if full.startswith("^") else _input_name(value)
        return "^" + self.named(name[1:]) if name.startswith("^") else self.tensor_named(name)

    def rewrite(self, node):
        """Gives the node and its inputs and colocated nodes their names in the graph. Returns the shapes it states."""
        node.name = self.named(node.name)
        inputs = [self.input(name) for name in node.input]
        del node.input[:]
        node.input.extend(inputs)
        if "_class" in node.attr:
            groups = [b"loc:@" + self.named(name[5:].decode()).encode() if name.startswith(b"loc:@") else name
                      for name in node.attr["_class"].list.s]
            node.attr["_class"].list.s[:] = groups
        if "frame_name" in node.attr and (self.prefix or self.renamed):
            # Two loops with the same frame name would be executed as one loop.
            node.attr["frame_name"].s = self.prefix.encode() + node.attr["frame_name"].s + self.frame_suffix
        if "_output_shapes" not in node.attr:
            return []
        shapes = list(node.attr["_output_shapes"].list.shape)
        del node.attr["_output_shapes"]
        return shapes

    def rewrite_all(self):
        """Gives all nodes of the GraphDef their names in the graph."""
        self.stated = [self.rewrite(node) for node in self.graph_def.node]

    def finish(self, graph):
        """Gives the new nodes of the graph their devices and the shapes that the GraphDef states."""
        for node, shapes in zip(self.graph_def.node, self.stated):
            op = graph.get_operation_by_name(node.name)
            graph._apply_device_functions(op)
            own_gradients.mark_imported(graph, node, op)
            for tensor, shape in zip(op.outputs, shapes):
                tensor.set_shape(None if shape.unknown_rank else [dim.size for dim in shape.dim])

    def elements(self, graph, return_elements):
        """The operations and tensors of a list of names, or None for None."""
        return None if return_elements is None else [self.element(graph, compat.as_str(item))
                                                     for item in return_elements]

    def check_used(self):
        """Raises ValueError if a tensor to replace is not in the GraphDef."""
        unused = [key for full, key in self.keys.items() if full not in self.used]
        if unused:
            raise ValueError(f"Attempted to map inputs that were not found in graph_def: {unused}")

    def element(self, graph, name):
        """A return element: the operation or tensor that the GraphDef calls `name`."""
        if name in self.names:
            return graph.get_operation_by_name(self.named(name))
        if self._full(name) in self.input_map and ":" in name:
            self.used.add(name)
            return self.input_map[name]
        if ":" in name and name.rsplit(":", 1)[0] in self.names:
            try:
                node, _, index = name.rpartition(":")
                return graph.get_tensor_by_name(f"{self.named(node)}:{index}")
            except KeyError:
                pass
        raise ValueError(f"Requested return_element '{name}' not found in graph_def.")


def _mapped(input_map, name):
    """`input_map` with tensors as its values."""
    if all(isinstance(value, (Tensor, Operation)) for value in input_map.values()):
        return input_map
    if name == "":
        raise ValueError("tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor values.")
    with graphs.name_scope("_inputs"):
        return {key: value if isinstance(value, (Tensor, Operation)) else graphs.convert_to_tensor(value)
                for key, value in input_map.items()}


def _remove_defaults(graph, graph_def, producer_op_list):
    """Removes attributes that this library does not have, if the producer's OpList says that they have the default."""
    producer = {op.name: op for op in _proto().message("OpList", producer_op_list, "producer_op_list").op}
    for node in graph_def.node:
        parts = _core.op_def_for_type(graph, node.op)
        if parts is None or node.op not in producer:
            continue
        known = {attr[0] for attr in parts[3]}
        for attr in producer[node.op].attr:
            if attr.name not in known and attr.name in node.attr and node.attr[attr.name] == attr.default_value:
                del node.attr[attr.name]


def import_graph_def(graph_def, input_map=None, return_elements=None, name=None, op_dict=None, producer_op_list=None):
    """Adds the nodes of a GraphDef to the default graph, under the prefix `name`, which is "import" if it is None.

    `input_map` replaces tensors of the GraphDef, given by name, by tensors of the graph. Returns the operations and
    tensors that the list `return_elements` names, if it is given. ValueError if the GraphDef is wrong, NotFoundError
    if it uses an op that does not exist.
    """
    if op_dict is not None:
        raise NotImplementedError("op_dict of tf.import_graph_def, which TensorFlow 1 ignores")
    copy = _proto().GraphDef()
    copy.CopyFrom(_proto().message("GraphDef", graph_def, "graph_def"))
    if return_elements is not None and not isinstance(return_elements, (list, tuple)):
        raise TypeError("return_elements must be a list of strings.")
    graph = graphs.get_default_graph()
    graph._check_not_finalized()
    with graph.name_scope("import" if name is None else name) as scope:
        importing = Import(copy, _mapped(dict(input_map or {}), name), scope, graph)
        if producer_op_list is not None:
            _remove_defaults(graph, copy, producer_op_list)
        importing.rewrite_all()
        try:
            _core.import_graph_def(graph, copy.SerializeToString())
        except errors.InvalidArgumentError as error:
            raise ValueError(error.message) from None
    importing.finish(graph)
    elements = importing.elements(graph, return_elements)
    importing.check_used()
    return elements


def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Writes a Graph or a GraphDef to the file `name` in the folder `logdir`, and returns its path."""
    from tensorbraid import gfile

    is_graph = isinstance(graph_or_graph_def, Graph)
    graph_def = graph_or_graph_def.as_graph_def() if is_graph else _proto().message("GraphDef", graph_or_graph_def)
    gfile.makedirs(logdir)
    path = os.path.join(logdir, name)
    with gfile.GFile(path + ".tmp", "wb") as file:
        file.write(str(graph_def) if as_text else graph_def.SerializeToString())
    gfile.rename(path + ".tmp", path, overwrite=True)  # so that readers see the old content or the new
    return path
