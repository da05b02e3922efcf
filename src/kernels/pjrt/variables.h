// What emitters of updates share: variables by handle and by reference.
#ifndef TENSORBRAID_KERNELS_PJRT_VARIABLES_H_
#define TENSORBRAID_KERNELS_PJRT_VARIABLES_H_

#include <string>

#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {

// The value of the variable of input i, converted to the dtype that it is computed in. Errors as EmitContext::variable.
StatusOr<Expr> WideVariable(const EmitContext& ctx, int i);
// The variable of input i, whose elements are of type `dtype`, as it is. InvalidArgument if it holds another type;
// errors as EmitContext::variable.
StatusOr<stablehlo::Value> VariableOfType(const EmitContext& ctx, int i, DType dtype);
// How errors call the variable of input i, by the name that the CPU's kernels give: "variable 'weights'".
std::string VariableText(const EmitContext& ctx, int i);
// Gives the variable of input i a new value. If the node has an output, it is the reference that is input 0.
// `guarded`: see EmitContext::update_variable.
Status UpdateVariable(EmitContext& ctx, int i, const stablehlo::Value& value,
                      EmitContext::GuardedUpdate guarded = nullptr);
// The same with a formula, whose result is converted to the variable's dtype. Errors as EmitContext::variable.
Status UpdateVariable(EmitContext& ctx, int i, const Expr& value);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_KERNELS_PJRT_VARIABLES_H_
