// A function for each op of src/ops/sparse; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_SPARSE_H_
#define TENSORBRAID_RAW_OPS_SPARSE_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

struct AddManySparseToTensorsMapOptions {
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op AddManySparseToTensorsMap.
// Inputs: sparse_indices (int64), sparse_values (T), sparse_shape (int64).
// Attributes: container (string; default ""), shared_name (string; default "").
// Output: sparse_handles (int64).
// T: any.
inline Output AddManySparseToTensorsMap(const Operand& sparse_indices, const Operand& sparse_values,
    const Operand& sparse_shape, const AddManySparseToTensorsMapOptions& options = {}) {
  return internal::Call("AddManySparseToTensorsMap", options.name, {sparse_indices, sparse_values, sparse_shape})
      .Attr("container", options.container).Attr("shared_name", options.shared_name).One();
}

struct AddSparseToTensorsMapOptions {
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op AddSparseToTensorsMap.
// Inputs: sparse_indices (int64), sparse_values (T), sparse_shape (int64).
// Attributes: container (string; default ""), shared_name (string; default "").
// Output: sparse_handle (int64).
// T: any.
inline Output AddSparseToTensorsMap(const Operand& sparse_indices, const Operand& sparse_values,
    const Operand& sparse_shape, const AddSparseToTensorsMapOptions& options = {}) {
  return internal::Call("AddSparseToTensorsMap", options.name, {sparse_indices, sparse_values, sparse_shape})
      .Attr("container", options.container).Attr("shared_name", options.shared_name).One();
}

struct DenseToDenseSetOperationOptions {
  bool validate_indices = true;
  std::string name = {};
};
struct DenseToDenseSetOperationOutputs {
  Output result_indices;
  Output result_values;
  Output result_shape;
  Operation operation;
};
// Adds a node of the op DenseToDenseSetOperation.
// Inputs: set1 (T), set2 (T).
// Attributes: set_operation (string), validate_indices (bool; default true).
// Outputs: result_indices (int64), result_values (T), result_shape (int64).
// T: int32 uint8 int16 int8 string int64 uint16.
inline DenseToDenseSetOperationOutputs DenseToDenseSetOperation(const Operand& set1, const Operand& set2,
    const std::string& set_operation, const DenseToDenseSetOperationOptions& options = {}) {
  auto results = internal::Call("DenseToDenseSetOperation", options.name, {set1, set2})
      .Attr("set_operation", set_operation).Attr("validate_indices", options.validate_indices).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct DenseToSparseSetOperationOptions {
  bool validate_indices = true;
  std::string name = {};
};
struct DenseToSparseSetOperationOutputs {
  Output result_indices;
  Output result_values;
  Output result_shape;
  Operation operation;
};
// Adds a node of the op DenseToSparseSetOperation.
// Inputs: set1 (T), set2_indices (int64), set2_values (T), set2_shape (int64).
// Attributes: set_operation (string), validate_indices (bool; default true).
// Outputs: result_indices (int64), result_values (T), result_shape (int64).
// T: int32 uint8 int16 int8 string int64 uint16.
inline DenseToSparseSetOperationOutputs DenseToSparseSetOperation(const Operand& set1, const Operand& set2_indices,
    const Operand& set2_values, const Operand& set2_shape, const std::string& set_operation,
    const DenseToSparseSetOperationOptions& options = {}) {
  auto results = internal::Call("DenseToSparseSetOperation", options.name, {set1, set2_indices, set2_values,
      set2_shape}).Attr("set_operation", set_operation).Attr("validate_indices", options.validate_indices).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct DeserializeManySparseOutputs {
  Output sparse_indices;
  Output sparse_values;
  Output sparse_shape;
  Operation operation;
};
// Adds a node of the op DeserializeManySparse.
// Inputs: serialized_sparse (string).
// Attributes: dtype (dtype: any).
// Outputs: sparse_indices (int64), sparse_values (dtype), sparse_shape (int64).
inline DeserializeManySparseOutputs DeserializeManySparse(const Operand& serialized_sparse, DType dtype,
    const std::string& name = "") {
  auto results = internal::Call("DeserializeManySparse", name, {serialized_sparse}).Attr("dtype", dtype).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct DeserializeSparseOutputs {
  Output sparse_indices;
  Output sparse_values;
  Output sparse_shape;
  Operation operation;
};
// Adds a node of the op DeserializeSparse.
// Inputs: serialized_sparse (Tserialized).
// Attributes: dtype (dtype: any).
// Outputs: sparse_indices (int64), sparse_values (dtype), sparse_shape (int64).
// Tserialized: string variant.
inline DeserializeSparseOutputs DeserializeSparse(const Operand& serialized_sparse, DType dtype,
    const std::string& name = "") {
  auto results = internal::Call("DeserializeSparse", name, {serialized_sparse}).Attr("dtype", dtype).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct EditDistanceOptions {
  bool normalize = true;
  std::string name = {};
};
// Adds a node of the op EditDistance. The usual function is EditDistance (ops/sparse.h).
// Inputs: hypothesis_indices (int64), hypothesis_values (T), hypothesis_shape (int64), truth_indices (int64),
//   truth_values (T), truth_shape (int64).
// Attributes: normalize (bool; default true).
// Output: output (float32).
// T: numbers string bool.
inline Output EditDistance(const Operand& hypothesis_indices, const Operand& hypothesis_values,
    const Operand& hypothesis_shape, const Operand& truth_indices, const Operand& truth_values,
    const Operand& truth_shape, const EditDistanceOptions& options = {}) {
  return internal::Call("EditDistance", options.name, {hypothesis_indices, hypothesis_values, hypothesis_shape,
      truth_indices, truth_values, truth_shape}).Attr("normalize", options.normalize).One();
}

struct RaggedFillEmptyRowsOutputs {
  Output output_value_rowids;
  Output output_values;
  Output empty_row_indicator;
  Output reverse_index_map;
  Operation operation;
};
// Adds a node of the op RaggedFillEmptyRows. It has a gradient.
// Inputs: value_rowids (int64), values (T), nrows (int64), default_value (T).
// Outputs: output_value_rowids (int64), output_values (T), empty_row_indicator (bool), reverse_index_map (int64).
// T: any.
inline RaggedFillEmptyRowsOutputs RaggedFillEmptyRows(const Operand& value_rowids, const Operand& values,
    const Operand& nrows, const Operand& default_value, const std::string& name = "") {
  auto results = internal::Call("RaggedFillEmptyRows", name, {value_rowids, values, nrows, default_value}).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.operation()};
}

struct RaggedFillEmptyRowsGradOutputs {
  Output d_values;
  Output d_default_value;
  Operation operation;
};
// Adds a node of the op RaggedFillEmptyRowsGrad.
// Inputs: reverse_index_map (int64), grad_values (T).
// Outputs: d_values (T), d_default_value (T).
// T: numbers bool.
inline RaggedFillEmptyRowsGradOutputs RaggedFillEmptyRowsGrad(const Operand& reverse_index_map,
    const Operand& grad_values, const std::string& name = "") {
  auto results = internal::Call("RaggedFillEmptyRowsGrad", name, {reverse_index_map, grad_values}).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct RaggedGatherOutputs {
  std::vector<Output> output_nested_splits;
  Output output_dense_values;
  Operation operation;
};
// Adds a node of the op RaggedGather. It has a gradient.
// Inputs: params_nested_splits (a list of PARAMS_RAGGED_RANK tensors of type Tsplits), params_dense_values (Tvalues),
//   indices (Tindices).
// Attributes: output_ragged_rank (attribute OUTPUT_RAGGED_RANK, int, at least 0).
// Outputs: output_nested_splits (a list of OUTPUT_RAGGED_RANK tensors of type Tsplits), output_dense_values (Tvalues).
// Tvalues: any; Tindices: int32 int64; Tsplits: int32 int64.
inline RaggedGatherOutputs RaggedGather(const std::vector<Output>& params_nested_splits,
    const Operand& params_dense_values, const Operand& indices, int64_t output_ragged_rank,
    const std::string& name = "") {
  auto results = internal::Call("RaggedGather", name, {params_nested_splits, params_dense_values, indices})
      .Attr("OUTPUT_RAGGED_RANK", output_ragged_rank).All();
  return {results.NextList(), results.Next(), results.operation()};
}

struct RaggedRangeOptions {
  DType tsplits = DType::kInt64;
  std::string name = {};
};
struct RaggedRangeOutputs {
  Output rt_nested_splits;
  Output rt_dense_values;
  Operation operation;
};
// Adds a node of the op RaggedRange.
// Inputs: starts (T), limits (T), deltas (T).
// Attributes: tsplits (attribute Tsplits, dtype: int32 int64; default int64).
// Outputs: rt_nested_splits (Tsplits), rt_dense_values (T).
// T: float32 float64 int32 int64.
inline RaggedRangeOutputs RaggedRange(const Operand& starts, const Operand& limits, const Operand& deltas,
    const RaggedRangeOptions& options = {}) {
  auto results = internal::Call("RaggedRange", options.name, {starts, limits, deltas}).Attr("Tsplits", options.tsplits)
      .All();
  return {results.Next(), results.Next(), results.operation()};
}

struct RaggedTensorFromVariantOptions {
  DType tsplits = DType::kInt64;
  std::string name = {};
};
struct RaggedTensorFromVariantOutputs {
  std::vector<Output> output_nested_splits;
  Output output_dense_values;
  Operation operation;
};
// Adds a node of the op RaggedTensorFromVariant. It has a gradient.
// Inputs: encoded_ragged (variant).
// Attributes: input_ragged_rank (int, at least -1), output_ragged_rank (int, at least 0), tvalues (attribute Tvalues,
//   dtype: any), tsplits (attribute Tsplits, dtype: int32 int64; default int64).
// Outputs: output_nested_splits (a list of output_ragged_rank tensors of type Tsplits), output_dense_values (Tvalues).
inline RaggedTensorFromVariantOutputs RaggedTensorFromVariant(const Output& encoded_ragged, int64_t input_ragged_rank,
    int64_t output_ragged_rank, DType tvalues, const RaggedTensorFromVariantOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("RaggedTensorFromVariant", options.name, {encoded_ragged}, loc)
      .Attr("input_ragged_rank", input_ragged_rank).Attr("output_ragged_rank", output_ragged_rank)
      .Attr("Tvalues", tvalues).Attr("Tsplits", options.tsplits).All();
  return {results.NextList(), results.Next(), results.operation()};
}

struct RaggedTensorToSparseOutputs {
  Output sparse_indices;
  Output sparse_values;
  Output sparse_dense_shape;
  Operation operation;
};
// Adds a node of the op RaggedTensorToSparse. It has a gradient.
// Inputs: rt_nested_splits (a list of RAGGED_RANK tensors of type Tsplits), rt_dense_values (T).
// Outputs: sparse_indices (int64), sparse_values (T), sparse_dense_shape (int64).
// T: any; Tsplits: int32 int64.
inline RaggedTensorToSparseOutputs RaggedTensorToSparse(const std::vector<Output>& rt_nested_splits,
    const Operand& rt_dense_values, const std::string& name = "") {
  auto results = internal::Call("RaggedTensorToSparse", name, {rt_nested_splits, rt_dense_values}).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op RaggedTensorToTensor. It has a gradient.
// Inputs: shape (Tshape), values (T), default_value (T), row_partition_tensors (a list of num_row_partition_tensors
//   tensors of type Tindex).
// Attributes: row_partition_types (list of strings).
// Output: result (T).
// T: any; Tindex: int32 int64; Tshape: int32 int64.
inline Output RaggedTensorToTensor(const Operand& shape, const Operand& values, const Operand& default_value,
    const std::vector<Output>& row_partition_tensors, const std::vector<std::string>& row_partition_types,
    const std::string& name = "") {
  return internal::Call("RaggedTensorToTensor", name, {shape, values, default_value, row_partition_tensors})
      .Attr("row_partition_types", row_partition_types).One();
}

// Adds a node of the op RaggedTensorToVariant. It has a gradient.
// Inputs: rt_nested_splits (a list of RAGGED_RANK tensors of type Tsplits), rt_dense_values (Tvalues).
// Attributes: batched_input (bool).
// Output: encoded_ragged (variant).
// Tvalues: any; Tsplits: int32 int64.
inline Output RaggedTensorToVariant(const std::vector<Output>& rt_nested_splits, const Operand& rt_dense_values,
    bool batched_input, const std::string& name = "") {
  return internal::Call("RaggedTensorToVariant", name, {rt_nested_splits, rt_dense_values})
      .Attr("batched_input", batched_input).One();
}

// Adds a node of the op RaggedTensorToVariantGradient.
// Inputs: encoded_ragged_grad (variant), row_splits (Tsplits), dense_values_shape (int32).
// Attributes: tvalues (attribute Tvalues, dtype: any).
// Output: dense_values_grad (Tvalues).
// Tsplits: int32 int64.
inline Output RaggedTensorToVariantGradient(const Output& encoded_ragged_grad, const Operand& row_splits,
    const Operand& dense_values_shape, DType tvalues, const std::string& name = "") {
  return internal::Call("RaggedTensorToVariantGradient", name, {encoded_ragged_grad, row_splits, dense_values_shape})
      .Attr("Tvalues", tvalues).One();
}

struct SerializeManySparseOptions {
  DType out_type = DType::kString;
  std::string name = {};
};
// Adds a node of the op SerializeManySparse.
// Inputs: sparse_indices (int64), sparse_values (T), sparse_shape (int64).
// Attributes: out_type (dtype: string variant; default string).
// Output: serialized_sparse (out_type).
// T: any.
inline Output SerializeManySparse(const Operand& sparse_indices, const Operand& sparse_values,
    const Operand& sparse_shape, const SerializeManySparseOptions& options = {}) {
  return internal::Call("SerializeManySparse", options.name, {sparse_indices, sparse_values, sparse_shape})
      .Attr("out_type", options.out_type).One();
}

struct SerializeSparseOptions {
  DType out_type = DType::kString;
  std::string name = {};
};
// Adds a node of the op SerializeSparse.
// Inputs: sparse_indices (int64), sparse_values (T), sparse_shape (int64).
// Attributes: out_type (dtype: string variant; default string).
// Output: serialized_sparse (out_type).
// T: any.
inline Output SerializeSparse(const Operand& sparse_indices, const Operand& sparse_values, const Operand& sparse_shape,
    const SerializeSparseOptions& options = {}) {
  return internal::Call("SerializeSparse", options.name, {sparse_indices, sparse_values, sparse_shape})
      .Attr("out_type", options.out_type).One();
}

struct SetSizeOptions {
  bool validate_indices = true;
  std::string name = {};
};
// Adds a node of the op SetSize.
// Inputs: set_indices (int64), set_values (T), set_shape (int64).
// Attributes: validate_indices (bool; default true).
// Output: size (int32).
// T: int32 uint8 int16 int8 string int64 uint16.
inline Output SetSize(const Operand& set_indices, const Operand& set_values, const Operand& set_shape,
    const SetSizeOptions& options = {}) {
  return internal::Call("SetSize", options.name, {set_indices, set_values, set_shape})
      .Attr("validate_indices", options.validate_indices).One();
}

struct SparseAddOutputs {
  Output sum_indices;
  Output sum_values;
  Output sum_shape;
  Operation operation;
};
// Adds a node of the op SparseAdd. It has a gradient.
// Inputs: a_indices (int64), a_values (T), a_shape (int64), b_indices (int64), b_values (T), b_shape (int64), thresh
//   (Treal).
// Outputs: sum_indices (int64), sum_values (T), sum_shape (int64).
// T: complex float32 float64 int32 uint8 int16 int8 int64 uint16; Treal: float32 float64 int32 uint8 int16 int8 int64
//   uint16.
inline SparseAddOutputs SparseAdd(const Operand& a_indices, const Operand& a_values, const Operand& a_shape,
    const Operand& b_indices, const Operand& b_values, const Operand& b_shape, const Operand& thresh,
    const std::string& name = "") {
  auto results = internal::Call("SparseAdd", name, {a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh})
      .All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct SparseAddGradOutputs {
  Output a_val_grad;
  Output b_val_grad;
  Operation operation;
};
// Adds a node of the op SparseAddGrad.
// Inputs: backprop_val_grad (T), a_indices (int64), b_indices (int64), sum_indices (int64).
// Outputs: a_val_grad (T), b_val_grad (T).
// T: numbers.
inline SparseAddGradOutputs SparseAddGrad(const Operand& backprop_val_grad, const Operand& a_indices,
    const Operand& b_indices, const Operand& sum_indices, const std::string& name = "") {
  auto results = internal::Call("SparseAddGrad", name, {backprop_val_grad, a_indices, b_indices, sum_indices}).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct SparseConcatOutputs {
  Output output_indices;
  Output output_values;
  Output output_shape;
  Operation operation;
};
// Adds a node of the op SparseConcat.
// Inputs: indices (a list of N tensors of type int64), values (a list of N tensors of type T), shapes (a list of N
//   tensors of type int64).
// Attributes: concat_dim (int).
// Outputs: output_indices (int64), output_values (T), output_shape (int64).
// T: any.
inline SparseConcatOutputs SparseConcat(const std::vector<Output>& indices, const std::vector<Output>& values,
    const std::vector<Output>& shapes, int64_t concat_dim, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("SparseConcat", name, {indices, values, shapes}, loc).Attr("concat_dim", concat_dim)
      .All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct SparseCrossOutputs {
  Output output_indices;
  Output output_values;
  Output output_shape;
  Operation operation;
};
// Adds a node of the op SparseCross.
// Inputs: indices (a list of N tensors of type int64), values (a list of tensors of the types sparse_types), shapes (a
//   list of N tensors of type int64), dense_inputs (a list of tensors of the types dense_types).
// Attributes: hashed_output (bool), num_buckets (int, at least 0), hash_key (int), out_type (dtype: string int64),
//   internal_type (dtype: string int64).
// Outputs: output_indices (int64), output_values (out_type), output_shape (int64).
// sparse_types: string int64; dense_types: string int64.
inline SparseCrossOutputs SparseCross(Graph& graph, const std::vector<Output>& indices,
    const std::vector<Output>& values, const std::vector<Output>& shapes, const std::vector<Output>& dense_inputs,
    bool hashed_output, int64_t num_buckets, int64_t hash_key, DType out_type, DType internal_type,
    const std::string& name = "", std::source_location loc = std::source_location::current()) {
  auto results = internal::Call(graph, "SparseCross", name, {indices, values, shapes, dense_inputs}, loc)
      .Attr("hashed_output", hashed_output).Attr("num_buckets", num_buckets).Attr("hash_key", hash_key)
      .Attr("out_type", out_type).Attr("internal_type", internal_type).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct SparseCrossHashedOutputs {
  Output output_indices;
  Output output_values;
  Output output_shape;
  Operation operation;
};
// Adds a node of the op SparseCrossHashed.
// Inputs: indices (a list of N tensors of type int64), values (a list of tensors of the types sparse_types), shapes (a
//   list of N tensors of type int64), dense_inputs (a list of tensors of the types dense_types), num_buckets (int64),
//   strong_hash (bool), salt (int64).
// Outputs: output_indices (int64), output_values (int64), output_shape (int64).
// sparse_types: string int64; dense_types: string int64.
inline SparseCrossHashedOutputs SparseCrossHashed(const std::vector<Output>& indices, const std::vector<Output>& values,
    const std::vector<Output>& shapes, const std::vector<Output>& dense_inputs, const Operand& num_buckets,
    const Operand& strong_hash, const Operand& salt, const std::string& name = "") {
  auto results = internal::Call("SparseCrossHashed", name, {indices, values, shapes, dense_inputs, num_buckets,
      strong_hash, salt}).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct SparseCrossV2Outputs {
  Output output_indices;
  Output output_values;
  Output output_shape;
  Operation operation;
};
// Adds a node of the op SparseCrossV2.
// Inputs: indices (a list of N tensors of type int64), values (a list of tensors of the types sparse_types), shapes (a
//   list of N tensors of type int64), dense_inputs (a list of tensors of the types dense_types), sep (string).
// Outputs: output_indices (int64), output_values (string), output_shape (int64).
// sparse_types: string int64; dense_types: string int64.
inline SparseCrossV2Outputs SparseCrossV2(const std::vector<Output>& indices, const std::vector<Output>& values,
    const std::vector<Output>& shapes, const std::vector<Output>& dense_inputs, const Operand& sep,
    const std::string& name = "") {
  auto results = internal::Call("SparseCrossV2", name, {indices, values, shapes, dense_inputs, sep}).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op SparseDenseCwiseAdd.
// Inputs: sp_indices (int64), sp_values (T), sp_shape (int64), dense (T).
// Output: output (T).
// T: numbers.
inline Output SparseDenseCwiseAdd(const Operand& sp_indices, const Operand& sp_values, const Operand& sp_shape,
    const Operand& dense, const std::string& name = "") {
  return internal::Call("SparseDenseCwiseAdd", name, {sp_indices, sp_values, sp_shape, dense}).One();
}

// Adds a node of the op SparseDenseCwiseDiv. It has a gradient.
// Inputs: sp_indices (int64), sp_values (T), sp_shape (int64), dense (T).
// Output: output (T).
// T: numbers.
inline Output SparseDenseCwiseDiv(const Operand& sp_indices, const Operand& sp_values, const Operand& sp_shape,
    const Operand& dense, const std::string& name = "") {
  return internal::Call("SparseDenseCwiseDiv", name, {sp_indices, sp_values, sp_shape, dense}).One();
}

// Adds a node of the op SparseDenseCwiseMul. It has a gradient.
// Inputs: sp_indices (int64), sp_values (T), sp_shape (int64), dense (T).
// Output: output (T).
// T: numbers.
inline Output SparseDenseCwiseMul(const Operand& sp_indices, const Operand& sp_values, const Operand& sp_shape,
    const Operand& dense, const std::string& name = "") {
  return internal::Call("SparseDenseCwiseMul", name, {sp_indices, sp_values, sp_shape, dense}).One();
}

struct SparseFillEmptyRowsOutputs {
  Output output_indices;
  Output output_values;
  Output empty_row_indicator;
  Output reverse_index_map;
  Operation operation;
};
// Adds a node of the op SparseFillEmptyRows. It has a gradient.
// Inputs: indices (int64), values (T), dense_shape (int64), default_value (T).
// Outputs: output_indices (int64), output_values (T), empty_row_indicator (bool), reverse_index_map (int64).
// T: any.
inline SparseFillEmptyRowsOutputs SparseFillEmptyRows(const Operand& indices, const Operand& values,
    const Operand& dense_shape, const Operand& default_value, const std::string& name = "") {
  auto results = internal::Call("SparseFillEmptyRows", name, {indices, values, dense_shape, default_value}).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.operation()};
}

struct SparseFillEmptyRowsGradOutputs {
  Output d_values;
  Output d_default_value;
  Operation operation;
};
// Adds a node of the op SparseFillEmptyRowsGrad.
// Inputs: reverse_index_map (int64), grad_values (T).
// Outputs: d_values (T), d_default_value (T).
// T: numbers bool.
inline SparseFillEmptyRowsGradOutputs SparseFillEmptyRowsGrad(const Operand& reverse_index_map,
    const Operand& grad_values, const std::string& name = "") {
  auto results = internal::Call("SparseFillEmptyRowsGrad", name, {reverse_index_map, grad_values}).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct SparseReduceMaxOptions {
  bool keep_dims = false;
  std::string name = {};
};
// Adds a node of the op SparseReduceMax.
// Inputs: input_indices (int64), input_values (T), input_shape (int64), reduction_axes (int32).
// Attributes: keep_dims (bool; default false).
// Output: output (T).
// T: reals.
inline Output SparseReduceMax(const Operand& input_indices, const Operand& input_values, const Operand& input_shape,
    const Operand& reduction_axes, const SparseReduceMaxOptions& options = {}) {
  return internal::Call("SparseReduceMax", options.name, {input_indices, input_values, input_shape, reduction_axes})
      .Attr("keep_dims", options.keep_dims).One();
}

struct SparseReduceMaxSparseOptions {
  bool keep_dims = false;
  std::string name = {};
};
struct SparseReduceMaxSparseOutputs {
  Output output_indices;
  Output output_values;
  Output output_shape;
  Operation operation;
};
// Adds a node of the op SparseReduceMaxSparse.
// Inputs: input_indices (int64), input_values (T), input_shape (int64), reduction_axes (int32).
// Attributes: keep_dims (bool; default false).
// Outputs: output_indices (int64), output_values (T), output_shape (int64).
// T: reals.
inline SparseReduceMaxSparseOutputs SparseReduceMaxSparse(const Operand& input_indices, const Operand& input_values,
    const Operand& input_shape, const Operand& reduction_axes, const SparseReduceMaxSparseOptions& options = {}) {
  auto results = internal::Call("SparseReduceMaxSparse", options.name, {input_indices, input_values, input_shape,
      reduction_axes}).Attr("keep_dims", options.keep_dims).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct SparseReduceSumOptions {
  bool keep_dims = false;
  std::string name = {};
};
// Adds a node of the op SparseReduceSum. It has a gradient.
// Inputs: input_indices (int64), input_values (T), input_shape (int64), reduction_axes (int32).
// Attributes: keep_dims (bool; default false).
// Output: output (T).
// T: numbers.
inline Output SparseReduceSum(const Operand& input_indices, const Operand& input_values, const Operand& input_shape,
    const Operand& reduction_axes, const SparseReduceSumOptions& options = {}) {
  return internal::Call("SparseReduceSum", options.name, {input_indices, input_values, input_shape, reduction_axes})
      .Attr("keep_dims", options.keep_dims).One();
}

struct SparseReduceSumSparseOptions {
  bool keep_dims = false;
  std::string name = {};
};
struct SparseReduceSumSparseOutputs {
  Output output_indices;
  Output output_values;
  Output output_shape;
  Operation operation;
};
// Adds a node of the op SparseReduceSumSparse.
// Inputs: input_indices (int64), input_values (T), input_shape (int64), reduction_axes (int32).
// Attributes: keep_dims (bool; default false).
// Outputs: output_indices (int64), output_values (T), output_shape (int64).
// T: numbers.
inline SparseReduceSumSparseOutputs SparseReduceSumSparse(const Operand& input_indices, const Operand& input_values,
    const Operand& input_shape, const Operand& reduction_axes, const SparseReduceSumSparseOptions& options = {}) {
  auto results = internal::Call("SparseReduceSumSparse", options.name, {input_indices, input_values, input_shape,
      reduction_axes}).Attr("keep_dims", options.keep_dims).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct SparseReorderOutputs {
  Output output_indices;
  Output output_values;
  Operation operation;
};
// Adds a node of the op SparseReorder. It has a gradient.
// Inputs: input_indices (int64), input_values (T), input_shape (int64).
// Outputs: output_indices (int64), output_values (T).
// T: any.
inline SparseReorderOutputs SparseReorder(const Operand& input_indices, const Operand& input_values,
    const Operand& input_shape, const std::string& name = "") {
  auto results = internal::Call("SparseReorder", name, {input_indices, input_values, input_shape}).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct SparseReshapeOutputs {
  Output output_indices;
  Output output_shape;
  Operation operation;
};
// Adds a node of the op SparseReshape.
// Inputs: input_indices (int64), input_shape (int64), new_shape (int64).
// Outputs: output_indices (int64), output_shape (int64).
inline SparseReshapeOutputs SparseReshape(const Operand& input_indices, const Operand& input_shape,
    const Operand& new_shape, const std::string& name = "") {
  auto results = internal::Call("SparseReshape", name, {input_indices, input_shape, new_shape}).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct SparseSegmentMeanOptions {
  bool sparse_gradient = false;
  std::string name = {};
};
// Adds a node of the op SparseSegmentMean. It has a gradient.
// Inputs: data (T), indices (Tidx), segment_ids (Tsegmentids).
// Attributes: sparse_gradient (bool; default false).
// Output: output (T).
// T: floats; Tidx: int32 int64; Tsegmentids: int32 int64.
inline Output SparseSegmentMean(const Operand& data, const Operand& indices, const Operand& segment_ids,
    const SparseSegmentMeanOptions& options = {}) {
  return internal::Call("SparseSegmentMean", options.name, {data, indices, segment_ids})
      .Attr("sparse_gradient", options.sparse_gradient).One();
}

// Adds a node of the op SparseSegmentMeanGrad.
// Inputs: grad (T), indices (Tidx), segment_ids (Tsegmentids), output_dim0 (int32).
// Output: output (T).
// T: floats; Tidx: int32 int64; Tsegmentids: int32 int64.
inline Output SparseSegmentMeanGrad(const Operand& grad, const Operand& indices, const Operand& segment_ids,
    const Operand& output_dim0, const std::string& name = "") {
  return internal::Call("SparseSegmentMeanGrad", name, {grad, indices, segment_ids, output_dim0}).One();
}

struct SparseSegmentMeanGradV2Outputs {
  Output output;
  Output sorted_unique_indices;
  Operation operation;
};
// Adds a node of the op SparseSegmentMeanGradV2.
// Inputs: grad (T), indices (Tidx), segment_ids (Tsegmentids), dense_output_dim0 (int32).
// Outputs: output (T), sorted_unique_indices (Tidx).
// T: floats; Tidx: int32 int64; Tsegmentids: int32 int64.
inline SparseSegmentMeanGradV2Outputs SparseSegmentMeanGradV2(const Operand& grad, const Operand& indices,
    const Operand& segment_ids, const Operand& dense_output_dim0, const std::string& name = "") {
  auto results = internal::Call("SparseSegmentMeanGradV2", name, {grad, indices, segment_ids, dense_output_dim0}).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct SparseSegmentMeanWithNumSegmentsOptions {
  bool sparse_gradient = false;
  std::string name = {};
};
// Adds a node of the op SparseSegmentMeanWithNumSegments. It has a gradient.
// Inputs: data (T), indices (Tidx), segment_ids (Tsegmentids), num_segments (Tnumsegments).
// Attributes: sparse_gradient (bool; default false).
// Output: output (T).
// T: floats; Tidx: int32 int64; Tnumsegments: int32 int64; Tsegmentids: int32 int64.
inline Output SparseSegmentMeanWithNumSegments(const Operand& data, const Operand& indices, const Operand& segment_ids,
    const Operand& num_segments, const SparseSegmentMeanWithNumSegmentsOptions& options = {}) {
  return internal::Call("SparseSegmentMeanWithNumSegments", options.name, {data, indices, segment_ids, num_segments})
      .Attr("sparse_gradient", options.sparse_gradient).One();
}

struct SparseSegmentSqrtNOptions {
  bool sparse_gradient = false;
  std::string name = {};
};
// Adds a node of the op SparseSegmentSqrtN. It has a gradient.
// Inputs: data (T), indices (Tidx), segment_ids (Tsegmentids).
// Attributes: sparse_gradient (bool; default false).
// Output: output (T).
// T: floats; Tidx: int32 int64; Tsegmentids: int32 int64.
inline Output SparseSegmentSqrtN(const Operand& data, const Operand& indices, const Operand& segment_ids,
    const SparseSegmentSqrtNOptions& options = {}) {
  return internal::Call("SparseSegmentSqrtN", options.name, {data, indices, segment_ids})
      .Attr("sparse_gradient", options.sparse_gradient).One();
}

// Adds a node of the op SparseSegmentSqrtNGrad.
// Inputs: grad (T), indices (Tidx), segment_ids (Tsegmentids), output_dim0 (int32).
// Output: output (T).
// T: floats; Tidx: int32 int64; Tsegmentids: int32 int64.
inline Output SparseSegmentSqrtNGrad(const Operand& grad, const Operand& indices, const Operand& segment_ids,
    const Operand& output_dim0, const std::string& name = "") {
  return internal::Call("SparseSegmentSqrtNGrad", name, {grad, indices, segment_ids, output_dim0}).One();
}

struct SparseSegmentSqrtNGradV2Outputs {
  Output output;
  Output sorted_unique_indices;
  Operation operation;
};
// Adds a node of the op SparseSegmentSqrtNGradV2.
// Inputs: grad (T), indices (Tidx), segment_ids (Tsegmentids), dense_output_dim0 (int32).
// Outputs: output (T), sorted_unique_indices (Tidx).
// T: floats; Tidx: int32 int64; Tsegmentids: int32 int64.
inline SparseSegmentSqrtNGradV2Outputs SparseSegmentSqrtNGradV2(const Operand& grad, const Operand& indices,
    const Operand& segment_ids, const Operand& dense_output_dim0, const std::string& name = "") {
  auto results = internal::Call("SparseSegmentSqrtNGradV2", name, {grad, indices, segment_ids, dense_output_dim0})
      .All();
  return {results.Next(), results.Next(), results.operation()};
}

struct SparseSegmentSqrtNWithNumSegmentsOptions {
  bool sparse_gradient = false;
  std::string name = {};
};
// Adds a node of the op SparseSegmentSqrtNWithNumSegments. It has a gradient.
// Inputs: data (T), indices (Tidx), segment_ids (Tsegmentids), num_segments (Tnumsegments).
// Attributes: sparse_gradient (bool; default false).
// Output: output (T).
// T: floats; Tidx: int32 int64; Tnumsegments: int32 int64; Tsegmentids: int32 int64.
inline Output SparseSegmentSqrtNWithNumSegments(const Operand& data, const Operand& indices, const Operand& segment_ids,
    const Operand& num_segments, const SparseSegmentSqrtNWithNumSegmentsOptions& options = {}) {
  return internal::Call("SparseSegmentSqrtNWithNumSegments", options.name, {data, indices, segment_ids, num_segments})
      .Attr("sparse_gradient", options.sparse_gradient).One();
}

struct SparseSegmentSumOptions {
  bool sparse_gradient = false;
  std::string name = {};
};
// Adds a node of the op SparseSegmentSum. It has a gradient.
// Inputs: data (T), indices (Tidx), segment_ids (Tsegmentids).
// Attributes: sparse_gradient (bool; default false).
// Output: output (T).
// T: reals; Tidx: int32 int64; Tsegmentids: int32 int64.
inline Output SparseSegmentSum(const Operand& data, const Operand& indices, const Operand& segment_ids,
    const SparseSegmentSumOptions& options = {}) {
  return internal::Call("SparseSegmentSum", options.name, {data, indices, segment_ids})
      .Attr("sparse_gradient", options.sparse_gradient).One();
}

// Adds a node of the op SparseSegmentSumGrad.
// Inputs: grad (T), indices (Tidx), segment_ids (Tsegmentids), output_dim0 (int32).
// Output: output (T).
// T: floats; Tidx: int32 int64; Tsegmentids: int32 int64.
inline Output SparseSegmentSumGrad(const Operand& grad, const Operand& indices, const Operand& segment_ids,
    const Operand& output_dim0, const std::string& name = "") {
  return internal::Call("SparseSegmentSumGrad", name, {grad, indices, segment_ids, output_dim0}).One();
}

struct SparseSegmentSumGradV2Outputs {
  Output output;
  Output sorted_unique_indices;
  Operation operation;
};
// Adds a node of the op SparseSegmentSumGradV2.
// Inputs: grad (T), indices (Tidx), segment_ids (Tsegmentids), dense_output_dim0 (int32).
// Outputs: output (T), sorted_unique_indices (Tidx).
// T: floats; Tidx: int32 int64; Tsegmentids: int32 int64.
inline SparseSegmentSumGradV2Outputs SparseSegmentSumGradV2(const Operand& grad, const Operand& indices,
    const Operand& segment_ids, const Operand& dense_output_dim0, const std::string& name = "") {
  auto results = internal::Call("SparseSegmentSumGradV2", name, {grad, indices, segment_ids, dense_output_dim0}).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct SparseSegmentSumWithNumSegmentsOptions {
  bool sparse_gradient = false;
  std::string name = {};
};
// Adds a node of the op SparseSegmentSumWithNumSegments. It has a gradient.
// Inputs: data (T), indices (Tidx), segment_ids (Tsegmentids), num_segments (Tnumsegments).
// Attributes: sparse_gradient (bool; default false).
// Output: output (T).
// T: reals; Tidx: int32 int64; Tnumsegments: int32 int64; Tsegmentids: int32 int64.
inline Output SparseSegmentSumWithNumSegments(const Operand& data, const Operand& indices, const Operand& segment_ids,
    const Operand& num_segments, const SparseSegmentSumWithNumSegmentsOptions& options = {}) {
  return internal::Call("SparseSegmentSumWithNumSegments", options.name, {data, indices, segment_ids, num_segments})
      .Attr("sparse_gradient", options.sparse_gradient).One();
}

struct SparseSliceOutputs {
  Output output_indices;
  Output output_values;
  Output output_shape;
  Operation operation;
};
// Adds a node of the op SparseSlice. It has a gradient.
// Inputs: indices (int64), values (T), shape (int64), start (int64), size (int64).
// Outputs: output_indices (int64), output_values (T), output_shape (int64).
// T: any.
inline SparseSliceOutputs SparseSlice(const Operand& indices, const Operand& values, const Operand& shape,
    const Operand& start, const Operand& size, const std::string& name = "") {
  auto results = internal::Call("SparseSlice", name, {indices, values, shape, start, size}).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op SparseSliceGrad.
// Inputs: backprop_val_grad (T), input_indices (int64), input_start (int64), output_indices (int64).
// Output: val_grad (T).
// T: numbers.
inline Output SparseSliceGrad(const Operand& backprop_val_grad, const Operand& input_indices,
    const Operand& input_start, const Operand& output_indices, const std::string& name = "") {
  return internal::Call("SparseSliceGrad", name, {backprop_val_grad, input_indices, input_start, output_indices}).One();
}

// Adds a node of the op SparseSoftmax. It has a gradient.
// Inputs: sp_indices (int64), sp_values (T), sp_shape (int64).
// Output: output (T).
// T: float32 float64 float16.
inline Output SparseSoftmax(const Operand& sp_indices, const Operand& sp_values, const Operand& sp_shape,
    const std::string& name = "") {
  return internal::Call("SparseSoftmax", name, {sp_indices, sp_values, sp_shape}).One();
}

struct SparseSparseMaximumOutputs {
  Output output_indices;
  Output output_values;
  Operation operation;
};
// Adds a node of the op SparseSparseMaximum.
// Inputs: a_indices (int64), a_values (T), a_shape (int64), b_indices (int64), b_values (T), b_shape (int64).
// Outputs: output_indices (int64), output_values (T).
// T: reals.
inline SparseSparseMaximumOutputs SparseSparseMaximum(const Operand& a_indices, const Operand& a_values,
    const Operand& a_shape, const Operand& b_indices, const Operand& b_values, const Operand& b_shape,
    const std::string& name = "") {
  auto results = internal::Call("SparseSparseMaximum", name, {a_indices, a_values, a_shape, b_indices, b_values,
      b_shape}).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct SparseSparseMinimumOutputs {
  Output output_indices;
  Output output_values;
  Operation operation;
};
// Adds a node of the op SparseSparseMinimum.
// Inputs: a_indices (int64), a_values (T), a_shape (int64), b_indices (int64), b_values (T), b_shape (int64).
// Outputs: output_indices (int64), output_values (T).
// T: numbers.
inline SparseSparseMinimumOutputs SparseSparseMinimum(const Operand& a_indices, const Operand& a_values,
    const Operand& a_shape, const Operand& b_indices, const Operand& b_values, const Operand& b_shape,
    const std::string& name = "") {
  auto results = internal::Call("SparseSparseMinimum", name, {a_indices, a_values, a_shape, b_indices, b_values,
      b_shape}).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct SparseSplitOutputs {
  std::vector<Output> output_indices;
  std::vector<Output> output_values;
  std::vector<Output> output_shape;
  Operation operation;
};
// Adds a node of the op SparseSplit.
// Inputs: split_dim (int64), indices (int64), values (T), shape (int64).
// Attributes: num_split (int, at least 1).
// Outputs: output_indices (a list of num_split tensors of type int64), output_values (a list of num_split tensors of
//   type T), output_shape (a list of num_split tensors of type int64).
// T: any.
inline SparseSplitOutputs SparseSplit(const Operand& split_dim, const Operand& indices, const Operand& values,
    const Operand& shape, int64_t num_split, const std::string& name = "") {
  auto results = internal::Call("SparseSplit", name, {split_dim, indices, values, shape}).Attr("num_split", num_split)
      .All();
  return {results.NextList(), results.NextList(), results.NextList(), results.operation()};
}

// Adds a node of the op SparseTensorDenseAdd. It has a gradient.
// Inputs: a_indices (Tindices), a_values (T), a_shape (Tindices), b (T).
// Output: output (T).
// T: numbers; Tindices: int32 int64.
inline Output SparseTensorDenseAdd(const Operand& a_indices, const Operand& a_values, const Operand& a_shape,
    const Operand& b, const std::string& name = "") {
  return internal::Call("SparseTensorDenseAdd", name, {a_indices, a_values, a_shape, b}).One();
}

struct SparseTensorDenseMatMulOptions {
  bool adjoint_a = false;
  bool adjoint_b = false;
  std::string name = {};
};
// Adds a node of the op SparseTensorDenseMatMul. It has a gradient.
// Inputs: a_indices (Tindices), a_values (T), a_shape (int64), b (T).
// Attributes: adjoint_a (bool; default false), adjoint_b (bool; default false).
// Output: product (T).
// T: floats complex int32; Tindices: int32 int64.
inline Output SparseTensorDenseMatMul(const Operand& a_indices, const Operand& a_values, const Operand& a_shape,
    const Operand& b, const SparseTensorDenseMatMulOptions& options = {}) {
  return internal::Call("SparseTensorDenseMatMul", options.name, {a_indices, a_values, a_shape, b})
      .Attr("adjoint_a", options.adjoint_a).Attr("adjoint_b", options.adjoint_b).One();
}

struct SparseToDenseOptions {
  bool validate_indices = true;
  std::string name = {};
};
// Adds a node of the op SparseToDense. It has a gradient.
// Inputs: sparse_indices (Tindices), output_shape (Tindices), sparse_values (T), default_value (T).
// Attributes: validate_indices (bool; default true).
// Output: dense (T).
// T: any; Tindices: int32 int64.
inline Output SparseToDense(const Operand& sparse_indices, const Operand& output_shape, const Operand& sparse_values,
    const Operand& default_value, const SparseToDenseOptions& options = {}) {
  return internal::Call("SparseToDense", options.name, {sparse_indices, output_shape, sparse_values, default_value})
      .Attr("validate_indices", options.validate_indices).One();
}

struct SparseToSparseSetOperationOptions {
  bool validate_indices = true;
  std::string name = {};
};
struct SparseToSparseSetOperationOutputs {
  Output result_indices;
  Output result_values;
  Output result_shape;
  Operation operation;
};
// Adds a node of the op SparseToSparseSetOperation.
// Inputs: set1_indices (int64), set1_values (T), set1_shape (int64), set2_indices (int64), set2_values (T), set2_shape
//   (int64).
// Attributes: set_operation (string), validate_indices (bool; default true).
// Outputs: result_indices (int64), result_values (T), result_shape (int64).
// T: int32 uint8 int16 int8 string int64 uint16.
inline SparseToSparseSetOperationOutputs SparseToSparseSetOperation(const Operand& set1_indices,
    const Operand& set1_values, const Operand& set1_shape, const Operand& set2_indices, const Operand& set2_values,
    const Operand& set2_shape, const std::string& set_operation,
    const SparseToSparseSetOperationOptions& options = {}) {
  auto results = internal::Call("SparseToSparseSetOperation", options.name, {set1_indices, set1_values, set1_shape,
      set2_indices, set2_values, set2_shape}).Attr("set_operation", set_operation)
      .Attr("validate_indices", options.validate_indices).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct TakeManySparseFromTensorsMapOptions {
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
struct TakeManySparseFromTensorsMapOutputs {
  Output sparse_indices;
  Output sparse_values;
  Output sparse_shape;
  Operation operation;
};
// Adds a node of the op TakeManySparseFromTensorsMap.
// Inputs: sparse_handles (int64).
// Attributes: dtype (dtype: any), container (string; default ""), shared_name (string; default "").
// Outputs: sparse_indices (int64), sparse_values (dtype), sparse_shape (int64).
inline TakeManySparseFromTensorsMapOutputs TakeManySparseFromTensorsMap(const Operand& sparse_handles, DType dtype,
    const TakeManySparseFromTensorsMapOptions& options = {}) {
  auto results = internal::Call("TakeManySparseFromTensorsMap", options.name, {sparse_handles}).Attr("dtype", dtype)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_SPARSE_H_
