// A function for each op of src/ops/parsing; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_PARSING_H_
#define TENSORBRAID_RAW_OPS_PARSING_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

struct DecodeCSVOptions {
  std::string field_delim = ",";
  bool use_quote_delim = true;
  std::string na_value = "";
  std::vector<int64_t> select_cols = {};
  std::string name = {};
};
struct DecodeCSVOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op DecodeCSV.
// Inputs: records (string), record_defaults (a list of tensors of the types OUT_TYPE).
// Attributes: field_delim (string; default ","), use_quote_delim (bool; default true), na_value (string; default ""),
//   select_cols (list of ints; default []).
// Output: output (a list of tensors of the types OUT_TYPE).
// OUT_TYPE: float32 float64 int32 string int64.
inline DecodeCSVOutputs DecodeCSV(const Operand& records, const std::vector<Output>& record_defaults,
    const DecodeCSVOptions& options = {}) {
  auto results = internal::Call("DecodeCSV", options.name, {records, record_defaults})
      .Attr("field_delim", options.field_delim).Attr("use_quote_delim", options.use_quote_delim)
      .Attr("na_value", options.na_value).Attr("select_cols", options.select_cols).All();
  return {results.NextList(), results.operation()};
}

struct DecodeCompressedOptions {
  std::string compression_type = "";
  std::string name = {};
};
// Adds a node of the op DecodeCompressed.
// Inputs: bytes (string).
// Attributes: compression_type (string; default "").
// Output: output (string).
inline Output DecodeCompressed(const Operand& bytes, const DecodeCompressedOptions& options = {}) {
  return internal::Call("DecodeCompressed", options.name, {bytes}).Attr("compression_type", options.compression_type)
      .One();
}

// Adds a node of the op DecodeJSONExample.
// Inputs: json_examples (string).
// Output: binary_examples (string).
inline Output DecodeJSONExample(const Operand& json_examples, const std::string& name = "") {
  return internal::Call("DecodeJSONExample", name, {json_examples}).One();
}

struct DecodePaddedRawOptions {
  bool little_endian = true;
  std::string name = {};
};
// Adds a node of the op DecodePaddedRaw.
// Inputs: input_bytes (string), fixed_length (int32).
// Attributes: out_type (dtype: floats int32 uint8 int16 int8 int64 uint16), little_endian (bool; default true).
// Output: output (out_type).
inline Output DecodePaddedRaw(const Operand& input_bytes, const Operand& fixed_length, DType out_type,
    const DecodePaddedRawOptions& options = {}) {
  return internal::Call("DecodePaddedRaw", options.name, {input_bytes, fixed_length}).Attr("out_type", out_type)
      .Attr("little_endian", options.little_endian).One();
}

struct DecodeRawOptions {
  bool little_endian = true;
  std::string name = {};
};
// Adds a node of the op DecodeRaw.
// Inputs: bytes (string).
// Attributes: out_type (dtype: floats complex int32 uint8 int16 int8 int64 bool uint16), little_endian (bool; default
//   true).
// Output: output (out_type).
inline Output DecodeRaw(const Operand& bytes, DType out_type, const DecodeRawOptions& options = {}) {
  return internal::Call("DecodeRaw", options.name, {bytes}).Attr("out_type", out_type)
      .Attr("little_endian", options.little_endian).One();
}

struct ParseExampleOutputs {
  std::vector<Output> sparse_indices;
  std::vector<Output> sparse_values;
  std::vector<Output> sparse_shapes;
  std::vector<Output> dense_values;
  Operation operation;
};
// Adds a node of the op ParseExample.
// Inputs: serialized (string), names (string), sparse_keys (a list of Nsparse tensors of type string), dense_keys (a
//   list of Ndense tensors of type string), dense_defaults (a list of tensors of the types Tdense).
// Attributes: sparse_types (list of dtypes: float32 string int64, at least 0), dense_shapes (list of shapes, at least
//   0).
// Outputs: sparse_indices (a list of Nsparse tensors of type int64), sparse_values (a list of tensors of the types
//   sparse_types), sparse_shapes (a list of Nsparse tensors of type int64), dense_values (a list of tensors of the
//   types Tdense).
// Tdense: float32 string int64.
inline ParseExampleOutputs ParseExample(const Operand& serialized, const Operand& names,
    const std::vector<Output>& sparse_keys, const std::vector<Output>& dense_keys,
    const std::vector<Output>& dense_defaults, const std::vector<DType>& sparse_types,
    const std::vector<tensorbraid::Shape>& dense_shapes, const std::string& name = "") {
  auto results = internal::Call("ParseExample", name, {serialized, names, sparse_keys, dense_keys, dense_defaults})
      .Attr("sparse_types", sparse_types).Attr("dense_shapes", dense_shapes).All();
  return {results.NextList(), results.NextList(), results.NextList(), results.NextList(), results.operation()};
}

