"""Growing tables: embeddings of keys that nobody can list beforehand. Source: DeepRec's EmbeddingVariable."""

from tensorbraid import _core, dtypes
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.embedding_options import EmbeddingVariableOption
from tensorbraid.internal.first_rows import initial_rows
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.partitioned_variables import PartitionedVariable, parts_of
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.internal.variable_scope import AUTO_REUSE, get_variable_scope
from tensorbraid.internal.variables import collect
from tensorbraid.ops.node import op

__all__ = ["get_embedding_variable"]


class EmbeddingParts(PartitionedVariable):
    """The parts of a growing table. A part has the keys with `key % 1000 % parts` equal to its number."""

    shape = property(lambda self: self._parts[0].shape)

    def _get_partitions(self):
        return [len(self._parts), 1]

    def total_count(self):
        """The number of rows, an int64 scalar."""
        return op("AddN", [[part.total_count() for part in self._parts]])

    def as_tensor(self):
        """Raises ValueError: the rows of a growing table cannot be read as a whole."""
        raise ValueError(f"the growing table '{self.name}' cannot be read as a whole: its keys are not known "
                         "beforehand; look up the rows of some keys with tf.nn.embedding_lookup")

    value = _as_graph_tensor = as_tensor


def get_embedding_variable(name, embedding_dim, key_dtype=dtypes.int64, value_dtype=None, initializer=None,
                           regularizer=None, trainable=True, collections=None, caching_device=None, partitioner=None,
                           validate_shape=True, custom_getter=None, constraint=None, steps_to_live=None,
                           init_data_source=None, ev_option=None):
    """Makes the growing table `name` of the open variable scope, or returns it if it exists and the scope reuses.

    A lookup (tf.nn.embedding_lookup and the like) of a key that has no row reads its initial row, which is a function
    of the seed, the name of the table and the key; the first update of a key makes its row. With a partitioner, the
    result has parts `name/part_0` and so on. docs/recommenders.md lists the optimizers that update its rows. The
    initializer is truncated normal by default. If its numbers can be computed by key (zeros, ones, a constant number,
    uniform, normal, truncated normal, or variance scaling with 4,096 for the number of rows), each key has an initial
    row of its own. Otherwise it makes a matrix; see tf.InitializerOption. A string that is looked up becomes an int64
    key: its fingerprint modulo 2^63 - 1. `steps_to_live` is the same as tf.GlobalStepEvict in `ev_option`. The
    regularizer, or that of the variable scope, gets the rows of the distinct keys of each lookup; its losses are in
    tf.GraphKeys.REGULARIZATION_LOSSES.
    """
    scope = get_variable_scope()
    option = EmbeddingVariableOption() if ev_option is None else ev_option
    full_name = f"{scope.name}/{name}" if scope.name else name
    if not name:
        raise ValueError("a variable must have a name")
    dim = arguments.whole("embedding_dim", embedding_dim)
    if dim < 1:
        raise ValueError(f"embedding_dim of the growing table '{full_name}' must be positive, got {dim}")
    if not isinstance(option, EmbeddingVariableOption):
        raise TypeError(f"ev_option of the growing table '{full_name}' must be a tf.EmbeddingVariableOption, got {option!r}; "
                        "filters, evictions and checkpoints are arguments of it")
    _check(full_name, key_dtype, value_dtype, constraint or scope.constraint, init_data_source, custom_getter, option)
    regularizer = regularizer or scope.regularizer
    graph = graphs.get_default_graph()
    made = graph.growing_tables
    known = made.get(full_name)
    if known is not None:
        if not scope.reuse:
            raise ValueError(f"the growing table '{full_name}' exists already; to share it, open the variable scope "
                             "with reuse")
        if known.shape.as_list()[1] != dim:
            raise ValueError(f"the growing table '{full_name}' has rows of {known.shape.as_list()[1]} numbers, not of "
                             f"{dim}; give the other table another name, or the same embedding_dim")
        _check_parts(full_name, known, partitioner, dim)
        return known
    if scope.reuse and scope.reuse is not AUTO_REUSE:
        raise ValueError(f"the growing table '{full_name}' does not exist, but the variable scope reuses variables; "
                         "make it first, or open the scope with tf.AUTO_REUSE")
    if _core.has_variable(graph, full_name):
        raise ValueError(f"the variable '{full_name}' exists already, and is no growing table")
    keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    if GraphKeys.GLOBAL_VARIABLES not in keys:
        keys.append(GraphKeys.GLOBAL_VARIABLES)
    partitioner = scope.partitioner if partitioner is None else partitioner
    rows = option.init.initializer if option.init.initializer is not None else initializer
    rows = scope.initializer if rows is None else rows
    start = option._start(full_name)
    always = start if start is not None and option.ckpt.always_load_from_specific_ckpt else ("", "")
    if always[0]:
        from tensorbraid.train.checkpoints import checkpoint_path

        always = checkpoint_path(always[0]), always[1]
    native, matrix = initial_rows(graph, full_name, rows, option.init.default_value_dim, dim)
    parts = _core.make_embedding_variable(
        graph, dim, full_name, native, partitioner and _count_of(partitioner, full_name), bool(trainable),
        *option._admission(full_name), *option._eviction(full_name, steps_to_live), bool(option.skip_not_finite),
        *option._bloom(), option.init._rows or 0 if matrix is None else 0, matrix, regularizer is not None, *always)
    if regularizer is not None:
        graph.table_regularizers[full_name] = regularizer
    for part in parts:
        collect(part, [*keys, GraphKeys.EMBEDDING_VARIABLES], bool(trainable))
    table = parts[0] if partitioner is None else EmbeddingParts(full_name, parts)
    made[full_name] = table
    if start is not None:
        from tensorbraid.train.checkpoint_values import init_from_checkpoint

        init_from_checkpoint(start[0], {start[1]: list(parts)})
    return table


