"""The variables that are the tables of embeddings."""

import copy

from tensorbraid import _core, dtypes
from tensorbraid.feature_column.categorical import growing_column
from tensorbraid.internal import graphs
from tensorbraid.internal.embedding_options import CheckpointOption, EmbeddingVariableOption
from tensorbraid.internal.embedding_variables import get_embedding_variable
from tensorbraid.internal.partitioners import fixed_size_partitioner
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.internal.variable_scope import get_variable


def table_of(column, weight_collections, trainable, shared=None):
    """The table of an embedding, made in the open variable scope. `shared` names a collection that may have it."""
    grows = growing_column(column)
    shape = TensorShape([None if grows else column.categorical_column.num_buckets, column.dimension])
    existing = graphs.get_collection(shared) if shared else []
    if len(existing) > 1:
        raise ValueError(f"Collection {existing} can only contain one variable. Suggested fix A: Choose a unique name "
                         f"for this collection: {shared}. Suggested fix B: Do not add any variables to this "
                         "collection.")
    if existing:
        if existing[0].shape.as_list() != shape.as_list():
            raise ValueError(f"Shared embedding collection {shared} contains variable {existing[0].name} of unexpected "
                             f"shape {existing[0].shape}. Expected shape is {shape}. Suggested fix A: Choose a unique "
                             "name for this collection. Suggested fix B: Do not add any variables to this collection.")
        return existing[0]
    trainable = bool(column.trainable and trainable)
    if grows:
        start = None
        if column.ckpt_to_load_from is not None:
            start = CheckpointOption(column.ckpt_to_load_from, column.tensor_name_in_ckpt)
        variable = growing_table("embedding_weights", grows, column.dimension, column.initializer, trainable,
                                 weight_collections, start)
    else:
        initializer = column.initializer
        if column.ckpt_to_load_from is not None:
            initializer = restorer(column.ckpt_to_load_from, column.tensor_name_in_ckpt)
        variable = get_variable("embedding_weights", shape, dtypes.float32, initializer, trainable=trainable,
                                collections=weight_collections)
    if shared:
        graphs.add_to_collection(shared, variable)
    return variable


def growing_table(name, column, dimension, initializer, trainable, collections, start=None):
    """The growing table of an EmbeddingCategoricalColumn, made in the open variable scope.

    `start` is the CheckpointOption that the column of the embedding gives.
    """
    parts, option = column.partition_num, column.ev_option
    if start is not None:
        option = EmbeddingVariableOption() if option is None else copy.copy(option)
        if option.ckpt is not None and option.ckpt.ckpt_to_load_from:
            raise ValueError(f"the column '{column.name}' has a checkpoint in the ckpt of its ev_option, and its embedding "
                             "has ckpt_to_load_from; give one of them")
        option.ckpt = start
    return get_embedding_variable(name, dimension, initializer=initializer, trainable=trainable,
                                  collections=collections, partitioner=parts and fixed_size_partitioner(parts),
                                  ev_option=option)


def restorer(checkpoint, tensor_name):
    """An initializer that reads the value of a tensor from a checkpoint: its prefix, or its folder's latest one."""
    from tensorbraid.train.checkpoint_chain import CheckpointChain

    chain = CheckpointChain(checkpoint)

    def restore(shape, dtype=None, partition_info=None):
        part = ""
        if partition_info is not None:
            spec = zip(partition_info.var_offset, shape)
            part = f"{' '.join(str(n) for n in partition_info.full_shape)} " + ":".join(f"{o},{n}" for o, n in spec)
        made = chain.read(tensor_name, dtypes.as_dtype(dtype), part)
        made.set_shape(shape)
        return made

    return restore


def pieces(variable):
    """The variables that a variable consists of."""
    return [variable] if isinstance(variable, _core.Variable) else list(variable)
