// A function for each op of src/ops/data_flow; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_DATA_FLOW_H_
#define TENSORBRAID_RAW_OPS_DATA_FLOW_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

// Adds a node of the op AccumulatorApplyGradient.
// Inputs: handle (a reference to string), local_step (int64), gradient (dtype).
// dtype: numbers quantized.
inline Operation AccumulatorApplyGradient(const Output& handle, const Operand& local_step, const Operand& gradient,
    const std::string& name = "") {
  return internal::Call("AccumulatorApplyGradient", name, {handle, local_step, gradient}).Finish();
}

// Adds a node of the op AccumulatorNumAccumulated.
// Inputs: handle (a reference to string).
// Output: num_accumulated (int32).
inline Output AccumulatorNumAccumulated(const Output& handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("AccumulatorNumAccumulated", name, {handle}, loc).One();
}

// Adds a node of the op AccumulatorSetGlobalStep.
// Inputs: handle (a reference to string), new_global_step (int64).
inline Operation AccumulatorSetGlobalStep(const Output& handle, const Operand& new_global_step,
    const std::string& name = "") {
  return internal::Call("AccumulatorSetGlobalStep", name, {handle, new_global_step}).Finish();
}

// Adds a node of the op AccumulatorTakeGradient.
// Inputs: handle (a reference to string), num_required (int32).
// Attributes: dtype (dtype: numbers quantized).
// Output: average (dtype).
inline Output AccumulatorTakeGradient(const Output& handle, const Operand& num_required, DType dtype,
    const std::string& name = "") {
  return internal::Call("AccumulatorTakeGradient", name, {handle, num_required}).Attr("dtype", dtype).One();
}

struct BarrierOptions {
  std::vector<tensorbraid::Shape> shapes = {};
  int64_t capacity = -1;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op Barrier.
// Attributes: component_types (list of dtypes: any, at least 1), shapes (list of shapes, at least 0; default []),
//   capacity (int; default -1), container (string; default ""), shared_name (string; default "").
// Output: handle (a reference to string).
inline Output Barrier(Graph& graph, const std::vector<DType>& component_types, const BarrierOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "Barrier", options.name, {}, loc).Attr("component_types", component_types)
      .Attr("shapes", options.shapes).Attr("capacity", options.capacity).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).One();
}

struct BarrierCloseOptions {
  bool cancel_pending_enqueues = false;
  std::string name = {};
};
// Adds a node of the op BarrierClose.
// Inputs: handle (a reference to string).
// Attributes: cancel_pending_enqueues (bool; default false).
inline Operation BarrierClose(const Output& handle, const BarrierCloseOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("BarrierClose", options.name, {handle}, loc)
      .Attr("cancel_pending_enqueues", options.cancel_pending_enqueues).Finish();
}

// Adds a node of the op BarrierIncompleteSize.
// Inputs: handle (a reference to string).
// Output: size (int32).
inline Output BarrierIncompleteSize(const Output& handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("BarrierIncompleteSize", name, {handle}, loc).One();
}

// Adds a node of the op BarrierInsertMany.
// Inputs: handle (a reference to string), keys (string), values (T).
// Attributes: component_index (int).
// T: any.
inline Operation BarrierInsertMany(const Output& handle, const Operand& keys, const Operand& values,
    int64_t component_index, const std::string& name = "") {
  return internal::Call("BarrierInsertMany", name, {handle, keys, values}).Attr("component_index", component_index)
      .Finish();
}

// Adds a node of the op BarrierReadySize.
// Inputs: handle (a reference to string).
// Output: size (int32).
inline Output BarrierReadySize(const Output& handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("BarrierReadySize", name, {handle}, loc).One();
}

struct BarrierTakeManyOptions {
  bool allow_small_batch = false;
  bool wait_for_incomplete = false;
  int64_t timeout_ms = -1;
  std::string name = {};
};
struct BarrierTakeManyOutputs {
  Output indices;
  Output keys;
  std::vector<Output> values;
  Operation operation;
};
// Adds a node of the op BarrierTakeMany.
// Inputs: handle (a reference to string), num_elements (int32).
// Attributes: component_types (list of dtypes: any, at least 1), allow_small_batch (bool; default false),
//   wait_for_incomplete (bool; default false), timeout_ms (int; default -1).
// Outputs: indices (int64), keys (string), values (a list of tensors of the types component_types).
inline BarrierTakeManyOutputs BarrierTakeMany(const Output& handle, const Operand& num_elements,
    const std::vector<DType>& component_types, const BarrierTakeManyOptions& options = {}) {
  auto results = internal::Call("BarrierTakeMany", options.name, {handle, num_elements})
      .Attr("component_types", component_types).Attr("allow_small_batch", options.allow_small_batch)
      .Attr("wait_for_incomplete", options.wait_for_incomplete).Attr("timeout_ms", options.timeout_ms).All();
  return {results.Next(), results.Next(), results.NextList(), results.operation()};
}

struct ConditionalAccumulatorOptions {
  std::string container = "";
  std::string shared_name = "";
  std::string reduction_type = "MEAN";
  std::string name = {};
};
// Adds a node of the op ConditionalAccumulator.
// Attributes: dtype (dtype: numbers), shape (shape), container (string; default ""), shared_name (string; default ""),
//   reduction_type (string: 'MEAN', 'SUM'; default "MEAN").
// Output: handle (a reference to string).
inline Output ConditionalAccumulator(Graph& graph, DType dtype, const tensorbraid::Shape& shape,
    const ConditionalAccumulatorOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "ConditionalAccumulator", options.name, {}, loc).Attr("dtype", dtype)
      .Attr("shape", shape).Attr("container", options.container).Attr("shared_name", options.shared_name)
      .Attr("reduction_type", options.reduction_type).One();
}

// Adds a node of the op ConsumeMutexLock.
// Inputs: mutex_lock (variant).
inline Operation ConsumeMutexLock(const Output& mutex_lock, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ConsumeMutexLock", name, {mutex_lock}, loc).Finish();
}

// Adds a node of the op DeleteSessionTensor.
// Inputs: handle (string).
inline Operation DeleteSessionTensor(const Operand& handle, const std::string& name = "") {
  return internal::Call("DeleteSessionTensor", name, {handle}).Finish();
}

struct DynamicPartitionOutputs {
  std::vector<Output> outputs;
  Operation operation;
};
// Adds a node of the op DynamicPartition. It has a gradient.
// Inputs: data (T), partitions (int32).
// Attributes: num_partitions (int, at least 1).
// Output: outputs (a list of num_partitions tensors of type T).
// T: any.
inline DynamicPartitionOutputs DynamicPartition(const Operand& data, const Operand& partitions, int64_t num_partitions,
    const std::string& name = "") {
  auto results = internal::Call("DynamicPartition", name, {data, partitions}).Attr("num_partitions", num_partitions)
      .All();
  return {results.NextList(), results.operation()};
}

// Adds a node of the op DynamicStitch. It has a gradient.
// Inputs: indices (a list of N tensors of type int32), data (a list of N tensors of type T).
// Output: merged (T).
// T: any.
inline Output DynamicStitch(const std::vector<Output>& indices, const std::vector<Output>& data,
    const std::string& name = "", std::source_location loc = std::source_location::current()) {
  return internal::Call("DynamicStitch", name, {indices, data}, loc).One();
}

struct FIFOQueueOptions {
  std::vector<tensorbraid::Shape> shapes = {};
  int64_t capacity = -1;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op FIFOQueue.
// Attributes: component_types (list of dtypes: any, at least 1), shapes (list of shapes, at least 0; default []),
//   capacity (int; default -1), container (string; default ""), shared_name (string; default "").
// Output: handle (a reference to string).
inline Output FIFOQueue(Graph& graph, const std::vector<DType>& component_types, const FIFOQueueOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "FIFOQueue", options.name, {}, loc).Attr("component_types", component_types)
      .Attr("shapes", options.shapes).Attr("capacity", options.capacity).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).One();
}

