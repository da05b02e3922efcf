// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/state.
#ifndef TENSORBRAID_KERNELS_CPU_STATE_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_STATE_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid {

void RegisterStateScatterKernels(KernelRegistry& r);    // scatter.cc
void RegisterStateScatterNdKernels(KernelRegistry& r);  // scatter_nd.cc
void RegisterStateSliceKernels(KernelRegistry& r);      // slice.cc
void RegisterStateKernels(KernelRegistry& r);           // state.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_STATE_REGISTRATION_H_
