// Computes float32 convolutions by the method of Winograd (winograd_transforms.h), which needs a quarter of the
// multiplications for windows of 3 x 3, and about a third for windows of 5 x 5.
//
// Rounding errors are larger than those of sums of products: about four times for outputs and gradients of the input,
// seven times for gradients of the filter (docs/design/0010-convolutions.md has figures). An infinity or a NaN in an
// image affects all outputs of the tiles that contain it, and not only the outputs whose window covers it. With the
// environment variable TENSORBRAID_DIRECT_CONVOLUTIONS=1, a convolution is not computed this way.
#ifndef TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_WINOGRAD_H_
#define TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_WINOGRAD_H_

#include "kernels/cpu/nn/bias_relu.h"
#include "ops/nn/convolution.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// Whether the method computes this convolution and its gradients, and is worthwhile. The channels must be last, at
// least 16, and fill whole vectors; strides and dilations must be 1. A filter with more than 128 x 128 pairs of input
// and output channels is too large for a cache once it is transformed, and with few tiles, transforming it takes too
// long. REQUIRES: all sizes are known.
bool WinogradPays(const Convolution& c);

// Computes one of input (`x`), filter and output (`y`), as `result` says, from the two others. If `bias` is not null,
// applies it to the output; the result equals that of a separate BiasAdd and Relu bit for bit. Uses scratch memory: up
// to two megabytes for each range of tiles that a thread computes, and the transformed filter, which has 36 / (window *
// window) times the filter's size. The gradient of the filter needs a transformed filter for each of up to 16 parts,
// together at most 64 MB. The result does not depend on the number of threads. ResourceExhausted if there is no memory
// for scratch space. REQUIRES: WinogradPays(c), and the tensors are not empty.
Status ConvolveByWinograd(KernelContext& ctx, ConvolutionResult result, const Convolution& c, float* x, float* filter,
                          float* y, const BiasRelu* bias);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_WINOGRAD_H_
