"""Renames nodes and tensors in a MetaGraphDef outside of its GraphDef: in savers, variables and other collections."""

import re

from tensorbraid.internal.graph_keys import GraphKeys

__all__ = ["UNBOUND", "UNBOUND_INPUTS", "export_scoped", "prefix_names", "rename", "scoped"]

# A node in an exported scope may have an input from outside of the scope. The input's name gets the prefix UNBOUND, and
# the collection UNBOUND_INPUTS lists all such names. The importing program maps each of them to a tensor.
UNBOUND = "$unbound_inputs_"
UNBOUND_INPUTS = "unbound_inputs"

_CONTEXT_FIELDS = ("context_name", "pred_name", "pivot_name", "pivot_for_pred_name", "pivot_for_body_name",
                   "maximum_iterations_name", "loop_exit_names", "loop_enter_names")
# For each type of message, the field whose name decides to which scope the message belongs, and all fields with names.
_FIELDS = {
    "VariableDef": ("variable_name", ("variable_name", "initializer_name", "snapshot_name", "initial_value_name")),
    "QueueRunnerDef": ("queue_name", ("queue_name", "enqueue_op_name", "close_op_name", "cancel_op_name")),
    "SaverDef": ("save_tensor_name", ("filename_tensor_name", "save_tensor_name", "restore_op_name")),
    "CondContextDef": ("context_name", _CONTEXT_FIELDS),
    "WhileContextDef": ("context_name", _CONTEXT_FIELDS),
}
_KINDS = {GraphKeys.QUEUE_RUNNERS: "QueueRunnerDef", GraphKeys.SAVERS: "SaverDef",
          GraphKeys.COND_CONTEXT: "CondContextDef", GraphKeys.WHILE_CONTEXT: "WhileContextDef"}


def _proto():
    from tensorbraid import proto

    return proto


def _variable_def(data):
    """The VariableDef that the bytes encode, or None if they encode something else."""
    variable = _proto().parsed("VariableDef", data)
    return variable if variable is not None and variable.variable_name and variable.initializer_name else None


def _message(key, data):
    """The message that an item of the collection `key` encodes, or None if it does not encode one with names."""
    return getattr(_proto(), _KINDS[key]).FromString(data) if key in _KINDS else _variable_def(data)


class _Names:
    """Renames nodes in messages and collections.

    `new_name` is a function from the old name to the new one. Items for whose old name `is_kept` is False are removed.
    """

    def __init__(self, new_name, is_kept):
        self._new_name, self.is_kept = new_name, is_kept

    def _name(self, name):
        return self._new_name(name) if name else name

    def message(self, message):
        """Renames the nodes in a message of a collection."""
        for field in _FIELDS[message.DESCRIPTOR.name][1]:
            if field not in message.DESCRIPTOR.fields_by_name:
                continue
            value = getattr(message, field)
            if isinstance(value, str):
                setattr(message, field, self._name(value))
            else:
                value[:] = [self._name(name) for name in value]
        if "values_def" in message.DESCRIPTOR.fields_by_name:
            self._context(message)
        if message.DESCRIPTOR.name == "VariableDef" and message.save_slice_info_def.full_name:
            message.save_slice_info_def.full_name = self._name(message.save_slice_info_def.full_name)

    def _context(self, context):
        values = context.values_def
        values.values[:] = [self._name(name) for name in values.values]
        external = {self._name(outer): self._name(inner) for outer, inner in values.external_values.items()}
        values.external_values.clear()
        values.external_values.update(external)
        for nested in context.nested_contexts:
            self.message(getattr(nested, nested.WhichOneof("ctxt")))

    def _items(self, key, items):
        for data in items:
            message = _message(key, data)
            if message is None:
                yield data
                continue
            owner = _FIELDS[message.DESCRIPTOR.name][0]
            if not self.is_kept(getattr(message, owner)):
                continue
            self.message(message)
            yield message.SerializeToString(deterministic=True)

    def collection(self, key, collection):
        """Renames the nodes in a CollectionDef, and removes items that are not kept."""
        kind = collection.WhichOneof("kind")
        if kind == "node_list":
            collection.node_list.value[:] = [self._name(name) for name in collection.node_list.value
                                             if self.is_kept(name)]
        elif kind == "bytes_list":
            collection.bytes_list.value[:] = list(self._items(key, collection.bytes_list.value))


def prefix_names(meta_graph, prefix, without=()):
    """Adds the prefix of imported nodes to all names except those in the collections `without`."""
    names = _Names(lambda name: prefix + name, lambda name: True)
    if meta_graph.HasField("saver_def"):
        names.message(meta_graph.saver_def)
    for key, collection in meta_graph.collection_def.items():
        if key not in without:
            names.collection(key, collection)


def rename(meta_graph, new_name, keys):
    """Gives the names in the collections `keys` the new names that the function returns for them."""
    names = _Names(new_name, lambda name: True)
    for key in keys:
        if key in meta_graph.collection_def:
            names.collection(key, meta_graph.collection_def[key])


def _scoped_node(node, scope, unbound):
    """Removes the scope from the names in a NodeDef. Adds inputs from outside of the scope to `unbound`."""
    node.name = node.name.removeprefix(scope)
    for i, name in enumerate(node.input):
        control, name = re.fullmatch(r"(\^?)(.*)", name).groups()
        if name.startswith(scope):
            node.input[i] = control + name.removeprefix(scope)
            continue
        node.input[i] = control + UNBOUND + name
        if not control:
            unbound.setdefault(UNBOUND + name)
    if "_class" in node.attr:
        own = f"loc:@{scope}".encode()
        groups = [b"loc:@" + name.removeprefix(own) for name in node.attr["_class"].list.s if name.startswith(own)]
        node.attr["_class"].list.s[:] = groups
        if not groups:
            del node.attr["_class"]


def _scope_names(export_scope):
    scope = export_scope.rstrip("/") + "/"
    return _Names(lambda name: name.removeprefix(scope), lambda name: name.startswith(scope))


def scoped(message, export_scope):
    """Removes the scope from the names in a message of a collection, in place, and returns the message.

    Returns None if the message belongs to a node outside of the scope.
    """
    names = _scope_names(export_scope)
    owner = _FIELDS[message.DESCRIPTOR.name][0]
    if not names.is_kept(getattr(message, owner)):
        return None
    names.message(message)
    return message


def export_scoped(meta_graph, export_scope, without=()):
    """Reduces a MetaGraphDef to the nodes of one scope, and removes the scope from their names.

    Inputs from outside of the scope get names with the prefix UNBOUND, which the collection UNBOUND_INPUTS lists. Items
    of other collections are kept if their node is in the scope. The collections `without` are not changed.
    """
    scope = export_scope.rstrip("/") + "/"
    nodes = [node for node in meta_graph.graph_def.node if node.name.startswith(scope)]
    unbound = {}
    for node in nodes:
        _scoped_node(node, scope, unbound)
    kept = [node.SerializeToString() for node in nodes]
    del meta_graph.graph_def.node[:]
    for data in kept:
        meta_graph.graph_def.node.add().ParseFromString(data)
    names = _scope_names(export_scope)
    for key in list(meta_graph.collection_def):
        collection = meta_graph.collection_def[key]
        if key not in without:
            names.collection(key, collection)
        kind = collection.WhichOneof("kind")
        if kind is None or not getattr(collection, kind).value:
            del meta_graph.collection_def[key]
    if unbound:
        meta_graph.collection_def[UNBOUND_INPUTS].bytes_list.value.extend(name.encode() for name in unbound)
