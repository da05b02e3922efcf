// Functions run as plans of their own.
#ifndef TENSORBRAID_EXECUTOR_FUNCTION_RUNTIME_H_
#define TENSORBRAID_EXECUTOR_FUNCTION_RUNTIME_H_

#include "runtime/function_runtime.h"

namespace tensorbraid {

// The one that executors give to kernels. Without state.
const FunctionRuntime& FunctionRuntimeOfPlans();

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_FUNCTION_RUNTIME_H_