struct FIFOQueueV2Options {
  std::vector<tensorbraid::Shape> shapes = {};
  int64_t capacity = -1;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op FIFOQueueV2.
// Attributes: component_types (list of dtypes: any, at least 1), shapes (list of shapes, at least 0; default []),
//   capacity (int; default -1), container (string; default ""), shared_name (string; default "").
// Output: handle (resource).
inline Output FIFOQueueV2(Graph& graph, const std::vector<DType>& component_types,
    const FIFOQueueV2Options& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "FIFOQueueV2", options.name, {}, loc).Attr("component_types", component_types)
      .Attr("shapes", options.shapes).Attr("capacity", options.capacity).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).One();
}

// Adds a node of the op GetSessionHandle.
// Inputs: value (T).
// Output: handle (string).
// T: any.
inline Output GetSessionHandle(const Operand& value, const std::string& name = "") {
  return internal::Call("GetSessionHandle", name, {value}).One();
}

// Adds a node of the op GetSessionTensor.
// Inputs: handle (string).
// Attributes: dtype (dtype: any).
// Output: value (dtype).
inline Output GetSessionTensor(const Operand& handle, DType dtype, const std::string& name = "") {
  return internal::Call("GetSessionTensor", name, {handle}).Attr("dtype", dtype).One();
}

struct HashTableOptions {
  std::string container = "";
  std::string shared_name = "";
  bool use_node_name_sharing = false;
  std::string name = {};
};
// Adds a node of the op HashTable.
// Attributes: key_dtype (dtype: any), value_dtype (dtype: any), container (string; default ""), shared_name (string;
//   default ""), use_node_name_sharing (bool; default false).
// Output: table_handle (a reference to string).
inline Output HashTable(Graph& graph, DType key_dtype, DType value_dtype, const HashTableOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "HashTable", options.name, {}, loc).Attr("key_dtype", key_dtype)
      .Attr("value_dtype", value_dtype).Attr("container", options.container).Attr("shared_name", options.shared_name)
      .Attr("use_node_name_sharing", options.use_node_name_sharing).One();
}

struct HashTableV2Options {
  std::string container = "";
  std::string shared_name = "";
  bool use_node_name_sharing = false;
  std::string name = {};
};
// Adds a node of the op HashTableV2.
// Attributes: key_dtype (dtype: any), value_dtype (dtype: any), container (string; default ""), shared_name (string;
//   default ""), use_node_name_sharing (bool; default false).
// Output: table_handle (resource).
inline Output HashTableV2(Graph& graph, DType key_dtype, DType value_dtype, const HashTableV2Options& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "HashTableV2", options.name, {}, loc).Attr("key_dtype", key_dtype)
      .Attr("value_dtype", value_dtype).Attr("container", options.container).Attr("shared_name", options.shared_name)
      .Attr("use_node_name_sharing", options.use_node_name_sharing).One();
}

// Adds a node of the op InitializeTable.
// Inputs: table_handle (a reference to string), keys (Tkey), values (Tval).
// Tkey: any; Tval: any.
inline Operation InitializeTable(const Output& table_handle, const Operand& keys, const Operand& values,
    const std::string& name = "") {
  return internal::Call("InitializeTable", name, {table_handle, keys, values}).Finish();
}

struct InitializeTableFromTextFileOptions {
  int64_t vocab_size = -1;
  std::string delimiter = "\t";
  int64_t offset = 0;
  std::string name = {};
};
// Adds a node of the op InitializeTableFromTextFile.
// Inputs: table_handle (a reference to string), filename (string).
// Attributes: key_index (int, at least -2), value_index (int, at least -2), vocab_size (int, at least -1; default -1),
//   delimiter (string; default "\t"), offset (int; default 0).
inline Operation InitializeTableFromTextFile(const Output& table_handle, const Operand& filename, int64_t key_index,
    int64_t value_index, const InitializeTableFromTextFileOptions& options = {}) {
  return internal::Call("InitializeTableFromTextFile", options.name, {table_handle, filename})
      .Attr("key_index", key_index).Attr("value_index", value_index).Attr("vocab_size", options.vocab_size)
      .Attr("delimiter", options.delimiter).Attr("offset", options.offset).Finish();
}

struct InitializeTableFromTextFileV2Options {
  int64_t vocab_size = -1;
  std::string delimiter = "\t";
  int64_t offset = 0;
  std::string name = {};
};
// Adds a node of the op InitializeTableFromTextFileV2.
// Inputs: table_handle (resource), filename (string).
// Attributes: key_index (int, at least -2), value_index (int, at least -2), vocab_size (int, at least -1; default -1),
//   delimiter (string; default "\t"), offset (int; default 0).
inline Operation InitializeTableFromTextFileV2(const Output& table_handle, const Operand& filename, int64_t key_index,
    int64_t value_index, const InitializeTableFromTextFileV2Options& options = {}) {
  return internal::Call("InitializeTableFromTextFileV2", options.name, {table_handle, filename})
      .Attr("key_index", key_index).Attr("value_index", value_index).Attr("vocab_size", options.vocab_size)
      .Attr("delimiter", options.delimiter).Attr("offset", options.offset).Finish();
}

// Adds a node of the op InitializeTableV2.
// Inputs: table_handle (resource), keys (Tkey), values (Tval).
// Tkey: any; Tval: any.
inline Operation InitializeTableV2(const Output& table_handle, const Operand& keys, const Operand& values,
    const std::string& name = "") {
  return internal::Call("InitializeTableV2", name, {table_handle, keys, values}).Finish();
}

