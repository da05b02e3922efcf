// A function for each op of src/ops/dataset; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_DATASET_H_
#define TENSORBRAID_RAW_OPS_DATASET_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

// Adds a node of the op AnonymousIterator.
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1).
// Output: handle (resource).
inline Output AnonymousIterator(Graph& graph, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "AnonymousIterator", name, {}, loc).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).One();
}

// Adds a node of the op AnonymousIteratorV3.
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1).
// Output: handle (resource).
inline Output AnonymousIteratorV3(Graph& graph, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "AnonymousIteratorV3", name, {}, loc).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).One();
}

// Adds a node of the op AssertCardinalityDataset.
// Inputs: input_dataset (variant), cardinality (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1).
// Output: handle (variant).
inline Output AssertCardinalityDataset(const Output& input_dataset, const Operand& cardinality,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const std::string& name = "") {
  return internal::Call("AssertCardinalityDataset", name, {input_dataset, cardinality})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes).One();
}

struct BatchDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op BatchDataset.
// Inputs: input_dataset (variant), batch_size (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), metadata
//   (string; default "").
// Output: handle (variant).
inline Output BatchDataset(const Output& input_dataset, const Operand& batch_size,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const BatchDatasetOptions& options = {}) {
  return internal::Call("BatchDataset", options.name, {input_dataset, batch_size}).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

struct BatchDatasetV2Options {
  bool parallel_copy = false;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op BatchDatasetV2.
// Inputs: input_dataset (variant), batch_size (int64), drop_remainder (bool).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), parallel_copy
//   (bool; default false), metadata (string; default "").
// Output: handle (variant).
inline Output BatchDatasetV2(const Output& input_dataset, const Operand& batch_size, const Operand& drop_remainder,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const BatchDatasetV2Options& options = {}) {
  return internal::Call("BatchDatasetV2", options.name, {input_dataset, batch_size, drop_remainder})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("parallel_copy", options.parallel_copy).Attr("metadata", options.metadata).One();
}

// Adds a node of the op CSVDataset.
// Inputs: filenames (string), compression_type (string), buffer_size (int64), header (bool), field_delim (string),
//   use_quote_delim (bool), na_value (string), select_cols (int64), record_defaults (a list of tensors of the types
//   output_types).
// Attributes: output_shapes (list of shapes, at least 1).
// Output: handle (variant).
// output_types: float32 float64 int32 string int64.
inline Output CSVDataset(const Operand& filenames, const Operand& compression_type, const Operand& buffer_size,
    const Operand& header, const Operand& field_delim, const Operand& use_quote_delim, const Operand& na_value,
    const Operand& select_cols, const std::vector<Output>& record_defaults,
    const std::vector<tensorbraid::Shape>& output_shapes, const std::string& name = "") {
  return internal::Call("CSVDataset", name, {filenames, compression_type, buffer_size, header, field_delim,
      use_quote_delim, na_value, select_cols, record_defaults}).Attr("output_shapes", output_shapes).One();
}

// Adds a node of the op CSVDatasetV2.
// Inputs: filenames (string), compression_type (string), buffer_size (int64), header (bool), field_delim (string),
//   use_quote_delim (bool), na_value (string), select_cols (int64), record_defaults (a list of tensors of the types
//   output_types), exclude_cols (int64).
// Attributes: output_shapes (list of shapes, at least 1).
// Output: handle (variant).
// output_types: float32 float64 int32 string int64.
inline Output CSVDatasetV2(const Operand& filenames, const Operand& compression_type, const Operand& buffer_size,
    const Operand& header, const Operand& field_delim, const Operand& use_quote_delim, const Operand& na_value,
    const Operand& select_cols, const std::vector<Output>& record_defaults, const Operand& exclude_cols,
    const std::vector<tensorbraid::Shape>& output_shapes, const std::string& name = "") {
  return internal::Call("CSVDatasetV2", name, {filenames, compression_type, buffer_size, header, field_delim,
      use_quote_delim, na_value, select_cols, record_defaults, exclude_cols}).Attr("output_shapes", output_shapes)
      .One();
}

struct CacheDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op CacheDataset.
// Inputs: input_dataset (variant), filename (string).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), metadata
//   (string; default "").
// Output: handle (variant).
inline Output CacheDataset(const Output& input_dataset, const Operand& filename, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const CacheDatasetOptions& options = {}) {
  return internal::Call("CacheDataset", options.name, {input_dataset, filename}).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

struct CacheDatasetV2Options {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op CacheDatasetV2.
// Inputs: input_dataset (variant), filename (string), cache (resource).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), metadata
//   (string; default "").
// Output: handle (variant).
inline Output CacheDatasetV2(const Output& input_dataset, const Operand& filename, const Output& cache,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const CacheDatasetV2Options& options = {}) {
  return internal::Call("CacheDatasetV2", options.name, {input_dataset, filename, cache})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

struct ConcatenateDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op ConcatenateDataset.
// Inputs: input_dataset (variant), another_dataset (variant).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), metadata
//   (string; default "").
// Output: handle (variant).
inline Output ConcatenateDataset(const Output& input_dataset, const Output& another_dataset,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const ConcatenateDatasetOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call("ConcatenateDataset", options.name, {input_dataset, another_dataset}, loc)
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

struct DatasetCardinalityOptions {
  std::string cardinality_options = "";
  std::string name = {};
};
// Adds a node of the op DatasetCardinality.
// Inputs: input_dataset (variant).
// Attributes: cardinality_options (string; default "").
// Output: cardinality (int64).
inline Output DatasetCardinality(const Output& input_dataset, const DatasetCardinalityOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("DatasetCardinality", options.name, {input_dataset}, loc)
      .Attr("cardinality_options", options.cardinality_options).One();
}

struct DatasetToSingleElementOptions {
  std::string metadata = "";
  std::string name = {};
};
struct DatasetToSingleElementOutputs {
  std::vector<Output> components;
  Operation operation;
};
// Adds a node of the op DatasetToSingleElement.
// Inputs: dataset (variant).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), metadata
//   (string; default "").
// Output: components (a list of tensors of the types output_types).
inline DatasetToSingleElementOutputs DatasetToSingleElement(const Output& dataset,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const DatasetToSingleElementOptions& options = {}, std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("DatasetToSingleElement", options.name, {dataset}, loc)
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).All();
  return {results.NextList(), results.operation()};
}

// Adds a node of the op DenseToSparseBatchDataset.
// Inputs: input_dataset (variant), batch_size (int64), row_shape (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1).
// Output: handle (variant).
inline Output DenseToSparseBatchDataset(const Output& input_dataset, const Operand& batch_size,
    const Operand& row_shape, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const std::string& name = "") {
  return internal::Call("DenseToSparseBatchDataset", name, {input_dataset, batch_size, row_shape})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes).One();
}

// Adds a node of the op DeserializeIterator.
// Inputs: resource_handle (resource), serialized (variant).
inline Operation DeserializeIterator(const Output& resource_handle, const Output& serialized,
    const std::string& name = "", std::source_location loc = std::source_location::current()) {
  return internal::Call("DeserializeIterator", name, {resource_handle, serialized}, loc).Finish();
}

struct DirectedInterleaveDatasetOptions {
  bool stop_on_empty_dataset = false;
  std::string name = {};
};
// Adds a node of the op DirectedInterleaveDataset.
// Inputs: selector_input_dataset (variant), data_input_datasets (a list of N tensors of type variant).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   stop_on_empty_dataset (bool; default false).
// Output: handle (variant).
inline Output DirectedInterleaveDataset(const Output& selector_input_dataset,
    const std::vector<Output>& data_input_datasets, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const DirectedInterleaveDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("DirectedInterleaveDataset", options.name, {selector_input_dataset, data_input_datasets}, loc)
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("stop_on_empty_dataset", options.stop_on_empty_dataset).One();
}

// Adds a node of the op DummyMemoryCache.
// Output: handle (resource).
inline Output DummyMemoryCache(Graph& graph, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "DummyMemoryCache", name, {}, loc).One();
}

// Adds a node of the op DummySeedGenerator.
// Output: handle (resource).
inline Output DummySeedGenerator(Graph& graph, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "DummySeedGenerator", name, {}, loc).One();
}

// Adds a node of the op ExperimentalGroupByReducerDataset.
// Inputs: input_dataset (variant), key_func_other_arguments (a list of tensors of the types Tkey_func_other_arguments),
//   init_func_other_arguments (a list of tensors of the types Tinit_func_other_arguments), reduce_func_other_arguments
//   (a list of tensors of the types Treduce_func_other_arguments), finalize_func_other_arguments (a list of tensors of
//   the types Tfinalize_func_other_arguments).
// Attributes: key_func (function), init_func (function), reduce_func (function), finalize_func (function), output_types
//   (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1).
// Output: handle (variant).
// Tkey_func_other_arguments: any; Tinit_func_other_arguments: any; Treduce_func_other_arguments: any;
//   Tfinalize_func_other_arguments: any.
inline Output ExperimentalGroupByReducerDataset(const Output& input_dataset,
    const std::vector<Output>& key_func_other_arguments, const std::vector<Output>& init_func_other_arguments,
    const std::vector<Output>& reduce_func_other_arguments, const std::vector<Output>& finalize_func_other_arguments,
    const AttrValue::Function& key_func, const AttrValue::Function& init_func, const AttrValue::Function& reduce_func,
    const AttrValue::Function& finalize_func, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ExperimentalGroupByReducerDataset", name, {input_dataset, key_func_other_arguments,
      init_func_other_arguments, reduce_func_other_arguments, finalize_func_other_arguments}, loc)
      .Attr("key_func", key_func).Attr("init_func", init_func).Attr("reduce_func", reduce_func)
      .Attr("finalize_func", finalize_func).Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .One();
}

