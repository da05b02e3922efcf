// The two kinds of variables: resource variables, which this library makes, and reference variables, which graphs of
// TensorFlow 1 have. A reference variable has ops of its own.
#ifndef TENSORBRAID_GRAPH_MODEL_VARIABLE_OPS_H_
#define TENSORBRAID_GRAPH_MODEL_VARIABLE_OPS_H_

#include <string>
#include <string_view>

#include "tensorbraid/graph/variable.h"

namespace tensorbraid {

// The op that does to `variable` what `resource_op` does to a resource variable. For a reference variable this is
// "AssignAdd" for "AssignAddVariableOp", "ApplyAdam" for "ResourceApplyAdam", and "IsVariableInitialized" for
// "VarIsInitializedOp". For a growing table it is "KvVarIsInitializedOp" for the last one. The first input of either op
// is Variable::handle().
inline std::string OpOnVariable(const Variable& variable, std::string_view resource_op) {
  constexpr std::string_view kResource = "Resource", kVariableOp = "VariableOp";
  if (variable.table() != nullptr && resource_op == "VarIsInitializedOp") return "KvVarIsInitializedOp";
  if (!variable.is_reference()) return std::string(resource_op);
  if (resource_op == "VarIsInitializedOp") return "IsVariableInitialized";
  if (resource_op.starts_with(kResource)) resource_op.remove_prefix(kResource.size());
  if (resource_op.ends_with(kVariableOp)) resource_op.remove_suffix(kVariableOp.size());
  return std::string(resource_op);
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_VARIABLE_OPS_H_
