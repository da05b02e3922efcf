// A function for each op of src/ops/embedding; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_EMBEDDING_H_
#define TENSORBRAID_RAW_OPS_EMBEDDING_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

struct KvResourceGatherOptions {
  bool is_inference = false;
  std::string name = {};
};
// Adds a node of the op KvResourceGather. It has a gradient.
// Inputs: resource (resource), indices (Tkeys), default_value (dtype).
// Attributes: is_inference (bool; default false).
// Output: output (dtype).
// dtype: float32; Tkeys: int32 int64.
inline Output KvResourceGather(const Output& resource, const Operand& indices, const Operand& default_value,
    const KvResourceGatherOptions& options = {}) {
  return internal::Call("KvResourceGather", options.name, {resource, indices, default_value})
      .Attr("is_inference", options.is_inference).One();
}

struct KvResourceSparseApplyAdagradOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op KvResourceSparseApplyAdagrad.
// Inputs: var (resource), accum (resource), lr (T), grad (T), indices (Tindices), global_step (Tstep).
// Attributes: use_locking (bool; default false).
// T: float32; Tindices: int32 int64; Tstep: int32 int64.
inline Operation KvResourceSparseApplyAdagrad(const Output& var, const Output& accum, const Operand& lr,
    const Operand& grad, const Operand& indices, const Operand& global_step,
    const KvResourceSparseApplyAdagradOptions& options = {}) {
  return internal::Call("KvResourceSparseApplyAdagrad", options.name, {var, accum, lr, grad, indices, global_step})
      .Attr("use_locking", options.use_locking).Finish();
}

struct KvResourceSparseApplyAdamAsyncOptions {
  bool use_locking = false;
  bool apply_sparse_rmsprop = false;
  std::string name = {};
};
// Adds a node of the op KvResourceSparseApplyAdamAsync.
// Inputs: var (resource), m (resource), v (resource), beta1_power (resource), beta2_power (resource), lr (T), beta1
//   (T), beta2 (T), epsilon (T), grad (T), indices (Tindices), global_step (Tstep).
// Attributes: use_locking (bool; default false), apply_sparse_rmsprop (bool; default false).
// T: float32; Tindices: int32 int64; Tstep: int32 int64.
inline Operation KvResourceSparseApplyAdamAsync(const Output& var, const Output& m, const Output& v,
    const Output& beta1_power, const Output& beta2_power, const Operand& lr, const Operand& beta1, const Operand& beta2,
    const Operand& epsilon, const Operand& grad, const Operand& indices, const Operand& global_step,
    const KvResourceSparseApplyAdamAsyncOptions& options = {}) {
  return internal::Call("KvResourceSparseApplyAdamAsync", options.name, {var, m, v, beta1_power, beta2_power, lr, beta1,
      beta2, epsilon, grad, indices, global_step}).Attr("use_locking", options.use_locking)
      .Attr("apply_sparse_rmsprop", options.apply_sparse_rmsprop).Finish();
}

struct KvResourceSparseApplyGradientDescentOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op KvResourceSparseApplyGradientDescent.
// Inputs: var (resource), alpha (T), grad (T), indices (Tindices), global_step (Tstep).
// Attributes: use_locking (bool; default false).
// T: float32; Tindices: int32 int64; Tstep: int32 int64.
inline Operation KvResourceSparseApplyGradientDescent(const Output& var, const Operand& alpha, const Operand& grad,
    const Operand& indices, const Operand& global_step,
    const KvResourceSparseApplyGradientDescentOptions& options = {}) {
  return internal::Call("KvResourceSparseApplyGradientDescent", options.name, {var, alpha, grad, indices, global_step})
      .Attr("use_locking", options.use_locking).Finish();
}

struct KvVarHandleOpOptions {
  std::string container = "";
  std::string shared_name = "";
  DType tkeys = DType::kInt64;
  std::string name = {};
};
// Adds a node of the op KvVarHandleOp.
// Attributes: dtype (dtype: float32), shape (shape), container (string; default ""), shared_name (string; default ""),
//   tkeys (attribute Tkeys, dtype: int32 int64; default int64).
// Output: resource (resource).
inline Output KvVarHandleOp(Graph& graph, DType dtype, const tensorbraid::Shape& shape,
    const KvVarHandleOpOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "KvVarHandleOp", options.name, {}, loc).Attr("dtype", dtype).Attr("shape", shape)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).Attr("Tkeys", options.tkeys).One();
}

struct KvVarIsInitializedOpOptions {
  DType tkeys = DType::kInt64;
  std::string name = {};
};
// Adds a node of the op KvVarIsInitializedOp.
// Inputs: resource (resource).
// Attributes: tkeys (attribute Tkeys, dtype: int32 string int64; default int64).
// Output: is_initialized (bool).
inline Output KvVarIsInitializedOp(const Output& resource, const KvVarIsInitializedOpOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("KvVarIsInitializedOp", options.name, {resource}, loc).Attr("Tkeys", options.tkeys).One();
}

struct KvVariableShapeOptions {
  DType out_type = DType::kInt32;
  DType tkeys = DType::kInt64;
  std::string name = {};
};
// Adds a node of the op KvVariableShape.
// Inputs: input (resource).
// Attributes: out_type (dtype: int32 int64; default int32), tkeys (attribute Tkeys, dtype: int32 string int64; default
//   int64).
// Output: output (out_type).
inline Output KvVariableShape(const Output& input, const KvVariableShapeOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("KvVariableShape", options.name, {input}, loc).Attr("out_type", options.out_type)
      .Attr("Tkeys", options.tkeys).One();
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_EMBEDDING_H_
