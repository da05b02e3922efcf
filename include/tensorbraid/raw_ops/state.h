// A function for each op of src/ops/state; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_STATE_H_
#define TENSORBRAID_RAW_OPS_STATE_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

struct AssignOptions {
  bool validate_shape = true;
  bool use_locking = true;
  std::string name = {};
};
// Adds a node of the op Assign.
// Inputs: ref (a reference to T), value (T).
// Attributes: validate_shape (bool; default true), use_locking (bool; default true).
// Output: output_ref (a reference to T).
// T: any.
inline Output Assign(const Output& ref, const Operand& value, const AssignOptions& options = {}) {
  return internal::Call("Assign", options.name, {ref, value}).Attr("validate_shape", options.validate_shape)
      .Attr("use_locking", options.use_locking).One();
}

struct AssignAddOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op AssignAdd.
// Inputs: ref (a reference to T), value (T).
// Attributes: use_locking (bool; default false).
// Output: output_ref (a reference to T).
// T: numbers.
inline Output AssignAdd(const Output& ref, const Operand& value, const AssignAddOptions& options = {}) {
  return internal::Call("AssignAdd", options.name, {ref, value}).Attr("use_locking", options.use_locking).One();
}

// Adds a node of the op AssignAddVariableOp.
// Inputs: resource (resource), value (dtype).
// dtype: numbers.
inline Operation AssignAddVariableOp(const Output& resource, const Operand& value, const std::string& name = "") {
  return internal::Call("AssignAddVariableOp", name, {resource, value}).Finish();
}

struct AssignSubOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op AssignSub.
// Inputs: ref (a reference to T), value (T).
// Attributes: use_locking (bool; default false).
// Output: output_ref (a reference to T).
// T: numbers.
inline Output AssignSub(const Output& ref, const Operand& value, const AssignSubOptions& options = {}) {
  return internal::Call("AssignSub", options.name, {ref, value}).Attr("use_locking", options.use_locking).One();
}

// Adds a node of the op AssignSubVariableOp.
// Inputs: resource (resource), value (dtype).
// dtype: numbers.
inline Operation AssignSubVariableOp(const Output& resource, const Operand& value, const std::string& name = "") {
  return internal::Call("AssignSubVariableOp", name, {resource, value}).Finish();
}

struct AssignVariableOpOptions {
  bool validate_shape = false;
  std::string name = {};
};
// Adds a node of the op AssignVariableOp.
// Inputs: resource (resource), value (dtype).
// Attributes: validate_shape (bool; default false).
// dtype: any.
inline Operation AssignVariableOp(const Output& resource, const Operand& value,
    const AssignVariableOpOptions& options = {}) {
  return internal::Call("AssignVariableOp", options.name, {resource, value})
      .Attr("validate_shape", options.validate_shape).Finish();
}

// Adds a node of the op CountUpTo.
// Inputs: ref (a reference to T).
// Attributes: limit (int).
// Output: output (T).
// T: int32 int64.
inline Output CountUpTo(const Output& ref, int64_t limit, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("CountUpTo", name, {ref}, loc).Attr("limit", limit).One();
}

struct DestroyResourceOpOptions {
  bool ignore_lookup_error = true;
  std::string name = {};
};
// Adds a node of the op DestroyResourceOp.
// Inputs: resource (resource).
// Attributes: ignore_lookup_error (bool; default true).
inline Operation DestroyResourceOp(const Output& resource, const DestroyResourceOpOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("DestroyResourceOp", options.name, {resource}, loc)
      .Attr("ignore_lookup_error", options.ignore_lookup_error).Finish();
}

// Adds a node of the op DestroyTemporaryVariable.
// Inputs: ref (a reference to T).
// Attributes: var_name (string).
// Output: value (T).
// T: any.
inline Output DestroyTemporaryVariable(const Output& ref, const std::string& var_name, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("DestroyTemporaryVariable", name, {ref}, loc).Attr("var_name", var_name).One();
}

// Adds a node of the op DisableCopyOnRead.
// Inputs: resource (resource).
inline Operation DisableCopyOnRead(const Output& resource, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("DisableCopyOnRead", name, {resource}, loc).Finish();
}

// Adds a node of the op IsVariableInitialized.
// Inputs: ref (a reference to dtype).
// Output: is_initialized (bool).
// dtype: any.
inline Output IsVariableInitialized(const Output& ref, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("IsVariableInitialized", name, {ref}, loc).One();
}