struct ParseExampleV2Outputs {
  std::vector<Output> sparse_indices;
  std::vector<Output> sparse_values;
  std::vector<Output> sparse_shapes;
  std::vector<Output> dense_values;
  std::vector<Output> ragged_values;
  std::vector<Output> ragged_row_splits;
  Operation operation;
};
// Adds a node of the op ParseExampleV2.
// Inputs: serialized (string), names (string), sparse_keys (string), dense_keys (string), ragged_keys (string),
//   dense_defaults (a list of tensors of the types Tdense).
// Attributes: num_sparse (int, at least 0), sparse_types (list of dtypes: float32 string int64, at least 0),
//   ragged_value_types (list of dtypes: float32 string int64, at least 0), ragged_split_types (list of dtypes: int32
//   int64, at least 0), dense_shapes (list of shapes, at least 0).
// Outputs: sparse_indices (a list of num_sparse tensors of type int64), sparse_values (a list of tensors of the types
//   sparse_types), sparse_shapes (a list of num_sparse tensors of type int64), dense_values (a list of tensors of the
//   types Tdense), ragged_values (a list of tensors of the types ragged_value_types), ragged_row_splits (a list of
//   tensors of the types ragged_split_types).
// Tdense: float32 string int64.
inline ParseExampleV2Outputs ParseExampleV2(const Operand& serialized, const Operand& names, const Operand& sparse_keys,
    const Operand& dense_keys, const Operand& ragged_keys, const std::vector<Output>& dense_defaults,
    int64_t num_sparse, const std::vector<DType>& sparse_types, const std::vector<DType>& ragged_value_types,
    const std::vector<DType>& ragged_split_types, const std::vector<tensorbraid::Shape>& dense_shapes,
    const std::string& name = "") {
  auto results = internal::Call("ParseExampleV2", name, {serialized, names, sparse_keys, dense_keys, ragged_keys,
      dense_defaults}).Attr("num_sparse", num_sparse).Attr("sparse_types", sparse_types)
      .Attr("ragged_value_types", ragged_value_types).Attr("ragged_split_types", ragged_split_types)
      .Attr("dense_shapes", dense_shapes).All();
  return {results.NextList(), results.NextList(), results.NextList(), results.NextList(), results.NextList(),
          results.NextList(), results.operation()};
}