struct LookupTableExportOutputs {
  Output keys;
  Output values;
  Operation operation;
};
// Adds a node of the op LookupTableExport.
// Inputs: table_handle (a reference to string).
// Attributes: tkeys (attribute Tkeys, dtype: any), tvalues (attribute Tvalues, dtype: any).
// Outputs: keys (Tkeys), values (Tvalues).
inline LookupTableExportOutputs LookupTableExport(const Output& table_handle, DType tkeys, DType tvalues,
    const std::string& name = "", std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("LookupTableExport", name, {table_handle}, loc).Attr("Tkeys", tkeys)
      .Attr("Tvalues", tvalues).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct LookupTableExportV2Outputs {
  Output keys;
  Output values;
  Operation operation;
};
// Adds a node of the op LookupTableExportV2.
// Inputs: table_handle (resource).
// Attributes: tkeys (attribute Tkeys, dtype: any), tvalues (attribute Tvalues, dtype: any).
// Outputs: keys (Tkeys), values (Tvalues).
inline LookupTableExportV2Outputs LookupTableExportV2(const Output& table_handle, DType tkeys, DType tvalues,
    const std::string& name = "", std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("LookupTableExportV2", name, {table_handle}, loc).Attr("Tkeys", tkeys)
      .Attr("Tvalues", tvalues).All();
  return {results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op LookupTableFind.
// Inputs: table_handle (a reference to string), keys (Tin), default_value (Tout).
// Output: values (Tout).
// Tin: any; Tout: any.
inline Output LookupTableFind(const Output& table_handle, const Operand& keys, const Operand& default_value,
    const std::string& name = "") {
  return internal::Call("LookupTableFind", name, {table_handle, keys, default_value}).One();
}

// Adds a node of the op LookupTableFindV2.
// Inputs: table_handle (resource), keys (Tin), default_value (Tout).
// Output: values (Tout).
// Tin: any; Tout: any.
inline Output LookupTableFindV2(const Output& table_handle, const Operand& keys, const Operand& default_value,
    const std::string& name = "") {
  return internal::Call("LookupTableFindV2", name, {table_handle, keys, default_value}).One();
}

// Adds a node of the op LookupTableImport.
// Inputs: table_handle (a reference to string), keys (Tin), values (Tout).
// Tin: any; Tout: any.
inline Operation LookupTableImport(const Output& table_handle, const Operand& keys, const Operand& values,
    const std::string& name = "") {
  return internal::Call("LookupTableImport", name, {table_handle, keys, values}).Finish();
}

// Adds a node of the op LookupTableImportV2.
// Inputs: table_handle (resource), keys (Tin), values (Tout).
// Tin: any; Tout: any.
inline Operation LookupTableImportV2(const Output& table_handle, const Operand& keys, const Operand& values,
    const std::string& name = "") {
  return internal::Call("LookupTableImportV2", name, {table_handle, keys, values}).Finish();
}

// Adds a node of the op LookupTableInsert.
// Inputs: table_handle (a reference to string), keys (Tin), values (Tout).
// Tin: any; Tout: any.
inline Operation LookupTableInsert(const Output& table_handle, const Operand& keys, const Operand& values,
    const std::string& name = "") {
  return internal::Call("LookupTableInsert", name, {table_handle, keys, values}).Finish();
}

// Adds a node of the op LookupTableInsertV2.
// Inputs: table_handle (resource), keys (Tin), values (Tout).
// Tin: any; Tout: any.
inline Operation LookupTableInsertV2(const Output& table_handle, const Operand& keys, const Operand& values,
    const std::string& name = "") {
  return internal::Call("LookupTableInsertV2", name, {table_handle, keys, values}).Finish();
}

// Adds a node of the op LookupTableRemoveV2.
// Inputs: table_handle (resource), keys (Tin).
// Tin: any.
inline Operation LookupTableRemoveV2(const Output& table_handle, const Operand& keys, const std::string& name = "") {
  return internal::Call("LookupTableRemoveV2", name, {table_handle, keys}).Finish();
}

// Adds a node of the op LookupTableSize.
// Inputs: table_handle (a reference to string).
// Output: size (int64).
inline Output LookupTableSize(const Output& table_handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("LookupTableSize", name, {table_handle}, loc).One();
}

// Adds a node of the op LookupTableSizeV2.
// Inputs: table_handle (resource).
// Output: size (int64).
inline Output LookupTableSizeV2(const Output& table_handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("LookupTableSizeV2", name, {table_handle}, loc).One();
}

struct MapClearOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op MapClear.
// Attributes: dtypes (list of dtypes: any), capacity (int, at least 0; default 0), memory_limit (int, at least 0;
//   default 0), container (string; default ""), shared_name (string; default "").
inline Operation MapClear(Graph& graph, const std::vector<DType>& dtypes, const MapClearOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "MapClear", options.name, {}, loc).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).Finish();
}

struct MapIncompleteSizeOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op MapIncompleteSize.
// Attributes: dtypes (list of dtypes: any), capacity (int, at least 0; default 0), memory_limit (int, at least 0;
//   default 0), container (string; default ""), shared_name (string; default "").
// Output: size (int32).
inline Output MapIncompleteSize(Graph& graph, const std::vector<DType>& dtypes,
    const MapIncompleteSizeOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "MapIncompleteSize", options.name, {}, loc).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).One();
}

struct MapPeekOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
struct MapPeekOutputs {
  std::vector<Output> values;
  Operation operation;
};
// Adds a node of the op MapPeek.
// Inputs: key (int64), indices (int32).
// Attributes: dtypes (list of dtypes: any, at least 1), capacity (int, at least 0; default 0), memory_limit (int, at
//   least 0; default 0), container (string; default ""), shared_name (string; default "").
// Output: values (a list of tensors of the types dtypes).
inline MapPeekOutputs MapPeek(const Operand& key, const Operand& indices, const std::vector<DType>& dtypes,
    const MapPeekOptions& options = {}) {
  auto results = internal::Call("MapPeek", options.name, {key, indices}).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).All();
  return {results.NextList(), results.operation()};
}

struct MapSizeOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op MapSize.
// Attributes: dtypes (list of dtypes: any), capacity (int, at least 0; default 0), memory_limit (int, at least 0;
//   default 0), container (string; default ""), shared_name (string; default "").
// Output: size (int32).
inline Output MapSize(Graph& graph, const std::vector<DType>& dtypes, const MapSizeOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "MapSize", options.name, {}, loc).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).One();
}

struct MapStageOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op MapStage.
// Inputs: key (int64), indices (int32), values (a list of tensors of the types fake_dtypes).
// Attributes: dtypes (list of dtypes: any), capacity (int, at least 0; default 0), memory_limit (int, at least 0;
//   default 0), container (string; default ""), shared_name (string; default "").
// fake_dtypes: any.
inline Operation MapStage(const Operand& key, const Operand& indices, const std::vector<Output>& values,
    const std::vector<DType>& dtypes, const MapStageOptions& options = {}) {
  return internal::Call("MapStage", options.name, {key, indices, values}).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).Finish();
}

struct MapUnstageOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
struct MapUnstageOutputs {
  std::vector<Output> values;
  Operation operation;
};
// Adds a node of the op MapUnstage.
// Inputs: key (int64), indices (int32).
// Attributes: dtypes (list of dtypes: any, at least 1), capacity (int, at least 0; default 0), memory_limit (int, at
//   least 0; default 0), container (string; default ""), shared_name (string; default "").
// Output: values (a list of tensors of the types dtypes).
inline MapUnstageOutputs MapUnstage(const Operand& key, const Operand& indices, const std::vector<DType>& dtypes,
    const MapUnstageOptions& options = {}) {
  auto results = internal::Call("MapUnstage", options.name, {key, indices}).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).All();
  return {results.NextList(), results.operation()};
}

struct MapUnstageNoKeyOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
struct MapUnstageNoKeyOutputs {
  Output key;
  std::vector<Output> values;
  Operation operation;
};
// Adds a node of the op MapUnstageNoKey.
// Inputs: indices (int32).
// Attributes: dtypes (list of dtypes: any, at least 1), capacity (int, at least 0; default 0), memory_limit (int, at
//   least 0; default 0), container (string; default ""), shared_name (string; default "").
// Outputs: key (int64), values (a list of tensors of the types dtypes).
inline MapUnstageNoKeyOutputs MapUnstageNoKey(const Operand& indices, const std::vector<DType>& dtypes,
    const MapUnstageNoKeyOptions& options = {}) {
  auto results = internal::Call("MapUnstageNoKey", options.name, {indices}).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).All();
  return {results.Next(), results.NextList(), results.operation()};
}

struct MutableDenseHashTableV2Options {
  std::string container = "";
  std::string shared_name = "";
  bool use_node_name_sharing = false;
  tensorbraid::Shape value_shape = {};
  int64_t initial_num_buckets = 131072;
  float max_load_factor = 0.8f;
  std::string name = {};
};
// Adds a node of the op MutableDenseHashTableV2.
// Inputs: empty_key (key_dtype), deleted_key (key_dtype).
// Attributes: value_dtype (dtype: any), container (string; default ""), shared_name (string; default ""),
//   use_node_name_sharing (bool; default false), value_shape (shape; default []), initial_num_buckets (int; default
//   131072), max_load_factor (float; default 0.8).
// Output: table_handle (resource).
// key_dtype: any.
inline Output MutableDenseHashTableV2(const Operand& empty_key, const Operand& deleted_key, DType value_dtype,
    const MutableDenseHashTableV2Options& options = {}) {
  return internal::Call("MutableDenseHashTableV2", options.name, {empty_key, deleted_key})
      .Attr("value_dtype", value_dtype).Attr("container", options.container).Attr("shared_name", options.shared_name)
      .Attr("use_node_name_sharing", options.use_node_name_sharing).Attr("value_shape", options.value_shape)
      .Attr("initial_num_buckets", options.initial_num_buckets).Attr("max_load_factor", options.max_load_factor).One();
}

