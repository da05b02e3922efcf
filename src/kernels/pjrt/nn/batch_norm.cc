// Batch normalization.
#include <limits>

#include "core/text/strings.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"
#include "kernels/pjrt/nn/pooling.h"
#include "ops/nn/window.h"

namespace tensorbraid::pjrt {
namespace {

// The dimensions of a tensor with channels.
struct NormView {
  int channel_axis = 0;
  int64_t channels = 0;
  int64_t count = 1;          // elements of a channel
  std::vector<int64_t> axes;  // all dimensions but the channels
  Shape wide;                 // [1, ..., channels, ..., 1]
};

StatusOr<NormView> NormViewOf(const Node& node, const Shape& shape) {
  TF_ASSIGN_OR_RETURN(const bool channels_first, ReadChannelsFirst(node));
  if (shape.rank() != 4 && shape.rank() != 5) {
    return InvalidArgument("the input must have rank 4 or 5, got shape ", shape);
  }
  NormView v;
  v.channel_axis = channels_first ? 1 : shape.rank() - 1;
  v.channels = shape.dim(v.channel_axis);
  for (int i = 0; i < shape.rank(); ++i) {
    v.wide.AddDim(i == v.channel_axis ? v.channels : 1);
    if (i == v.channel_axis) continue;
    v.axes.push_back(i);
    v.count *= shape.dim(i);
  }
  return v;
}

// Input i, which has one element for each channel, in a shape that broadcasts.
StatusOr<Expr> PerChannel(EmitContext& ctx, int i, const char* what, const NormView& v, const char* when = "") {
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, i));
  if (x.shape() == Shape({v.channels})) return x.Reshape(v.wide);
  return InvalidArgument(when, what, " must have the same number of elements as the channels of x, got shape ",
                         x.shape(), " and ", v.channels, " channels");
}

// For _FusedBatchNormRelu and its gradient: Relu and the maximum over windows that tile the images.
Expr ReluAndMax(const Expr& x, const PlacedPool& tiles) {
  const Expr positive = Select(x < 0, 0, x);
  return tiles.windows.output == x.shape() ? positive : MaxOfImage(positive, tiles);
}
// The gradient of ReluAndMax for x.
Expr ReluAndMaxGradient(const Expr& x, const Expr& dy, const PlacedPool& tiles) {
  const bool pools = tiles.windows.output != x.shape();
  return Select(x > 0, pools ? GradientOfMax(Select(x < 0, 0, x), dy, tiles) : dy, 0);
}

// Also for _FusedBatchNormRelu.
Status EmitBatchNorm(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const NormView v, NormViewOf(ctx.node(), x.shape()));
  TF_ASSIGN_OR_RETURN(const Expr scale, PerChannel(ctx, 1, "scale", v));
  TF_ASSIGN_OR_RETURN(const Expr offset, PerChannel(ctx, 2, "offset", v));
  const bool training = ctx.attr<bool>("is_training");
  const float factor = ctx.attr<float>("exponential_avg_factor");
  Expr mean = scale, variance = scale, new_mean = scale, new_variance = scale;
  if (training) {
    const auto n = static_cast<double>(v.count);
    mean = Sum(x, v.axes) / n;
    const Expr difference = x - mean;
    variance = Sum(difference * difference, v.axes) / n;
    // The outputs for the moving averages have the unbiased variance.
    new_mean = mean;
    new_variance = variance * (n / std::max(n - 1, 1.0));
  }
  if (!training || factor != 1.0f) {
    const char* const when = training ? "When exponential_avg_factor != 1, " : "When is_training=false, ";
    TF_ASSIGN_OR_RETURN(const Expr old_mean, PerChannel(ctx, 3, "mean", v, when));
    TF_ASSIGN_OR_RETURN(const Expr old_variance, PerChannel(ctx, 4, "variance", v, when));
    new_mean = training ? (1 - factor) * old_mean + factor * new_mean : old_mean;
    new_variance = training ? (1 - factor) * old_variance + factor * new_variance : old_variance;
    if (!training) {
      mean = old_mean;
      variance = old_variance;
    }
  }
  if (v.count == 0) new_mean = new_variance = mean.Number(std::numeric_limits<double>::quiet_NaN()).BroadcastTo(v.wide);
  const Shape channels({v.channels});
  Expr y = (x - mean) * (scale / Sqrt(variance + ctx.attr<float>("epsilon"))) + offset;
  if (ctx.node().type() == "_FusedBatchNormRelu") {
    TF_ASSIGN_OR_RETURN(const PlacedPool tiles, PlaceTiles(x.shape(), ctx.attr<std::vector<int64_t>>("ksize")));
    y = ReluAndMax(y, tiles);
  }
  SetOutput(ctx, 0, y);
  SetOutput(ctx, 1, new_mean.Reshape(channels));
  SetOutput(ctx, 2, new_variance.Reshape(channels));
  SetOutput(ctx, 3, mean.Reshape(channels));
  SetOutput(ctx, 4, variance.Reshape(channels));
  if (ctx.num_outputs() > 5) SetOutput(ctx, 5, mean.Number(0));  // which the gradient does not read
  return OkStatus();
}

