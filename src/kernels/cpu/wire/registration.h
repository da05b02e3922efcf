// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/wire.
#ifndef TENSORBRAID_KERNELS_CPU_WIRE_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_WIRE_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid {

void RegisterWireKernels(KernelRegistry& r);  // wire.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_WIRE_REGISTRATION_H_