struct MutableHashTableOptions {
  std::string container = "";
  std::string shared_name = "";
  bool use_node_name_sharing = false;
  std::string name = {};
};
// Adds a node of the op MutableHashTable.
// Attributes: key_dtype (dtype: any), value_dtype (dtype: any), container (string; default ""), shared_name (string;
//   default ""), use_node_name_sharing (bool; default false).
// Output: table_handle (a reference to string).
inline Output MutableHashTable(Graph& graph, DType key_dtype, DType value_dtype,
    const MutableHashTableOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "MutableHashTable", options.name, {}, loc).Attr("key_dtype", key_dtype)
      .Attr("value_dtype", value_dtype).Attr("container", options.container).Attr("shared_name", options.shared_name)
      .Attr("use_node_name_sharing", options.use_node_name_sharing).One();
}

struct MutableHashTableOfTensorsOptions {
  std::string container = "";
  std::string shared_name = "";
  bool use_node_name_sharing = false;
  tensorbraid::Shape value_shape = {};
  std::string name = {};
};
// Adds a node of the op MutableHashTableOfTensors.
// Attributes: key_dtype (dtype: any), value_dtype (dtype: any), container (string; default ""), shared_name (string;
//   default ""), use_node_name_sharing (bool; default false), value_shape (shape; default []).
// Output: table_handle (a reference to string).
inline Output MutableHashTableOfTensors(Graph& graph, DType key_dtype, DType value_dtype,
    const MutableHashTableOfTensorsOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "MutableHashTableOfTensors", options.name, {}, loc).Attr("key_dtype", key_dtype)
      .Attr("value_dtype", value_dtype).Attr("container", options.container).Attr("shared_name", options.shared_name)
      .Attr("use_node_name_sharing", options.use_node_name_sharing).Attr("value_shape", options.value_shape).One();
}

struct MutableHashTableOfTensorsV2Options {
  std::string container = "";
  std::string shared_name = "";
  bool use_node_name_sharing = false;
  tensorbraid::Shape value_shape = {};
  std::string name = {};
};
// Adds a node of the op MutableHashTableOfTensorsV2.
// Attributes: key_dtype (dtype: any), value_dtype (dtype: any), container (string; default ""), shared_name (string;
//   default ""), use_node_name_sharing (bool; default false), value_shape (shape; default []).
// Output: table_handle (resource).
inline Output MutableHashTableOfTensorsV2(Graph& graph, DType key_dtype, DType value_dtype,
    const MutableHashTableOfTensorsV2Options& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "MutableHashTableOfTensorsV2", options.name, {}, loc).Attr("key_dtype", key_dtype)
      .Attr("value_dtype", value_dtype).Attr("container", options.container).Attr("shared_name", options.shared_name)
      .Attr("use_node_name_sharing", options.use_node_name_sharing).Attr("value_shape", options.value_shape).One();
}

struct MutableHashTableV2Options {
  std::string container = "";
  std::string shared_name = "";
  bool use_node_name_sharing = false;
  std::string name = {};
};
// Adds a node of the op MutableHashTableV2.
// Attributes: key_dtype (dtype: any), value_dtype (dtype: any), container (string; default ""), shared_name (string;
//   default ""), use_node_name_sharing (bool; default false).
// Output: table_handle (resource).
inline Output MutableHashTableV2(Graph& graph, DType key_dtype, DType value_dtype,
    const MutableHashTableV2Options& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "MutableHashTableV2", options.name, {}, loc).Attr("key_dtype", key_dtype)
      .Attr("value_dtype", value_dtype).Attr("container", options.container).Attr("shared_name", options.shared_name)
      .Attr("use_node_name_sharing", options.use_node_name_sharing).One();
}

// Adds a node of the op MutexLock.
// Inputs: mutex (resource).
// Output: mutex_lock (variant).
inline Output MutexLock(const Output& mutex, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("MutexLock", name, {mutex}, loc).One();
}

struct MutexV2Options {
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op MutexV2.
// Attributes: container (string; default ""), shared_name (string; default "").
// Output: resource (resource).
inline Output MutexV2(Graph& graph, const MutexV2Options& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "MutexV2", options.name, {}, loc).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).One();
}

struct OrderedMapClearOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op OrderedMapClear.
// Attributes: dtypes (list of dtypes: any), capacity (int, at least 0; default 0), memory_limit (int, at least 0;
//   default 0), container (string; default ""), shared_name (string; default "").
inline Operation OrderedMapClear(Graph& graph, const std::vector<DType>& dtypes,
    const OrderedMapClearOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "OrderedMapClear", options.name, {}, loc).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).Finish();
}

struct OrderedMapIncompleteSizeOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op OrderedMapIncompleteSize.
// Attributes: dtypes (list of dtypes: any), capacity (int, at least 0; default 0), memory_limit (int, at least 0;
//   default 0), container (string; default ""), shared_name (string; default "").
// Output: size (int32).
inline Output OrderedMapIncompleteSize(Graph& graph, const std::vector<DType>& dtypes,
    const OrderedMapIncompleteSizeOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "OrderedMapIncompleteSize", options.name, {}, loc).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).One();
}

struct OrderedMapPeekOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
struct OrderedMapPeekOutputs {
  std::vector<Output> values;
  Operation operation;
};
// Adds a node of the op OrderedMapPeek.
// Inputs: key (int64), indices (int32).
// Attributes: dtypes (list of dtypes: any, at least 1), capacity (int, at least 0; default 0), memory_limit (int, at
//   least 0; default 0), container (string; default ""), shared_name (string; default "").
// Output: values (a list of tensors of the types dtypes).
inline OrderedMapPeekOutputs OrderedMapPeek(const Operand& key, const Operand& indices,
    const std::vector<DType>& dtypes, const OrderedMapPeekOptions& options = {}) {
  auto results = internal::Call("OrderedMapPeek", options.name, {key, indices}).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).All();
  return {results.NextList(), results.operation()};
}

struct OrderedMapSizeOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op OrderedMapSize.
// Attributes: dtypes (list of dtypes: any), capacity (int, at least 0; default 0), memory_limit (int, at least 0;
//   default 0), container (string; default ""), shared_name (string; default "").
// Output: size (int32).
inline Output OrderedMapSize(Graph& graph, const std::vector<DType>& dtypes, const OrderedMapSizeOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "OrderedMapSize", options.name, {}, loc).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).One();
}

struct OrderedMapStageOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op OrderedMapStage.
// Inputs: key (int64), indices (int32), values (a list of tensors of the types fake_dtypes).
// Attributes: dtypes (list of dtypes: any), capacity (int, at least 0; default 0), memory_limit (int, at least 0;
//   default 0), container (string; default ""), shared_name (string; default "").
// fake_dtypes: any.
inline Operation OrderedMapStage(const Operand& key, const Operand& indices, const std::vector<Output>& values,
    const std::vector<DType>& dtypes, const OrderedMapStageOptions& options = {}) {
  return internal::Call("OrderedMapStage", options.name, {key, indices, values}).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).Finish();
}

struct OrderedMapUnstageOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
struct OrderedMapUnstageOutputs {
  std::vector<Output> values;
  Operation operation;
};
// Adds a node of the op OrderedMapUnstage.
// Inputs: key (int64), indices (int32).
// Attributes: dtypes (list of dtypes: any, at least 1), capacity (int, at least 0; default 0), memory_limit (int, at
//   least 0; default 0), container (string; default ""), shared_name (string; default "").
// Output: values (a list of tensors of the types dtypes).
inline OrderedMapUnstageOutputs OrderedMapUnstage(const Operand& key, const Operand& indices,
    const std::vector<DType>& dtypes, const OrderedMapUnstageOptions& options = {}) {
  auto results = internal::Call("OrderedMapUnstage", options.name, {key, indices}).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).All();
  return {results.NextList(), results.operation()};
}

struct OrderedMapUnstageNoKeyOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
struct OrderedMapUnstageNoKeyOutputs {
  Output key;
  std::vector<Output> values;
  Operation operation;
};
// Adds a node of the op OrderedMapUnstageNoKey.
// Inputs: indices (int32).
// Attributes: dtypes (list of dtypes: any, at least 1), capacity (int, at least 0; default 0), memory_limit (int, at
//   least 0; default 0), container (string; default ""), shared_name (string; default "").
// Outputs: key (int64), values (a list of tensors of the types dtypes).
inline OrderedMapUnstageNoKeyOutputs OrderedMapUnstageNoKey(const Operand& indices, const std::vector<DType>& dtypes,
    const OrderedMapUnstageNoKeyOptions& options = {}) {
  auto results = internal::Call("OrderedMapUnstageNoKey", options.name, {indices}).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).All();
  return {results.Next(), results.NextList(), results.operation()};
}

