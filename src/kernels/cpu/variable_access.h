// How kernels reach variables, by handle and by reference alike.
#ifndef TENSORBRAID_KERNELS_CPU_VARIABLE_ACCESS_H_
#define TENSORBRAID_KERNELS_CPU_VARIABLE_ACCESS_H_

#include "core/strings.h"
#include "runtime/kernel.h"

namespace tensorbraid {

// The variable that input i is.
inline StatusOr<RefPtr<VariableResource>> VariableOf(KernelContext& ctx, int i) {
  if (!IsRef(ctx.node().declared_input_type(i))) return ctx.LookupResource<VariableResource>(i);
  return RefPtr<VariableResource>::Share(&ctx.ref_input(i));
}

// As VariableOf, for what needs a value of type `dtype`. Without a value: FailedPrecondition by reference, NotFound by
// handle, since to TensorFlow a resource begins to exist when it is assigned.
inline StatusOr<RefPtr<VariableResource>> VariableWithValue(KernelContext& ctx, int i, DType dtype) {
  TF_ASSIGN_OR_RETURN(RefPtr<VariableResource> variable, VariableOf(ctx, i));
  if (!IsRef(ctx.node().declared_input_type(i)) && !variable->is_initialized()) {
    return NotFound("variable '", variable->name(), "' does not exist: it has not been initialized (run ",
                    variable->name(), "/Assign, or GlobalVariablesInitializer) or has been destroyed");
  }
  if (variable->dtype() != dtype) {
    return InvalidArgument("variable '", variable->name(), "' holds ", variable->dtype(), ", not ", dtype);
  }
  return variable;
}

// Passes the reference of input 0 on, where the op has such an output.
inline void PassReference(KernelContext& ctx) {
  if (ctx.num_outputs() > 0 && IsRef(ctx.node().output_type(0))) {
    ctx.set_output_ref(0, RefPtr<VariableResource>::Share(&ctx.ref_input(0)));
  }
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_VARIABLE_ACCESS_H_
