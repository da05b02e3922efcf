#include "kernels/pjrt/nn/pooling.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "kernels/pjrt/dtypes.h"

namespace tensorbraid::pjrt {
namespace {

std::string WhyWindowIsTooLarge(const Node& node) {
  constexpr int64_t kMost = 64;
  int64_t size = 1;
  for (const int64_t k : node.attr<std::vector<int64_t>>("ksize")) size *= std::clamp<int64_t>(k, 1, kMost + 1);
  return size > kMost ? StrCat("has no emitter for windows of more than ", kMost, " elements") : "";
}

}  // namespace

void RegisterNnPoolingEmitters(EmitterRegistry& r) {
  const EmitFn max = [](EmitContext& ctx) { return EmitMaxPool(ctx, 2); };
  const EmitFn avg = [](EmitContext& ctx) { return EmitAvgPool(ctx, 2); };
  const EmitFn avg_grad = [](EmitContext& ctx) { return EmitAvgPoolGrad(ctx, 2); };
  r.Add("MaxPool", {{"T", kReals}}, max);
  r.Add("MaxPoolV2", {{"T", kReals}}, max).static_inputs = {"ksize", "strides"};
  r.Add("MaxPoolGrad", {{"T", kReals}}, EmitMaxPoolGrad);
  r.Add("MaxPoolGradV2", {{"T", kReals}}, EmitMaxPoolGrad).static_inputs = {"ksize", "strides"};
  r.Add("MaxPoolGradGrad", {{"T", kReals}}, EmitMaxPoolGradGrad).refuse = WhyWindowIsTooLarge;
  r.Add("_MaxPoolReluGrad", {{"T", {kFloat32}}}, EmitMaxPoolGrad);
  r.Add("AvgPool", {{"T", kFloats}}, avg);
  r.Add("AvgPoolGrad", {{"T", kFloats}}, avg_grad).static_inputs = {"orig_input_shape"};
}

}  // namespace tensorbraid::pjrt