struct PaddingFIFOQueueOptions {
  std::vector<tensorbraid::Shape> shapes = {};
  int64_t capacity = -1;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op PaddingFIFOQueue.
// Attributes: component_types (list of dtypes: any, at least 1), shapes (list of shapes, at least 0; default []),
//   capacity (int; default -1), container (string; default ""), shared_name (string; default "").
// Output: handle (a reference to string).
inline Output PaddingFIFOQueue(Graph& graph, const std::vector<DType>& component_types,
    const PaddingFIFOQueueOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "PaddingFIFOQueue", options.name, {}, loc).Attr("component_types", component_types)
      .Attr("shapes", options.shapes).Attr("capacity", options.capacity).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).One();
}

struct PaddingFIFOQueueV2Options {
  std::vector<tensorbraid::Shape> shapes = {};
  int64_t capacity = -1;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op PaddingFIFOQueueV2.
// Attributes: component_types (list of dtypes: any, at least 1), shapes (list of shapes, at least 0; default []),
//   capacity (int; default -1), container (string; default ""), shared_name (string; default "").
// Output: handle (resource).
inline Output PaddingFIFOQueueV2(Graph& graph, const std::vector<DType>& component_types,
    const PaddingFIFOQueueV2Options& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "PaddingFIFOQueueV2", options.name, {}, loc).Attr("component_types", component_types)
      .Attr("shapes", options.shapes).Attr("capacity", options.capacity).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).One();
}

// Adds a node of the op ParallelDynamicStitch. It has a gradient.
// Inputs: indices (a list of N tensors of type int32), data (a list of N tensors of type T).
// Output: merged (T).
// T: any.
inline Output ParallelDynamicStitch(const std::vector<Output>& indices, const std::vector<Output>& data,
    const std::string& name = "", std::source_location loc = std::source_location::current()) {
  return internal::Call("ParallelDynamicStitch", name, {indices, data}, loc).One();
}

struct PriorityQueueOptions {
  std::vector<DType> component_types = {};
  int64_t capacity = -1;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op PriorityQueue.
// Attributes: shapes (list of shapes, at least 0), component_types (list of dtypes: any, at least 0; default []),
//   capacity (int; default -1), container (string; default ""), shared_name (string; default "").
// Output: handle (a reference to string).
inline Output PriorityQueue(Graph& graph, const std::vector<tensorbraid::Shape>& shapes,
    const PriorityQueueOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "PriorityQueue", options.name, {}, loc).Attr("shapes", shapes)
      .Attr("component_types", options.component_types).Attr("capacity", options.capacity)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).One();
}

struct PriorityQueueV2Options {
  std::vector<DType> component_types = {};
  int64_t capacity = -1;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op PriorityQueueV2.
// Attributes: shapes (list of shapes, at least 0), component_types (list of dtypes: any, at least 0; default []),
//   capacity (int; default -1), container (string; default ""), shared_name (string; default "").
// Output: handle (resource).
inline Output PriorityQueueV2(Graph& graph, const std::vector<tensorbraid::Shape>& shapes,
    const PriorityQueueV2Options& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "PriorityQueueV2", options.name, {}, loc).Attr("shapes", shapes)
      .Attr("component_types", options.component_types).Attr("capacity", options.capacity)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).One();
}

struct QueueCloseOptions {
  bool cancel_pending_enqueues = false;
  std::string name = {};
};
// Adds a node of the op QueueClose.
// Inputs: handle (a reference to string).
// Attributes: cancel_pending_enqueues (bool; default false).
inline Operation QueueClose(const Output& handle, const QueueCloseOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("QueueClose", options.name, {handle}, loc)
      .Attr("cancel_pending_enqueues", options.cancel_pending_enqueues).Finish();
}

struct QueueCloseV2Options {
  bool cancel_pending_enqueues = false;
  std::string name = {};
};
// Adds a node of the op QueueCloseV2.
// Inputs: handle (resource).
// Attributes: cancel_pending_enqueues (bool; default false).
inline Operation QueueCloseV2(const Output& handle, const QueueCloseV2Options& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("QueueCloseV2", options.name, {handle}, loc)
      .Attr("cancel_pending_enqueues", options.cancel_pending_enqueues).Finish();
}

struct QueueDequeueOptions {
  int64_t timeout_ms = -1;
  std::string name = {};
};
struct QueueDequeueOutputs {
  std::vector<Output> components;
  Operation operation;
};
// Adds a node of the op QueueDequeue.
// Inputs: handle (a reference to string).
// Attributes: component_types (list of dtypes: any, at least 1), timeout_ms (int; default -1).
// Output: components (a list of tensors of the types component_types).
inline QueueDequeueOutputs QueueDequeue(const Output& handle, const std::vector<DType>& component_types,
    const QueueDequeueOptions& options = {}, std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("QueueDequeue", options.name, {handle}, loc).Attr("component_types", component_types)
      .Attr("timeout_ms", options.timeout_ms).All();
  return {results.NextList(), results.operation()};
}

struct QueueDequeueManyOptions {
  int64_t timeout_ms = -1;
  std::string name = {};
};
struct QueueDequeueManyOutputs {
  std::vector<Output> components;
  Operation operation;
};
// Adds a node of the op QueueDequeueMany.
// Inputs: handle (a reference to string), n (int32).
// Attributes: component_types (list of dtypes: any, at least 1), timeout_ms (int; default -1).
// Output: components (a list of tensors of the types component_types).
inline QueueDequeueManyOutputs QueueDequeueMany(const Output& handle, const Operand& n,
    const std::vector<DType>& component_types, const QueueDequeueManyOptions& options = {}) {
  auto results = internal::Call("QueueDequeueMany", options.name, {handle, n}).Attr("component_types", component_types)
      .Attr("timeout_ms", options.timeout_ms).All();
  return {results.NextList(), results.operation()};
}

struct QueueDequeueManyV2Options {
  int64_t timeout_ms = -1;
  std::string name = {};
};
struct QueueDequeueManyV2Outputs {
  std::vector<Output> components;
  Operation operation;
};
// Adds a node of the op QueueDequeueManyV2.
// Inputs: handle (resource), n (int32).
// Attributes: component_types (list of dtypes: any, at least 1), timeout_ms (int; default -1).
// Output: components (a list of tensors of the types component_types).
inline QueueDequeueManyV2Outputs QueueDequeueManyV2(const Output& handle, const Operand& n,
    const std::vector<DType>& component_types, const QueueDequeueManyV2Options& options = {}) {
  auto results = internal::Call("QueueDequeueManyV2", options.name, {handle, n})
      .Attr("component_types", component_types).Attr("timeout_ms", options.timeout_ms).All();
  return {results.NextList(), results.operation()};
}

struct QueueDequeueUpToOptions {
  int64_t timeout_ms = -1;
  std::string name = {};
};
struct QueueDequeueUpToOutputs {
  std::vector<Output> components;
  Operation operation;
};
// Adds a node of the op QueueDequeueUpTo.
// Inputs: handle (a reference to string), n (int32).
// Attributes: component_types (list of dtypes: any, at least 1), timeout_ms (int; default -1).
// Output: components (a list of tensors of the types component_types).
inline QueueDequeueUpToOutputs QueueDequeueUpTo(const Output& handle, const Operand& n,
    const std::vector<DType>& component_types, const QueueDequeueUpToOptions& options = {}) {
  auto results = internal::Call("QueueDequeueUpTo", options.name, {handle, n}).Attr("component_types", component_types)
      .Attr("timeout_ms", options.timeout_ms).All();
  return {results.NextList(), results.operation()};
}