// Adds a node of the op ReadVariableOp. It has a gradient.
// Inputs: resource (resource).
// Attributes: dtype (dtype: any).
// Output: value (dtype).
inline Output ReadVariableOp(const Output& resource, DType dtype, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ReadVariableOp", name, {resource}, loc).Attr("dtype", dtype).One();
}

// Adds a node of the op ResourceCountUpTo.
// Inputs: resource (resource).
// Attributes: limit (int), t (attribute T, dtype: int32 int64).
// Output: output (T).
inline Output ResourceCountUpTo(const Output& resource, int64_t limit, DType t, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("ResourceCountUpTo", name, {resource}, loc).Attr("limit", limit).Attr("T", t).One();
}

// Adds a node of the op ResourceScatterAdd.
// Inputs: resource (resource), indices (Tindices), updates (dtype).
// dtype: numbers; Tindices: int32 int64.
inline Operation ResourceScatterAdd(const Output& resource, const Operand& indices, const Operand& updates,
    const std::string& name = "") {
  return internal::Call("ResourceScatterAdd", name, {resource, indices, updates}).Finish();
}

// Adds a node of the op ResourceScatterDiv.
// Inputs: resource (resource), indices (Tindices), updates (dtype).
// dtype: numbers; Tindices: int32 int64.
inline Operation ResourceScatterDiv(const Output& resource, const Operand& indices, const Operand& updates,
    const std::string& name = "") {
  return internal::Call("ResourceScatterDiv", name, {resource, indices, updates}).Finish();
}

// Adds a node of the op ResourceScatterMax.
// Inputs: resource (resource), indices (Tindices), updates (dtype).
// dtype: reals; Tindices: int32 int64.
inline Operation ResourceScatterMax(const Output& resource, const Operand& indices, const Operand& updates,
    const std::string& name = "") {
  return internal::Call("ResourceScatterMax", name, {resource, indices, updates}).Finish();
}

// Adds a node of the op ResourceScatterMin.
// Inputs: resource (resource), indices (Tindices), updates (dtype).
// dtype: reals; Tindices: int32 int64.
inline Operation ResourceScatterMin(const Output& resource, const Operand& indices, const Operand& updates,
    const std::string& name = "") {
  return internal::Call("ResourceScatterMin", name, {resource, indices, updates}).Finish();
}

// Adds a node of the op ResourceScatterMul.
// Inputs: resource (resource), indices (Tindices), updates (dtype).
// dtype: numbers; Tindices: int32 int64.
inline Operation ResourceScatterMul(const Output& resource, const Operand& indices, const Operand& updates,
    const std::string& name = "") {
  return internal::Call("ResourceScatterMul", name, {resource, indices, updates}).Finish();
}

