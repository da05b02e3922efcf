// The last part of the fused ops _FusedConv2D and _FusedMatMul: adding a bias to a product and, optionally, Relu.
#ifndef TENSORBRAID_KERNELS_PJRT_NN_BIAS_RELU_H_
#define TENSORBRAID_KERNELS_PJRT_NN_BIAS_RELU_H_

#include <string>

#include "pjrt/emitter.h"

namespace tensorbraid::pjrt {

// Adds input 2, a vector, to the product along dimension `channel_axis`, and applies Relu if the node's `fused_ops` say
// so. InvalidArgument if the bias has another shape.
StatusOr<stablehlo::Value> BiasReluOf(EmitContext& ctx, const stablehlo::Value& product, int channel_axis);

// For EmitterDef::refuse: `fused_ops` must be ["BiasAdd"] or ["BiasAdd", "Relu"].
std::string RefuseFusedOps(const Node& node);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_KERNELS_PJRT_NN_BIAS_RELU_H_
