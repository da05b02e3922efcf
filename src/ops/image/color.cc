// Colour spaces and adjustments of images: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status ColorsShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape images, c.WithRankAtLeast(0, 1));
  if (images.has_rank()) {
    int64_t channels = images.dim(images.rank() - 1);
    if (channels != 3 && channels != Shape::kUnknownDim) {
      return InvalidArgument("images must have 3 channels in their last dimension, got shape ", images);
    }
    images.set_dim(images.rank() - 1, 3);
  }
  c.set_output(0, std::move(images));
  return OkStatus();
}

// All inputs but the images are scalars.
Status AdjustShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape images, c.WithRankAtLeast(0, 3));
  for (int i = 1; i < c.num_inputs(); ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  c.set_output(0, std::move(images));
  return OkStatus();
}

// Channel i of images. The last dimension of the result has size 1.
Output Channel(Output images, int i) {
  return StridedSlice(images, {0, i}, {0, i + 1}, {1, 1}, {.begin_mask = 1, .end_mask = 1, .ellipsis_mask = 1});
}

// With v the largest and m the smallest of r, g and b, value = v, saturation = (v - m) / v, and hue = n / (6 (v - m))
// plus a constant. n is the difference of the two channels that are not v. Where v is 0, the saturation is constant,
// and where v equals m, the hue is constant.
Status RgbToHsvGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output images = NodeOf(op)->inputs()[0];
  const DType dtype = images.dtype();
  const Output r = Channel(images, 0), g = Channel(images, 1), b = Channel(images, 2);
  // Of equal channels, the first is taken as the largest and the last as the smallest, so that exactly one channel is
  // the largest and exactly one is the smallest.
  const auto number = [&](Output condition) { return Cast(condition, dtype); };
  const Output largest[] = {number(LogicalAnd(GreaterEqual(r, b), GreaterEqual(r, g))),
                            number(LogicalAnd(Greater(g, r), GreaterEqual(g, b))),
                            number(LogicalAnd(Greater(b, r), Greater(b, g)))};
  const Output smallest[] = {number(LogicalAnd(Less(r, b), Less(r, g))),
                             number(LogicalAnd(LessEqual(g, r), Less(g, b))),
                             number(LogicalAnd(LessEqual(b, r), LessEqual(b, g)))};
  const Output v = Maximum(Maximum(r, g), b);
  const Output m = Minimum(Minimum(r, g), b);
  const Output range = v - m;
  const Output n = largest[0] * (g - b) + largest[1] * (b - r) + largest[2] * (r - g);
  const Output to_hue = DivNoNan(Channel(grads[0], 0), 6.0 * range * range);
  const Output to_saturation = DivNoNan(Channel(grads[0], 1), v * v);
  const Output to_value = Channel(grads[0], 2);
  std::vector<Operand> channels;
  for (int i = 0; i < 3; ++i) {
    // The derivatives with respect to channel i. dhue still has to be divided by 6 (v - m)^2, and dsaturation by v^2;
    // to_hue and to_saturation contain these divisions.
    const Output dn = largest[(i + 2) % 3] - largest[(i + 1) % 3];
    const Output dhue = dn * range - n * (largest[i] - smallest[i]);
    const Output dsaturation = largest[i] * m - smallest[i] * v;
    channels.emplace_back(to_hue * dhue + to_saturation * dsaturation + to_value * largest[i]);
  }
  (*input_grads)[0] = Concat(channels, -1);
  return OkStatus();
}

}  // namespace

void RegisterImageColorOps(OpRegistry& r) {
  constexpr const char* kFloats = "T: {half, bfloat16, float, double} = DT_FLOAT";
  constexpr const char* kAdjusted = "T: {half, float} = DT_FLOAT";
  r.Add(Op("RGBToHSV")
            .Input("images: T")
            .Output("output: T")
            .Attr(kFloats)
            .Shape(ColorsShape)
            .Gradient(RgbToHsvGradient));
  r.Add(Op("HSVToRGB").Input("images: T").Output("output: T").Attr(kFloats).Shape(ColorsShape).NotDifferentiable());
  r.Add(Op("AdjustContrast")
            .Input("images: T")
            .Input("contrast_factor: float")
            .Input("min_value: float")
            .Input("max_value: float")
            .Output("output: float")
            .Attr("T: {uint8, int8, int16, int32, int64, float, double}")
            .Shape(AdjustShape));
  r.Add(Op("AdjustContrastv2")
            .Input("images: T")
            .Input("contrast_factor: float")
            .Output("output: T")
            .Attr(kAdjusted)
            .Shape(AdjustShape));
  r.Add(
      Op("AdjustHue").Input("images: T").Input("delta: float").Output("output: T").Attr(kAdjusted).Shape(AdjustShape));
  r.Add(Op("AdjustSaturation")
            .Input("images: T")
            .Input("scale: float")
            .Output("output: T")
            .Attr(kAdjusted)
            .Shape(AdjustShape));
}

}  // namespace tensorbraid