def penalty(rows, name):
    """The penalty for rows of the growing table `name` that a lookup has read; None if they have none."""
    graph = rows.graph
    loss = graph.table_regularizers[name](rows)
    if loss is None:
        return None
    loss = graphs.convert_to_tensor(loss)
    graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return loss


def _check(name, key_dtype, value_dtype, constraint, init_data_source, custom_getter, option):
    def refuse(what, cure=""):
        raise NotImplementedError(f"{what} of the growing table '{name}'{cure}")

    if dtypes.as_dtype(key_dtype) not in (dtypes.int64, dtypes.int32, dtypes.string):
        refuse(f"keys of {dtypes.as_dtype(key_dtype).name} (int64, int32 and string are supported)")
    if value_dtype is not None and dtypes.as_dtype(value_dtype) != dtypes.float32:
        refuse(f"values of {dtypes.as_dtype(value_dtype).name} (float32 is supported)")
    for what, value, cure in (
            ("constraint", constraint, "a table has no value as a whole; max_norm of a lookup limits the rows of a batch"),
            ("init_data_source", init_data_source, "give ckpt_to_load_from of tf.CheckpointOption"),
            ("custom_getter", custom_getter, "call it in place of tf.get_embedding_variable")):
        if value is not None:
            refuse(f"the argument {what}", f": {cure}")
    option._check(name)


def _check_parts(name, table, partitioner, dim):
    """Raises ValueError if a partitioner that is given for a table that exists gives it another number of parts."""
    if not partitioner:
        return
    found = len(table._get_variable_list()) if isinstance(table, PartitionedVariable) else 1
    asked = _count_of(partitioner, name)([2**31, dim], dtypes.float32)
    if asked != found:
        raise ValueError(f"the growing table '{name}' has {found} parts, not {asked}; give it the same partitioner wherever "
                         "it is used")


def _count_of(partitioner, name):
    """The function for C++ that calls the partitioner of the table `name` with the shape [2^31, dim]."""
    def call(shape, dtype):
        parts = _of_rank(partitioner(shape=shape, dtype=dtype), shape)
        if parts[0] < 1:
            raise ValueError(f"the partitioner of the growing table '{name}' must return a number of parts from 1 to 1000, "
                             f"got {parts[0]}: give it the number of parameter servers, or leave it out")
        return parts

    return parts_of(call)


def _of_rank(parts, shape):
    """The result of a partitioner, which DeepRec calls with a shape of rank 1 or 2."""
    parts = list(parts) if isinstance(parts, (list, tuple)) else [parts]
    return parts + [1] * (TensorShape(shape).ndims - len(parts))


_core.Variable.total_count = lambda self: _rows(self)


def _rows(variable):
    """The number of rows of a growing table, an int64 scalar."""
    if variable._table is None:
        raise AttributeError(f"the variable '{variable.name}' is no growing table, so it has no total_count")
    return variable._num_rows()