struct ParseSequenceExampleOptions {
  int64_t ncontext_dense = 0;
  int64_t ncontext_sparse = 0;
  int64_t nfeature_list_sparse = 0;
  int64_t nfeature_list_dense = 0;
  std::vector<DType> context_sparse_types = {};
  std::vector<DType> feature_list_dense_types = {};
  std::vector<tensorbraid::Shape> context_dense_shapes = {};
  std::vector<DType> feature_list_sparse_types = {};
  std::vector<tensorbraid::Shape> feature_list_dense_shapes = {};
  std::string name = {};
};
struct ParseSequenceExampleOutputs {
  std::vector<Output> context_sparse_indices;
  std::vector<Output> context_sparse_values;
  std::vector<Output> context_sparse_shapes;
  std::vector<Output> context_dense_values;
  std::vector<Output> feature_list_sparse_indices;
  std::vector<Output> feature_list_sparse_values;
  std::vector<Output> feature_list_sparse_shapes;
  std::vector<Output> feature_list_dense_values;
  std::vector<Output> feature_list_dense_lengths;
  Operation operation;
};
// Adds a node of the op ParseSequenceExample.
// Inputs: serialized (string), debug_name (string), context_dense_defaults (a list of tensors of the types
//   Tcontext_dense).
// Attributes: feature_list_dense_missing_assumed_empty (list of strings, at least 0), context_sparse_keys (list of
//   strings, at least 0), context_dense_keys (list of strings, at least 0), feature_list_sparse_keys (list of strings,
//   at least 0), feature_list_dense_keys (list of strings, at least 0), ncontext_dense (attribute Ncontext_dense, int,
//   at least 0; default 0), ncontext_sparse (attribute Ncontext_sparse, int, at least 0; default 0),
//   nfeature_list_sparse (attribute Nfeature_list_sparse, int, at least 0; default 0), nfeature_list_dense (attribute
//   Nfeature_list_dense, int, at least 0; default 0), context_sparse_types (list of dtypes: float32 string int64, at
//   least 0; default []), feature_list_dense_types (list of dtypes: float32 string int64, at least 0; default []),
//   context_dense_shapes (list of shapes, at least 0; default []), feature_list_sparse_types (list of dtypes: float32
//   string int64, at least 0; default []), feature_list_dense_shapes (list of shapes, at least 0; default []).
// Outputs: context_sparse_indices (a list of Ncontext_sparse tensors of type int64), context_sparse_values (a list of
//   tensors of the types context_sparse_types), context_sparse_shapes (a list of Ncontext_sparse tensors of type
//   int64), context_dense_values (a list of tensors of the types Tcontext_dense), feature_list_sparse_indices (a list
//   of Nfeature_list_sparse tensors of type int64), feature_list_sparse_values (a list of tensors of the types
//   feature_list_sparse_types), feature_list_sparse_shapes (a list of Nfeature_list_sparse tensors of type int64),
//   feature_list_dense_values (a list of tensors of the types feature_list_dense_types), feature_list_dense_lengths (a
//   list of Nfeature_list_dense tensors of type int64).
// Tcontext_dense: float32 string int64.
inline ParseSequenceExampleOutputs ParseSequenceExample(const Operand& serialized, const Operand& debug_name,
    const std::vector<Output>& context_dense_defaults,
    const std::vector<std::string>& feature_list_dense_missing_assumed_empty,
    const std::vector<std::string>& context_sparse_keys, const std::vector<std::string>& context_dense_keys,
    const std::vector<std::string>& feature_list_sparse_keys, const std::vector<std::string>& feature_list_dense_keys,
    const ParseSequenceExampleOptions& options = {}) {
  auto results = internal::Call("ParseSequenceExample", options.name, {serialized, debug_name, context_dense_defaults})
      .Attr("feature_list_dense_missing_assumed_empty", feature_list_dense_missing_assumed_empty)
      .Attr("context_sparse_keys", context_sparse_keys).Attr("context_dense_keys", context_dense_keys)
      .Attr("feature_list_sparse_keys", feature_list_sparse_keys)
      .Attr("feature_list_dense_keys", feature_list_dense_keys).Attr("Ncontext_dense", options.ncontext_dense)
      .Attr("Ncontext_sparse", options.ncontext_sparse).Attr("Nfeature_list_sparse", options.nfeature_list_sparse)
      .Attr("Nfeature_list_dense", options.nfeature_list_dense)
      .Attr("context_sparse_types", options.context_sparse_types)
      .Attr("feature_list_dense_types", options.feature_list_dense_types)
      .Attr("context_dense_shapes", options.context_dense_shapes)
      .Attr("feature_list_sparse_types", options.feature_list_sparse_types)
      .Attr("feature_list_dense_shapes", options.feature_list_dense_shapes).All();
  return {results.NextList(), results.NextList(), results.NextList(), results.NextList(), results.NextList(),
          results.NextList(), results.NextList(), results.NextList(), results.NextList(), results.operation()};
}

