#ifndef TENSORBRAID_KERNELS_CPU_STATE_SCATTER_H_
#define TENSORBRAID_KERNELS_CPU_STATE_SCATTER_H_

#include "runtime/kernel.h"

namespace tensorbraid {

// ScatterAdd, ScatterSub, ScatterUpdate and their Resource forms.
void RegisterScatterKernels(KernelRegistry& r);

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_STATE_SCATTER_H_
