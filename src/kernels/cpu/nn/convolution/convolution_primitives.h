// float32 convolutions by oneDNN: the only interface to its convolutions.
//
// The batch is split into parts (a batch of one to three images is split by rows). A primitive that runs on one thread
// computes each part, and the threads of the pool share the parts. oneDNN's own OpenMP team is not used, because it
// would spin at its barriers while other kernels need the cores. How the batch is split depends only on the shapes, so
// results do not depend on the number of threads.
#ifndef TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_CONVOLUTION_PRIMITIVES_H_
#define TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_CONVOLUTION_PRIMITIVES_H_

#include <memory>

#include "kernels/cpu/nn/bias_relu.h"
#include "ops/nn/convolution.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// The primitives that one kernel uses, by geometry. Thread-safe.
class ConvolutionPrimitives {
 public:
  virtual ~ConvolutionPrimitives() = default;

  // Computes one of input, filter and output from the two others. Returns false, and computes nothing, if oneDNN has no
  // fast implementation for this geometry. ResourceExhausted if there is no memory for scratch space. REQUIRES: all
  // sizes are known, and the tensors are not empty. If `bias` is not null, applies it to each part of the output while
  // the part is in the cache. REQUIRES then: the channels are last, and the output is computed.
  //
  // The filter is converted to the primitive's layout in each call, even if it has not changed since the last one.
  virtual StatusOr<bool> Convolve(KernelContext& ctx, const Convolution& c, float* x, float* filter, float* y,
                                  const BiasRelu* bias) = 0;
};

// `result` says which of the three tensors is computed.
std::unique_ptr<ConvolutionPrimitives> MakeConvolutionPrimitives(ConvolutionResult result);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_CONVOLUTION_PRIMITIVES_H_