struct ParseSequenceExampleV2Options {
  std::vector<DType> context_ragged_value_types = {};
  std::vector<DType> context_ragged_split_types = {};
  std::vector<DType> feature_list_ragged_value_types = {};
  std::vector<DType> feature_list_ragged_split_types = {};
  int64_t ncontext_sparse = 0;
  int64_t nfeature_list_sparse = 0;
  int64_t nfeature_list_dense = 0;
  std::vector<DType> context_sparse_types = {};
  std::vector<DType> feature_list_dense_types = {};
  std::vector<tensorbraid::Shape> context_dense_shapes = {};
  std::vector<DType> feature_list_sparse_types = {};
  std::vector<tensorbraid::Shape> feature_list_dense_shapes = {};
  std::string name = {};
};
struct ParseSequenceExampleV2Outputs {
  std::vector<Output> context_sparse_indices;
  std::vector<Output> context_sparse_values;
  std::vector<Output> context_sparse_shapes;
  std::vector<Output> context_dense_values;
  std::vector<Output> context_ragged_values;
  std::vector<Output> context_ragged_row_splits;
  std::vector<Output> feature_list_sparse_indices;
  std::vector<Output> feature_list_sparse_values;
  std::vector<Output> feature_list_sparse_shapes;
  std::vector<Output> feature_list_dense_values;
  std::vector<Output> feature_list_dense_lengths;
  std::vector<Output> feature_list_ragged_values;
  std::vector<Output> feature_list_ragged_outer_splits;
  std::vector<Output> feature_list_ragged_inner_splits;
  Operation operation;
};
// Adds a node of the op ParseSequenceExampleV2.
// Inputs: serialized (string), debug_name (string), context_sparse_keys (string), context_dense_keys (string),
//   context_ragged_keys (string), feature_list_sparse_keys (string), feature_list_dense_keys (string),
//   feature_list_ragged_keys (string), feature_list_dense_missing_assumed_empty (bool), context_dense_defaults (a list
//   of tensors of the types Tcontext_dense).
// Attributes: context_ragged_value_types (list of dtypes: float32 string int64, at least 0; default []),
//   context_ragged_split_types (list of dtypes: int32 int64, at least 0; default []), feature_list_ragged_value_types
//   (list of dtypes: float32 string int64, at least 0; default []), feature_list_ragged_split_types (list of dtypes:
//   int32 int64, at least 0; default []), ncontext_sparse (attribute Ncontext_sparse, int, at least 0; default 0),
//   nfeature_list_sparse (attribute Nfeature_list_sparse, int, at least 0; default 0), nfeature_list_dense (attribute
//   Nfeature_list_dense, int, at least 0; default 0), context_sparse_types (list of dtypes: float32 string int64, at
//   least 0; default []), feature_list_dense_types (list of dtypes: float32 string int64, at least 0; default []),
//   context_dense_shapes (list of shapes, at least 0; default []), feature_list_sparse_types (list of dtypes: float32
//   string int64, at least 0; default []), feature_list_dense_shapes (list of shapes, at least 0; default []).
// Outputs: context_sparse_indices (a list of Ncontext_sparse tensors of type int64), context_sparse_values (a list of
//   tensors of the types context_sparse_types), context_sparse_shapes (a list of Ncontext_sparse tensors of type
//   int64), context_dense_values (a list of tensors of the types Tcontext_dense), context_ragged_values (a list of
//   tensors of the types context_ragged_value_types), context_ragged_row_splits (a list of tensors of the types
//   context_ragged_split_types), feature_list_sparse_indices (a list of Nfeature_list_sparse tensors of type int64),
//   feature_list_sparse_values (a list of tensors of the types feature_list_sparse_types), feature_list_sparse_shapes
//   (a list of Nfeature_list_sparse tensors of type int64), feature_list_dense_values (a list of tensors of the types
//   feature_list_dense_types), feature_list_dense_lengths (a list of Nfeature_list_dense tensors of type int64),
//   feature_list_ragged_values (a list of tensors of the types feature_list_ragged_value_types),
//   feature_list_ragged_outer_splits (a list of tensors of the types feature_list_ragged_split_types),
//   feature_list_ragged_inner_splits (a list of tensors of the types feature_list_ragged_split_types).
// Tcontext_dense: float32 string int64.
inline ParseSequenceExampleV2Outputs ParseSequenceExampleV2(const Operand& serialized, const Operand& debug_name,
    const Operand& context_sparse_keys, const Operand& context_dense_keys, const Operand& context_ragged_keys,
    const Operand& feature_list_sparse_keys, const Operand& feature_list_dense_keys,
    const Operand& feature_list_ragged_keys, const Operand& feature_list_dense_missing_assumed_empty,
    const std::vector<Output>& context_dense_defaults, const ParseSequenceExampleV2Options& options = {}) {
  auto results = internal::Call("ParseSequenceExampleV2", options.name, {serialized, debug_name, context_sparse_keys,
      context_dense_keys, context_ragged_keys, feature_list_sparse_keys, feature_list_dense_keys,
      feature_list_ragged_keys, feature_list_dense_missing_assumed_empty, context_dense_defaults})
      .Attr("context_ragged_value_types", options.context_ragged_value_types)
      .Attr("context_ragged_split_types", options.context_ragged_split_types)
      .Attr("feature_list_ragged_value_types", options.feature_list_ragged_value_types)
      .Attr("feature_list_ragged_split_types", options.feature_list_ragged_split_types)
      .Attr("Ncontext_sparse", options.ncontext_sparse).Attr("Nfeature_list_sparse", options.nfeature_list_sparse)
      .Attr("Nfeature_list_dense", options.nfeature_list_dense)
      .Attr("context_sparse_types", options.context_sparse_types)
      .Attr("feature_list_dense_types", options.feature_list_dense_types)
      .Attr("context_dense_shapes", options.context_dense_shapes)
      .Attr("feature_list_sparse_types", options.feature_list_sparse_types)
      .Attr("feature_list_dense_shapes", options.feature_list_dense_shapes).All();
  return {results.NextList(), results.NextList(), results.NextList(), results.NextList(), results.NextList(),
          results.NextList(), results.NextList(), results.NextList(), results.NextList(), results.NextList(),
          results.NextList(), results.NextList(), results.NextList(), results.NextList(), results.operation()};
}

