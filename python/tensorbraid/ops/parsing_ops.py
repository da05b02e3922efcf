"""Ops that read and write files, and parse records."""

import collections

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal import arguments, graphs, variables
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.ops import arrays, sparse_ops
from tensorbraid.ops.old_arguments import renamed
from tensorbraid.ops.op_functions import op_function
from tensorbraid.ops.sparse_tensor import SparseTensor

decode_compressed = op_function("DecodeCompressed", "bytes", "compression_type=''")
matching_files = op_function("MatchingFiles", "pattern")
parse_tensor = op_function("ParseTensor", "serialized", "out_type")
write_file = op_function("WriteFile", "filename, contents")
_read_file = op_function("ReadFile", "filename")

FixedLenFeature = collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"], defaults=[None])
FixedLenSequenceFeature = collections.namedtuple("FixedLenSequenceFeature",
                                                 ["shape", "dtype", "allow_missing", "default_value"],
                                                 defaults=[False, None])
VarLenFeature = collections.namedtuple("VarLenFeature", ["dtype"])
SparseFeature = collections.namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"],
                                       defaults=[False])


def read_file(filename, name=None):
    """The contents of a file."""
    return _read_file(filename, name)


def serialize_tensor(tensor, name=None):
    """The TensorProto of a tensor as a string, for parse_tensor."""
    return make_op("SerializeTensor", [tensor], name or "SerializeTensor").outputs[0]


def decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None):
    """The bytes of strings as numbers."""
    data = renamed("input_bytes", input_bytes, "bytes", bytes)
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    return make_op("DecodeRaw", [data], name or "DecodeRaw", out_type=dtypes.as_dtype(out_type),
                   little_endian=little_endian).outputs[0]


def decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, name=None, na_value="",
               select_cols=None):
    """The columns of lines of CSV; `record_defaults` has the dtype and the default of each column."""
    if select_cols is not None and any(a >= b for a, b in zip(select_cols, select_cols[1:])):
        raise ValueError("select_cols is not strictly increasing.")
    if select_cols is not None and select_cols and select_cols[0] < 0:
        raise ValueError("select_cols contains negative values.")
    if select_cols is not None and len(select_cols) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.")
    record_defaults = arguments.items("record_defaults", record_defaults, "a list of the default of each column")
    made = make_op("DecodeCSV", [records, record_defaults], name or "DecodeCSV", field_delim=field_delim,
                   use_quote_delim=use_quote_delim, na_value=na_value, select_cols=select_cols)
    return made.outputs


def decode_json_example(json_examples, name=None):
    """Examples in JSON as serialized Examples."""
    return make_op("DecodeJSONExample", [json_examples], name or "DecodeJSONExample").outputs[0]


def _parsed(serialized, features, example_names):
    """The tensors of the features of one Example, or of a batch of them."""
    if not features:
        raise ValueError("Argument `features` cannot be None or empty.")
    sparse, dense, built = {}, {}, {}
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, VarLenFeature):
            sparse[key] = dtypes.as_dtype(feature.dtype)
        elif isinstance(feature, SparseFeature):
            index_keys = [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)
            for index_key in index_keys:
                sparse[index_key] = dtypes.int64
            sparse[feature.value_key] = dtypes.as_dtype(feature.dtype)
            built[key] = (feature, index_keys)
        elif isinstance(feature, (FixedLenFeature, FixedLenSequenceFeature)):
            if isinstance(feature, FixedLenSequenceFeature) and not feature.allow_missing:
                raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
            if feature.shape is None:
                raise ValueError(f"Missing shape for feature {key}.")
            dense[key] = feature
        else:
            raise ValueError(f"Invalid feature {key}:{feature}.")
    sparse_keys, dense_keys = sorted(sparse), sorted(dense)
    defaults, shapes = [], []
    for key in dense_keys:
        feature, kind = dense[key], dtypes.as_dtype(dense[key].dtype)
        shape = TensorShape(feature.shape)
        if isinstance(feature, FixedLenSequenceFeature):
            shape = TensorShape([None] + shape.as_list())
            default = graphs.constant("" if kind == dtypes.string else 0, kind)
            default = default if feature.default_value is None else convert_to_tensor(feature.default_value, kind)
        elif feature.default_value is None:
            default = graphs.constant([], kind)
        else:
            default = convert_to_tensor(feature.default_value, kind, name=f"key_{_node_name(key)}")
            default = arrays.reshape(default, shape)
        shapes.append(shape)
        defaults.append(default)
    names = [] if example_names is None else example_names
    strings = [convert_to_tensor(names if isinstance(names, graphs.Tensor) else np.array(names, np.object_),
                                 dtypes.string)]
    strings += [convert_to_tensor(np.array(keys, np.object_), dtypes.string) for keys in (sparse_keys, dense_keys, [])]
    made = make_op("ParseExampleV2", [serialized, strings[0], strings[1], strings[2], strings[3], defaults], None,
                   num_sparse=len(sparse_keys), sparse_types=[sparse[key] for key in sparse_keys],
                   ragged_value_types=[], ragged_split_types=[], dense_shapes=shapes,
                   Tdense=[dtypes.as_dtype(dense[key].dtype) for key in dense_keys]).outputs
    count = len(sparse_keys)
    result = {key: SparseTensor(made[i], made[count + i], made[2 * count + i]) for i, key in enumerate(sparse_keys)}
    result.update({key: made[3 * count + i] for i, key in enumerate(dense_keys)})
    for key, (feature, index_keys) in built.items():
        result[key] = _sparse_feature(result, feature, index_keys)
    return {key: result[key] for key in features}


