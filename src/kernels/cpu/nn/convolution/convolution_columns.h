// Convolutions as matrix products, for all geometries and types. The input elements under each position of the window
// are copied to a row of a matrix ("columns", as in im2col), which is multiplied by the filter.
#ifndef TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_CONVOLUTION_COLUMNS_H_
#define TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_CONVOLUTION_COLUMNS_H_

#include "ops/nn/convolution.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// Computes one of input (`x`), filter and output (`y`), as `result` says, from the two others. T is float, double or
// int32_t (which wraps around). Uses a few megabytes of scratch memory for each thread, and at most the memory of one
// more filter (of 8, if `result` is the filter). The result does not depend on the number of threads. REQUIRES: all
// sizes are known, and the tensors are not empty.
template <typename T>
void ConvolveByColumns(KernelContext& ctx, ConvolutionResult result, const Convolution& c, T* x, T* filter, T* y);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_CONVOLUTION_COLUMNS_H_
