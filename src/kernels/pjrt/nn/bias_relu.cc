#include "kernels/pjrt/nn/bias_relu.h"

#include "core/text/strings.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {

StatusOr<stablehlo::Value> BiasReluOf(EmitContext& ctx, const stablehlo::Value& product, int channel_axis) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value bias, ctx.input(2));
  const int64_t channels = product.shape.dim(channel_axis);
  if (bias.shape != Shape({channels})) {
    return InvalidArgument("the bias must be a vector of ", channels, " elements, got shape ", bias.shape);
  }
  stablehlo::Builder& b = ctx.builder();
  const Expr sum = Expr(b, product) + Expr(b, b.BroadcastInDim(bias, product.shape, {channel_axis}));
  const bool relu = ctx.attr<std::vector<std::string>>("fused_ops").size() == 2;
  return (relu ? Select(sum < 0, 0, sum) : sum).value();
}

std::string RefuseFusedOps(const Node& node) {
  const auto& fused = node.attr<std::vector<std::string>>("fused_ops");
  const bool known =
      fused == std::vector<std::string>{"BiasAdd"} || fused == std::vector<std::string>{"BiasAdd", "Relu"};
  if (known && node.InputRange(2).second - node.InputRange(2).first == 1) return "";
  return StrCat("has no emitter for fused_ops = [", StrJoin(fused, ", "), "]");
}

}  // namespace tensorbraid::pjrt
