// A function for each op of src/ops/io; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_IO_H_
#define TENSORBRAID_RAW_OPS_IO_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

struct FixedLengthRecordReaderOptions {
  std::string container = "";
  std::string shared_name = "";
  int64_t header_bytes = 0;
  int64_t footer_bytes = 0;
  int64_t hop_bytes = 0;
  std::string name = {};
};
// Adds a node of the op FixedLengthRecordReader.
// Attributes: record_bytes (int), container (string; default ""), shared_name (string; default ""), header_bytes (int;
//   default 0), footer_bytes (int; default 0), hop_bytes (int; default 0).
// Output: reader_handle (a reference to string).
inline Output FixedLengthRecordReader(Graph& graph, int64_t record_bytes,
    const FixedLengthRecordReaderOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "FixedLengthRecordReader", options.name, {}, loc).Attr("record_bytes", record_bytes)
      .Attr("container", options.container).Attr("shared_name", options.shared_name)
      .Attr("header_bytes", options.header_bytes).Attr("footer_bytes", options.footer_bytes)
      .Attr("hop_bytes", options.hop_bytes).One();
}

struct FixedLengthRecordReaderV2Options {
  std::string container = "";
  std::string shared_name = "";
  int64_t header_bytes = 0;
  int64_t footer_bytes = 0;
  int64_t hop_bytes = 0;
  std::string encoding = "";
  std::string name = {};
};
// Adds a node of the op FixedLengthRecordReaderV2.
// Attributes: record_bytes (int), container (string; default ""), shared_name (string; default ""), header_bytes (int;
//   default 0), footer_bytes (int; default 0), hop_bytes (int; default 0), encoding (string; default "").
// Output: reader_handle (resource).
inline Output FixedLengthRecordReaderV2(Graph& graph, int64_t record_bytes,
    const FixedLengthRecordReaderV2Options& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "FixedLengthRecordReaderV2", options.name, {}, loc).Attr("record_bytes", record_bytes)
      .Attr("container", options.container).Attr("shared_name", options.shared_name)
      .Attr("header_bytes", options.header_bytes).Attr("footer_bytes", options.footer_bytes)
      .Attr("hop_bytes", options.hop_bytes).Attr("encoding", options.encoding).One();
}

struct GenerateVocabRemappingOptions {
  int64_t old_vocab_size = -1;
  std::string name = {};
};
struct GenerateVocabRemappingOutputs {
  Output remapping;
  Output num_present;
  Operation operation;
};
// Adds a node of the op GenerateVocabRemapping.
// Inputs: new_vocab_file (string), old_vocab_file (string).
// Attributes: new_vocab_offset (int, at least 0), num_new_vocab (int, at least 0), old_vocab_size (int, at least -1;
//   default -1).
// Outputs: remapping (int64), num_present (int32).
inline GenerateVocabRemappingOutputs GenerateVocabRemapping(const Operand& new_vocab_file,
    const Operand& old_vocab_file, int64_t new_vocab_offset, int64_t num_new_vocab,
    const GenerateVocabRemappingOptions& options = {}) {
  auto results = internal::Call("GenerateVocabRemapping", options.name, {new_vocab_file, old_vocab_file})
      .Attr("new_vocab_offset", new_vocab_offset).Attr("num_new_vocab", num_new_vocab)
      .Attr("old_vocab_size", options.old_vocab_size).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct IdentityReaderOptions {
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op IdentityReader.
// Attributes: container (string; default ""), shared_name (string; default "").
// Output: reader_handle (a reference to string).
inline Output IdentityReader(Graph& graph, const IdentityReaderOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "IdentityReader", options.name, {}, loc).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).One();
}

struct IdentityReaderV2Options {
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op IdentityReaderV2.
// Attributes: container (string; default ""), shared_name (string; default "").
// Output: reader_handle (resource).
inline Output IdentityReaderV2(Graph& graph, const IdentityReaderV2Options& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "IdentityReaderV2", options.name, {}, loc).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).One();
}

