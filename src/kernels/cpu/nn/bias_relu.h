// The last part of the fused ops _FusedConv2D and _FusedMatMul: adding a bias to a product and, optionally, Relu.
#ifndef TENSORBRAID_KERNELS_CPU_NN_BIAS_RELU_H_
#define TENSORBRAID_KERNELS_CPU_NN_BIAS_RELU_H_

#include <cstdint>

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// Adds a bias and, if `relu`, replaces negative numbers by 0. The results equal those of BiasAdd and Relu bit for bit.
struct BiasRelu {
  const float* bias = nullptr;  // [channels]
  int64_t channels = 0;
  bool relu = false;

  // Changes a matrix [rows, channels] in place, on the calling thread.
  void Apply(float* matrix, int64_t rows) const {
    for (int64_t row = 0; row < rows; ++row, matrix += channels) {
      if (relu) {
#pragma GCC ivdep
        for (int64_t c = 0; c < channels; ++c) {
          const float sum = matrix[c] + bias[c];
          matrix[c] = sum < 0 ? 0 : sum;  // keeps NaNs
        }
      } else {
#pragma GCC ivdep
        for (int64_t c = 0; c < channels; ++c) matrix[c] += bias[c];
      }
    }
  }
  // Like Apply, but the threads of the pool share the rows.
  void ApplyShared(KernelContext& ctx, float* matrix, int64_t rows) const;
};

// Reads from the attributes of a fused op whether Relu follows BiasAdd. Returns Unimplemented, naming the ops, if
// `fused_ops` is neither ["BiasAdd"] nor ["BiasAdd", "Relu"]; InvalidArgument unless there is one argument, the bias.
StatusOr<bool> ReadFusedRelu(const Node& node);

// Makes a BiasRelu for a product of this many channels. Returns InvalidArgument if `bias` is not a float32 vector of
// that size.
StatusOr<BiasRelu> MakeBiasRelu(const Tensor& bias, int64_t channels, bool relu);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_BIAS_RELU_H_
