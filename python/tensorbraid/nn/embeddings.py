"""Embeddings, and losses and samplers for many classes."""

from tensorbraid import _core, dtypes
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import make_op
from tensorbraid.internal.op_results import results_class
from tensorbraid.internal.partitioned_variables import PartitionedVariable
from tensorbraid.ops.node import cast, op, reduce, shape_of, tensor
from tensorbraid.ops.random_ops import seed_attrs

__all__ = ["all_candidate_sampler", "compute_accidental_hits", "embedding_lookup", "embedding_lookup_sparse",
           "fixed_unigram_candidate_sampler", "fused_embedding_lookup_sparse",
           "fused_safe_embedding_lookup_sparse", "group_embedding_lookup_sparse", "learned_unigram_candidate_sampler", "log_uniform_candidate_sampler",
           "nce_loss", "safe_embedding_lookup_sparse", "sampled_softmax_loss", "uniform_candidate_sampler"]

_COMBINERS = {"sum": _core.Combiner.SUM, "mean": _core.Combiner.MEAN, "sqrtn": _core.Combiner.SQRTN}
_STRATEGIES = {"mod": _core.PartitionStrategy.MOD, "div": _core.PartitionStrategy.DIV}


def _parts(params):
    """The parts of a table as a list."""
    if params is None or (isinstance(params, (list, tuple)) and not params):
        raise ValueError("params must be specified")
    if isinstance(params, PartitionedVariable):
        return params._get_variable_list()
    return list(params) if isinstance(params, (list, tuple)) else [params]


def _strategy(name):
    if name not in _STRATEGIES:
        raise ValueError(f"Unrecognized partition strategy: {name}. Must be one of either `mod` or `div`.")
    return _STRATEGIES[name]


def _keys(parts, ids, missing=False):
    """The ids of a lookup. For a growing table, a string becomes its key: its fingerprint modulo 2^63 - 1, made here.

    With `missing`, "" becomes -1, which a safe lookup drops.
    """
    strings = isinstance(ids, graphs.Tensor) and ids.dtype == dtypes.string or isinstance(ids, (str, bytes)) or (
        isinstance(ids, (list, tuple)) and ids and isinstance(ids[0], (str, bytes)))
    if not strings or not isinstance(parts[0], _core.Variable) or parts[0]._table is None:
        return ids
    keys = op("StringToHashBucketFast", [ids], "keys", num_buckets=2**63 - 1)
    if not missing:
        return keys
    return op("SelectV2", [op("Equal", [ids, graphs.constant("")]), graphs.constant(-1, dtypes.int64), keys])


def embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None,
                     ev_init_value=None, blocknums=None, counts=None):
    """The rows of a table, which may be in several parts, for these ids.

    The last three arguments are DeepRec's, for growing tables. `counts`, integers of the shape of the ids, says how
    often each of them occurs, for ids that a program has made distinct. The filter of a table counts so many; without
    `counts`, and in tables without a filter, each id occurs once. The other two are not supported.
    """
    if ev_init_value is not None or blocknums is not None:
        raise NotImplementedError("the arguments ev_init_value and blocknums of embedding_lookup: leave them out; the "
                                  "initializer of the table makes initial rows")
    parts, strategy = _parts(params), _strategy(partition_strategy)
    if all(isinstance(part, _core.Variable) for part in parts):
        return _core.embedding_lookup(parts, _keys(parts, ids), strategy, max_norm, counts, name or "embedding_lookup")
    if len(parts) > 1:
        return _lookup_in_tensors([tensor(part) for part in parts], ids, strategy, max_norm, name)
    with graphs.name_scope(name, "embedding_lookup", [parts[0], ids]):
        rows = op("GatherV2", [parts[0], ids, 0])
        return rows if max_norm is None else _clipped(rows, tensor(ids).shape.ndims, max_norm)