struct LoadAndRemapMatrixOptions {
  int64_t max_rows_in_memory = -1;
  std::string name = {};
};
// Adds a node of the op LoadAndRemapMatrix.
// Inputs: ckpt_path (string), old_tensor_name (string), row_remapping (int64), col_remapping (int64),
//   initializing_values (float32).
// Attributes: num_rows (int, at least 0), num_cols (int, at least 1), max_rows_in_memory (int; default -1).
// Output: output_matrix (float32).
inline Output LoadAndRemapMatrix(const Operand& ckpt_path, const Operand& old_tensor_name, const Operand& row_remapping,
    const Operand& col_remapping, const Operand& initializing_values, int64_t num_rows, int64_t num_cols,
    const LoadAndRemapMatrixOptions& options = {}) {
  return internal::Call("LoadAndRemapMatrix", options.name, {ckpt_path, old_tensor_name, row_remapping, col_remapping,
      initializing_values}).Attr("num_rows", num_rows).Attr("num_cols", num_cols)
      .Attr("max_rows_in_memory", options.max_rows_in_memory).One();
}

// Adds a node of the op MatchingFiles.
// Inputs: pattern (string).
// Output: filenames (string).
inline Output MatchingFiles(const Operand& pattern, const std::string& name = "") {
  return internal::Call("MatchingFiles", name, {pattern}).One();
}

struct MergeV2CheckpointsOptions {
  bool delete_old_dirs = true;
  bool allow_missing_files = false;
  std::string name = {};
};
// Adds a node of the op MergeV2Checkpoints.
// Inputs: checkpoint_prefixes (string), destination_prefix (string).
// Attributes: delete_old_dirs (bool; default true), allow_missing_files (bool; default false).
inline Operation MergeV2Checkpoints(const Operand& checkpoint_prefixes, const Operand& destination_prefix,
    const MergeV2CheckpointsOptions& options = {}) {
  return internal::Call("MergeV2Checkpoints", options.name, {checkpoint_prefixes, destination_prefix})
      .Attr("delete_old_dirs", options.delete_old_dirs).Attr("allow_missing_files", options.allow_missing_files)
      .Finish();
}

// Adds a node of the op ReadFile. The usual function is ReadFile (ops/logging.h).
// Inputs: filename (string).
// Output: contents (string).
inline Output ReadFile(const Operand& filename, const std::string& name = "") {
  return internal::Call("ReadFile", name, {filename}).One();
}

// Adds a node of the op ReaderNumRecordsProduced.
// Inputs: reader_handle (a reference to string).
// Output: records_produced (int64).
inline Output ReaderNumRecordsProduced(const Output& reader_handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ReaderNumRecordsProduced", name, {reader_handle}, loc).One();
}

// Adds a node of the op ReaderNumRecordsProducedV2.
// Inputs: reader_handle (resource).
// Output: records_produced (int64).
inline Output ReaderNumRecordsProducedV2(const Output& reader_handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ReaderNumRecordsProducedV2", name, {reader_handle}, loc).One();
}

// Adds a node of the op ReaderNumWorkUnitsCompleted.
// Inputs: reader_handle (a reference to string).
// Output: units_completed (int64).
inline Output ReaderNumWorkUnitsCompleted(const Output& reader_handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ReaderNumWorkUnitsCompleted", name, {reader_handle}, loc).One();
}

// Adds a node of the op ReaderNumWorkUnitsCompletedV2.
// Inputs: reader_handle (resource).
// Output: units_completed (int64).
inline Output ReaderNumWorkUnitsCompletedV2(const Output& reader_handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ReaderNumWorkUnitsCompletedV2", name, {reader_handle}, loc).One();
}

