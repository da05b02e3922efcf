// The parts of the state family.
#ifndef TENSORBRAID_KERNELS_CPU_STATE_FAMILIES_H_
#define TENSORBRAID_KERNELS_CPU_STATE_FAMILIES_H_

#include "runtime/kernel.h"

namespace tensorbraid {

// Scatter… and ResourceScatter…: updates of rows.
void RegisterScatterKernels(KernelRegistry& r);
// ScatterNd… and ResourceScatterNd…: updates of slices.
void RegisterScatterNdKernels(KernelRegistry& r);
// StridedSliceAssign and ResourceStridedSliceAssign.
void RegisterSliceAssignKernels(KernelRegistry& r);

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_STATE_FAMILIES_H_