struct ResourceScatterNdAddOptions {
  bool use_locking = true;
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op ResourceScatterNdAdd.
// Inputs: ref (resource), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default true), bad_indices_policy (string; default "").
// T: numbers bool; Tindices: int32 int64.
inline Operation ResourceScatterNdAdd(const Output& ref, const Operand& indices, const Operand& updates,
    const ResourceScatterNdAddOptions& options = {}) {
  return internal::Call("ResourceScatterNdAdd", options.name, {ref, indices, updates})
      .Attr("use_locking", options.use_locking).Attr("bad_indices_policy", options.bad_indices_policy).Finish();
}

struct ResourceScatterNdMaxOptions {
  bool use_locking = true;
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op ResourceScatterNdMax.
// Inputs: ref (resource), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default true), bad_indices_policy (string; default "").
// T: reals; Tindices: int32 int64.
inline Operation ResourceScatterNdMax(const Output& ref, const Operand& indices, const Operand& updates,
    const ResourceScatterNdMaxOptions& options = {}) {
  return internal::Call("ResourceScatterNdMax", options.name, {ref, indices, updates})
      .Attr("use_locking", options.use_locking).Attr("bad_indices_policy", options.bad_indices_policy).Finish();
}

struct ResourceScatterNdMinOptions {
  bool use_locking = true;
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op ResourceScatterNdMin.
// Inputs: ref (resource), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default true), bad_indices_policy (string; default "").
// T: reals; Tindices: int32 int64.
inline Operation ResourceScatterNdMin(const Output& ref, const Operand& indices, const Operand& updates,
    const ResourceScatterNdMinOptions& options = {}) {
  return internal::Call("ResourceScatterNdMin", options.name, {ref, indices, updates})
      .Attr("use_locking", options.use_locking).Attr("bad_indices_policy", options.bad_indices_policy).Finish();
}

struct ResourceScatterNdSubOptions {
  bool use_locking = true;
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op ResourceScatterNdSub.
// Inputs: ref (resource), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default true), bad_indices_policy (string; default "").
// T: numbers bool; Tindices: int32 int64.
inline Operation ResourceScatterNdSub(const Output& ref, const Operand& indices, const Operand& updates,
    const ResourceScatterNdSubOptions& options = {}) {
  return internal::Call("ResourceScatterNdSub", options.name, {ref, indices, updates})
      .Attr("use_locking", options.use_locking).Attr("bad_indices_policy", options.bad_indices_policy).Finish();
}

struct ResourceScatterNdUpdateOptions {
  bool use_locking = true;
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op ResourceScatterNdUpdate.
// Inputs: ref (resource), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default true), bad_indices_policy (string; default "").
// T: any; Tindices: int32 int64.
inline Operation ResourceScatterNdUpdate(const Output& ref, const Operand& indices, const Operand& updates,
    const ResourceScatterNdUpdateOptions& options = {}) {
  return internal::Call("ResourceScatterNdUpdate", options.name, {ref, indices, updates})
      .Attr("use_locking", options.use_locking).Attr("bad_indices_policy", options.bad_indices_policy).Finish();
}

// Adds a node of the op ResourceScatterSub.
// Inputs: resource (resource), indices (Tindices), updates (dtype).
// dtype: numbers; Tindices: int32 int64.
inline Operation ResourceScatterSub(const Output& resource, const Operand& indices, const Operand& updates,
    const std::string& name = "") {
  return internal::Call("ResourceScatterSub", name, {resource, indices, updates}).Finish();
}

// Adds a node of the op ResourceScatterUpdate.
// Inputs: resource (resource), indices (Tindices), updates (dtype).
// dtype: any; Tindices: int32 int64.
inline Operation ResourceScatterUpdate(const Output& resource, const Operand& indices, const Operand& updates,
    const std::string& name = "") {
  return internal::Call("ResourceScatterUpdate", name, {resource, indices, updates}).Finish();
}

struct ResourceStridedSliceAssignOptions {
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
  std::string name = {};
};
// Adds a node of the op ResourceStridedSliceAssign.
// Inputs: ref (resource), begin (Index), end (Index), strides (Index), value (T).
// Attributes: begin_mask (int; default 0), end_mask (int; default 0), ellipsis_mask (int; default 0), new_axis_mask
//   (int; default 0), shrink_axis_mask (int; default 0).
// T: any; Index: int32 int64.
inline Operation ResourceStridedSliceAssign(const Output& ref, const Operand& begin, const Operand& end,
    const Operand& strides, const Operand& value, const ResourceStridedSliceAssignOptions& options = {}) {
  return internal::Call("ResourceStridedSliceAssign", options.name, {ref, begin, end, strides, value})
      .Attr("begin_mask", options.begin_mask).Attr("end_mask", options.end_mask)
      .Attr("ellipsis_mask", options.ellipsis_mask).Attr("new_axis_mask", options.new_axis_mask)
      .Attr("shrink_axis_mask", options.shrink_axis_mask).Finish();
}

struct ScatterAddOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ScatterAdd.
// Inputs: ref (a reference to T), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default false).
// Output: output_ref (a reference to T).
// T: numbers; Tindices: int32 int64.
inline Output ScatterAdd(const Output& ref, const Operand& indices, const Operand& updates,
    const ScatterAddOptions& options = {}) {
  return internal::Call("ScatterAdd", options.name, {ref, indices, updates}).Attr("use_locking", options.use_locking)
      .One();
}

struct ScatterDivOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ScatterDiv.
// Inputs: ref (a reference to T), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default false).
// Output: output_ref (a reference to T).
// T: numbers; Tindices: int32 int64.
inline Output ScatterDiv(const Output& ref, const Operand& indices, const Operand& updates,
    const ScatterDivOptions& options = {}) {
  return internal::Call("ScatterDiv", options.name, {ref, indices, updates}).Attr("use_locking", options.use_locking)
      .One();
}

struct ScatterMaxOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ScatterMax.
// Inputs: ref (a reference to T), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default false).
// Output: output_ref (a reference to T).
// T: reals; Tindices: int32 int64.
inline Output ScatterMax(const Output& ref, const Operand& indices, const Operand& updates,
    const ScatterMaxOptions& options = {}) {
  return internal::Call("ScatterMax", options.name, {ref, indices, updates}).Attr("use_locking", options.use_locking)
      .One();
}

struct ScatterMinOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ScatterMin.
// Inputs: ref (a reference to T), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default false).
// Output: output_ref (a reference to T).
// T: reals; Tindices: int32 int64.
inline Output ScatterMin(const Output& ref, const Operand& indices, const Operand& updates,
    const ScatterMinOptions& options = {}) {
  return internal::Call("ScatterMin", options.name, {ref, indices, updates}).Attr("use_locking", options.use_locking)
      .One();
}

struct ScatterMulOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ScatterMul.
// Inputs: ref (a reference to T), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default false).
// Output: output_ref (a reference to T).
// T: numbers; Tindices: int32 int64.
inline Output ScatterMul(const Output& ref, const Operand& indices, const Operand& updates,
    const ScatterMulOptions& options = {}) {
  return internal::Call("ScatterMul", options.name, {ref, indices, updates}).Attr("use_locking", options.use_locking)
      .One();
}

struct ScatterNdAddOptions {
  bool use_locking = false;
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op ScatterNdAdd.
// Inputs: ref (a reference to T), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default false), bad_indices_policy (string; default "").
// Output: output_ref (a reference to T).
// T: numbers bool; Tindices: int32 int64.
inline Output ScatterNdAdd(const Output& ref, const Operand& indices, const Operand& updates,
    const ScatterNdAddOptions& options = {}) {
  return internal::Call("ScatterNdAdd", options.name, {ref, indices, updates}).Attr("use_locking", options.use_locking)
      .Attr("bad_indices_policy", options.bad_indices_policy).One();
}

struct ScatterNdMaxOptions {
  bool use_locking = false;
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op ScatterNdMax.
// Inputs: ref (a reference to T), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default false), bad_indices_policy (string; default "").
// Output: output_ref (a reference to T).
// T: reals; Tindices: int32 int64.
inline Output ScatterNdMax(const Output& ref, const Operand& indices, const Operand& updates,
    const ScatterNdMaxOptions& options = {}) {
  return internal::Call("ScatterNdMax", options.name, {ref, indices, updates}).Attr("use_locking", options.use_locking)
      .Attr("bad_indices_policy", options.bad_indices_policy).One();
}

struct ScatterNdMinOptions {
  bool use_locking = false;
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op ScatterNdMin.
// Inputs: ref (a reference to T), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default false), bad_indices_policy (string; default "").
// Output: output_ref (a reference to T).
// T: reals; Tindices: int32 int64.
inline Output ScatterNdMin(const Output& ref, const Operand& indices, const Operand& updates,
    const ScatterNdMinOptions& options = {}) {
  return internal::Call("ScatterNdMin", options.name, {ref, indices, updates}).Attr("use_locking", options.use_locking)
      .Attr("bad_indices_policy", options.bad_indices_policy).One();
}

struct ScatterNdSubOptions {
  bool use_locking = false;
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op ScatterNdSub.
// Inputs: ref (a reference to T), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default false), bad_indices_policy (string; default "").
// Output: output_ref (a reference to T).
// T: numbers bool; Tindices: int32 int64.
inline Output ScatterNdSub(const Output& ref, const Operand& indices, const Operand& updates,
    const ScatterNdSubOptions& options = {}) {
  return internal::Call("ScatterNdSub", options.name, {ref, indices, updates}).Attr("use_locking", options.use_locking)
      .Attr("bad_indices_policy", options.bad_indices_policy).One();
}

struct ScatterNdUpdateOptions {
  bool use_locking = true;
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op ScatterNdUpdate.
// Inputs: ref (a reference to T), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default true), bad_indices_policy (string; default "").
// Output: output_ref (a reference to T).
// T: any; Tindices: int32 int64.
inline Output ScatterNdUpdate(const Output& ref, const Operand& indices, const Operand& updates,
    const ScatterNdUpdateOptions& options = {}) {
  return internal::Call("ScatterNdUpdate", options.name, {ref, indices, updates})
      .Attr("use_locking", options.use_locking).Attr("bad_indices_policy", options.bad_indices_policy).One();
}

struct ScatterSubOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ScatterSub.
// Inputs: ref (a reference to T), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default false).
// Output: output_ref (a reference to T).
// T: numbers; Tindices: int32 int64.
inline Output ScatterSub(const Output& ref, const Operand& indices, const Operand& updates,
    const ScatterSubOptions& options = {}) {
  return internal::Call("ScatterSub", options.name, {ref, indices, updates}).Attr("use_locking", options.use_locking)
      .One();
}

struct ScatterUpdateOptions {
  bool use_locking = true;
  std::string name = {};
};
// Adds a node of the op ScatterUpdate.
// Inputs: ref (a reference to T), indices (Tindices), updates (T).
// Attributes: use_locking (bool; default true).
// Output: output_ref (a reference to T).
// T: any; Tindices: int32 int64.
inline Output ScatterUpdate(const Output& ref, const Operand& indices, const Operand& updates,
    const ScatterUpdateOptions& options = {}) {
  return internal::Call("ScatterUpdate", options.name, {ref, indices, updates}).Attr("use_locking", options.use_locking)
      .One();
}

struct StridedSliceAssignOptions {
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
  std::string name = {};
};
// Adds a node of the op StridedSliceAssign.
// Inputs: ref (a reference to T), begin (Index), end (Index), strides (Index), value (T).
// Attributes: begin_mask (int; default 0), end_mask (int; default 0), ellipsis_mask (int; default 0), new_axis_mask
//   (int; default 0), shrink_axis_mask (int; default 0).
// Output: output_ref (a reference to T).
// T: any; Index: int32 int64.
inline Output StridedSliceAssign(const Output& ref, const Operand& begin, const Operand& end, const Operand& strides,
    const Operand& value, const StridedSliceAssignOptions& options = {}) {
  return internal::Call("StridedSliceAssign", options.name, {ref, begin, end, strides, value})
      .Attr("begin_mask", options.begin_mask).Attr("end_mask", options.end_mask)
      .Attr("ellipsis_mask", options.ellipsis_mask).Attr("new_axis_mask", options.new_axis_mask)
      .Attr("shrink_axis_mask", options.shrink_axis_mask).One();
}

struct TemporaryVariableOptions {
  std::string var_name = "";
  std::string name = {};
};
// Adds a node of the op TemporaryVariable.
// Attributes: shape (shape), dtype (dtype: any), var_name (string; default "").
// Output: ref (a reference to dtype).
inline Output TemporaryVariable(Graph& graph, const tensorbraid::Shape& shape, DType dtype,
    const TemporaryVariableOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "TemporaryVariable", options.name, {}, loc).Attr("shape", shape).Attr("dtype", dtype)
      .Attr("var_name", options.var_name).One();
}

struct VarHandleOpOptions {
  std::string container = "";
  std::string shared_name = "";
  std::string debug_name = "";
  std::vector<std::string> allowed_devices = {};
  std::string name = {};
};
// Adds a node of the op VarHandleOp.
// Attributes: dtype (dtype: any), shape (shape), container (string; default ""), shared_name (string; default ""),
//   debug_name (string; default ""), allowed_devices (list of strings; default []).
// Output: resource (resource).
inline Output VarHandleOp(Graph& graph, DType dtype, const tensorbraid::Shape& shape,
    const VarHandleOpOptions& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "VarHandleOp", options.name, {}, loc).Attr("dtype", dtype).Attr("shape", shape)
      .Attr("container", options.container).Attr("shared_name", options.shared_name)
      .Attr("debug_name", options.debug_name).Attr("allowed_devices", options.allowed_devices).One();
}

// Adds a node of the op VarIsInitializedOp.
// Inputs: resource (resource).
// Output: is_initialized (bool).
inline Output VarIsInitializedOp(const Output& resource, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("VarIsInitializedOp", name, {resource}, loc).One();
}

struct VariableOptions {
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op Variable.
// Attributes: shape (shape), dtype (dtype: any), container (string; default ""), shared_name (string; default "").
// Output: ref (a reference to dtype).
inline Output Variable(Graph& graph, const tensorbraid::Shape& shape, DType dtype, const VariableOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "Variable", options.name, {}, loc).Attr("shape", shape).Attr("dtype", dtype)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).One();
}

struct VariableShapeOptions {
  DType out_type = DType::kInt32;
  std::string name = {};
};
// Adds a node of the op VariableShape.
// Inputs: input (resource).
// Attributes: out_type (dtype: int32 int64; default int32).
// Output: output (out_type).
inline Output VariableShape(const Output& input, const VariableShapeOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("VariableShape", options.name, {input}, loc).Attr("out_type", options.out_type).One();
}

struct VariableV2Options {
  std::string container = "";
  std::string shared_name = "";
  std::string name = {};
};
// Adds a node of the op VariableV2.
// Attributes: shape (shape), dtype (dtype: any), container (string; default ""), shared_name (string; default "").
// Output: ref (a reference to dtype).
inline Output VariableV2(Graph& graph, const tensorbraid::Shape& shape, DType dtype,
    const VariableV2Options& options = {}, std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "VariableV2", options.name, {}, loc).Attr("shape", shape).Attr("dtype", dtype)
      .Attr("container", options.container).Attr("shared_name", options.shared_name).One();
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_STATE_H_
