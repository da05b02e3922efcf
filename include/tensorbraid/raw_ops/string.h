// A function for each op of src/ops/string; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_STRING_H_
#define TENSORBRAID_RAW_OPS_STRING_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

struct AsStringOptions {
  int64_t precision = -1;
  bool scientific = false;
  bool shortest = false;
  int64_t width = -1;
  std::string fill = "";
  std::string name = {};
};
// Adds a node of the op AsString.
// Inputs: input (T).
// Attributes: precision (int; default -1), scientific (bool; default false), shortest (bool; default false), width
//   (int; default -1), fill (string; default "").
// Output: output (string).
// T: numbers string bool.
inline Output AsString(const Operand& input, const AsStringOptions& options = {}) {
  return internal::Call("AsString", options.name, {input}).Attr("precision", options.precision)
      .Attr("scientific", options.scientific).Attr("shortest", options.shortest).Attr("width", options.width)
      .Attr("fill", options.fill).One();
}

// Adds a node of the op DecodeBase64.
// Inputs: input (string).
// Output: output (string).
inline Output DecodeBase64(const Operand& input, const std::string& name = "") {
  return internal::Call("DecodeBase64", name, {input}).One();
}

struct EncodeBase64Options {
  bool pad = false;
  std::string name = {};
};
// Adds a node of the op EncodeBase64.
// Inputs: input (string).
// Attributes: pad (bool; default false).
// Output: output (string).
inline Output EncodeBase64(const Operand& input, const EncodeBase64Options& options = {}) {
  return internal::Call("EncodeBase64", options.name, {input}).Attr("pad", options.pad).One();
}

// Adds a node of the op Fingerprint.
// Inputs: data (T), method (string).
// Output: fingerprint (uint8).
// T: any.
inline Output Fingerprint(const Operand& data, const Operand& method, const std::string& name = "") {
  return internal::Call("Fingerprint", name, {data, method}).One();
}

struct ReduceJoinOptions {
  bool keep_dims = false;
  std::string separator = "";
  std::string name = {};
};
// Adds a node of the op ReduceJoin.
// Inputs: inputs (string), reduction_indices (int32).
// Attributes: keep_dims (bool; default false), separator (string; default "").
// Output: output (string).
inline Output ReduceJoin(const Operand& inputs, const Operand& reduction_indices,
    const ReduceJoinOptions& options = {}) {
  return internal::Call("ReduceJoin", options.name, {inputs, reduction_indices}).Attr("keep_dims", options.keep_dims)
      .Attr("separator", options.separator).One();
}

// Adds a node of the op RegexFullMatch.
// Inputs: input (string), pattern (string).
// Output: output (bool).
inline Output RegexFullMatch(const Operand& input, const Operand& pattern, const std::string& name = "") {
  return internal::Call("RegexFullMatch", name, {input, pattern}).One();
}

struct RegexReplaceOptions {
  bool replace_global = true;
  std::string name = {};
};
// Adds a node of the op RegexReplace.
// Inputs: input (string), pattern (string), rewrite (string).
// Attributes: replace_global (bool; default true).
// Output: output (string).
inline Output RegexReplace(const Operand& input, const Operand& pattern, const Operand& rewrite,
    const RegexReplaceOptions& options = {}) {
  return internal::Call("RegexReplace", options.name, {input, pattern, rewrite})
      .Attr("replace_global", options.replace_global).One();
}

// Adds a node of the op StaticRegexFullMatch.
// Inputs: input (string).
// Attributes: pattern (string).
// Output: output (bool).
inline Output StaticRegexFullMatch(const Operand& input, const std::string& pattern, const std::string& name = "") {
  return internal::Call("StaticRegexFullMatch", name, {input}).Attr("pattern", pattern).One();
}

struct StaticRegexReplaceOptions {
  bool replace_global = true;
  std::string name = {};
};
// Adds a node of the op StaticRegexReplace.
// Inputs: input (string).
// Attributes: pattern (string), rewrite (string), replace_global (bool; default true).
// Output: output (string).
inline Output StaticRegexReplace(const Operand& input, const std::string& pattern, const std::string& rewrite,
    const StaticRegexReplaceOptions& options = {}) {
  return internal::Call("StaticRegexReplace", options.name, {input}).Attr("pattern", pattern).Attr("rewrite", rewrite)
      .Attr("replace_global", options.replace_global).One();
}

