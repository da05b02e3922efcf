"""Graphs with growing tables, in a form that TensorFlow can serve.

Serving needs no new rows, so a growing table becomes two variables and a hash table. The variable with the name of the
table has its rows, and below them those for all other keys: one row, or the matrix of initial rows if the table has one
and no filter. The variable `keys` has the keys. The main op of the SavedModel fills the hash table from it, which gives
the place of a key's row. Each part of a table becomes as many.
"""

import numpy as np

from tensorbraid import graph_util, lookup
from tensorbraid.internal import graph_defs, graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.meta_graphs import export_meta_graph
from tensorbraid.ops.control import group
from tensorbraid.ops.node import op
from tensorbraid.saved_model import constants

_TABLE, _LOOKUPS = "KvVarHandleOp", ("KvResourceGather", "KvResourceGatherV1")
_INT64 = 9  # DT_INT64 of TensorFlow's types.proto
_KEPT_COLLECTIONS = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)


def used(graph):
    """Whether the graph has growing tables."""
    return bool(graph.get_collection(GraphKeys.EMBEDDING_VARIABLES))


def rows_of(session):
    """The keys and the rows of each table or part of one in the session, by its name."""
    with session.graph.as_default():
        exported = {table.op.name: graphs.make_op("_ExportTable", [table.handle, []], None, N=0).outputs
                    for table in graphs.get_collection(GraphKeys.EMBEDDING_VARIABLES)}
    return {name: session.run([outputs[0], outputs[4]]) for name, outputs in exported.items()}


class ServingGraph:
    """A graph with what signatures, assets and the main op of `graph` need, without growing tables.

    `counts` has the number of rows of each table or part. `main_op` is the operation to run once the variables have
    their values.
    """

    def __init__(self, graph, signatures, counts, clear_devices):
        from tensorbraid.train.imported_graphs import import_with_elements

        meta_graph = export_meta_graph(graph=graph, clear_devices=clear_devices)
        main_ops = [operation.name for operation in graph.get_collection(constants.MAIN_OP_KEY)]
        _cut(meta_graph, [*_nodes_of(signatures, meta_graph), *main_ops])
        handles = [node for node in meta_graph.graph_def.node if node.op == _TABLE]
        _check(meta_graph.graph_def, {node.name for node in handles})
        self._counts, self._rows = counts, {}
        self.graph = graphs.Graph()
        with self.graph.as_default():
            made, fills = {}, []
            for node in handles:
                with graphs.device(node.device or None):
                    index, fill = self._add_table(node)
                made[f"{node.name}/index_of"] = index
                made[node.name] = self._rows[node.name][1].handle
                fills.append(fill)
            _replace(meta_graph.graph_def, {node.name: (counts[node.name], _others(node)) for node in handles})
            import_with_elements(meta_graph, import_scope="", input_map=made)
            main_ops = [self.graph.get_operation_by_name(name) for name in main_ops]
            self.main_op = group(*main_ops, *fills, name="fill_growing_tables")

    def _add_table(self, node):
        """Makes the variables and the hash table. Returns the handle of the hash table and the operation that fills it."""
        from tensorbraid.internal.variable_scope import get_variable

        count, dim = self._counts[node.name], node.attr["shape"].shape.dim[0].size
        keys_count = max(count, 1)  # a hash table must not be empty: without rows, one key has the place of all others
        rows = get_variable(node.name, [count + _others(node), dim], trainable=False)
        keys = get_variable(f"{node.name}/keys", [keys_count], "int64", trainable=False)
        self._rows[node.name] = (keys, rows, node)
        with graphs.name_scope(f"{node.name}/index"):
            places = op("Range", [graphs.constant(0, "int64"), graphs.constant(keys_count, "int64"),
                                  graphs.constant(1, "int64")])
            table = lookup.StaticHashTable(lookup.KeyValueTensorInitializer(keys.value(), places), count)
        return table.resource_handle, table.initializer

    def save(self, saver, path, source, tables):
        """Writes the values of the variables to a checkpoint: those of the session `source`, and the rows `tables`."""
        from tensorbraid.internal.session import Session

        own = {variable.op.name for of_table in self._rows.values() for variable in of_table[:2]}
        names = [variable.op.name for variable in self.graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
                 if variable.op.name not in own]
        known = {variable.op.name: variable for variable in source.graph.get_collection(GraphKeys.GLOBAL_VARIABLES)}
        values = source.run({name: known[name] for name in names})
        for name, (keys, rows, node) in self._rows.items():
            found, numbers = tables[name]
            values[keys.op.name] = found if len(found) > 0 else np.zeros([1], np.int64)
            values[rows.op.name] = np.concatenate([numbers, _rows_of_others(node)])
        with Session(graph=self.graph) as session:
            for variable in self.graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
                variable.load(values.pop(variable.op.name), session)
            saver.save(session, path, write_meta_graph=False, write_state=False)


