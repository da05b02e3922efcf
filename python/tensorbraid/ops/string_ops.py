"""Ops on strings."""

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal import arguments
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import arrays
from tensorbraid.ops.old_arguments import renamed
from tensorbraid.ops.op_functions import op_function
from tensorbraid.ops.sparse_tensor import SparseTensor

as_string = op_function("AsString", "input", "precision=-1, scientific=False, shortest=False, width=-1, fill=''")
decode_base64 = op_function("DecodeBase64", "input")
encode_base64 = op_function("EncodeBase64", "input", "pad=False")
lower = op_function("StringLower", "input", "encoding=''")
unsorted_segment_join = op_function("UnsortedSegmentJoin", "inputs, segment_ids, num_segments", "separator=''")
upper = op_function("StringUpper", "input", "encoding=''")
string_strip = op_function("StringStrip", "input")
string_to_hash_bucket_fast = op_function("StringToHashBucketFast", "input", "num_buckets")
string_to_hash_bucket_strong = op_function("StringToHashBucketStrong", "input", "num_buckets, key")
unicode_script = op_function("UnicodeScript", "input")
unicode_transcode = op_function(
    "UnicodeTranscode", "input",
    "input_encoding, output_encoding, errors='replace', replacement_char=65533, replace_control_characters=False")


def string_join(inputs, separator="", name=None):
    """The strings of all tensors, joined element by element."""
    return make_op("StringJoin", [inputs], name or "StringJoin", separator=separator).outputs[0]


def string_length(input, name=None, unit="BYTE"):
    """The lengths of strings, in bytes or in UTF8_CHAR."""
    return make_op("StringLength", [input], name or "StringLength", unit=unit).outputs[0]


def substr(input, pos, len, name=None, unit="BYTE"):
    """The parts of strings from `pos` on, of the length `len`."""
    return make_op("Substr", [input, pos, len], name or "Substr", unit=unit).outputs[0]


def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    """The strings with what matches the pattern replaced by `rewrite`."""
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return make_op("StaticRegexReplace", [input], name or "StaticRegexReplace", pattern=pattern, rewrite=rewrite,
                       replace_global=replace_global).outputs[0]
    return make_op("RegexReplace", [input, pattern, rewrite], name or "RegexReplace",
                   replace_global=replace_global).outputs[0]


def regex_full_match(input, pattern, name=None):
    """Whether the pattern matches all of each string."""
    if isinstance(pattern, (str, bytes)):
        return make_op("StaticRegexFullMatch", [input], name or "StaticRegexFullMatch", pattern=pattern).outputs[0]
    return make_op("RegexFullMatch", [input, pattern], name or "RegexFullMatch").outputs[0]


def string_to_number(string_tensor=None, out_type=dtypes.float32, name=None, input=None):
    """The numbers that strings spell."""
    text = renamed("input", input, "string_tensor", string_tensor)
    return make_op("StringToNumber", [text], name or "StringToNumber", out_type=dtypes.as_dtype(out_type)).outputs[0]


def string_to_hash_bucket(string_tensor=None, num_buckets=None, name=None, input=None):
    """A number from [0, num_buckets) for each string. Another version of TensorFlow may give other numbers."""
    text = renamed("input", input, "string_tensor", string_tensor)
    return make_op("StringToHashBucket", [text], name or "StringToHashBucket", num_buckets=num_buckets).outputs[0]


def string_split(source, sep=None, skip_empty=True, delimiter=" ", result_type="SparseTensor", name=None):
    """The words of each string, as a SparseTensor."""
    if result_type != "SparseTensor":
        raise NotImplementedError("string_split with a result_type other than SparseTensor")
    delimiter = sep if sep is not None else delimiter
    with name_scope(name, "StringSplit", [source]):
        source = convert_to_tensor(source, dtypes.string)
        delimiter = convert_to_tensor(delimiter, dtypes.string)
        if delimiter.shape.ndims != 0:
            raise ValueError("delimiter must be a scalar")
        made = make_op("StringSplit", [source, delimiter], skip_empty=skip_empty).outputs
        return SparseTensor(*made)


def strings_split(input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None):
    """The parts of each string between separators, or between white space, as a SparseTensor."""
    text = renamed("input", input, "source", source)
    if result_type != "SparseTensor":
        raise NotImplementedError("tf.strings.split with a result_type other than SparseTensor")
    with name_scope(name, "StringSplit", [text]):
        text = convert_to_tensor(text, dtypes.string, name="input")
        if text.shape.ndims == 0:
            text = arrays.expand_dims(text, 0)
        separator = convert_to_tensor("" if sep is None else sep, dtypes.string)
        return SparseTensor(*make_op("StringSplitV2", [text, separator], maxsplit=maxsplit).outputs)


def reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None, keepdims=None):
    """The strings joined along axes; by default along all, the last first."""
    keep = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    with name_scope(None, "ReduceJoin", [inputs, axis]):
        inputs = convert_to_tensor(inputs)
        if axis is None:
            axis = np.arange(inputs.shape.ndims - 1, -1, -1, dtype=np.int32)
        return make_op("ReduceJoin", [inputs, axis], name, keep_dims=keep, separator=separator).outputs[0]


def format(template, inputs, placeholder="{}", summarize=3, name=None):
    """The template with its placeholders replaced by the values of tensors."""
    if not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    if arguments.text("template", template).count(placeholder) != len(inputs):
        raise ValueError(f"{len(inputs)} tensors in inputs does not match {template.count(placeholder)} placeholders "
                         "in template")
    tensors = [convert_to_tensor(x) for x in inputs]
    return make_op("StringFormat", [tensors], name or "StringFormat", template=template, placeholder=placeholder,
                   summarize=summarize).outputs[0]


__all__ = [
    "as_string", "decode_base64", "encode_base64", "reduce_join", "regex_replace", "string_join", "string_split",
    "string_strip", "string_to_hash_bucket", "string_to_hash_bucket_fast", "string_to_hash_bucket_strong",
    "string_to_number", "substr",
]