struct QueueDequeueUpToV2Options {
  int64_t timeout_ms = -1;
  std::string name = {};
};
struct QueueDequeueUpToV2Outputs {
  std::vector<Output> components;
  Operation operation;
};
// Adds a node of the op QueueDequeueUpToV2.
// Inputs: handle (resource), n (int32).
// Attributes: component_types (list of dtypes: any, at least 1), timeout_ms (int; default -1).
// Output: components (a list of tensors of the types component_types).
inline QueueDequeueUpToV2Outputs QueueDequeueUpToV2(const Output& handle, const Operand& n,
    const std::vector<DType>& component_types, const QueueDequeueUpToV2Options& options = {}) {
  auto results = internal::Call("QueueDequeueUpToV2", options.name, {handle, n})
      .Attr("component_types", component_types).Attr("timeout_ms", options.timeout_ms).All();
  return {results.NextList(), results.operation()};
}

struct QueueDequeueV2Options {
  int64_t timeout_ms = -1;
  std::string name = {};
};
struct QueueDequeueV2Outputs {
  std::vector<Output> components;
  Operation operation;
};
// Adds a node of the op QueueDequeueV2.
// Inputs: handle (resource).
// Attributes: component_types (list of dtypes: any, at least 1), timeout_ms (int; default -1).
// Output: components (a list of tensors of the types component_types).
inline QueueDequeueV2Outputs QueueDequeueV2(const Output& handle, const std::vector<DType>& component_types,
    const QueueDequeueV2Options& options = {}, std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("QueueDequeueV2", options.name, {handle}, loc).Attr("component_types", component_types)
      .Attr("timeout_ms", options.timeout_ms).All();
  return {results.NextList(), results.operation()};
}

struct QueueEnqueueOptions {
  int64_t timeout_ms = -1;
  std::string name = {};
};
// Adds a node of the op QueueEnqueue.
// Inputs: handle (a reference to string), components (a list of tensors of the types Tcomponents).
// Attributes: timeout_ms (int; default -1).
// Tcomponents: any.
inline Operation QueueEnqueue(const Output& handle, const std::vector<Output>& components,
    const QueueEnqueueOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call("QueueEnqueue", options.name, {handle, components}, loc).Attr("timeout_ms", options.timeout_ms)
      .Finish();
}

struct QueueEnqueueManyOptions {
  int64_t timeout_ms = -1;
  std::string name = {};
};
// Adds a node of the op QueueEnqueueMany.
// Inputs: handle (a reference to string), components (a list of tensors of the types Tcomponents).
// Attributes: timeout_ms (int; default -1).
// Tcomponents: any.
inline Operation QueueEnqueueMany(const Output& handle, const std::vector<Output>& components,
    const QueueEnqueueManyOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call("QueueEnqueueMany", options.name, {handle, components}, loc)
      .Attr("timeout_ms", options.timeout_ms).Finish();
}

struct QueueEnqueueManyV2Options {
  int64_t timeout_ms = -1;
  std::string name = {};
};
// Adds a node of the op QueueEnqueueManyV2.
// Inputs: handle (resource), components (a list of tensors of the types Tcomponents).
// Attributes: timeout_ms (int; default -1).
// Tcomponents: any.
inline Operation QueueEnqueueManyV2(const Output& handle, const std::vector<Output>& components,
    const QueueEnqueueManyV2Options& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call("QueueEnqueueManyV2", options.name, {handle, components}, loc)
      .Attr("timeout_ms", options.timeout_ms).Finish();
}

struct QueueEnqueueV2Options {
  int64_t timeout_ms = -1;
  std::string name = {};
};
// Adds a node of the op QueueEnqueueV2.
// Inputs: handle (resource), components (a list of tensors of the types Tcomponents).
// Attributes: timeout_ms (int; default -1).
// Tcomponents: any.
inline Operation QueueEnqueueV2(const Output& handle, const std::vector<Output>& components,
    const QueueEnqueueV2Options& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call("QueueEnqueueV2", options.name, {handle, components}, loc)
      .Attr("timeout_ms", options.timeout_ms).Finish();
}

// Adds a node of the op QueueIsClosed.
// Inputs: handle (a reference to string).
// Output: is_closed (bool).
inline Output QueueIsClosed(const Output& handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("QueueIsClosed", name, {handle}, loc).One();
}

// Adds a node of the op QueueIsClosedV2.
// Inputs: handle (resource).
// Output: is_closed (bool).
inline Output QueueIsClosedV2(const Output& handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("QueueIsClosedV2", name, {handle}, loc).One();
}

// Adds a node of the op QueueSize.
// Inputs: handle (a reference to string).
// Output: size (int32).
inline Output QueueSize(const Output& handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("QueueSize", name, {handle}, loc).One();
}

// Adds a node of the op QueueSizeV2.
// Inputs: handle (resource).
// Output: size (int32).
inline Output QueueSizeV2(const Output& handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("QueueSizeV2", name, {handle}, loc).One();
}

struct RandomShuffleQueueOptions {
  std::vector<tensorbraid::Shape> shapes = {};
  int64_t capacity = -1;
  int64_t min_after_dequeue = 0;
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op RandomShuffleQueue.
// Attributes: component_types (list of dtypes: any, at least 1), shapes (list of shapes, at least 0; default []),
//   capacity (int; default -1), min_after_dequeue (int; default 0), seed (int; default 0), seed2 (int; default 0),
//   container (string; default ""), shared_name (string; default "").
// Output: handle (a reference to string).
inline Output RandomShuffleQueue(Graph& graph, const std::vector<DType>& component_types,
    const RandomShuffleQueueOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "RandomShuffleQueue", options.name, {}, loc).Attr("component_types", component_types)
      .Attr("shapes", options.shapes).Attr("capacity", options.capacity)
      .Attr("min_after_dequeue", options.min_after_dequeue).Attr("seed", options.seed).Attr("seed2", options.seed2)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).One();
}

struct RandomShuffleQueueV2Options {
  std::vector<tensorbraid::Shape> shapes = {};
  int64_t capacity = -1;
  int64_t min_after_dequeue = 0;
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op RandomShuffleQueueV2.
// Attributes: component_types (list of dtypes: any, at least 1), shapes (list of shapes, at least 0; default []),
//   capacity (int; default -1), min_after_dequeue (int; default 0), seed (int; default 0), seed2 (int; default 0),
//   container (string; default ""), shared_name (string; default "").
// Output: handle (resource).
inline Output RandomShuffleQueueV2(Graph& graph, const std::vector<DType>& component_types,
    const RandomShuffleQueueV2Options& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "RandomShuffleQueueV2", options.name, {}, loc).Attr("component_types", component_types)
      .Attr("shapes", options.shapes).Attr("capacity", options.capacity)
      .Attr("min_after_dequeue", options.min_after_dequeue).Attr("seed", options.seed).Attr("seed2", options.seed2)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).One();
}

// Adds a node of the op ResourceAccumulatorApplyGradient.
// Inputs: handle (resource), local_step (int64), gradient (dtype).
// dtype: numbers quantized.
inline Operation ResourceAccumulatorApplyGradient(const Output& handle, const Operand& local_step,
    const Operand& gradient, const std::string& name = "") {
  return internal::Call("ResourceAccumulatorApplyGradient", name, {handle, local_step, gradient}).Finish();
}

// Adds a node of the op ResourceAccumulatorNumAccumulated.
// Inputs: handle (resource).
// Output: num_accumulated (int32).
inline Output ResourceAccumulatorNumAccumulated(const Output& handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ResourceAccumulatorNumAccumulated", name, {handle}, loc).One();
}

// Adds a node of the op ResourceAccumulatorSetGlobalStep.
// Inputs: handle (resource), new_global_step (int64).
inline Operation ResourceAccumulatorSetGlobalStep(const Output& handle, const Operand& new_global_step,
    const std::string& name = "") {
  return internal::Call("ResourceAccumulatorSetGlobalStep", name, {handle, new_global_step}).Finish();
}