def _sparse_feature(parsed, feature, index_keys):
    """The SparseTensor of a SparseFeature, from the parsed features of its indices and values."""
    sizes = [feature.size] if isinstance(feature.index_key, str) else list(feature.size)
    values = parsed[feature.value_key]
    ids = [parsed[key] for key in index_keys]
    return sparse_ops.sparse_merge(ids, values, sizes, already_sorted=feature.already_sorted)


def _node_name(key):
    return "".join(c if c.isalnum() or c in "_.\\-/" else "_" for c in key)


def parse_example(serialized, features, name=None, example_names=None):
    """The features of a batch of serialized Examples, as a dict of tensors."""
    with name_scope(name, "ParseExample", [serialized, example_names]):
        serialized = convert_to_tensor(serialized, dtypes.string, name="serialized")
        arguments.check(hasattr(features, "items"), "features", "a dictionary", features)
        return _parsed(serialized, features, example_names)


def parse_single_example(serialized, features, name=None, example_names=None):
    """The features of one serialized Example, as a dict of tensors."""
    with name_scope(name, "ParseSingleExample", [serialized, example_names]):
        serialized = convert_to_tensor(serialized, dtypes.string, name="serialized")
        if serialized.shape.ndims not in (0, None):
            raise ValueError("Input serialized must be a scalar")
        arguments.check(hasattr(features, "items"), "features", "a dictionary", features)
        with name_scope(None, "ParseExample"):
            return _parsed(serialized, features, example_names)


def parse_single_sequence_example(serialized, context_features=None, sequence_features=None, example_name=None,
                                  name=None):
    """The features of one serialized SequenceExample: a dict of its context and one of its sequences."""
    if not context_features and not sequence_features:
        raise ValueError("Both `context_features` and `sequence_features` argument are None, but at least one should "
                         "have values.")
    with name_scope(name, "ParseSingleSequenceExample"):
        context = _split_features(context_features or {}, FixedLenFeature)
        lists = _split_features(sequence_features or {}, FixedLenSequenceFeature)
        missing_ok = [key for key, feature in lists[1].items() if feature.allow_missing]
        defaults = [graphs.constant([], dtypes.as_dtype(f.dtype)) if f.default_value is None
                    else convert_to_tensor(f.default_value, dtypes.as_dtype(f.dtype)) for f in context[1].values()]

        def keys(names):
            return [graphs.constant(key, dtypes.string) for key in names]

        made = make_op(
            "ParseSingleSequenceExample",
            [serialized, convert_to_tensor(np.array(missing_ok, np.object_), dtypes.string), keys(context[0]),
             keys(context[1]), keys(lists[0]), keys(lists[1]), defaults, "" if example_name is None else example_name],
             None,
            context_sparse_types=list(context[0].values()),
            Tcontext_dense=[dtypes.as_dtype(f.dtype) for f in context[1].values()],
            context_dense_shapes=[TensorShape(f.shape) for f in context[1].values()],
            feature_list_dense_types=[dtypes.as_dtype(f.dtype) for f in lists[1].values()],
            feature_list_sparse_types=list(lists[0].values()),
            feature_list_dense_shapes=[TensorShape(f.shape) for f in lists[1].values()]).outputs
        taken = iter(made)
        return _named_features(taken, context), _named_features(taken, lists)


