// float32 convolutions with windows of 3 x 3 and 5 x 5 by the method of Winograd (winograd_transforms.h), which takes
// a quarter and a third of the multiplications.
//
// Rounding errors are larger than those of sums of products: about four times for outputs and gradients of the input,
// seven times for gradients of the filter (docs/design/0010-convolutions.md has figures). An infinity or a NaN in an
// image reaches all outputs of the tiles that read it, and not only those whose window covers it. With the environment
// variable TENSORBRAID_DIRECT_CONVOLUTIONS=1, a convolution is not computed this way.
#ifndef TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_WINOGRAD_H_
#define TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_WINOGRAD_H_

#include "kernels/cpu/nn/bias_relu.h"
#include "ops/nn/convolution.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// Whether the method computes this convolution and its gradients, and is worthwhile. The channels must be last, at
// least 16 and in whole vectors, steps and dilations 1. A filter with more than 128 x 128 pairs of input and output
// channels is too large for a cache once it is transformed, and with few tiles, transforming it takes too long.
// REQUIRES: all sizes are known.
bool WinogradPays(const Convolution& c);

// Computes one of input (`x`), filter and output (`y`), as `result` says, from the two others. Applies `bias`, unless
// it is null, to the output, with the bits of a separate BiasAdd and Relu. Uses up to two megabytes of scratch memory
// for each range of tiles that a thread computes, the transformed filter, which has 36 / (window * window) of the
// filter's size, and for the gradient of the filter as much for each of up to 16 parts, together at most 64 MB. The
// result does not depend on the number of threads. ResourceExhausted if there is no memory for scratch space. REQUIRES:
// WinogradPays(c), and the tensors are not empty.
Status ConvolveByWinograd(KernelContext& ctx, ConvolutionResult result, const Convolution& c, float* x, float* filter,
                          float* y, const BiasRelu* bias);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_WINOGRAD_H_