struct FilterDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op FilterDataset.
// Inputs: input_dataset (variant), other_arguments (a list of tensors of the types Targuments).
// Attributes: predicate (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at
//   least 1), metadata (string; default "").
// Output: handle (variant).
// Targuments: any.
inline Output FilterDataset(const Output& input_dataset, const std::vector<Output>& other_arguments,
    const AttrValue::Function& predicate, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const FilterDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("FilterDataset", options.name, {input_dataset, other_arguments}, loc)
      .Attr("predicate", predicate).Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("metadata", options.metadata).One();
}

struct FinalizeDatasetOptions {
  bool has_captured_ref = false;
  std::string name = {};
};
// Adds a node of the op FinalizeDataset.
// Inputs: input_dataset (variant).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   has_captured_ref (bool; default false).
// Output: handle (variant).
inline Output FinalizeDataset(const Output& input_dataset, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const FinalizeDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("FinalizeDataset", options.name, {input_dataset}, loc).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("has_captured_ref", options.has_captured_ref).One();
}

struct FixedLengthRecordDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op FixedLengthRecordDataset.
// Inputs: filenames (string), header_bytes (int64), record_bytes (int64), footer_bytes (int64), buffer_size (int64).
// Attributes: metadata (string; default "").
// Output: handle (variant).
inline Output FixedLengthRecordDataset(const Operand& filenames, const Operand& header_bytes,
    const Operand& record_bytes, const Operand& footer_bytes, const Operand& buffer_size,
    const FixedLengthRecordDatasetOptions& options = {}) {
  return internal::Call("FixedLengthRecordDataset", options.name, {filenames, header_bytes, record_bytes, footer_bytes,
      buffer_size}).Attr("metadata", options.metadata).One();
}

struct FixedLengthRecordDatasetV2Options {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op FixedLengthRecordDatasetV2.
// Inputs: filenames (string), header_bytes (int64), record_bytes (int64), footer_bytes (int64), buffer_size (int64),
//   compression_type (string).
// Attributes: metadata (string; default "").
// Output: handle (variant).
inline Output FixedLengthRecordDatasetV2(const Operand& filenames, const Operand& header_bytes,
    const Operand& record_bytes, const Operand& footer_bytes, const Operand& buffer_size,
    const Operand& compression_type, const FixedLengthRecordDatasetV2Options& options = {}) {
  return internal::Call("FixedLengthRecordDatasetV2", options.name, {filenames, header_bytes, record_bytes,
      footer_bytes, buffer_size, compression_type}).Attr("metadata", options.metadata).One();
}

struct FlatMapDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op FlatMapDataset.
// Inputs: input_dataset (variant), other_arguments (a list of tensors of the types Targuments).
// Attributes: f (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   metadata (string; default "").
// Output: handle (variant).
// Targuments: any.
inline Output FlatMapDataset(const Output& input_dataset, const std::vector<Output>& other_arguments,
    const AttrValue::Function& f, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const FlatMapDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("FlatMapDataset", options.name, {input_dataset, other_arguments}, loc).Attr("f", f)
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

struct GeneratorDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op GeneratorDataset.
// Inputs: init_func_other_args (a list of tensors of the types Tinit_func_args), next_func_other_args (a list of
//   tensors of the types Tnext_func_args), finalize_func_other_args (a list of tensors of the types
//   Tfinalize_func_args).
// Attributes: init_func (function), next_func (function), finalize_func (function), output_types (list of dtypes: any,
//   at least 1), output_shapes (list of shapes, at least 1), metadata (string; default "").
// Output: handle (variant).
// Tinit_func_args: any; Tnext_func_args: any; Tfinalize_func_args: any.
inline Output GeneratorDataset(Graph& graph, const std::vector<Output>& init_func_other_args,
    const std::vector<Output>& next_func_other_args, const std::vector<Output>& finalize_func_other_args,
    const AttrValue::Function& init_func, const AttrValue::Function& next_func,
    const AttrValue::Function& finalize_func, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const GeneratorDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "GeneratorDataset", options.name, {init_func_other_args, next_func_other_args,
      finalize_func_other_args}, loc).Attr("init_func", init_func).Attr("next_func", next_func)
      .Attr("finalize_func", finalize_func).Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("metadata", options.metadata).One();
}

// Adds a node of the op GroupByReducerDataset.
// Inputs: input_dataset (variant), key_func_other_arguments (a list of tensors of the types Tkey_func_other_arguments),
//   init_func_other_arguments (a list of tensors of the types Tinit_func_other_arguments), reduce_func_other_arguments
//   (a list of tensors of the types Treduce_func_other_arguments), finalize_func_other_arguments (a list of tensors of
//   the types Tfinalize_func_other_arguments).
// Attributes: key_func (function), init_func (function), reduce_func (function), finalize_func (function), output_types
//   (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1).
// Output: handle (variant).
// Tkey_func_other_arguments: any; Tinit_func_other_arguments: any; Treduce_func_other_arguments: any;
//   Tfinalize_func_other_arguments: any.
inline Output GroupByReducerDataset(const Output& input_dataset, const std::vector<Output>& key_func_other_arguments,
    const std::vector<Output>& init_func_other_arguments, const std::vector<Output>& reduce_func_other_arguments,
    const std::vector<Output>& finalize_func_other_arguments, const AttrValue::Function& key_func,
    const AttrValue::Function& init_func, const AttrValue::Function& reduce_func,
    const AttrValue::Function& finalize_func, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("GroupByReducerDataset", name, {input_dataset, key_func_other_arguments,
      init_func_other_arguments, reduce_func_other_arguments, finalize_func_other_arguments}, loc)
      .Attr("key_func", key_func).Attr("init_func", init_func).Attr("reduce_func", reduce_func)
      .Attr("finalize_func", finalize_func).Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .One();
}

struct GroupByWindowDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op GroupByWindowDataset.
// Inputs: input_dataset (variant), key_func_other_arguments (a list of tensors of the types Tkey_func_other_arguments),
//   reduce_func_other_arguments (a list of tensors of the types Treduce_func_other_arguments),
//   window_size_func_other_arguments (a list of tensors of the types Twindow_size_func_other_arguments).
// Attributes: key_func (function), reduce_func (function), window_size_func (function), output_types (list of dtypes:
//   any, at least 1), output_shapes (list of shapes, at least 1), metadata (string; default "").
// Output: handle (variant).
// Tkey_func_other_arguments: any; Treduce_func_other_arguments: any; Twindow_size_func_other_arguments: any.
inline Output GroupByWindowDataset(const Output& input_dataset, const std::vector<Output>& key_func_other_arguments,
    const std::vector<Output>& reduce_func_other_arguments, const std::vector<Output>& window_size_func_other_arguments,
    const AttrValue::Function& key_func, const AttrValue::Function& reduce_func,
    const AttrValue::Function& window_size_func, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const GroupByWindowDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("GroupByWindowDataset", options.name, {input_dataset, key_func_other_arguments,
      reduce_func_other_arguments, window_size_func_other_arguments}, loc).Attr("key_func", key_func)
      .Attr("reduce_func", reduce_func).Attr("window_size_func", window_size_func).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

struct IgnoreErrorsDatasetOptions {
  bool log_warning = false;
  std::string name = {};
};
// Adds a node of the op IgnoreErrorsDataset.
// Inputs: input_dataset (variant).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), log_warning
//   (bool; default false).
// Output: handle (variant).
inline Output IgnoreErrorsDataset(const Output& input_dataset, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const IgnoreErrorsDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("IgnoreErrorsDataset", options.name, {input_dataset}, loc).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("log_warning", options.log_warning).One();
}

struct InterleaveDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op InterleaveDataset.
// Inputs: input_dataset (variant), other_arguments (a list of tensors of the types Targuments), cycle_length (int64),
//   block_length (int64).
// Attributes: f (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   metadata (string; default "").
// Output: handle (variant).
// Targuments: any.
inline Output InterleaveDataset(const Output& input_dataset, const std::vector<Output>& other_arguments,
    const Operand& cycle_length, const Operand& block_length, const AttrValue::Function& f,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const InterleaveDatasetOptions& options = {}) {
  return internal::Call("InterleaveDataset", options.name, {input_dataset, other_arguments, cycle_length, block_length})
      .Attr("f", f).Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("metadata", options.metadata).One();
}

// Adds a node of the op Iterator.
// Attributes: shared_name (string), container (string), output_types (list of dtypes: any, at least 1), output_shapes
//   (list of shapes, at least 1).
// Output: handle (resource).
inline Output Iterator(Graph& graph, const std::string& shared_name, const std::string& container,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const std::string& name = "", std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "Iterator", name, {}, loc).Attr("shared_name", shared_name).Attr("container", container)
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes).One();
}