def _named_features(taken, features):
    """Takes the next tensors of an op that parses, for its sparse and its dense features, by name."""
    sparse, dense = features
    parts = [[next(taken) for _ in sparse] for _ in range(3)]
    result = {key: SparseTensor(*[part[i] for part in parts]) for i, key in enumerate(sparse)}
    result.update((key, next(taken)) for key in dense)
    return result


def parse_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None):
    """The features of a batch of SequenceExamples: dicts of the contexts, of the sequences, and of their lengths."""
    if not (context_features or sequence_features):
        raise ValueError("Both `context_features` and `sequence_features` argument are None, but at least one should "
                         "have values.")
    with name_scope(name, "ParseSequenceExample", [serialized, example_names]):
        context = _split_features(context_features or {}, FixedLenFeature)
        lists = _split_features(sequence_features or {}, FixedLenSequenceFeature)
        defaults = []
        for feature in context[1].values():
            kind = dtypes.as_dtype(feature.dtype)
            defaults.append(graphs.constant([], kind) if feature.default_value is None
                            else arrays.reshape(convert_to_tensor(feature.default_value, kind),
                                                TensorShape(feature.shape)))

        def keys(names):
            return convert_to_tensor(np.array(list(names), np.object_), dtypes.string)

        missing_ok = np.array([feature.allow_missing for feature in lists[1].values()], np.bool_)
        made = make_op(
            "ParseSequenceExampleV2",
            [convert_to_tensor(serialized, dtypes.string, name="serialized"),
             keys([] if example_names is None else example_names), keys(context[0]), keys(context[1]), keys([]),
             keys(lists[0]), keys(lists[1]), keys([]), missing_ok, defaults], None,
            Ncontext_sparse=len(context[0]), context_sparse_types=list(context[0].values()),
            context_ragged_value_types=[], context_ragged_split_types=[],
            Tcontext_dense=[dtypes.as_dtype(f.dtype) for f in context[1].values()],
            context_dense_shapes=[TensorShape(f.shape) for f in context[1].values()],
            Nfeature_list_sparse=len(lists[0]), feature_list_sparse_types=list(lists[0].values()),
            feature_list_ragged_value_types=[], feature_list_ragged_split_types=[], Nfeature_list_dense=len(lists[1]),
            feature_list_dense_types=[dtypes.as_dtype(f.dtype) for f in lists[1].values()],
            feature_list_dense_shapes=[TensorShape(f.shape) for f in lists[1].values()]).outputs
        taken = iter(made)
        return _named_features(taken, context), _named_features(taken, lists), dict(zip(lists[1], taken))


def match_filenames_once(pattern, name=None):
    """A local variable with the names of the files that match the pattern when it is initialized."""
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return variables.Variable(matching_files(pattern), trainable=False, name=scope, validate_shape=False,
                                  collections=[GraphKeys.LOCAL_VARIABLES])


def _split_features(features, dense_class):
    """Dicts of the dtypes of the sparse features and of the dense features, in the order of their keys."""
    sparse, dense = {}, {}
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, VarLenFeature):
            sparse[key] = dtypes.as_dtype(feature.dtype)
        elif isinstance(feature, dense_class):
            dense[key] = feature
        else:
            raise ValueError(f"Invalid feature {key}:{feature}.")
    return sparse, dense


__all__ = [
    "FixedLenFeature", "FixedLenSequenceFeature", "SparseFeature", "VarLenFeature", "decode_compressed", "decode_csv",
    "decode_json_example", "decode_raw", "matching_files", "parse_example", "parse_single_example",
    "parse_single_sequence_example", "parse_tensor", "read_file", "serialize_tensor", "write_file",
]