struct StringFormatOptions {
  std::string template_ = "%s";
  std::string placeholder = "%s";
  int64_t summarize = 3;
  std::string name = {};
};
// Adds a node of the op StringFormat.
// Inputs: inputs (a list of tensors of the types T).
// Attributes: template_ (attribute template, string; default "%s"), placeholder (string; default "%s"), summarize (int;
//   default 3).
// Output: output (string).
// T: any.
inline Output StringFormat(Graph& graph, const std::vector<Output>& inputs, const StringFormatOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "StringFormat", options.name, {inputs}, loc).Attr("template", options.template_)
      .Attr("placeholder", options.placeholder).Attr("summarize", options.summarize).One();
}

struct StringJoinOptions {
  std::string separator = "";
  std::string name = {};
};
// Adds a node of the op StringJoin.
// Inputs: inputs (a list of N tensors of type string).
// Attributes: separator (string; default "").
// Output: output (string).
inline Output StringJoin(Graph& graph, const std::vector<Output>& inputs, const StringJoinOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "StringJoin", options.name, {inputs}, loc).Attr("separator", options.separator).One();
}

struct StringLengthOptions {
  std::string unit = "BYTE";
  std::string name = {};
};
// Adds a node of the op StringLength.
// Inputs: input (string).
// Attributes: unit (string: 'BYTE', 'UTF8_CHAR'; default "BYTE").
// Output: output (int32).
inline Output StringLength(const Operand& input, const StringLengthOptions& options = {}) {
  return internal::Call("StringLength", options.name, {input}).Attr("unit", options.unit).One();
}

struct StringLowerOptions {
  std::string encoding = "";
  std::string name = {};
};
// Adds a node of the op StringLower.
// Inputs: input (string).
// Attributes: encoding (string; default "").
// Output: output (string).
inline Output StringLower(const Operand& input, const StringLowerOptions& options = {}) {
  return internal::Call("StringLower", options.name, {input}).Attr("encoding", options.encoding).One();
}