struct ReaderReadOutputs {
  Output key;
  Output value;
  Operation operation;
};
// Adds a node of the op ReaderRead.
// Inputs: reader_handle (a reference to string), queue_handle (a reference to string).
// Outputs: key (string), value (string).
inline ReaderReadOutputs ReaderRead(const Output& reader_handle, const Output& queue_handle,
    const std::string& name = "", std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("ReaderRead", name, {reader_handle, queue_handle}, loc).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct ReaderReadUpToOutputs {
  Output keys;
  Output values;
  Operation operation;
};
// Adds a node of the op ReaderReadUpTo.
// Inputs: reader_handle (a reference to string), queue_handle (a reference to string), num_records (int64).
// Outputs: keys (string), values (string).
inline ReaderReadUpToOutputs ReaderReadUpTo(const Output& reader_handle, const Output& queue_handle,
    const Operand& num_records, const std::string& name = "") {
  auto results = internal::Call("ReaderReadUpTo", name, {reader_handle, queue_handle, num_records}).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct ReaderReadUpToV2Outputs {
  Output keys;
  Output values;
  Operation operation;
};
// Adds a node of the op ReaderReadUpToV2.
// Inputs: reader_handle (resource), queue_handle (resource), num_records (int64).
// Outputs: keys (string), values (string).
inline ReaderReadUpToV2Outputs ReaderReadUpToV2(const Output& reader_handle, const Output& queue_handle,
    const Operand& num_records, const std::string& name = "") {
  auto results = internal::Call("ReaderReadUpToV2", name, {reader_handle, queue_handle, num_records}).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct ReaderReadV2Outputs {
  Output key;
  Output value;
  Operation operation;
};
// Adds a node of the op ReaderReadV2.
// Inputs: reader_handle (resource), queue_handle (resource).
// Outputs: key (string), value (string).
inline ReaderReadV2Outputs ReaderReadV2(const Output& reader_handle, const Output& queue_handle,
    const std::string& name = "", std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("ReaderReadV2", name, {reader_handle, queue_handle}, loc).All();
  return {results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op ReaderReset.
// Inputs: reader_handle (a reference to string).
inline Operation ReaderReset(const Output& reader_handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ReaderReset", name, {reader_handle}, loc).Finish();
}

// Adds a node of the op ReaderResetV2.
// Inputs: reader_handle (resource).
inline Operation ReaderResetV2(const Output& reader_handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ReaderResetV2", name, {reader_handle}, loc).Finish();
}

// Adds a node of the op ReaderRestoreState.
// Inputs: reader_handle (a reference to string), state (string).
inline Operation ReaderRestoreState(const Output& reader_handle, const Operand& state, const std::string& name = "") {
  return internal::Call("ReaderRestoreState", name, {reader_handle, state}).Finish();
}

// Adds a node of the op ReaderRestoreStateV2.
// Inputs: reader_handle (resource), state (string).
inline Operation ReaderRestoreStateV2(const Output& reader_handle, const Operand& state, const std::string& name = "") {
  return internal::Call("ReaderRestoreStateV2", name, {reader_handle, state}).Finish();
}

// Adds a node of the op ReaderSerializeState.
// Inputs: reader_handle (a reference to string).
// Output: state (string).
inline Output ReaderSerializeState(const Output& reader_handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ReaderSerializeState", name, {reader_handle}, loc).One();
}

// Adds a node of the op ReaderSerializeStateV2.
// Inputs: reader_handle (resource).
// Output: state (string).
inline Output ReaderSerializeStateV2(const Output& reader_handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ReaderSerializeStateV2", name, {reader_handle}, loc).One();
}

struct RecordInputOptions {
  int64_t file_random_seed = 301;
  float file_shuffle_shift_ratio = 0.0f;
  int64_t file_buffer_size = 10000;
  int64_t file_parallelism = 16;
  int64_t batch_size = 32;
  std::string compression_type = "";
  std::string name = {};
};
// Adds a node of the op RecordInput.
// Attributes: file_pattern (string), file_random_seed (int; default 301), file_shuffle_shift_ratio (float; default 0),
//   file_buffer_size (int; default 10000), file_parallelism (int; default 16), batch_size (int; default 32),
//   compression_type (string; default "").
// Output: records (string).
inline Output RecordInput(Graph& graph, const std::string& file_pattern, const RecordInputOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "RecordInput", options.name, {}, loc).Attr("file_pattern", file_pattern)
      .Attr("file_random_seed", options.file_random_seed)
      .Attr("file_shuffle_shift_ratio", options.file_shuffle_shift_ratio)
      .Attr("file_buffer_size", options.file_buffer_size).Attr("file_parallelism", options.file_parallelism)
      .Attr("batch_size", options.batch_size).Attr("compression_type", options.compression_type).One();
}

struct RestoreOptions {
  int64_t preferred_shard = -1;
  std::string name = {};
};
// Adds a node of the op Restore.
// Inputs: file_pattern (string), tensor_name (string).
// Attributes: dt (dtype: any), preferred_shard (int; default -1).
// Output: tensor (dt).
inline Output Restore(const Operand& file_pattern, const Operand& tensor_name, DType dt,
    const RestoreOptions& options = {}) {
  return internal::Call("Restore", options.name, {file_pattern, tensor_name}).Attr("dt", dt)
      .Attr("preferred_shard", options.preferred_shard).One();
}

struct RestoreSliceOptions {
  int64_t preferred_shard = -1;
  std::string name = {};
};
// Adds a node of the op RestoreSlice.
// Inputs: file_pattern (string), tensor_name (string), shape_and_slice (string).
// Attributes: dt (dtype: any), preferred_shard (int; default -1).
// Output: tensor (dt).
inline Output RestoreSlice(const Operand& file_pattern, const Operand& tensor_name, const Operand& shape_and_slice,
    DType dt, const RestoreSliceOptions& options = {}) {
  return internal::Call("RestoreSlice", options.name, {file_pattern, tensor_name, shape_and_slice}).Attr("dt", dt)
      .Attr("preferred_shard", options.preferred_shard).One();
}

struct RestoreV2Outputs {
  std::vector<Output> tensors;
  Operation operation;
};
// Adds a node of the op RestoreV2.
// Inputs: prefix (string), tensor_names (string), shape_and_slices (string).
// Attributes: dtypes (list of dtypes: any, at least 1).
// Output: tensors (a list of tensors of the types dtypes).
inline RestoreV2Outputs RestoreV2(const Operand& prefix, const Operand& tensor_names, const Operand& shape_and_slices,
    const std::vector<DType>& dtypes, const std::string& name = "") {
  auto results = internal::Call("RestoreV2", name, {prefix, tensor_names, shape_and_slices}).Attr("dtypes", dtypes)
      .All();
  return {results.NextList(), results.operation()};
}

// Adds a node of the op Save.
// Inputs: filename (string), tensor_names (string), data (a list of tensors of the types T).
// T: any.
inline Operation Save(const Operand& filename, const Operand& tensor_names, const std::vector<Output>& data,
    const std::string& name = "") {
  return internal::Call("Save", name, {filename, tensor_names, data}).Finish();
}

// Adds a node of the op SaveSlices.
// Inputs: filename (string), tensor_names (string), shapes_and_slices (string), data (a list of tensors of the types
//   T).
// T: any.
inline Operation SaveSlices(const Operand& filename, const Operand& tensor_names, const Operand& shapes_and_slices,
    const std::vector<Output>& data, const std::string& name = "") {
  return internal::Call("SaveSlices", name, {filename, tensor_names, shapes_and_slices, data}).Finish();
}

// Adds a node of the op SaveV2.
// Inputs: prefix (string), tensor_names (string), shape_and_slices (string), tensors (a list of tensors of the types
//   dtypes).
// dtypes: any.
inline Operation SaveV2(const Operand& prefix, const Operand& tensor_names, const Operand& shape_and_slices,
    const std::vector<Output>& tensors, const std::string& name = "") {
  return internal::Call("SaveV2", name, {prefix, tensor_names, shape_and_slices, tensors}).Finish();
}

// Adds a node of the op ShardedFilename.
// Inputs: basename (string), shard (int32), num_shards (int32).
// Output: filename (string).
inline Output ShardedFilename(const Operand& basename, const Operand& shard, const Operand& num_shards,
    const std::string& name = "") {
  return internal::Call("ShardedFilename", name, {basename, shard, num_shards}).One();
}

// Adds a node of the op ShardedFilespec.
// Inputs: basename (string), num_shards (int32).
// Output: filename (string).
inline Output ShardedFilespec(const Operand& basename, const Operand& num_shards, const std::string& name = "") {
  return internal::Call("ShardedFilespec", name, {basename, num_shards}).One();
}

struct TFRecordReaderOptions {
  std::string container = "";
  std::string shared_name = "";
  std::string compression_type = "";
  std::string name = {};
};
// Adds a node of the op TFRecordReader.
// Attributes: container (string; default ""), shared_name (string; default ""), compression_type (string; default "").
// Output: reader_handle (a reference to string).
inline Output TFRecordReader(Graph& graph, const TFRecordReaderOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "TFRecordReader", options.name, {}, loc).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).Attr("compression_type", options.compression_type).One();
}

struct TFRecordReaderV2Options {
  std::string container = "";
  std::string shared_name = "";
  std::string compression_type = "";
  std::string name = {};
};
// Adds a node of the op TFRecordReaderV2.
// Attributes: container (string; default ""), shared_name (string; default ""), compression_type (string; default "").
// Output: reader_handle (resource).
inline Output TFRecordReaderV2(Graph& graph, const TFRecordReaderV2Options& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "TFRecordReaderV2", options.name, {}, loc).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).Attr("compression_type", options.compression_type).One();
}