// The gradients of x, scale and offset. In training, the mean and the variance depend on x. Also for
// _FusedBatchNormReluGrad, whose input 6 is the offset.
Status EmitBatchNormGrad(EmitContext& ctx) {
  const bool with_relu = ctx.node().type() == "_FusedBatchNormReluGrad";
  TF_ASSIGN_OR_RETURN(Expr dy, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 1));
  TF_ASSIGN_OR_RETURN(const NormView v, NormViewOf(ctx.node(), x.shape()));
  PlacedPool tiles;
  if (with_relu) {
    TF_ASSIGN_OR_RETURN(tiles, PlaceTiles(x.shape(), ctx.attr<std::vector<int64_t>>("ksize")));
  }
  const Shape& pooled = with_relu ? tiles.windows.output : x.shape();
  if (dy.shape() != pooled) {
    return InvalidArgument("x and y_backprop must have same shape, got ", pooled, " and ", dy.shape());
  }
  TF_ASSIGN_OR_RETURN(const Expr scale, PerChannel(ctx, 2, "scale", v));
  TF_ASSIGN_OR_RETURN(const Expr mean, PerChannel(ctx, 3, "reserve_space_1", v));
  TF_ASSIGN_OR_RETURN(const Expr variance, PerChannel(ctx, 4, "reserve_space_2", v));
  const Expr centered = x - mean, root = Sqrt(variance + ctx.attr<float>("epsilon")), rsqrt = 1 / root;
  if (with_relu) {
    TF_ASSIGN_OR_RETURN(const Expr offset, PerChannel(ctx, 6, "offset", v));
    dy = ReluAndMaxGradient(centered * (scale / root) + offset, dy, tiles);
  }
  const Expr sums = Sum(dy, v.axes), products = Sum(dy * centered, v.axes);
  Expr inner = dy;
  if (ctx.attr<bool>("is_training") && v.count > 0) {
    const auto n = static_cast<double>(v.count);
    inner = dy - sums / n - products / n * rsqrt * rsqrt * centered;
  }
  const Shape channels({v.channels});
  SetOutput(ctx, 0, scale * rsqrt * inner);
  SetOutput(ctx, 1, (v.count == 0 ? sums : products * rsqrt).Reshape(channels));
  SetOutput(ctx, 2, sums.Reshape(channels));
  for (int i = 3; i < 5; ++i) ctx.set_constant(i, Tensor(ctx.node().output_type(i), {0}));
  return OkStatus();
}

}  // namespace

void RegisterNnBatchNormEmitters(EmitterRegistry& r) {
  const DTypeSet types = {kFloat32, kFloat16, kBfloat16};
  r.Add("FusedBatchNorm", {{"T", {kFloat32}}}, EmitBatchNorm);
  r.Add("FusedBatchNormGrad", {{"T", {kFloat32}}}, EmitBatchNormGrad);
  r.Add("_FusedBatchNormRelu", {{"T", {kFloat32}}, {"U", {kFloat32}}}, EmitBatchNorm);
  r.Add("_FusedBatchNormReluGrad", {{"T", {kFloat32}}, {"U", {kFloat32}}}, EmitBatchNormGrad);
  for (const char* op : {"FusedBatchNormV2", "FusedBatchNormV3"}) {
    r.Add(op, {{"T", types}, {"U", {kFloat32}}}, EmitBatchNorm);
  }
  for (const char* op : {"FusedBatchNormGradV2", "FusedBatchNormGradV3"}) {
    r.Add(op, {{"T", types}, {"U", {kFloat32}}}, EmitBatchNormGrad);
  }
}

}  // namespace tensorbraid::pjrt