struct IteratorFromStringHandleOptions {
  std::vector<DType> output_types = {};
  std::vector<tensorbraid::Shape> output_shapes = {};
  std::string name = {};
};
// Adds a node of the op IteratorFromStringHandle.
// Inputs: string_handle (string).
// Attributes: output_types (list of dtypes: any, at least 0; default []), output_shapes (list of shapes, at least 0;
//   default []).
// Output: resource_handle (resource).
inline Output IteratorFromStringHandle(const Operand& string_handle,
    const IteratorFromStringHandleOptions& options = {}) {
  return internal::Call("IteratorFromStringHandle", options.name, {string_handle})
      .Attr("output_types", options.output_types).Attr("output_shapes", options.output_shapes).One();
}

struct IteratorFromStringHandleV2Options {
  std::vector<DType> output_types = {};
  std::vector<tensorbraid::Shape> output_shapes = {};
  std::string name = {};
};
// Adds a node of the op IteratorFromStringHandleV2.
// Inputs: string_handle (string).
// Attributes: output_types (list of dtypes: any, at least 0; default []), output_shapes (list of shapes, at least 0;
//   default []).
// Output: resource_handle (resource).
inline Output IteratorFromStringHandleV2(const Operand& string_handle,
    const IteratorFromStringHandleV2Options& options = {}) {
  return internal::Call("IteratorFromStringHandleV2", options.name, {string_handle})
      .Attr("output_types", options.output_types).Attr("output_shapes", options.output_shapes).One();
}

struct IteratorGetNextOutputs {
  std::vector<Output> components;
  Operation operation;
};
// Adds a node of the op IteratorGetNext.
// Inputs: iterator (resource).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1).
// Output: components (a list of tensors of the types output_types).
inline IteratorGetNextOutputs IteratorGetNext(const Output& iterator, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("IteratorGetNext", name, {iterator}, loc).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).All();
  return {results.NextList(), results.operation()};
}

// Adds a node of the op IteratorGetNextAsOptional.
// Inputs: iterator (resource).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1).
// Output: optional (variant).
inline Output IteratorGetNextAsOptional(const Output& iterator, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("IteratorGetNextAsOptional", name, {iterator}, loc).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).One();
}

struct IteratorGetNextSyncOutputs {
  std::vector<Output> components;
  Operation operation;
};
// Adds a node of the op IteratorGetNextSync.
// Inputs: iterator (resource).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1).
// Output: components (a list of tensors of the types output_types).
inline IteratorGetNextSyncOutputs IteratorGetNextSync(const Output& iterator, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("IteratorGetNextSync", name, {iterator}, loc).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).All();
  return {results.NextList(), results.operation()};
}

// Adds a node of the op IteratorToStringHandle.
// Inputs: resource_handle (resource).
// Output: string_handle (string).
inline Output IteratorToStringHandle(const Output& resource_handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("IteratorToStringHandle", name, {resource_handle}, loc).One();
}

// Adds a node of the op IteratorV2.
// Attributes: shared_name (string), container (string), output_types (list of dtypes: any, at least 1), output_shapes
//   (list of shapes, at least 1).
// Output: handle (resource).
inline Output IteratorV2(Graph& graph, const std::string& shared_name, const std::string& container,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const std::string& name = "", std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "IteratorV2", name, {}, loc).Attr("shared_name", shared_name)
      .Attr("container", container).Attr("output_types", output_types).Attr("output_shapes", output_shapes).One();
}