// Adds a node of the op ResourceAccumulatorTakeGradient.
// Inputs: handle (resource), num_required (int32).
// Attributes: dtype (dtype: numbers quantized).
// Output: average (dtype).
inline Output ResourceAccumulatorTakeGradient(const Output& handle, const Operand& num_required, DType dtype,
    const std::string& name = "") {
  return internal::Call("ResourceAccumulatorTakeGradient", name, {handle, num_required}).Attr("dtype", dtype).One();
}

struct ResourceConditionalAccumulatorOptions {
  std::string container = "";
  std::string shared_name = "";
  std::string reduction_type = "MEAN";
  std::string name = {};
};
// Adds a node of the op ResourceConditionalAccumulator.
// Attributes: dtype (dtype: numbers), shape (shape), container (string; default ""), shared_name (string; default ""),
//   reduction_type (string: 'MEAN', 'SUM'; default "MEAN").
// Output: handle (resource).
inline Output ResourceConditionalAccumulator(Graph& graph, DType dtype, const tensorbraid::Shape& shape,
    const ResourceConditionalAccumulatorOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "ResourceConditionalAccumulator", options.name, {}, loc).Attr("dtype", dtype)
      .Attr("shape", shape).Attr("container", options.container).Attr("shared_name", options.shared_name)
      .Attr("reduction_type", options.reduction_type).One();
}

// Adds a node of the op SparseAccumulatorApplyGradient.
// Inputs: handle (a reference to string), local_step (int64), gradient_indices (int64), gradient_values (dtype),
//   gradient_shape (int64).
// Attributes: has_known_shape (bool).
// dtype: numbers quantized.
inline Operation SparseAccumulatorApplyGradient(const Output& handle, const Operand& local_step,
    const Operand& gradient_indices, const Operand& gradient_values, const Operand& gradient_shape,
    bool has_known_shape, const std::string& name = "") {
  return internal::Call("SparseAccumulatorApplyGradient", name, {handle, local_step, gradient_indices, gradient_values,
      gradient_shape}).Attr("has_known_shape", has_known_shape).Finish();
}

struct SparseAccumulatorTakeGradientOutputs {
  Output indices;
  Output values;
  Output shape;
  Operation operation;
};
// Adds a node of the op SparseAccumulatorTakeGradient.
// Inputs: handle (a reference to string), num_required (int32).
// Attributes: dtype (dtype: numbers quantized).
// Outputs: indices (int64), values (dtype), shape (int64).
inline SparseAccumulatorTakeGradientOutputs SparseAccumulatorTakeGradient(const Output& handle,
    const Operand& num_required, DType dtype, const std::string& name = "") {
  auto results = internal::Call("SparseAccumulatorTakeGradient", name, {handle, num_required}).Attr("dtype", dtype)
      .All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct SparseConditionalAccumulatorOptions {
  std::string container = "";
  std::string shared_name = "";
  std::string reduction_type = "MEAN";
  std::string name = {};
};
// Adds a node of the op SparseConditionalAccumulator.
// Attributes: dtype (dtype: numbers), shape (shape), container (string; default ""), shared_name (string; default ""),
//   reduction_type (string: 'MEAN', 'SUM'; default "MEAN").
// Output: handle (a reference to string).
inline Output SparseConditionalAccumulator(Graph& graph, DType dtype, const tensorbraid::Shape& shape,
    const SparseConditionalAccumulatorOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "SparseConditionalAccumulator", options.name, {}, loc).Attr("dtype", dtype)
      .Attr("shape", shape).Attr("container", options.container).Attr("shared_name", options.shared_name)
      .Attr("reduction_type", options.reduction_type).One();
}

struct StackOptions {
  std::string stack_name = "";
  std::string name = {};
};
// Adds a node of the op Stack.
// Attributes: elem_type (dtype: any), stack_name (string; default "").
// Output: handle (a reference to string).
inline Output Stack(Graph& graph, DType elem_type, const StackOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "Stack", options.name, {}, loc).Attr("elem_type", elem_type)
      .Attr("stack_name", options.stack_name).One();
}

// Adds a node of the op StackClose.
// Inputs: handle (a reference to string).
inline Operation StackClose(const Output& handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("StackClose", name, {handle}, loc).Finish();
}

// Adds a node of the op StackCloseV2.
// Inputs: handle (resource).
inline Operation StackCloseV2(const Output& handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("StackCloseV2", name, {handle}, loc).Finish();
}

// Adds a node of the op StackPop.
// Inputs: handle (a reference to string).
// Attributes: elem_type (dtype: any).
// Output: elem (elem_type).
inline Output StackPop(const Output& handle, DType elem_type, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("StackPop", name, {handle}, loc).Attr("elem_type", elem_type).One();
}

// Adds a node of the op StackPopV2.
// Inputs: handle (resource).
// Attributes: elem_type (dtype: any).
// Output: elem (elem_type).
inline Output StackPopV2(const Output& handle, DType elem_type, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("StackPopV2", name, {handle}, loc).Attr("elem_type", elem_type).One();
}

struct StackPushOptions {
  bool swap_memory = false;
  std::string name = {};
};
// Adds a node of the op StackPush.
// Inputs: handle (a reference to string), elem (T).
// Attributes: swap_memory (bool; default false).
// Output: output (T).
// T: any.
inline Output StackPush(const Output& handle, const Operand& elem, const StackPushOptions& options = {}) {
  return internal::Call("StackPush", options.name, {handle, elem}).Attr("swap_memory", options.swap_memory).One();
}

struct StackPushV2Options {
  bool swap_memory = false;
  std::string name = {};
};
// Adds a node of the op StackPushV2.
// Inputs: handle (resource), elem (T).
// Attributes: swap_memory (bool; default false).
// Output: output (T).
// T: any.
inline Output StackPushV2(const Output& handle, const Operand& elem, const StackPushV2Options& options = {}) {
  return internal::Call("StackPushV2", options.name, {handle, elem}).Attr("swap_memory", options.swap_memory).One();
}

struct StackV2Options {
  std::string stack_name = "";
  std::string name = {};
};
// Adds a node of the op StackV2.
// Inputs: max_size (int32).
// Attributes: elem_type (dtype: any), stack_name (string; default "").
// Output: handle (resource).
inline Output StackV2(const Operand& max_size, DType elem_type, const StackV2Options& options = {}) {
  return internal::Call("StackV2", options.name, {max_size}).Attr("elem_type", elem_type)
      .Attr("stack_name", options.stack_name).One();
}

struct StageOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op Stage.
// Inputs: values (a list of tensors of the types dtypes).
// Attributes: capacity (int, at least 0; default 0), memory_limit (int, at least 0; default 0), container (string;
//   default ""), shared_name (string; default "").
// dtypes: any.
inline Operation Stage(const std::vector<Output>& values, const StageOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("Stage", options.name, {values}, loc).Attr("capacity", options.capacity)
      .Attr("memory_limit", options.memory_limit).Attr("container", options.container)
      .Attr("shared_name", options.shared_name).Finish();
}

struct StageClearOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op StageClear.
// Attributes: dtypes (list of dtypes: any), capacity (int, at least 0; default 0), memory_limit (int, at least 0;
//   default 0), container (string; default ""), shared_name (string; default "").
inline Operation StageClear(Graph& graph, const std::vector<DType>& dtypes, const StageClearOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "StageClear", options.name, {}, loc).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).Finish();
}

struct StagePeekOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
struct StagePeekOutputs {
  std::vector<Output> values;
  Operation operation;
};
// Adds a node of the op StagePeek.
// Inputs: index (int32).
// Attributes: dtypes (list of dtypes: any, at least 1), capacity (int, at least 0; default 0), memory_limit (int, at
//   least 0; default 0), container (string; default ""), shared_name (string; default "").
// Output: values (a list of tensors of the types dtypes).
inline StagePeekOutputs StagePeek(const Operand& index, const std::vector<DType>& dtypes,
    const StagePeekOptions& options = {}) {
  auto results = internal::Call("StagePeek", options.name, {index}).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).All();
  return {results.NextList(), results.operation()};
}

