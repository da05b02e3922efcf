// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/array.
#ifndef TENSORBRAID_KERNELS_CPU_ARRAY_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_ARRAY_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid {

void RegisterArrayKernels(KernelRegistry& r);           // array.cc
void RegisterArrayBlocksKernels(KernelRegistry& r);     // blocks.cc
void RegisterArrayGatherKernels(KernelRegistry& r);     // gather.cc
void RegisterArrayJoinKernels(KernelRegistry& r);       // join.cc
void RegisterArrayPassKernels(KernelRegistry& r);       // pass.cc
void RegisterArrayRearrangeKernels(KernelRegistry& r);  // rearrange.cc
void RegisterArrayScatterKernels(KernelRegistry& r);    // scatter.cc
void RegisterArraySearchKernels(KernelRegistry& r);     // search.cc
void RegisterArrayShapeKernels(KernelRegistry& r);      // shape.cc
void RegisterArraySliceKernels(KernelRegistry& r);      // slice.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_ARRAY_REGISTRATION_H_