def _lookup_in_tensors(parts, ids, strategy, max_norm, name):
    """The rows of a table whose parts are tensors: each part looks up its ids, and the rows go to their places."""
    with graphs.name_scope(name, "embedding_lookup", parts + [ids]):
        ids = tensor(ids, name="ids")
        flat, count = op("Reshape", [ids, [-1]]), len(parts)
        number = graphs.constant(count, ids.dtype)
        if strategy == _core.PartitionStrategy.MOD:
            part, inner = op("FloorMod", [flat, number]), op("FloorDiv", [flat, number])
        else:
            total = reduce("Sum", op("Pack", [[op("StridedSlice", [shape_of(p), [0], [1], [1]], shrink_axis_mask=1)
                                               for p in parts]]), [0])
            per_part = op("FloorDiv", [cast(total, ids.dtype), number])
            larger = op("FloorMod", [cast(total, ids.dtype), number])  # parts with one row more
            one_more = op("AddV2", [per_part, graphs.constant(1, ids.dtype)])
            limit = op("Mul", [larger, one_more])
            part = op("Maximum",
                      [op("FloorDiv", [flat, one_more]), op("FloorDiv", [op("Sub", [flat, larger]), per_part])])
            inner = op("SelectV2", [op("Less", [flat, limit]), op("FloorMod", [flat, one_more]),
                                    op("FloorMod", [op("Sub", [flat, larger]), per_part])])
        part = cast(part, "int32")
        positions = op("Range", [0, op("Size", [flat]), 1])
        at = make_op("DynamicPartition", [positions, part], num_partitions=count).outputs
        wanted = make_op("DynamicPartition", [inner, part], num_partitions=count).outputs
        found = [op("GatherV2", [table, index, 0]) for table, index in zip(parts, wanted)]
        rows = op("DynamicStitch", [list(at), found])
        row_shape = parts[0].shape.as_list()[1:]
        rows = op("Reshape", [rows, op("ConcatV2", [[shape_of(ids), row_shape], 0])])
        if ids.shape.ndims is not None:
            rows.set_shape(ids.shape.as_list() + row_shape)
        return rows if max_norm is None else _clipped(rows, ids.shape.ndims, max_norm)


def _clipped(rows, ids_rank, max_norm):
    """The rows with an L2 norm of at most max_norm."""
    axes = list(range(ids_rank, rows.shape.ndims))
    squares = reduce("Sum", op("Square", [rows]), axes, True)
    positive = op("Greater", [squares, 0.0])
    norm = op("SelectV2", [positive, op("Sqrt", [op("SelectV2", [positive, squares, 1.0])]), squares])
    return op("RealDiv", [op("Mul", [rows, max_norm]), op("Maximum", [norm, max_norm])])


def _sparse(ids):
    return (ids.indices, ids.values, ids.dense_shape)


def _sparse_keys(parts, ids, missing=False):
    return (ids.indices, _keys(parts, ids.values, missing), ids.dense_shape)


def embedding_lookup_sparse(params, sp_ids, sp_weights, partition_strategy="mod", name=None, combiner=None,
                            max_norm=None):
    """Combines the rows for the ids of each row of a SparseTensor: "mean" (the default), "sum" or "sqrtn"."""
    combiner = combiner or "mean"
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    parts = _variables(params)
    return _core.embedding_lookup_sparse(parts, _sparse_keys(parts, sp_ids), sp_weights and _sparse(sp_weights),
                                         _strategy(partition_strategy), _COMBINERS[combiner], max_norm,
                                         name or "embedding_lookup_sparse")


def safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None,
                                 name=None, partition_strategy="div", max_norm=None):
    """embedding_lookup_sparse for ids that may be invalid and rows that may be empty."""
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    parts = _variables(embedding_weights)
    found = _core.safe_embedding_lookup_sparse(
        parts, _sparse_keys(parts, sparse_ids, missing=True), sparse_weights and _sparse(sparse_weights),
        _strategy(partition_strategy), _COMBINERS[combiner], max_norm, default_id,
        name or "safe_embedding_lookup_sparse")
    sizes = getattr(sparse_ids, "shape", None)
    if sizes is not None and sizes.ndims is not None and found.shape.ndims is not None:
        found.set_shape(sizes.as_list()[:-1] + found.shape.as_list()[sizes.ndims - 1:])
    return found


def fused_safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner="mean",
                                       default_id=None, name=None, partition_strategy="div", max_norm=None, prune=True):
    """safe_embedding_lookup_sparse under another name of DeepRec. Without `prune`, no id is dropped as invalid."""
    if not prune:
        raise NotImplementedError("prune=False of fused_safe_embedding_lookup_sparse: call embedding_lookup_sparse, which "
                                  "drops no ids")
    return safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights, combiner, default_id,
                                        name or "fused_safe_embedding_lookup_sparse", partition_strategy, max_norm)


def fused_embedding_lookup_sparse(params, sp_ids, sparse_weights=None, partition_strategy=None, name=None,
                                  combiner=None, max_norm=None, default_id=None, prune_invalid_ids=False,
                                  blocknums=None):
    """embedding_lookup_sparse under another name of DeepRec, or its safe form if `prune_invalid_ids` is true."""
    if blocknums is not None:
        raise NotImplementedError("the argument blocknums of fused_embedding_lookup_sparse: leave it out")
    name = name or "fused_embedding_lookup_sparse"
    if prune_invalid_ids:
        return safe_embedding_lookup_sparse(params, sp_ids, sparse_weights, combiner or "mean", default_id, name,
                                            partition_strategy or "div", max_norm)
    if default_id is not None:
        raise NotImplementedError("default_id of fused_embedding_lookup_sparse without prune_invalid_ids: set it, too, or "
                                  "fill the empty rows with tf.sparse_fill_empty_rows")
    return embedding_lookup_sparse(params, sp_ids, sparse_weights, partition_strategy or "mod", name, combiner,
                                   max_norm)


