// The parts of the array family, as in ops/array_families.h.
#ifndef TENSORBRAID_KERNELS_CPU_ARRAY_FAMILIES_H_
#define TENSORBRAID_KERNELS_CPU_ARRAY_FAMILIES_H_

#include "runtime/kernel.h"

namespace tensorbraid {

void RegisterGatherKernels(KernelRegistry& r);
void RegisterShapeKernels(KernelRegistry& r);
void RegisterJoinKernels(KernelRegistry& r);
void RegisterSliceKernels(KernelRegistry& r);
void RegisterRearrangeKernels(KernelRegistry& r);
void RegisterPassKernels(KernelRegistry& r);
void RegisterSearchKernels(KernelRegistry& r);
void RegisterArrayScatterKernels(KernelRegistry& r);
void RegisterBlockKernels(KernelRegistry& r);

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_ARRAY_FAMILIES_H_
