// Gives kernels access to variables, by handle or by reference.
#ifndef TENSORBRAID_RUNTIME_VARIABLES_VARIABLE_ACCESS_H_
#define TENSORBRAID_RUNTIME_VARIABLES_VARIABLE_ACCESS_H_

#include "core/text/strings.h"
#include "graph/model/node_status.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {

// The variable of input i, which is a reference or a resource handle.
inline StatusOr<RefPtr<VariableResource>> VariableOf(KernelContext& ctx, int i) {
  if (!IsRef(ctx.node().declared_input_type(i))) return ctx.LookupResource<VariableResource>(i);
  return RefPtr<VariableResource>::Share(&ctx.ref_input(i));
}

// Like VariableOf, for kernels that need a value of type `dtype`. FailedPrecondition if the variable has none. If the
// input is a handle, TensorFlow's clients get NotFound instead, because in TensorFlow a resource does not exist before
// it is assigned.
inline StatusOr<RefPtr<VariableResource>> VariableWithValue(KernelContext& ctx, int i, DType dtype) {
  TF_ASSIGN_OR_RETURN(RefPtr<VariableResource> variable, VariableOf(ctx, i));
  if (!IsRef(ctx.node().declared_input_type(i)) && !variable->is_initialized()) {
    return WithTensorFlowCode(variable->NotInitialized(), absl::StatusCode::kNotFound);
  }
  if (variable->dtype() != dtype) {
    return InvalidArgument("variable '", variable->name(), "' holds ", variable->dtype(), ", not ", dtype);
  }
  return variable;
}

// Sets output 0 to the reference of input 0, if the op has a reference output.
inline void PassReference(KernelContext& ctx) {
  if (ctx.num_outputs() > 0 && IsRef(ctx.node().output_type(0))) {
    ctx.set_output_ref(0, RefPtr<VariableResource>::Share(&ctx.ref_input(0)));
  }
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_VARIABLES_VARIABLE_ACCESS_H_