def group_embedding_lookup_sparse(params, sp_ids, combiners, partition_strategy="mod", sp_weights=None, name=None):
    """embedding_lookup_sparse for each of several tables, with its ids and its combiner. Returns a list of tensors."""
    tables, ids, combiners = list(params), list(sp_ids), list(combiners)
    weights = [None] * len(tables) if sp_weights is None else list(sp_weights)
    if not len(tables) == len(ids) == len(combiners) == len(weights):
        raise ValueError("params, sp_ids, combiners and sp_weights of group_embedding_lookup_sparse must have one item "
                         f"for each table, got {len(tables)}, {len(ids)}, {len(combiners)} and {len(weights)}")
    with graphs.name_scope(name, "group_embedding_lookup_sparse"):
        return [embedding_lookup_sparse(*lookup[:3], partition_strategy, combiner=lookup[3])
                for lookup in zip(tables, ids, weights, combiners)]


def _variables(params):
    parts = _parts(params)
    if not all(isinstance(part, _core.Variable) for part in parts):
        raise NotImplementedError("sparse lookups in tensors that are not variables")
    return parts


_SAMPLED = "sampled_candidates true_expected_count sampled_expected_count"


def _sampler(op_type, kind):
    def function(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
        outputs = make_op(op_type, [true_classes], name or op_type, num_true=num_true, num_sampled=num_sampled,
                          unique=unique, range_max=range_max, **seed_attrs(seed)).outputs
        return results_class(op_type, _SAMPLED)(*outputs)

    return named(function, f"{kind}_candidate_sampler",
                 f"Classes drawn by {op_type}, and the expected counts of the true and of the drawn classes.")


uniform_candidate_sampler = _sampler("UniformCandidateSampler", "uniform")
log_uniform_candidate_sampler = _sampler("LogUniformCandidateSampler", "log_uniform")
learned_unigram_candidate_sampler = _sampler("LearnedUnigramCandidateSampler", "learned_unigram")


def fixed_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, vocab_file="",
                                    distortion=1.0, num_reserved_ids=0, num_shards=1, shard=0, unigrams=(), seed=None,
                                    name=None):
    """Classes drawn with given frequencies, and the expected counts of the true and of the drawn classes."""
    outputs = make_op("FixedUnigramCandidateSampler", [true_classes], name, num_true=num_true, num_sampled=num_sampled,
                      unique=unique, range_max=range_max, vocab_file=vocab_file, distortion=float(distortion),
                      num_reserved_ids=num_reserved_ids, num_shards=num_shards, shard=shard,
                      unigrams=[float(n) for n in unigrams], **seed_attrs(seed)).outputs
    return results_class("FixedUnigramCandidateSampler", _SAMPLED)(*outputs)


def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None):
    """All classes, in the form of the samplers' results."""
    outputs = make_op("AllCandidateSampler", [true_classes], name, num_true=num_true, num_sampled=num_sampled,
                      unique=unique, **seed_attrs(seed)).outputs
    return results_class("AllCandidateSampler", _SAMPLED)(*outputs)


def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """Which drawn classes are true ones: their examples, their positions, and a large negative weight."""
    outputs = make_op("ComputeAccidentalHits", [true_classes, sampled_candidates], name, num_true=num_true,
                      **seed_attrs(seed)).outputs
    return results_class("ComputeAccidentalHits", "indices ids weights")(*outputs)


def _sampled_loss(loss, weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                  remove_accidental_hits, partition_strategy, seed, name):
    """The C++ loss. It looks up the rows of classes by functions, since a table may also be a tensor."""
    if sampled_values is not None:
        sampled_values = [tensor(value) for value in sampled_values]
    return loss(lambda ids: embedding_lookup(weights, ids, partition_strategy),
                lambda ids: embedding_lookup(biases, ids, partition_strategy), tensor(labels), tensor(inputs),
                num_sampled, num_classes, num_true, sampled_values, bool(remove_accidental_hits), seed or 0, name)


def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
             remove_accidental_hits=False, partition_strategy="mod", name="nce_loss"):
    """The noise-contrastive loss of each example, with `num_sampled` drawn classes."""
    return _sampled_loss(_core.nce_loss, weights, biases, labels, inputs, num_sampled, num_classes, num_true,
                         sampled_values, remove_accidental_hits, partition_strategy, None, name or "nce_loss")


def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                         remove_accidental_hits=True, partition_strategy="mod", name="sampled_softmax_loss", seed=None):
    """The softmax loss of each example over the true and `num_sampled` drawn classes."""
    return _sampled_loss(_core.sampled_softmax_loss, weights, biases, labels, inputs, num_sampled, num_classes,
                         num_true, sampled_values, remove_accidental_hits, partition_strategy, arguments.seed(seed),
                         name or "sampled_softmax_loss")
