// The kernel of every convolution op: reads shapes and dtypes, and passes the work on. float32 is computed by the
// method of Winograd (winograd.h) where that pays, otherwise by oneDNN (convolution_primitives.h) where that is fast.
// Everything else is computed as matrix products (convolution_columns.h).
#ifndef TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_CONVOLUTION_H_
#define TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_CONVOLUTION_H_

#include <source_location>

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// Registers the kernel of a convolution op for the dtypes in `types`. These may be 16-bit floats (computed in float32),
// float32, float64 and int32. The results do not depend on the number of threads.
void AddConvolutionKernel(KernelRegistry& r, const char* op, DTypeSet types,
                          std::source_location location = std::source_location::current());

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_CONVOLUTION_H_
