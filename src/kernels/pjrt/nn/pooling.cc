#include "kernels/pjrt/nn/pooling.h"

#include "kernels/pjrt/dtypes.h"

namespace tensorbraid::pjrt {

void RegisterNnPoolingEmitters(EmitterRegistry& r) {
  const EmitFn max = [](EmitContext& ctx) { return EmitMaxPool(ctx, 2); };
  const EmitFn max_grad_grad = [](EmitContext& ctx) { return EmitMaxPoolGradGrad(ctx, 2); };
  const EmitFn avg = [](EmitContext& ctx) { return EmitAvgPool(ctx, 2); };
  const EmitFn avg_grad = [](EmitContext& ctx) { return EmitAvgPoolGrad(ctx, 2); };
  r.Add("MaxPool", {{"T", kReals}}, max);
  r.Add("MaxPoolV2", {{"T", kReals}}, max).static_inputs = {"ksize", "strides"};
  r.Add("MaxPoolGrad", {{"T", kReals}}, EmitMaxPoolGrad);
  r.Add("MaxPoolGradV2", {{"T", kReals}}, EmitMaxPoolGrad).static_inputs = {"ksize", "strides"};
  r.Add("MaxPoolGradGrad", {{"T", kReals}}, max_grad_grad);
  r.Add("MaxPoolGradGradV2", {{"T", kReals}}, max_grad_grad).static_inputs = {"ksize", "strides"};
  r.Add("_MaxPoolReluGrad", {{"T", {kFloat32}}}, EmitMaxPoolGrad);
  r.Add("AvgPool", {{"T", kFloats}}, avg);
  r.Add("AvgPoolGrad", {{"T", kFloats}}, avg_grad).static_inputs = {"orig_input_shape"};
}

}  // namespace tensorbraid::pjrt