def _others(handle):
    """The number of rows for keys that have none: 1, or the number of rows of the matrix."""
    return 1 if _integer(handle, "_filter_freq") > 0 else max(_integer(handle, "_matrix_rows"), 1)


def _integer(handle, name):
    """An attribute that only some handles have; 0 for the others."""
    return handle.attr[name].i if name in handle.attr else 0


def _rows_of_others(handle):
    """The rows for keys that have none, as an array."""
    from tensorbraid.internal.session import Session

    dim, count = handle.attr["shape"].shape.dim[0].size, _integer(handle, "_matrix_rows")
    if count == 0 or _integer(handle, "_filter_freq") > 0:
        value = handle.attr["_no_permission"].f if "_no_permission" in handle.attr else 0
        return np.full([1, dim], value, np.float32)
    whole = type(handle)(name=handle.name, op=_TABLE)  # a table without rows and parts
    for name, value in handle.attr.items():
        if name not in ("_class", "_part", "_parts"):
            whole.attr[name].CopyFrom(value)
    with Session(graph=graphs.Graph()) as session, session.graph.as_default():
        graph_def = session.graph.as_graph_def()
        graph_def.node.add().CopyFrom(whole)
        table, = graph_defs.import_graph_def(graph_def, {}, [f"{handle.name}:0"], "")
        rows = graphs.make_op("KvResourceGather", [table, graphs.constant(np.arange(count), "int64"),
                                                   graphs.constant(np.zeros([0], np.float32))], None).outputs[0]
        session.run(graphs.make_op("_InitializeTable", [table], None))
        return session.run(rows)


def _node(tensor):
    """The name of the node of a tensor, or of a control input."""
    return tensor.lstrip("^").split(":")[0]


def _nodes_of(signatures, meta_graph):
    """The names of the nodes that signatures and assets name."""
    from tensorbraid import proto

    infos = [info for signature in signatures.values()
             for info in [*signature.inputs.values(), *signature.outputs.values()]]
    if constants.ASSETS_KEY in meta_graph.collection_def:
        infos += [proto.AssetFileDef.FromString(item.value).tensor_info
                  for item in meta_graph.collection_def[constants.ASSETS_KEY].any_list.value]
    names = []
    for info in infos:
        sparse = info.coo_sparse
        names += [name for name in (info.name, sparse.values_tensor_name, sparse.indices_tensor_name,
                                    sparse.dense_shape_tensor_name) if name]
    return [_node(name) for name in names]