struct TextLineReaderOptions {
  std::string container = "";
  std::string shared_name = "";
  int64_t skip_header_lines = 0;
  std::string name = {};
};
// Adds a node of the op TextLineReader.
// Attributes: container (string; default ""), shared_name (string; default ""), skip_header_lines (int; default 0).
// Output: reader_handle (a reference to string).
inline Output TextLineReader(Graph& graph, const TextLineReaderOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "TextLineReader", options.name, {}, loc).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).Attr("skip_header_lines", options.skip_header_lines).One();
}

struct TextLineReaderV2Options {
  std::string container = "";
  std::string shared_name = "";
  int64_t skip_header_lines = 0;
  std::string name = {};
};
// Adds a node of the op TextLineReaderV2.
// Attributes: container (string; default ""), shared_name (string; default ""), skip_header_lines (int; default 0).
// Output: reader_handle (resource).
inline Output TextLineReaderV2(Graph& graph, const TextLineReaderV2Options& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "TextLineReaderV2", options.name, {}, loc).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).Attr("skip_header_lines", options.skip_header_lines).One();
}

struct WholeFileReaderOptions {
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op WholeFileReader.
// Attributes: container (string; default ""), shared_name (string; default "").
// Output: reader_handle (a reference to string).
inline Output WholeFileReader(Graph& graph, const WholeFileReaderOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "WholeFileReader", options.name, {}, loc).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).One();
}

struct WholeFileReaderV2Options {
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op WholeFileReaderV2.
// Attributes: container (string; default ""), shared_name (string; default "").
// Output: reader_handle (resource).
inline Output WholeFileReaderV2(Graph& graph, const WholeFileReaderV2Options& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "WholeFileReaderV2", options.name, {}, loc).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).One();
}

// Adds a node of the op WriteFile.
// Inputs: filename (string), contents (string).
inline Operation WriteFile(const Operand& filename, const Operand& contents, const std::string& name = "") {
  return internal::Call("WriteFile", name, {filename, contents}).Finish();
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_IO_H_