struct StringNGramsOutputs {
  Output ngrams;
  Output ngrams_splits;
  Operation operation;
};
// Adds a node of the op StringNGrams.
// Inputs: data (string), data_splits (Tsplits).
// Attributes: separator (string), ngram_widths (list of ints, at least 0), left_pad (string), right_pad (string),
//   pad_width (int), preserve_short_sequences (bool).
// Outputs: ngrams (string), ngrams_splits (Tsplits).
// Tsplits: int32 int64.
inline StringNGramsOutputs StringNGrams(const Operand& data, const Operand& data_splits, const std::string& separator,
    const std::vector<int64_t>& ngram_widths, const std::string& left_pad, const std::string& right_pad,
    int64_t pad_width, bool preserve_short_sequences, const std::string& name = "") {
  auto results = internal::Call("StringNGrams", name, {data, data_splits}).Attr("separator", separator)
      .Attr("ngram_widths", ngram_widths).Attr("left_pad", left_pad).Attr("right_pad", right_pad)
      .Attr("pad_width", pad_width).Attr("preserve_short_sequences", preserve_short_sequences).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct StringSplitOptions {
  bool skip_empty = true;
  std::string name = {};
};
struct StringSplitOutputs {
  Output indices;
  Output values;
  Output shape;
  Operation operation;
};
// Adds a node of the op StringSplit.
// Inputs: input (string), delimiter (string).
// Attributes: skip_empty (bool; default true).
// Outputs: indices (int64), values (string), shape (int64).
inline StringSplitOutputs StringSplit(const Operand& input, const Operand& delimiter,
    const StringSplitOptions& options = {}) {
  auto results = internal::Call("StringSplit", options.name, {input, delimiter}).Attr("skip_empty", options.skip_empty)
      .All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct StringSplitV2Options {
  int64_t maxsplit = -1;
  std::string name = {};
};
struct StringSplitV2Outputs {
  Output indices;
  Output values;
  Output shape;
  Operation operation;
};
// Adds a node of the op StringSplitV2.
// Inputs: input (string), sep (string).
// Attributes: maxsplit (int; default -1).
// Outputs: indices (int64), values (string), shape (int64).
inline StringSplitV2Outputs StringSplitV2(const Operand& input, const Operand& sep,
    const StringSplitV2Options& options = {}) {
  auto results = internal::Call("StringSplitV2", options.name, {input, sep}).Attr("maxsplit", options.maxsplit).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op StringStrip.
// Inputs: input (string).
// Output: output (string).
inline Output StringStrip(const Operand& input, const std::string& name = "") {
  return internal::Call("StringStrip", name, {input}).One();
}

// Adds a node of the op StringToHashBucket.
// Inputs: string_tensor (string).
// Attributes: num_buckets (int, at least 1).
// Output: output (int64).
inline Output StringToHashBucket(const Operand& string_tensor, int64_t num_buckets, const std::string& name = "") {
  return internal::Call("StringToHashBucket", name, {string_tensor}).Attr("num_buckets", num_buckets).One();
}

// Adds a node of the op StringToHashBucketFast.
// Inputs: input (string).
// Attributes: num_buckets (int, at least 1).
// Output: output (int64).
inline Output StringToHashBucketFast(const Operand& input, int64_t num_buckets, const std::string& name = "") {
  return internal::Call("StringToHashBucketFast", name, {input}).Attr("num_buckets", num_buckets).One();
}

// Adds a node of the op StringToHashBucketStrong.
// Inputs: input (string).
// Attributes: num_buckets (int, at least 1), key (list of ints).
// Output: output (int64).
inline Output StringToHashBucketStrong(const Operand& input, int64_t num_buckets, const std::vector<int64_t>& key,
    const std::string& name = "") {
  return internal::Call("StringToHashBucketStrong", name, {input}).Attr("num_buckets", num_buckets).Attr("key", key)
      .One();
}

struct StringToNumberOptions {
  DType out_type = DType::kFloat32;
  std::string name = {};
};
// Adds a node of the op StringToNumber.
// Inputs: string_tensor (string).
// Attributes: out_type (dtype: float32 float64 int32 int64 uint32 uint64; default float32).
// Output: output (out_type).
inline Output StringToNumber(const Operand& string_tensor, const StringToNumberOptions& options = {}) {
  return internal::Call("StringToNumber", options.name, {string_tensor}).Attr("out_type", options.out_type).One();
}

struct StringUpperOptions {
  std::string encoding = "";
  std::string name = {};
};
// Adds a node of the op StringUpper.
// Inputs: input (string).
// Attributes: encoding (string; default "").
// Output: output (string).
inline Output StringUpper(const Operand& input, const StringUpperOptions& options = {}) {
  return internal::Call("StringUpper", options.name, {input}).Attr("encoding", options.encoding).One();
}

struct SubstrOptions {
  std::string unit = "BYTE";
  std::string name = {};
};
// Adds a node of the op Substr.
// Inputs: input (string), pos (T), len (T).
// Attributes: unit (string: 'BYTE', 'UTF8_CHAR'; default "BYTE").
// Output: output (string).
// T: int32 int64.
inline Output Substr(const Operand& input, const Operand& pos, const Operand& len, const SubstrOptions& options = {}) {
  return internal::Call("Substr", options.name, {input, pos, len}).Attr("unit", options.unit).One();
}

struct UnicodeDecodeOptions {
  std::string errors = "replace";
  int64_t replacement_char = 65533;
  bool replace_control_characters = false;
  DType tsplits = DType::kInt64;
  std::string name = {};
};
struct UnicodeDecodeOutputs {
  Output row_splits;
  Output char_values;
  Operation operation;
};
// Adds a node of the op UnicodeDecode.
// Inputs: input (string).
// Attributes: input_encoding (string), errors (string: 'strict', 'replace', 'ignore'; default "replace"),
//   replacement_char (int; default 65533), replace_control_characters (bool; default false), tsplits (attribute
//   Tsplits, dtype: int32 int64; default int64).
// Outputs: row_splits (Tsplits), char_values (int32).
inline UnicodeDecodeOutputs UnicodeDecode(const Operand& input, const std::string& input_encoding,
    const UnicodeDecodeOptions& options = {}) {
  auto results = internal::Call("UnicodeDecode", options.name, {input}).Attr("input_encoding", input_encoding)
      .Attr("errors", options.errors).Attr("replacement_char", options.replacement_char)
      .Attr("replace_control_characters", options.replace_control_characters).Attr("Tsplits", options.tsplits).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct UnicodeDecodeWithOffsetsOptions {
  std::string errors = "replace";
  int64_t replacement_char = 65533;
  bool replace_control_characters = false;
  DType tsplits = DType::kInt64;
  std::string name = {};
};
struct UnicodeDecodeWithOffsetsOutputs {
  Output row_splits;
  Output char_values;
  Output char_to_byte_starts;
  Operation operation;
};
// Adds a node of the op UnicodeDecodeWithOffsets.
// Inputs: input (string).
// Attributes: input_encoding (string), errors (string: 'strict', 'replace', 'ignore'; default "replace"),
//   replacement_char (int; default 65533), replace_control_characters (bool; default false), tsplits (attribute
//   Tsplits, dtype: int32 int64; default int64).
// Outputs: row_splits (Tsplits), char_values (int32), char_to_byte_starts (int64).
inline UnicodeDecodeWithOffsetsOutputs UnicodeDecodeWithOffsets(const Operand& input, const std::string& input_encoding,
    const UnicodeDecodeWithOffsetsOptions& options = {}) {
  auto results = internal::Call("UnicodeDecodeWithOffsets", options.name, {input})
      .Attr("input_encoding", input_encoding).Attr("errors", options.errors)
      .Attr("replacement_char", options.replacement_char)
      .Attr("replace_control_characters", options.replace_control_characters).Attr("Tsplits", options.tsplits).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct UnicodeEncodeOptions {
  std::string errors = "replace";
  int64_t replacement_char = 65533;
  std::string name = {};
};
// Adds a node of the op UnicodeEncode.
// Inputs: input_values (int32), input_splits (Tsplits).
// Attributes: output_encoding (string: 'UTF-8', 'UTF-16-BE', 'UTF-32-BE'), errors (string: 'ignore', 'replace',
//   'strict'; default "replace"), replacement_char (int; default 65533).
// Output: output (string).
// Tsplits: int32 int64.
inline Output UnicodeEncode(const Operand& input_values, const Operand& input_splits,
    const std::string& output_encoding, const UnicodeEncodeOptions& options = {}) {
  return internal::Call("UnicodeEncode", options.name, {input_values, input_splits})
      .Attr("output_encoding", output_encoding).Attr("errors", options.errors)
      .Attr("replacement_char", options.replacement_char).One();
}

// Adds a node of the op UnicodeScript.
// Inputs: input (int32).
// Output: output (int32).
inline Output UnicodeScript(const Operand& input, const std::string& name = "") {
  return internal::Call("UnicodeScript", name, {input}).One();
}

struct UnicodeTranscodeOptions {
  std::string errors = "replace";
  int64_t replacement_char = 65533;
  bool replace_control_characters = false;
  std::string name = {};
};
// Adds a node of the op UnicodeTranscode.
// Inputs: input (string).
// Attributes: input_encoding (string), output_encoding (string: 'UTF-8', 'UTF-16-BE', 'UTF-32-BE'), errors (string:
//   'strict', 'replace', 'ignore'; default "replace"), replacement_char (int; default 65533),
//   replace_control_characters (bool; default false).
// Output: output (string).
inline Output UnicodeTranscode(const Operand& input, const std::string& input_encoding,
    const std::string& output_encoding, const UnicodeTranscodeOptions& options = {}) {
  return internal::Call("UnicodeTranscode", options.name, {input}).Attr("input_encoding", input_encoding)
      .Attr("output_encoding", output_encoding).Attr("errors", options.errors)
      .Attr("replacement_char", options.replacement_char)
      .Attr("replace_control_characters", options.replace_control_characters).One();
}

struct UnsortedSegmentJoinOptions {
  std::string separator = "";
  std::string name = {};
};
// Adds a node of the op UnsortedSegmentJoin.
// Inputs: inputs (string), segment_ids (Tindices), num_segments (Tnumsegments).
// Attributes: separator (string; default "").
// Output: output (string).
// Tindices: int32 int64; Tnumsegments: int32 int64.
inline Output UnsortedSegmentJoin(const Operand& inputs, const Operand& segment_ids, const Operand& num_segments,
    const UnsortedSegmentJoinOptions& options = {}) {
  return internal::Call("UnsortedSegmentJoin", options.name, {inputs, segment_ids, num_segments})
      .Attr("separator", options.separator).One();
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_STRING_H_