struct LegacyParallelInterleaveDatasetV2Options {
  std::string deterministic = "default";
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op LegacyParallelInterleaveDatasetV2.
// Inputs: input_dataset (variant), other_arguments (a list of tensors of the types Targuments), cycle_length (int64),
//   block_length (int64), buffer_output_elements (int64), prefetch_input_elements (int64).
// Attributes: f (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   deterministic (string; default "default"), metadata (string; default "").
// Output: handle (variant).
// Targuments: any.
inline Output LegacyParallelInterleaveDatasetV2(const Output& input_dataset, const std::vector<Output>& other_arguments,
    const Operand& cycle_length, const Operand& block_length, const Operand& buffer_output_elements,
    const Operand& prefetch_input_elements, const AttrValue::Function& f, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes,
    const LegacyParallelInterleaveDatasetV2Options& options = {}) {
  return internal::Call("LegacyParallelInterleaveDatasetV2", options.name, {input_dataset, other_arguments,
      cycle_length, block_length, buffer_output_elements, prefetch_input_elements}).Attr("f", f)
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("deterministic", options.deterministic).Attr("metadata", options.metadata).One();
}

struct LoadDatasetOptions {
  std::string compression = "";
  std::string name = {};
};
// Adds a node of the op LoadDataset.
// Inputs: path (string), reader_func_other_args (a list of tensors of the types Treader_func_args).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), reader_func
//   (function), compression (string; default "").
// Output: handle (variant).
// Treader_func_args: any.
inline Output LoadDataset(const Operand& path, const std::vector<Output>& reader_func_other_args,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const AttrValue::Function& reader_func, const LoadDatasetOptions& options = {}) {
  return internal::Call("LoadDataset", options.name, {path, reader_func_other_args}).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("reader_func", reader_func).Attr("compression", options.compression)
      .One();
}

// Adds a node of the op MakeIterator.
// Inputs: dataset (variant), iterator (resource).
inline Operation MakeIterator(const Output& dataset, const Output& iterator, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("MakeIterator", name, {dataset, iterator}, loc).Finish();
}

struct MapAndBatchDatasetOptions {
  bool preserve_cardinality = false;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op MapAndBatchDataset.
// Inputs: input_dataset (variant), other_arguments (a list of tensors of the types Targuments), batch_size (int64),
//   num_parallel_calls (int64), drop_remainder (bool).
// Attributes: f (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   preserve_cardinality (bool; default false), metadata (string; default "").
// Output: handle (variant).
// Targuments: any.
inline Output MapAndBatchDataset(const Output& input_dataset, const std::vector<Output>& other_arguments,
    const Operand& batch_size, const Operand& num_parallel_calls, const Operand& drop_remainder,
    const AttrValue::Function& f, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const MapAndBatchDatasetOptions& options = {}) {
  return internal::Call("MapAndBatchDataset", options.name, {input_dataset, other_arguments, batch_size,
      num_parallel_calls, drop_remainder}).Attr("f", f).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("preserve_cardinality", options.preserve_cardinality)
      .Attr("metadata", options.metadata).One();
}

struct MapDatasetOptions {
  bool use_inter_op_parallelism = true;
  bool preserve_cardinality = false;
  bool force_synchronous = false;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op MapDataset.
// Inputs: input_dataset (variant), other_arguments (a list of tensors of the types Targuments).
// Attributes: f (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   use_inter_op_parallelism (bool; default true), preserve_cardinality (bool; default false), force_synchronous (bool;
//   default false), metadata (string; default "").
// Output: handle (variant).
// Targuments: any.
inline Output MapDataset(const Output& input_dataset, const std::vector<Output>& other_arguments,
    const AttrValue::Function& f, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const MapDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("MapDataset", options.name, {input_dataset, other_arguments}, loc).Attr("f", f)
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("use_inter_op_parallelism", options.use_inter_op_parallelism)
      .Attr("preserve_cardinality", options.preserve_cardinality).Attr("force_synchronous", options.force_synchronous)
      .Attr("metadata", options.metadata).One();
}

// Adds a node of the op MatchingFilesDataset.
// Inputs: patterns (string).
// Output: handle (variant).
inline Output MatchingFilesDataset(const Operand& patterns, const std::string& name = "") {
  return internal::Call("MatchingFilesDataset", name, {patterns}).One();
}

// Adds a node of the op MaxIntraOpParallelismDataset.
// Inputs: input_dataset (variant), max_intra_op_parallelism (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1).
// Output: handle (variant).
inline Output MaxIntraOpParallelismDataset(const Output& input_dataset, const Operand& max_intra_op_parallelism,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const std::string& name = "") {
  return internal::Call("MaxIntraOpParallelismDataset", name, {input_dataset, max_intra_op_parallelism})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes).One();
}

struct ModelDatasetOptions {
  int64_t algorithm = 0;
  int64_t cpu_budget = 0;
  int64_t ram_budget = 0;
  std::string name = {};
};
// Adds a node of the op ModelDataset.
// Inputs: input_dataset (variant).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), algorithm
//   (int; default 0), cpu_budget (int; default 0), ram_budget (int; default 0).
// Output: handle (variant).
inline Output ModelDataset(const Output& input_dataset, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const ModelDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ModelDataset", options.name, {input_dataset}, loc).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("algorithm", options.algorithm).Attr("cpu_budget", options.cpu_budget)
      .Attr("ram_budget", options.ram_budget).One();
}

struct OneShotIteratorOptions {
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op OneShotIterator.
// Attributes: dataset_factory (function), output_types (list of dtypes: any, at least 1), output_shapes (list of
//   shapes, at least 1), container (string; default ""), shared_name (string; default "").
// Output: handle (resource).
inline Output OneShotIterator(Graph& graph, const AttrValue::Function& dataset_factory,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const OneShotIteratorOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "OneShotIterator", options.name, {}, loc).Attr("dataset_factory", dataset_factory)
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).One();
}

struct OptimizeDatasetOptions {
  std::vector<std::string> optimization_configs = {};
  std::string name = {};
};
// Adds a node of the op OptimizeDataset.
// Inputs: input_dataset (variant), optimizations (string).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   optimization_configs (list of strings; default []).
// Output: handle (variant).
inline Output OptimizeDataset(const Output& input_dataset, const Operand& optimizations,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const OptimizeDatasetOptions& options = {}) {
  return internal::Call("OptimizeDataset", options.name, {input_dataset, optimizations})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("optimization_configs", options.optimization_configs).One();
}

struct OptionsDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op OptionsDataset.
// Inputs: input_dataset (variant).
// Attributes: serialized_options (string), output_types (list of dtypes: any, at least 1), output_shapes (list of
//   shapes, at least 1), metadata (string; default "").
// Output: handle (variant).
inline Output OptionsDataset(const Output& input_dataset, const std::string& serialized_options,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const OptionsDatasetOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call("OptionsDataset", options.name, {input_dataset}, loc)
      .Attr("serialized_options", serialized_options).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

struct PaddedBatchDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op PaddedBatchDataset.
// Inputs: input_dataset (variant), batch_size (int64), padded_shapes (a list of N tensors of type int64),
//   padding_values (a list of tensors of the types Toutput_types).
// Attributes: output_shapes (list of shapes, at least 1), metadata (string; default "").
// Output: handle (variant).
// Toutput_types: any.
inline Output PaddedBatchDataset(const Output& input_dataset, const Operand& batch_size,
    const std::vector<Output>& padded_shapes, const std::vector<Output>& padding_values,
    const std::vector<tensorbraid::Shape>& output_shapes, const PaddedBatchDatasetOptions& options = {}) {
  return internal::Call("PaddedBatchDataset", options.name, {input_dataset, batch_size, padded_shapes, padding_values})
      .Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

struct PaddedBatchDatasetV2Options {
  bool parallel_copy = false;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op PaddedBatchDatasetV2.
// Inputs: input_dataset (variant), batch_size (int64), padded_shapes (a list of N tensors of type int64),
//   padding_values (a list of tensors of the types Toutput_types), drop_remainder (bool).
// Attributes: output_shapes (list of shapes, at least 1), parallel_copy (bool; default false), metadata (string;
//   default "").
// Output: handle (variant).
// Toutput_types: any.
inline Output PaddedBatchDatasetV2(const Output& input_dataset, const Operand& batch_size,
    const std::vector<Output>& padded_shapes, const std::vector<Output>& padding_values, const Operand& drop_remainder,
    const std::vector<tensorbraid::Shape>& output_shapes, const PaddedBatchDatasetV2Options& options = {}) {
  return internal::Call("PaddedBatchDatasetV2", options.name, {input_dataset, batch_size, padded_shapes, padding_values,
      drop_remainder}).Attr("output_shapes", output_shapes).Attr("parallel_copy", options.parallel_copy)
      .Attr("metadata", options.metadata).One();
}

struct ParallelBatchDatasetOptions {
  bool parallel_copy = false;
  std::string deterministic = "default";
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op ParallelBatchDataset.
// Inputs: input_dataset (variant), batch_size (int64), num_parallel_calls (int64), drop_remainder (bool).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), parallel_copy
//   (bool; default false), deterministic (string; default "default"), metadata (string; default "").
// Output: handle (variant).
inline Output ParallelBatchDataset(const Output& input_dataset, const Operand& batch_size,
    const Operand& num_parallel_calls, const Operand& drop_remainder, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const ParallelBatchDatasetOptions& options = {}) {
  return internal::Call("ParallelBatchDataset", options.name, {input_dataset, batch_size, num_parallel_calls,
      drop_remainder}).Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("parallel_copy", options.parallel_copy).Attr("deterministic", options.deterministic)
      .Attr("metadata", options.metadata).One();
}

struct ParallelInterleaveDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op ParallelInterleaveDataset.
// Inputs: input_dataset (variant), other_arguments (a list of tensors of the types Targuments), cycle_length (int64),
//   block_length (int64), sloppy (bool), buffer_output_elements (int64), prefetch_input_elements (int64).
// Attributes: f (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   metadata (string; default "").
// Output: handle (variant).
// Targuments: any.
inline Output ParallelInterleaveDataset(const Output& input_dataset, const std::vector<Output>& other_arguments,
    const Operand& cycle_length, const Operand& block_length, const Operand& sloppy,
    const Operand& buffer_output_elements, const Operand& prefetch_input_elements, const AttrValue::Function& f,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const ParallelInterleaveDatasetOptions& options = {}) {
  return internal::Call("ParallelInterleaveDataset", options.name, {input_dataset, other_arguments, cycle_length,
      block_length, sloppy, buffer_output_elements, prefetch_input_elements}).Attr("f", f)
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

struct ParallelInterleaveDatasetV2Options {
  bool sloppy = false;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op ParallelInterleaveDatasetV2.
// Inputs: input_dataset (variant), other_arguments (a list of tensors of the types Targuments), cycle_length (int64),
//   block_length (int64), num_parallel_calls (int64).
// Attributes: f (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   sloppy (bool; default false), metadata (string; default "").
// Output: handle (variant).
// Targuments: any.
inline Output ParallelInterleaveDatasetV2(const Output& input_dataset, const std::vector<Output>& other_arguments,
    const Operand& cycle_length, const Operand& block_length, const Operand& num_parallel_calls,
    const AttrValue::Function& f, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const ParallelInterleaveDatasetV2Options& options = {}) {
  return internal::Call("ParallelInterleaveDatasetV2", options.name, {input_dataset, other_arguments, cycle_length,
      block_length, num_parallel_calls}).Attr("f", f).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("sloppy", options.sloppy).Attr("metadata", options.metadata).One();
}

struct ParallelInterleaveDatasetV3Options {
  std::string deterministic = "default";
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op ParallelInterleaveDatasetV3.
// Inputs: input_dataset (variant), other_arguments (a list of tensors of the types Targuments), cycle_length (int64),
//   block_length (int64), num_parallel_calls (int64).
// Attributes: f (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   deterministic (string; default "default"), metadata (string; default "").
// Output: handle (variant).
// Targuments: any.
inline Output ParallelInterleaveDatasetV3(const Output& input_dataset, const std::vector<Output>& other_arguments,
    const Operand& cycle_length, const Operand& block_length, const Operand& num_parallel_calls,
    const AttrValue::Function& f, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const ParallelInterleaveDatasetV3Options& options = {}) {
  return internal::Call("ParallelInterleaveDatasetV3", options.name, {input_dataset, other_arguments, cycle_length,
      block_length, num_parallel_calls}).Attr("f", f).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("deterministic", options.deterministic)
      .Attr("metadata", options.metadata).One();
}

struct ParallelInterleaveDatasetV4Options {
  std::string deterministic = "default";
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op ParallelInterleaveDatasetV4.
// Inputs: input_dataset (variant), other_arguments (a list of tensors of the types Targuments), cycle_length (int64),
//   block_length (int64), buffer_output_elements (int64), prefetch_input_elements (int64), num_parallel_calls (int64).
// Attributes: f (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   deterministic (string; default "default"), metadata (string; default "").
// Output: handle (variant).
// Targuments: any.
inline Output ParallelInterleaveDatasetV4(const Output& input_dataset, const std::vector<Output>& other_arguments,
    const Operand& cycle_length, const Operand& block_length, const Operand& buffer_output_elements,
    const Operand& prefetch_input_elements, const Operand& num_parallel_calls, const AttrValue::Function& f,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const ParallelInterleaveDatasetV4Options& options = {}) {
  return internal::Call("ParallelInterleaveDatasetV4", options.name, {input_dataset, other_arguments, cycle_length,
      block_length, buffer_output_elements, prefetch_input_elements, num_parallel_calls}).Attr("f", f)
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("deterministic", options.deterministic).Attr("metadata", options.metadata).One();
}

struct ParallelMapDatasetOptions {
  bool use_inter_op_parallelism = true;
  bool sloppy = false;
  bool preserve_cardinality = false;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op ParallelMapDataset.
// Inputs: input_dataset (variant), other_arguments (a list of tensors of the types Targuments), num_parallel_calls
//   (int32).
// Attributes: f (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   use_inter_op_parallelism (bool; default true), sloppy (bool; default false), preserve_cardinality (bool; default
//   false), metadata (string; default "").
// Output: handle (variant).
// Targuments: any.
inline Output ParallelMapDataset(const Output& input_dataset, const std::vector<Output>& other_arguments,
    const Operand& num_parallel_calls, const AttrValue::Function& f, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const ParallelMapDatasetOptions& options = {}) {
  return internal::Call("ParallelMapDataset", options.name, {input_dataset, other_arguments, num_parallel_calls})
      .Attr("f", f).Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("use_inter_op_parallelism", options.use_inter_op_parallelism).Attr("sloppy", options.sloppy)
      .Attr("preserve_cardinality", options.preserve_cardinality).Attr("metadata", options.metadata).One();
}

struct ParallelMapDatasetV2Options {
  bool use_inter_op_parallelism = true;
  std::string deterministic = "default";
  bool preserve_cardinality = false;
  bool use_unbounded_threadpool = false;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op ParallelMapDatasetV2.
// Inputs: input_dataset (variant), other_arguments (a list of tensors of the types Targuments), num_parallel_calls
//   (int64).
// Attributes: f (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   use_inter_op_parallelism (bool; default true), deterministic (string; default "default"), preserve_cardinality
//   (bool; default false), use_unbounded_threadpool (bool; default false), metadata (string; default "").
// Output: handle (variant).
// Targuments: any.
inline Output ParallelMapDatasetV2(const Output& input_dataset, const std::vector<Output>& other_arguments,
    const Operand& num_parallel_calls, const AttrValue::Function& f, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const ParallelMapDatasetV2Options& options = {}) {
  return internal::Call("ParallelMapDatasetV2", options.name, {input_dataset, other_arguments, num_parallel_calls})
      .Attr("f", f).Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("use_inter_op_parallelism", options.use_inter_op_parallelism).Attr("deterministic", options.deterministic)
      .Attr("preserve_cardinality", options.preserve_cardinality)
      .Attr("use_unbounded_threadpool", options.use_unbounded_threadpool).Attr("metadata", options.metadata).One();
}

struct ParseExampleDatasetOptions {
  bool sloppy = false;
  std::vector<std::string> ragged_keys = {};
  std::vector<DType> ragged_value_types = {};
  std::vector<DType> ragged_split_types = {};
  std::string name = {};
};
// Adds a node of the op ParseExampleDataset.
// Inputs: input_dataset (variant), num_parallel_calls (int64), dense_defaults (a list of tensors of the types Tdense).
// Attributes: sparse_keys (list of strings, at least 0), dense_keys (list of strings, at least 0), sparse_types (list
//   of dtypes: float32 string int64, at least 0), dense_shapes (list of shapes, at least 0), output_types (list of
//   dtypes: any, at least 1), output_shapes (list of shapes, at least 1), sloppy (bool; default false), ragged_keys
//   (list of strings, at least 0; default []), ragged_value_types (list of dtypes: float32 string int64, at least 0;
//   default []), ragged_split_types (list of dtypes: int32 int64, at least 0; default []).
// Output: handle (variant).
// Tdense: float32 string int64.
inline Output ParseExampleDataset(const Output& input_dataset, const Operand& num_parallel_calls,
    const std::vector<Output>& dense_defaults, const std::vector<std::string>& sparse_keys,
    const std::vector<std::string>& dense_keys, const std::vector<DType>& sparse_types,
    const std::vector<tensorbraid::Shape>& dense_shapes, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const ParseExampleDatasetOptions& options = {}) {
  return internal::Call("ParseExampleDataset", options.name, {input_dataset, num_parallel_calls, dense_defaults})
      .Attr("sparse_keys", sparse_keys).Attr("dense_keys", dense_keys).Attr("sparse_types", sparse_types)
      .Attr("dense_shapes", dense_shapes).Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("sloppy", options.sloppy).Attr("ragged_keys", options.ragged_keys)
      .Attr("ragged_value_types", options.ragged_value_types).Attr("ragged_split_types", options.ragged_split_types)
      .One();
}

struct ParseExampleDatasetV2Options {
  std::string deterministic = "default";
  std::vector<std::string> ragged_keys = {};
  std::vector<DType> ragged_value_types = {};
  std::vector<DType> ragged_split_types = {};
  std::string name = {};
};
// Adds a node of the op ParseExampleDatasetV2.
// Inputs: input_dataset (variant), num_parallel_calls (int64), dense_defaults (a list of tensors of the types Tdense).
// Attributes: sparse_keys (list of strings, at least 0), dense_keys (list of strings, at least 0), sparse_types (list
//   of dtypes: float32 string int64, at least 0), dense_shapes (list of shapes, at least 0), output_types (list of
//   dtypes: any, at least 1), output_shapes (list of shapes, at least 1), deterministic (string; default "default"),
//   ragged_keys (list of strings, at least 0; default []), ragged_value_types (list of dtypes: float32 string int64, at
//   least 0; default []), ragged_split_types (list of dtypes: int32 int64, at least 0; default []).
// Output: handle (variant).
// Tdense: float32 string int64.
inline Output ParseExampleDatasetV2(const Output& input_dataset, const Operand& num_parallel_calls,
    const std::vector<Output>& dense_defaults, const std::vector<std::string>& sparse_keys,
    const std::vector<std::string>& dense_keys, const std::vector<DType>& sparse_types,
    const std::vector<tensorbraid::Shape>& dense_shapes, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const ParseExampleDatasetV2Options& options = {}) {
  return internal::Call("ParseExampleDatasetV2", options.name, {input_dataset, num_parallel_calls, dense_defaults})
      .Attr("sparse_keys", sparse_keys).Attr("dense_keys", dense_keys).Attr("sparse_types", sparse_types)
      .Attr("dense_shapes", dense_shapes).Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("deterministic", options.deterministic).Attr("ragged_keys", options.ragged_keys)
      .Attr("ragged_value_types", options.ragged_value_types).Attr("ragged_split_types", options.ragged_split_types)
      .One();
}

struct PrefetchDatasetOptions {
  int64_t slack_period = 0;
  bool legacy_autotune = true;
  int64_t buffer_size_min = 0;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op PrefetchDataset.
// Inputs: input_dataset (variant), buffer_size (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), slack_period
//   (int; default 0), legacy_autotune (bool; default true), buffer_size_min (int; default 0), metadata (string; default
//   "").
// Output: handle (variant).
inline Output PrefetchDataset(const Output& input_dataset, const Operand& buffer_size,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const PrefetchDatasetOptions& options = {}) {
  return internal::Call("PrefetchDataset", options.name, {input_dataset, buffer_size})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("slack_period", options.slack_period).Attr("legacy_autotune", options.legacy_autotune)
      .Attr("buffer_size_min", options.buffer_size_min).Attr("metadata", options.metadata).One();
}

// Adds a node of the op PrivateThreadPoolDataset.
// Inputs: input_dataset (variant), num_threads (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1).
// Output: handle (variant).
inline Output PrivateThreadPoolDataset(const Output& input_dataset, const Operand& num_threads,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const std::string& name = "") {
  return internal::Call("PrivateThreadPoolDataset", name, {input_dataset, num_threads})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes).One();
}

struct RandomDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op RandomDataset.
// Inputs: seed (int64), seed2 (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), metadata
//   (string; default "").
// Output: handle (variant).
inline Output RandomDataset(const Operand& seed, const Operand& seed2, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const RandomDatasetOptions& options = {}) {
  return internal::Call("RandomDataset", options.name, {seed, seed2}).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

struct RandomDatasetV2Options {
  bool rerandomize_each_iteration = false;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op RandomDatasetV2.
// Inputs: seed (int64), seed2 (int64), seed_generator (resource).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   rerandomize_each_iteration (bool; default false), metadata (string; default "").
// Output: handle (variant).
inline Output RandomDatasetV2(const Operand& seed, const Operand& seed2, const Output& seed_generator,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const RandomDatasetV2Options& options = {}) {
  return internal::Call("RandomDatasetV2", options.name, {seed, seed2, seed_generator})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("rerandomize_each_iteration", options.rerandomize_each_iteration).Attr("metadata", options.metadata).One();
}

struct RangeDatasetOptions {
  std::string metadata = "";
  bool replicate_on_split = false;
  std::string name = {};
};
// Adds a node of the op RangeDataset.
// Inputs: start (int64), stop (int64), step (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), metadata
//   (string; default ""), replicate_on_split (bool; default false).
// Output: handle (variant).
inline Output RangeDataset(const Operand& start, const Operand& stop, const Operand& step,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const RangeDatasetOptions& options = {}) {
  return internal::Call("RangeDataset", options.name, {start, stop, step}).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("metadata", options.metadata)
      .Attr("replicate_on_split", options.replicate_on_split).One();
}

struct RebatchDatasetOptions {
  bool use_fallback = true;
  std::string name = {};
};
// Adds a node of the op RebatchDataset.
// Inputs: input_dataset (variant), num_replicas (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), use_fallback
//   (bool; default true).
// Output: handle (variant).
inline Output RebatchDataset(const Output& input_dataset, const Operand& num_replicas,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const RebatchDatasetOptions& options = {}) {
  return internal::Call("RebatchDataset", options.name, {input_dataset, num_replicas})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("use_fallback", options.use_fallback).One();
}

// Adds a node of the op RebatchDatasetV2.
// Inputs: input_dataset (variant), batch_sizes (int64), drop_remainder (bool).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1).
// Output: handle (variant).
inline Output RebatchDatasetV2(const Output& input_dataset, const Operand& batch_sizes, const Operand& drop_remainder,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const std::string& name = "") {
  return internal::Call("RebatchDatasetV2", name, {input_dataset, batch_sizes, drop_remainder})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes).One();
}

struct ReduceDatasetOptions {
  bool use_inter_op_parallelism = true;
  std::string metadata = "";
  std::string name = {};
};
struct ReduceDatasetOutputs {
  std::vector<Output> components;
  Operation operation;
};
// Adds a node of the op ReduceDataset.
// Inputs: input_dataset (variant), initial_state (a list of tensors of the types Tstate), other_arguments (a list of
//   tensors of the types Targuments).
// Attributes: f (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   use_inter_op_parallelism (bool; default true), metadata (string; default "").
// Output: components (a list of tensors of the types output_types).
// Tstate: any; Targuments: any.
inline ReduceDatasetOutputs ReduceDataset(const Output& input_dataset, const std::vector<Output>& initial_state,
    const std::vector<Output>& other_arguments, const AttrValue::Function& f, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const ReduceDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("ReduceDataset", options.name, {input_dataset, initial_state, other_arguments}, loc)
      .Attr("f", f).Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("use_inter_op_parallelism", options.use_inter_op_parallelism).Attr("metadata", options.metadata).All();
  return {results.NextList(), results.operation()};
}

struct RepeatDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op RepeatDataset.
// Inputs: input_dataset (variant), count (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), metadata
//   (string; default "").
// Output: handle (variant).
inline Output RepeatDataset(const Output& input_dataset, const Operand& count, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const RepeatDatasetOptions& options = {}) {
  return internal::Call("RepeatDataset", options.name, {input_dataset, count}).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

// Adds a node of the op RewriteDataset.
// Inputs: input_dataset (variant), rewrite_name (string).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1).
// Output: handle (variant).
inline Output RewriteDataset(const Output& input_dataset, const Operand& rewrite_name,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const std::string& name = "") {
  return internal::Call("RewriteDataset", name, {input_dataset, rewrite_name}).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).One();
}

struct SaveDatasetOptions {
  std::string compression = "";
  bool use_shard_func = true;
  std::string name = {};
};
// Adds a node of the op SaveDataset.
// Inputs: input_dataset (variant), path (string), shard_func_other_args (a list of tensors of the types
//   Tshard_func_args).
// Attributes: shard_func (function), compression (string; default ""), use_shard_func (bool; default true).
// Tshard_func_args: any.
inline Operation SaveDataset(const Output& input_dataset, const Operand& path,
    const std::vector<Output>& shard_func_other_args, const AttrValue::Function& shard_func,
    const SaveDatasetOptions& options = {}) {
  return internal::Call("SaveDataset", options.name, {input_dataset, path, shard_func_other_args})
      .Attr("shard_func", shard_func).Attr("compression", options.compression)
      .Attr("use_shard_func", options.use_shard_func).Finish();
}

struct SaveDatasetV2Options {
  std::string compression = "";
  bool use_shard_func = true;
  std::string name = {};
};
// Adds a node of the op SaveDatasetV2.
// Inputs: input_dataset (variant), path (string), shard_func_other_args (a list of tensors of the types
//   Tshard_func_args).
// Attributes: shard_func (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at
//   least 1), compression (string; default ""), use_shard_func (bool; default true).
// Output: handle (variant).
// Tshard_func_args: any.
inline Output SaveDatasetV2(const Output& input_dataset, const Operand& path,
    const std::vector<Output>& shard_func_other_args, const AttrValue::Function& shard_func,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const SaveDatasetV2Options& options = {}) {
  return internal::Call("SaveDatasetV2", options.name, {input_dataset, path, shard_func_other_args})
      .Attr("shard_func", shard_func).Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("compression", options.compression).Attr("use_shard_func", options.use_shard_func).One();
}

struct ScanDatasetOptions {
  bool preserve_cardinality = false;
  bool use_default_device = true;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op ScanDataset.
// Inputs: input_dataset (variant), initial_state (a list of tensors of the types Tstate), other_arguments (a list of
//   tensors of the types Targuments).
// Attributes: f (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   preserve_cardinality (bool; default false), use_default_device (bool; default true), metadata (string; default "").
// Output: handle (variant).
// Tstate: any; Targuments: any.
inline Output ScanDataset(const Output& input_dataset, const std::vector<Output>& initial_state,
    const std::vector<Output>& other_arguments, const AttrValue::Function& f, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const ScanDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ScanDataset", options.name, {input_dataset, initial_state, other_arguments}, loc).Attr("f", f)
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("preserve_cardinality", options.preserve_cardinality).Attr("use_default_device", options.use_default_device)
      .Attr("metadata", options.metadata).One();
}

struct SerializeIteratorOptions {
  int64_t external_state_policy = 0;
  std::string name = {};
};
// Adds a node of the op SerializeIterator.
// Inputs: resource_handle (resource).
// Attributes: external_state_policy (int; default 0).
// Output: serialized (variant).
inline Output SerializeIterator(const Output& resource_handle, const SerializeIteratorOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("SerializeIterator", options.name, {resource_handle}, loc)
      .Attr("external_state_policy", options.external_state_policy).One();
}

struct ShardDatasetOptions {
  bool require_non_empty = false;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op ShardDataset.
// Inputs: input_dataset (variant), num_shards (int64), index (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   require_non_empty (bool; default false), metadata (string; default "").
// Output: handle (variant).
inline Output ShardDataset(const Output& input_dataset, const Operand& num_shards, const Operand& index,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const ShardDatasetOptions& options = {}) {
  return internal::Call("ShardDataset", options.name, {input_dataset, num_shards, index})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("require_non_empty", options.require_non_empty).Attr("metadata", options.metadata).One();
}

struct ShuffleAndRepeatDatasetOptions {
  bool reshuffle_each_iteration = true;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op ShuffleAndRepeatDataset.
// Inputs: input_dataset (variant), buffer_size (int64), seed (int64), seed2 (int64), count (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   reshuffle_each_iteration (bool; default true), metadata (string; default "").
// Output: handle (variant).
inline Output ShuffleAndRepeatDataset(const Output& input_dataset, const Operand& buffer_size, const Operand& seed,
    const Operand& seed2, const Operand& count, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const ShuffleAndRepeatDatasetOptions& options = {}) {
  return internal::Call("ShuffleAndRepeatDataset", options.name, {input_dataset, buffer_size, seed, seed2, count})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("reshuffle_each_iteration", options.reshuffle_each_iteration).Attr("metadata", options.metadata).One();
}

struct ShuffleAndRepeatDatasetV2Options {
  bool reshuffle_each_iteration = true;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op ShuffleAndRepeatDatasetV2.
// Inputs: input_dataset (variant), buffer_size (int64), seed (int64), seed2 (int64), count (int64), seed_generator
//   (resource).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   reshuffle_each_iteration (bool; default true), metadata (string; default "").
// Output: handle (variant).
inline Output ShuffleAndRepeatDatasetV2(const Output& input_dataset, const Operand& buffer_size, const Operand& seed,
    const Operand& seed2, const Operand& count, const Output& seed_generator, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const ShuffleAndRepeatDatasetV2Options& options = {}) {
  return internal::Call("ShuffleAndRepeatDatasetV2", options.name, {input_dataset, buffer_size, seed, seed2, count,
      seed_generator}).Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("reshuffle_each_iteration", options.reshuffle_each_iteration).Attr("metadata", options.metadata).One();
}

struct ShuffleDatasetOptions {
  bool reshuffle_each_iteration = true;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op ShuffleDataset.
// Inputs: input_dataset (variant), buffer_size (int64), seed (int64), seed2 (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   reshuffle_each_iteration (bool; default true), metadata (string; default "").
// Output: handle (variant).
inline Output ShuffleDataset(const Output& input_dataset, const Operand& buffer_size, const Operand& seed,
    const Operand& seed2, const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const ShuffleDatasetOptions& options = {}) {
  return internal::Call("ShuffleDataset", options.name, {input_dataset, buffer_size, seed, seed2})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("reshuffle_each_iteration", options.reshuffle_each_iteration).Attr("metadata", options.metadata).One();
}

struct ShuffleDatasetV3Options {
  bool reshuffle_each_iteration = true;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op ShuffleDatasetV3.
// Inputs: input_dataset (variant), buffer_size (int64), seed (int64), seed2 (int64), seed_generator (resource).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1),
//   reshuffle_each_iteration (bool; default true), metadata (string; default "").
// Output: handle (variant).
inline Output ShuffleDatasetV3(const Output& input_dataset, const Operand& buffer_size, const Operand& seed,
    const Operand& seed2, const Output& seed_generator, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const ShuffleDatasetV3Options& options = {}) {
  return internal::Call("ShuffleDatasetV3", options.name, {input_dataset, buffer_size, seed, seed2, seed_generator})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("reshuffle_each_iteration", options.reshuffle_each_iteration).Attr("metadata", options.metadata).One();
}

struct SkipDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op SkipDataset.
// Inputs: input_dataset (variant), count (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), metadata
//   (string; default "").
// Output: handle (variant).
inline Output SkipDataset(const Output& input_dataset, const Operand& count, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const SkipDatasetOptions& options = {}) {
  return internal::Call("SkipDataset", options.name, {input_dataset, count}).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

// Adds a node of the op SleepDataset.
// Inputs: input_dataset (variant), sleep_microseconds (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1).
// Output: handle (variant).
inline Output SleepDataset(const Output& input_dataset, const Operand& sleep_microseconds,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const std::string& name = "") {
  return internal::Call("SleepDataset", name, {input_dataset, sleep_microseconds}).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).One();
}

struct SnapshotDatasetV2Options {
  std::string compression = "";
  std::string reader_prefix = "";
  std::string writer_prefix = "";
  bool hash_valid = false;
  int64_t hash = 0;
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op SnapshotDatasetV2.
// Inputs: input_dataset (variant), path (string), reader_func_other_args (a list of tensors of the types
//   Treader_func_args), shard_func_other_args (a list of tensors of the types Tshard_func_args).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), reader_func
//   (function), shard_func (function), compression (string; default ""), reader_prefix (string; default ""),
//   writer_prefix (string; default ""), hash_valid (bool; default false), hash (int; default 0), metadata (string;
//   default "").
// Output: handle (variant).
// Treader_func_args: any; Tshard_func_args: any.
inline Output SnapshotDatasetV2(const Output& input_dataset, const Operand& path,
    const std::vector<Output>& reader_func_other_args, const std::vector<Output>& shard_func_other_args,
    const std::vector<DType>& output_types, const std::vector<tensorbraid::Shape>& output_shapes,
    const AttrValue::Function& reader_func, const AttrValue::Function& shard_func,
    const SnapshotDatasetV2Options& options = {}) {
  return internal::Call("SnapshotDatasetV2", options.name, {input_dataset, path, reader_func_other_args,
      shard_func_other_args}).Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("reader_func", reader_func).Attr("shard_func", shard_func).Attr("compression", options.compression)
      .Attr("reader_prefix", options.reader_prefix).Attr("writer_prefix", options.writer_prefix)
      .Attr("hash_valid", options.hash_valid).Attr("hash", options.hash).Attr("metadata", options.metadata).One();
}

// Adds a node of the op SparseTensorSliceDataset.
// Inputs: indices (int64), values (Tvalues), dense_shape (int64).
// Output: handle (variant).
// Tvalues: any.
inline Output SparseTensorSliceDataset(const Operand& indices, const Operand& values, const Operand& dense_shape,
    const std::string& name = "") {
  return internal::Call("SparseTensorSliceDataset", name, {indices, values, dense_shape}).One();
}

struct TFRecordDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op TFRecordDataset.
// Inputs: filenames (string), compression_type (string), buffer_size (int64).
// Attributes: metadata (string; default "").
// Output: handle (variant).
inline Output TFRecordDataset(const Operand& filenames, const Operand& compression_type, const Operand& buffer_size,
    const TFRecordDatasetOptions& options = {}) {
  return internal::Call("TFRecordDataset", options.name, {filenames, compression_type, buffer_size})
      .Attr("metadata", options.metadata).One();
}

struct TFRecordDatasetV2Options {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op TFRecordDatasetV2.
// Inputs: filenames (string), compression_type (string), buffer_size (int64), byte_offsets (int64).
// Attributes: metadata (string; default "").
// Output: handle (variant).
inline Output TFRecordDatasetV2(const Operand& filenames, const Operand& compression_type, const Operand& buffer_size,
    const Operand& byte_offsets, const TFRecordDatasetV2Options& options = {}) {
  return internal::Call("TFRecordDatasetV2", options.name, {filenames, compression_type, buffer_size, byte_offsets})
      .Attr("metadata", options.metadata).One();
}

struct TakeDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op TakeDataset.
// Inputs: input_dataset (variant), count (int64).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), metadata
//   (string; default "").
// Output: handle (variant).
inline Output TakeDataset(const Output& input_dataset, const Operand& count, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const TakeDatasetOptions& options = {}) {
  return internal::Call("TakeDataset", options.name, {input_dataset, count}).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

struct TakeWhileDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op TakeWhileDataset.
// Inputs: input_dataset (variant), other_arguments (a list of tensors of the types Targuments).
// Attributes: predicate (function), output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at
//   least 1), metadata (string; default "").
// Output: handle (variant).
// Targuments: any.
inline Output TakeWhileDataset(const Output& input_dataset, const std::vector<Output>& other_arguments,
    const AttrValue::Function& predicate, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const TakeWhileDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("TakeWhileDataset", options.name, {input_dataset, other_arguments}, loc)
      .Attr("predicate", predicate).Attr("output_types", output_types).Attr("output_shapes", output_shapes)
      .Attr("metadata", options.metadata).One();
}

struct TensorDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op TensorDataset.
// Inputs: components (a list of tensors of the types Toutput_types).
// Attributes: output_shapes (list of shapes, at least 1), metadata (string; default "").
// Output: handle (variant).
// Toutput_types: any.
inline Output TensorDataset(const std::vector<Output>& components, const std::vector<tensorbraid::Shape>& output_shapes,
    const TensorDatasetOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call("TensorDataset", options.name, {components}, loc).Attr("output_shapes", output_shapes)
      .Attr("metadata", options.metadata).One();
}

struct TensorSliceDatasetOptions {
  bool is_files = false;
  std::string metadata = "";
  bool replicate_on_split = false;
  std::string name = {};
};
// Adds a node of the op TensorSliceDataset.
// Inputs: components (a list of tensors of the types Toutput_types).
// Attributes: output_shapes (list of shapes, at least 1), is_files (bool; default false), metadata (string; default
//   ""), replicate_on_split (bool; default false).
// Output: handle (variant).
// Toutput_types: any.
inline Output TensorSliceDataset(const std::vector<Output>& components,
    const std::vector<tensorbraid::Shape>& output_shapes, const TensorSliceDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("TensorSliceDataset", options.name, {components}, loc).Attr("output_shapes", output_shapes)
      .Attr("is_files", options.is_files).Attr("metadata", options.metadata)
      .Attr("replicate_on_split", options.replicate_on_split).One();
}

struct TextLineDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op TextLineDataset.
// Inputs: filenames (string), compression_type (string), buffer_size (int64).
// Attributes: metadata (string; default "").
// Output: handle (variant).
inline Output TextLineDataset(const Operand& filenames, const Operand& compression_type, const Operand& buffer_size,
    const TextLineDatasetOptions& options = {}) {
  return internal::Call("TextLineDataset", options.name, {filenames, compression_type, buffer_size})
      .Attr("metadata", options.metadata).One();
}

struct UnbatchDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op UnbatchDataset.
// Inputs: input_dataset (variant).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), metadata
//   (string; default "").
// Output: handle (variant).
inline Output UnbatchDataset(const Output& input_dataset, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const UnbatchDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("UnbatchDataset", options.name, {input_dataset}, loc).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

struct UniqueDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op UniqueDataset.
// Inputs: input_dataset (variant).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), metadata
//   (string; default "").
// Output: handle (variant).
inline Output UniqueDataset(const Output& input_dataset, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const UniqueDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("UniqueDataset", options.name, {input_dataset}, loc).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

// Adds a node of the op UnwrapDatasetVariant.
// Inputs: input_handle (variant).
// Output: output_handle (variant).
inline Output UnwrapDatasetVariant(const Output& input_handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("UnwrapDatasetVariant", name, {input_handle}, loc).One();
}

struct WindowDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op WindowDataset.
// Inputs: input_dataset (variant), size (int64), shift (int64), stride (int64), drop_remainder (bool).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), metadata
//   (string; default "").
// Output: handle (variant).
inline Output WindowDataset(const Output& input_dataset, const Operand& size, const Operand& shift,
    const Operand& stride, const Operand& drop_remainder, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const WindowDatasetOptions& options = {}) {
  return internal::Call("WindowDataset", options.name, {input_dataset, size, shift, stride, drop_remainder})
      .Attr("output_types", output_types).Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

// Adds a node of the op WrapDatasetVariant.
// Inputs: input_handle (variant).
// Output: output_handle (variant).
inline Output WrapDatasetVariant(const Output& input_handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("WrapDatasetVariant", name, {input_handle}, loc).One();
}

struct ZipDatasetOptions {
  std::string metadata = "";
  std::string name = {};
};
// Adds a node of the op ZipDataset.
// Inputs: input_datasets (a list of N tensors of type variant).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1), metadata
//   (string; default "").
// Output: handle (variant).
inline Output ZipDataset(const std::vector<Output>& input_datasets, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const ZipDatasetOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ZipDataset", options.name, {input_datasets}, loc).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).Attr("metadata", options.metadata).One();
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_DATASET_H_