struct ParseSingleExampleOutputs {
  std::vector<Output> sparse_indices;
  std::vector<Output> sparse_values;
  std::vector<Output> sparse_shapes;
  std::vector<Output> dense_values;
  Operation operation;
};
// Adds a node of the op ParseSingleExample.
// Inputs: serialized (string), dense_defaults (a list of tensors of the types Tdense).
// Attributes: num_sparse (int, at least 0), sparse_keys (list of strings, at least 0), dense_keys (list of strings, at
//   least 0), sparse_types (list of dtypes: float32 string int64, at least 0), dense_shapes (list of shapes, at least
//   0).
// Outputs: sparse_indices (a list of num_sparse tensors of type int64), sparse_values (a list of tensors of the types
//   sparse_types), sparse_shapes (a list of num_sparse tensors of type int64), dense_values (a list of tensors of the
//   types Tdense).
// Tdense: float32 string int64.
inline ParseSingleExampleOutputs ParseSingleExample(const Operand& serialized,
    const std::vector<Output>& dense_defaults, int64_t num_sparse, const std::vector<std::string>& sparse_keys,
    const std::vector<std::string>& dense_keys, const std::vector<DType>& sparse_types,
    const std::vector<tensorbraid::Shape>& dense_shapes, const std::string& name = "") {
  auto results = internal::Call("ParseSingleExample", name, {serialized, dense_defaults}).Attr("num_sparse", num_sparse)
      .Attr("sparse_keys", sparse_keys).Attr("dense_keys", dense_keys).Attr("sparse_types", sparse_types)
      .Attr("dense_shapes", dense_shapes).All();
  return {results.NextList(), results.NextList(), results.NextList(), results.NextList(), results.operation()};
}

