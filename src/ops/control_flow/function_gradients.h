// Gradients of ops that call library functions: calls, If and Case.
#ifndef TENSORBRAID_OPS_CONTROL_FLOW_FUNCTION_GRADIENTS_H_
#define TENSORBRAID_OPS_CONTROL_FLOW_FUNCTION_GRADIENTS_H_

#include <vector>

#include "graph/model/op_registry.h"

namespace tensorbraid {

// The gradient of f at x for the gradient dy of its result is the call SymbolicGradient[f](x, dy). An op that chooses
// between functions has the same op as its gradient, with SymbolicGradient[f] in place of each f. The expansion of
// functions builds the bodies (graph/functions/expand_functions.h).
//
// The gradient runs the function again. So these functions return Unimplemented if the function has an op whose second
// run could differ from the first one, such as a random op; reads of variables are allowed. They also return
// Unimplemented if an input is a resource other than the handle of a variable of this graph.
Status CallGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads);
Status IfGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads);
Status CaseGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_CONTROL_FLOW_FUNCTION_GRADIENTS_H_
