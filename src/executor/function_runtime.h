// Runs the functions that kernels call, such as the function of a MapDataset. Each function is compiled to a plan
// (plan.h).
#ifndef TENSORBRAID_EXECUTOR_FUNCTION_RUNTIME_H_
#define TENSORBRAID_EXECUTOR_FUNCTION_RUNTIME_H_

#include "runtime/kernel/function_runtime.h"

namespace tensorbraid {

// The FunctionRuntime that executors pass to kernels. It has no state.
const FunctionRuntime& FunctionRuntimeOfPlans();

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_FUNCTION_RUNTIME_H_