struct ParseSingleSequenceExampleOptions {
  std::vector<DType> context_sparse_types = {};
  std::vector<DType> feature_list_dense_types = {};
  std::vector<tensorbraid::Shape> context_dense_shapes = {};
  std::vector<DType> feature_list_sparse_types = {};
  std::vector<tensorbraid::Shape> feature_list_dense_shapes = {};
  std::string name = {};
};
struct ParseSingleSequenceExampleOutputs {
  std::vector<Output> context_sparse_indices;
  std::vector<Output> context_sparse_values;
  std::vector<Output> context_sparse_shapes;
  std::vector<Output> context_dense_values;
  std::vector<Output> feature_list_sparse_indices;
  std::vector<Output> feature_list_sparse_values;
  std::vector<Output> feature_list_sparse_shapes;
  std::vector<Output> feature_list_dense_values;
  Operation operation;
};
// Adds a node of the op ParseSingleSequenceExample.
// Inputs: serialized (string), feature_list_dense_missing_assumed_empty (string), context_sparse_keys (a list of
//   Ncontext_sparse tensors of type string), context_dense_keys (a list of Ncontext_dense tensors of type string),
//   feature_list_sparse_keys (a list of Nfeature_list_sparse tensors of type string), feature_list_dense_keys (a list
//   of Nfeature_list_dense tensors of type string), context_dense_defaults (a list of tensors of the types
//   Tcontext_dense), debug_name (string).
// Attributes: context_sparse_types (list of dtypes: float32 string int64, at least 0; default []),
//   feature_list_dense_types (list of dtypes: float32 string int64, at least 0; default []), context_dense_shapes (list
//   of shapes, at least 0; default []), feature_list_sparse_types (list of dtypes: float32 string int64, at least 0;
//   default []), feature_list_dense_shapes (list of shapes, at least 0; default []).
// Outputs: context_sparse_indices (a list of Ncontext_sparse tensors of type int64), context_sparse_values (a list of
//   tensors of the types context_sparse_types), context_sparse_shapes (a list of Ncontext_sparse tensors of type
//   int64), context_dense_values (a list of tensors of the types Tcontext_dense), feature_list_sparse_indices (a list
//   of Nfeature_list_sparse tensors of type int64), feature_list_sparse_values (a list of tensors of the types
//   feature_list_sparse_types), feature_list_sparse_shapes (a list of Nfeature_list_sparse tensors of type int64),
//   feature_list_dense_values (a list of tensors of the types feature_list_dense_types).
// Tcontext_dense: float32 string int64.
inline ParseSingleSequenceExampleOutputs ParseSingleSequenceExample(const Operand& serialized,
    const Operand& feature_list_dense_missing_assumed_empty, const std::vector<Output>& context_sparse_keys,
    const std::vector<Output>& context_dense_keys, const std::vector<Output>& feature_list_sparse_keys,
    const std::vector<Output>& feature_list_dense_keys, const std::vector<Output>& context_dense_defaults,
    const Operand& debug_name, const ParseSingleSequenceExampleOptions& options = {}) {
  auto results = internal::Call("ParseSingleSequenceExample", options.name, {serialized,
      feature_list_dense_missing_assumed_empty, context_sparse_keys, context_dense_keys, feature_list_sparse_keys,
      feature_list_dense_keys, context_dense_defaults, debug_name})
      .Attr("context_sparse_types", options.context_sparse_types)
      .Attr("feature_list_dense_types", options.feature_list_dense_types)
      .Attr("context_dense_shapes", options.context_dense_shapes)
      .Attr("feature_list_sparse_types", options.feature_list_sparse_types)
      .Attr("feature_list_dense_shapes", options.feature_list_dense_shapes).All();
  return {results.NextList(), results.NextList(), results.NextList(), results.NextList(), results.NextList(),
          results.NextList(), results.NextList(), results.NextList(), results.operation()};
}

// Adds a node of the op ParseTensor.
// Inputs: serialized (string).
// Attributes: out_type (dtype: any).
// Output: output (out_type).
inline Output ParseTensor(const Operand& serialized, DType out_type, const std::string& name = "") {
  return internal::Call("ParseTensor", name, {serialized}).Attr("out_type", out_type).One();
}

// Adds a node of the op SerializeTensor.
// Inputs: tensor (T).
// Output: serialized (string).
// T: any.
inline Output SerializeTensor(const Operand& tensor, const std::string& name = "") {
  return internal::Call("SerializeTensor", name, {tensor}).One();
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_PARSING_H_
