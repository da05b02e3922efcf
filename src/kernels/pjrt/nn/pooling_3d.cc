#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/nn/pooling.h"

namespace tensorbraid::pjrt {

void RegisterNnPooling3DEmitters(EmitterRegistry& r) {
  r.Add("MaxPool3D", {{"T", kFloats}}, [](EmitContext& ctx) { return EmitMaxPool(ctx, 3); });
  r.Add("MaxPool3DGrad", {{"T", kFloats}, {"TInput", kFloats}}, EmitMaxPool3DGrad);
  r.Add("MaxPool3DGradGrad", {{"T", kReals}}, [](EmitContext& ctx) { return EmitMaxPoolGradGrad(ctx, 3); });
  r.Add("AvgPool3D", {{"T", kFloats}}, [](EmitContext& ctx) { return EmitAvgPool(ctx, 3); });
  r.Add("AvgPool3DGrad", {{"T", kFloats}}, [](EmitContext& ctx) { return EmitAvgPoolGrad(ctx, 3); }).static_inputs = {
      "orig_input_shape"};
}

}  // namespace tensorbraid::pjrt
