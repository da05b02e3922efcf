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

struct KvResourceGatherV1Options {
  bool is_inference = false;
  std::string name = {};
};
// Adds a node of the op KvResourceGatherV1. It has a gradient.
// Inputs: resource (resource), indices (Tkeys), default_value (dtype), counts (counts_type).
// Attributes: is_inference (bool; default false).
// Output: output (dtype).
// counts_type: int32 int64; dtype: float32; Tkeys: int32 int64.
inline Output KvResourceGatherV1(const Output& resource, const Operand& indices, const Operand& default_value,
    const Operand& counts, const KvResourceGatherV1Options& options = {}) {
  return internal::Call("KvResourceGatherV1", options.name, {resource, indices, default_value, counts})
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

struct KvResourceSparseApplyAdagradDecayOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op KvResourceSparseApplyAdagradDecay.
// Inputs: var (resource), accum (resource), accum_decay_power (resource), lr (T), accum_decay_step (Tstep),
//   accum_decay_rate (T), accum_baseline (T), global_step (Tstep), grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false).
// T: float32; Tindices: int32 int64; Tstep: int32 int64.
inline Operation KvResourceSparseApplyAdagradDecay(const Output& var, const Output& accum,
    const Output& accum_decay_power, const Operand& lr, const Operand& accum_decay_step,
    const Operand& accum_decay_rate, const Operand& accum_baseline, const Operand& global_step, const Operand& grad,
    const Operand& indices, const KvResourceSparseApplyAdagradDecayOptions& options = {}) {
  return internal::Call("KvResourceSparseApplyAdagradDecay", options.name, {var, accum, accum_decay_power, lr,
      accum_decay_step, accum_decay_rate, accum_baseline, global_step, grad, indices})
      .Attr("use_locking", options.use_locking).Finish();
}

struct KvResourceSparseApplyAdagradDecayWithCountsOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op KvResourceSparseApplyAdagradDecayWithCounts.
// Inputs: var (resource), accum (resource), accum_decay_power (resource), lr (T), accum_decay_step (Tstep),
//   accum_decay_rate (T), accum_baseline (T), global_step (Tstep), grad (T), indices (Tindices), indices_counts
//   (int64).
// Attributes: use_locking (bool; default false).
// T: float32; Tindices: int32 int64; Tstep: int32 int64.
inline Operation KvResourceSparseApplyAdagradDecayWithCounts(const Output& var, const Output& accum,
    const Output& accum_decay_power, const Operand& lr, const Operand& accum_decay_step,
    const Operand& accum_decay_rate, const Operand& accum_baseline, const Operand& global_step, const Operand& grad,
    const Operand& indices, const Operand& indices_counts,
    const KvResourceSparseApplyAdagradDecayWithCountsOptions& options = {}) {
  return internal::Call("KvResourceSparseApplyAdagradDecayWithCounts", options.name, {var, accum, accum_decay_power, lr,
      accum_decay_step, accum_decay_rate, accum_baseline, global_step, grad, indices, indices_counts})
      .Attr("use_locking", options.use_locking).Finish();
}

struct KvResourceSparseApplyAdagradWithCountsOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op KvResourceSparseApplyAdagradWithCounts.
// Inputs: var (resource), accum (resource), lr (T), grad (T), indices (Tindices), global_step (Tstep), indices_counts
//   (int64).
// Attributes: use_locking (bool; default false).
// T: float32; Tindices: int32 int64; Tstep: int32 int64.
inline Operation KvResourceSparseApplyAdagradWithCounts(const Output& var, const Output& accum, const Operand& lr,
    const Operand& grad, const Operand& indices, const Operand& global_step, const Operand& indices_counts,
    const KvResourceSparseApplyAdagradWithCountsOptions& options = {}) {
  return internal::Call("KvResourceSparseApplyAdagradWithCounts", options.name, {var, accum, lr, grad, indices,
      global_step, indices_counts}).Attr("use_locking", options.use_locking).Finish();
}

struct KvResourceSparseApplyAdamOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op KvResourceSparseApplyAdam.
// Inputs: var (resource), m (resource), v (resource), beta1_power (T), beta2_power (T), lr (T), beta1 (T), beta2 (T),
//   epsilon (T), grad (T), indices (Tindices), global_step (Tstep).
// Attributes: use_locking (bool; default false).
// T: float32; Tindices: int32 int64; Tstep: int32 int64.
inline Operation KvResourceSparseApplyAdam(const Output& var, const Output& m, const Output& v,
    const Operand& beta1_power, const Operand& beta2_power, const Operand& lr, const Operand& beta1,
    const Operand& beta2, const Operand& epsilon, const Operand& grad, const Operand& indices,
    const Operand& global_step, const KvResourceSparseApplyAdamOptions& options = {}) {
  return internal::Call("KvResourceSparseApplyAdam", options.name, {var, m, v, beta1_power, beta2_power, lr, beta1,
      beta2, epsilon, grad, indices, global_step}).Attr("use_locking", options.use_locking).Finish();
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

struct KvResourceSparseApplyAdamAsyncWithCountsOptions {
  bool use_locking = false;
  bool apply_sparse_rmsprop = false;
  std::string name = {};
};
// Adds a node of the op KvResourceSparseApplyAdamAsyncWithCounts.
// Inputs: var (resource), m (resource), v (resource), beta1_power (resource), beta2_power (resource), lr (T), beta1
//   (T), beta2 (T), epsilon (T), grad (T), indices (Tindices), global_step (Tstep), indices_counts (int64).
// Attributes: use_locking (bool; default false), apply_sparse_rmsprop (bool; default false).
// T: float32; Tindices: int32 int64; Tstep: int32 int64.
inline Operation KvResourceSparseApplyAdamAsyncWithCounts(const Output& var, const Output& m, const Output& v,
    const Output& beta1_power, const Output& beta2_power, const Operand& lr, const Operand& beta1, const Operand& beta2,
    const Operand& epsilon, const Operand& grad, const Operand& indices, const Operand& global_step,
    const Operand& indices_counts, const KvResourceSparseApplyAdamAsyncWithCountsOptions& options = {}) {
  return internal::Call("KvResourceSparseApplyAdamAsyncWithCounts", options.name, {var, m, v, beta1_power, beta2_power,
      lr, beta1, beta2, epsilon, grad, indices, global_step, indices_counts}).Attr("use_locking", options.use_locking)
      .Attr("apply_sparse_rmsprop", options.apply_sparse_rmsprop).Finish();
}

struct KvResourceSparseApplyAdamWOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op KvResourceSparseApplyAdamW.
// Inputs: var (resource), m (resource), v (resource), beta1_power (T), beta2_power (T), lr (T), beta1 (T), beta2 (T),
//   epsilon (T), grad (T), indices (Tindices), global_step (Tstep), weight_decay (T).
// Attributes: use_locking (bool; default false).
// T: float32; Tindices: int32 int64; Tstep: int32 int64.
inline Operation KvResourceSparseApplyAdamW(const Output& var, const Output& m, const Output& v,
    const Operand& beta1_power, const Operand& beta2_power, const Operand& lr, const Operand& beta1,
    const Operand& beta2, const Operand& epsilon, const Operand& grad, const Operand& indices,
    const Operand& global_step, const Operand& weight_decay, const KvResourceSparseApplyAdamWOptions& options = {}) {
  return internal::Call("KvResourceSparseApplyAdamW", options.name, {var, m, v, beta1_power, beta2_power, lr, beta1,
      beta2, epsilon, grad, indices, global_step, weight_decay}).Attr("use_locking", options.use_locking).Finish();
}

struct KvResourceSparseApplyAdamWWithCountsOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op KvResourceSparseApplyAdamWWithCounts.
// Inputs: var (resource), m (resource), v (resource), beta1_power (T), beta2_power (T), lr (T), beta1 (T), beta2 (T),
//   epsilon (T), grad (T), indices (Tindices), global_step (Tstep), weight_decay (T), indices_counts (int64).
// Attributes: use_locking (bool; default false).
// T: float32; Tindices: int32 int64; Tstep: int32 int64.
inline Operation KvResourceSparseApplyAdamWWithCounts(const Output& var, const Output& m, const Output& v,
    const Operand& beta1_power, const Operand& beta2_power, const Operand& lr, const Operand& beta1,
    const Operand& beta2, const Operand& epsilon, const Operand& grad, const Operand& indices,
    const Operand& global_step, const Operand& weight_decay, const Operand& indices_counts,
    const KvResourceSparseApplyAdamWWithCountsOptions& options = {}) {
  return internal::Call("KvResourceSparseApplyAdamWWithCounts", options.name, {var, m, v, beta1_power, beta2_power, lr,
      beta1, beta2, epsilon, grad, indices, global_step, weight_decay, indices_counts})
      .Attr("use_locking", options.use_locking).Finish();
}

struct KvResourceSparseApplyAdamWithCountsOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op KvResourceSparseApplyAdamWithCounts.
// Inputs: var (resource), m (resource), v (resource), beta1_power (T), beta2_power (T), lr (T), beta1 (T), beta2 (T),
//   epsilon (T), grad (T), indices (Tindices), global_step (Tstep), indices_counts (int64).
// Attributes: use_locking (bool; default false).
// T: float32; Tindices: int32 int64; Tstep: int32 int64.
inline Operation KvResourceSparseApplyAdamWithCounts(const Output& var, const Output& m, const Output& v,
    const Operand& beta1_power, const Operand& beta2_power, const Operand& lr, const Operand& beta1,
    const Operand& beta2, const Operand& epsilon, const Operand& grad, const Operand& indices,
    const Operand& global_step, const Operand& indices_counts,
    const KvResourceSparseApplyAdamWithCountsOptions& options = {}) {
  return internal::Call("KvResourceSparseApplyAdamWithCounts", options.name, {var, m, v, beta1_power, beta2_power, lr,
      beta1, beta2, epsilon, grad, indices, global_step, indices_counts}).Attr("use_locking", options.use_locking)
      .Finish();
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

struct KvResourceSparseApplyGradientDescentWithCountsOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op KvResourceSparseApplyGradientDescentWithCounts.
// Inputs: var (resource), alpha (T), grad (T), indices (Tindices), global_step (Tstep), counts (int64).
// Attributes: use_locking (bool; default false).
// T: float32; Tindices: int32 int64; Tstep: int32 int64.
inline Operation KvResourceSparseApplyGradientDescentWithCounts(const Output& var, const Operand& alpha,
    const Operand& grad, const Operand& indices, const Operand& global_step, const Operand& counts,
    const KvResourceSparseApplyGradientDescentWithCountsOptions& options = {}) {
  return internal::Call("KvResourceSparseApplyGradientDescentWithCounts", options.name, {var, alpha, grad, indices,
      global_step, counts}).Attr("use_locking", options.use_locking).Finish();
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
