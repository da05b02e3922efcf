// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/logging.
#ifndef TENSORBRAID_KERNELS_CPU_LOGGING_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_LOGGING_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid {

void RegisterLoggingKernels(KernelRegistry& r);  // logging.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_LOGGING_REGISTRATION_H_
