// float32 convolutions with windows of 3 x 3 and 5 x 5 by the method of Winograd (winograd_transforms.h), which takes
// a quarter and a third of the multiplications.
//
// Rounding errors are larger than those of sums of products: about four times for outputs and gradients of the input,
// seven times for gradients of the filter (docs/design/0010-convolutions.md has figures). An infinity or a NaN in an
// image reaches all outputs of the tiles that read it, and not only those whose window covers it.
#ifndef TENSORBRAID_KERNELS_CPU_NN_WINOGRAD_H_
#define TENSORBRAID_KERNELS_CPU_NN_WINOGRAD_H_

#include "kernels/cpu/nn/bias_relu.h"
#include "ops/nn/convolution.h"
#include "runtime/kernel.h"

namespace tensorbraid::cpu {

// Whether the method computes this convolution, and its gradients, and is worthwhile: images with the channels last in
// whole vectors, steps and dilations of 1, enough channels that products of matrices take most of the time, and few
// enough that the transformed filter fits the cache of a core. REQUIRES: all sizes are known.
bool WinogradPays(const Convolution& c);

// Computes one of input (`x`), filter and output (`y`), as `result` says, from the two others. Applies `bias`, unless
// it is null, to the output, with the bits of a separate BiasAdd and Relu. Uses half a megabyte of scratch memory for
// each thread, and, for the gradient of the filter, 36 / (window * window) of its size for each of up to 16 parts.
// The result does not depend on the number of threads. ResourceExhausted if there is no memory for scratch space.
// REQUIRES: WinogradPays(c), and the tensors are not empty.
Status ConvolveByWinograd(KernelContext& ctx, ConvolutionResult result, const Convolution& c, float* x, float* filter,
                          float* y, const BiasRelu* bias);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_WINOGRAD_H_