struct StageSizeOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op StageSize.
// Attributes: dtypes (list of dtypes: any), capacity (int, at least 0; default 0), memory_limit (int, at least 0;
//   default 0), container (string; default ""), shared_name (string; default "").
// Output: size (int32).
inline Output StageSize(Graph& graph, const std::vector<DType>& dtypes, const StageSizeOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "StageSize", options.name, {}, loc).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).One();
}

// Adds a node of the op TensorArrayCloseV3.
// Inputs: handle (resource).
inline Operation TensorArrayCloseV3(const Output& handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("TensorArrayCloseV3", name, {handle}, loc).Finish();
}

struct TensorArrayConcatV3Options {
  tensorbraid::Shape element_shape_except0 = tensorbraid::Shape::Unknown();
  std::string name = {};
};
struct TensorArrayConcatV3Outputs {
  Output value;
  Output lengths;
  Operation operation;
};
// Adds a node of the op TensorArrayConcatV3. It has a gradient.
// Inputs: handle (resource), flow_in (float32).
// Attributes: dtype (dtype: any), element_shape_except0 (shape; default <unknown>).
// Outputs: value (dtype), lengths (int64).
inline TensorArrayConcatV3Outputs TensorArrayConcatV3(const Output& handle, const Operand& flow_in, DType dtype,
    const TensorArrayConcatV3Options& options = {}) {
  auto results = internal::Call("TensorArrayConcatV3", options.name, {handle, flow_in}).Attr("dtype", dtype)
      .Attr("element_shape_except0", options.element_shape_except0).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct TensorArrayGatherV3Options {
  tensorbraid::Shape element_shape = tensorbraid::Shape::Unknown();
  std::string name = {};
};
// Adds a node of the op TensorArrayGatherV3. It has a gradient.
// Inputs: handle (resource), indices (int32), flow_in (float32).
// Attributes: dtype (dtype: any), element_shape (shape; default <unknown>).
// Output: value (dtype).
inline Output TensorArrayGatherV3(const Output& handle, const Operand& indices, const Operand& flow_in, DType dtype,
    const TensorArrayGatherV3Options& options = {}) {
  return internal::Call("TensorArrayGatherV3", options.name, {handle, indices, flow_in}).Attr("dtype", dtype)
      .Attr("element_shape", options.element_shape).One();
}

struct TensorArrayGradV3Outputs {
  Output grad_handle;
  Output flow_out;
  Operation operation;
};
// Adds a node of the op TensorArrayGradV3.
// Inputs: handle (resource), flow_in (float32).
// Attributes: source (string).
// Outputs: grad_handle (resource), flow_out (float32).
inline TensorArrayGradV3Outputs TensorArrayGradV3(const Output& handle, const Operand& flow_in,
    const std::string& source, const std::string& name = "") {
  auto results = internal::Call("TensorArrayGradV3", name, {handle, flow_in}).Attr("source", source).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct TensorArrayGradWithShapeOutputs {
  Output grad_handle;
  Output flow_out;
  Operation operation;
};
// Adds a node of the op TensorArrayGradWithShape.
// Inputs: handle (resource), flow_in (float32), shape_to_prepend (int32).
// Attributes: source (string).
// Outputs: grad_handle (resource), flow_out (float32).
inline TensorArrayGradWithShapeOutputs TensorArrayGradWithShape(const Output& handle, const Operand& flow_in,
    const Operand& shape_to_prepend, const std::string& source, const std::string& name = "") {
  auto results = internal::Call("TensorArrayGradWithShape", name, {handle, flow_in, shape_to_prepend})
      .Attr("source", source).All();
  return {results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op TensorArrayReadV3. It has a gradient.
// Inputs: handle (resource), index (int32), flow_in (float32).
// Attributes: dtype (dtype: any).
// Output: value (dtype).
inline Output TensorArrayReadV3(const Output& handle, const Operand& index, const Operand& flow_in, DType dtype,
    const std::string& name = "") {
  return internal::Call("TensorArrayReadV3", name, {handle, index, flow_in}).Attr("dtype", dtype).One();
}

// Adds a node of the op TensorArrayScatterV3. It has a gradient.
// Inputs: handle (resource), indices (int32), value (T), flow_in (float32).
// Output: flow_out (float32).
// T: any.
inline Output TensorArrayScatterV3(const Output& handle, const Operand& indices, const Operand& value,
    const Operand& flow_in, const std::string& name = "") {
  return internal::Call("TensorArrayScatterV3", name, {handle, indices, value, flow_in}).One();
}

// Adds a node of the op TensorArraySizeV3.
// Inputs: handle (resource), flow_in (float32).
// Output: size (int32).
inline Output TensorArraySizeV3(const Output& handle, const Operand& flow_in, const std::string& name = "") {
  return internal::Call("TensorArraySizeV3", name, {handle, flow_in}).One();
}

// Adds a node of the op TensorArraySplitV3. It has a gradient.
// Inputs: handle (resource), value (T), lengths (int64), flow_in (float32).
// Output: flow_out (float32).
// T: any.
inline Output TensorArraySplitV3(const Output& handle, const Operand& value, const Operand& lengths,
    const Operand& flow_in, const std::string& name = "") {
  return internal::Call("TensorArraySplitV3", name, {handle, value, lengths, flow_in}).One();
}

struct TensorArrayV3Options {
  tensorbraid::Shape element_shape = tensorbraid::Shape::Unknown();
  bool dynamic_size = false;
  bool clear_after_read = true;
  bool identical_element_shapes = false;
  std::string tensor_array_name = "";
  std::string name = {};
};
struct TensorArrayV3Outputs {
  Output handle;
  Output flow;
  Operation operation;
};
// Adds a node of the op TensorArrayV3.
// Inputs: size (int32).
// Attributes: dtype (dtype: any), element_shape (shape; default <unknown>), dynamic_size (bool; default false),
//   clear_after_read (bool; default true), identical_element_shapes (bool; default false), tensor_array_name (string;
//   default "").
// Outputs: handle (resource), flow (float32).
inline TensorArrayV3Outputs TensorArrayV3(const Operand& size, DType dtype, const TensorArrayV3Options& options = {}) {
  auto results = internal::Call("TensorArrayV3", options.name, {size}).Attr("dtype", dtype)
      .Attr("element_shape", options.element_shape).Attr("dynamic_size", options.dynamic_size)
      .Attr("clear_after_read", options.clear_after_read)
      .Attr("identical_element_shapes", options.identical_element_shapes)
      .Attr("tensor_array_name", options.tensor_array_name).All();
  return {results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op TensorArrayWriteV3. It has a gradient.
// Inputs: handle (resource), index (int32), value (T), flow_in (float32).
// Output: flow_out (float32).
// T: any.
inline Output TensorArrayWriteV3(const Output& handle, const Operand& index, const Operand& value,
    const Operand& flow_in, const std::string& name = "") {
  return internal::Call("TensorArrayWriteV3", name, {handle, index, value, flow_in}).One();
}

struct UnstageOptions {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
struct UnstageOutputs {
  std::vector<Output> values;
  Operation operation;
};
// Adds a node of the op Unstage.
// Attributes: dtypes (list of dtypes: any, at least 1), capacity (int, at least 0; default 0), memory_limit (int, at
//   least 0; default 0), container (string; default ""), shared_name (string; default "").
// Output: values (a list of tensors of the types dtypes).
inline UnstageOutputs Unstage(Graph& graph, const std::vector<DType>& dtypes, const UnstageOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call(graph, "Unstage", options.name, {}, loc).Attr("dtypes", dtypes)
      .Attr("capacity", options.capacity).Attr("memory_limit", options.memory_limit)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).All();
  return {results.NextList(), results.operation()};
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_DATA_FLOW_H_