def _cut(meta_graph, wanted):
    """Leaves the nodes and what they depend on in the MetaGraphDef, with its variables and the names of its assets."""
    from tensorbraid import proto

    needed = {node.name for node in graph_util.extract_sub_graph(meta_graph.graph_def, wanted).node}
    tables = {node.name for node in meta_graph.graph_def.node if node.op == _TABLE}
    for key in list(meta_graph.collection_def):
        if key == constants.ASSETS_KEY:
            continue
        if key not in _KEPT_COLLECTIONS:
            del meta_graph.collection_def[key]
            continue
        variables = [proto.VariableDef.FromString(data) for data in meta_graph.collection_def[key].bytes_list.value]
        variables = [variable for variable in variables
                     if _node(variable.variable_name) in needed and _node(variable.variable_name) not in tables]
        del meta_graph.collection_def[key].bytes_list.value[:]
        for variable in variables:
            meta_graph.collection_def[key].bytes_list.value.append(variable.SerializeToString())
            wanted += [_node(name) for name in (variable.initializer_name, variable.snapshot_name,
                                                variable.initial_value_name) if name]
    meta_graph.graph_def.CopyFrom(graph_util.extract_sub_graph(meta_graph.graph_def, wanted))
    meta_graph.ClearField("saver_def")


def _check(graph_def, tables):
    """Raises an error for what cannot be served."""
    for node in graph_def.node:
        used = [_node(source) for source in node.input if _node(source) in tables and not source.startswith("^")]
        if used and node.op in ("Switch", "Enter"):
            raise NotImplementedError(f"a SavedModel with a lookup in the growing table '{used[0]}' inside of a "
                                      "conditional or loop; look up before it")
        if used and node.op not in _LOOKUPS:
            raise NotImplementedError(f"a SavedModel whose node '{node.name}' ({node.op}) uses the growing table "
                                      f"'{used[0]}' otherwise than to look up keys")
    for function in graph_def.library.function:
        if any(node.op in (_TABLE, *_LOOKUPS) for node in function.node_def):
            raise NotImplementedError(f"a SavedModel with a lookup in a growing table inside of the function "
                                      f"'{function.signature.name}'; look up before it")


def _replace(graph_def, counts):
    """Puts lookups by place in the place of those by key. Handles become the inputs TABLE and TABLE/index_of.

    `counts` has, for each table, the number of its rows and of those for other keys.
    """
    nodes = [node for node in graph_def.node if node.op != _TABLE]
    made = type(graph_def)(versions=graph_def.versions, library=graph_def.library)
    for node in nodes:
        if node.op not in _LOOKUPS:
            made.node.add().CopyFrom(node)
            continue
        table, place = node.input[0], _add_place(made, node, *counts[node.input[0]])
        gather = made.node.add(name=node.name, op="ResourceGather", device=node.device,
                               input=[table, place, *(name for name in node.input if name.startswith("^"))])
        gather.attr["dtype"].CopyFrom(node.attr["dtype"])
        gather.attr["Tindices"].type = _INT64
        gather.attr["_class"].CopyFrom(node.attr["_class"])
    graph_def.CopyFrom(made)


def _add_place(graph_def, lookup_node, count, others):
    """Adds the nodes that find the rows of the keys of a lookup. Returns the name of the last one."""
    table, keys = lookup_node.input[0], lookup_node.input[1]

    def add(suffix, op_type, inputs, types):
        made = graph_def.node.add(name=f"{lookup_node.name}/{suffix}", op=op_type, device=lookup_node.device,
                                  input=inputs)
        for name in types:
            made.attr[name].type = _INT64
        return made

    def number(suffix, value):
        made = add(suffix, "Const", [], ["dtype"])
        made.attr["value"].tensor.dtype = _INT64
        made.attr["value"].tensor.tensor_shape.SetInParent()
        made.attr["value"].tensor.int64_val.append(value)
        return made.name

    def find(suffix, other):
        return add(suffix, "LookupTableFindV2", [f"{table}/index_of", keys, other], ["Tin", "Tout"]).name

    if others == 1:
        return find("place", number("place_of_others", count))
    found = find("place_or_none", number("none", -1))
    rest = add("rest", "FloorMod", [keys, number("others", others)], ["T"]).name
    other = add("place_of_others", "AddV2", [rest, number("first_other", count)], ["T"]).name
    is_found = add("is_found", "GreaterEqual", [found, number("zero", 0)], ["T"]).name
    return add("place", "Select", [is_found, found, other], ["T"]).name
