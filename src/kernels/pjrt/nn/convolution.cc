#include "kernels/pjrt/nn/convolution.h"

#include <array>

#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/nn/bias_relu.h"
#include "ops/nn/convolution.h"
#include "pjrt/math_switches.h"

namespace tensorbraid::pjrt {
namespace {

using stablehlo::ArrayText;
using stablehlo::Builder;
using stablehlo::Value;

// "[b, 0, 1, f]": the meaning of each dimension. `outer` and `inner` are the letters of the batch and the channels.
std::string ImageText(const Convolution& c, std::string_view outer, std::string_view inner) {
  std::vector<std::string> dims;
  for (size_t i = 0; i < c.axes.size(); ++i) dims.push_back(StrCat(i));
  dims.insert(c.channels_first ? dims.begin() : dims.end(), std::string(inner));
  dims.insert(dims.begin(), std::string(outer));
  return StrCat("[", StrJoin(dims, ", "), "]");
}
// "[0, 1, i, o]": the same for a filter. `in` and `out` are the letters of its last dimensions.
std::string FilterText(const Convolution& c, std::string_view in, std::string_view out) {
  std::vector<std::string> dims;
  for (size_t i = 0; i < c.axes.size(); ++i) dims.push_back(StrCat(i));
  dims.emplace_back(in);
  dims.emplace_back(out);
  return StrCat("[", StrJoin(dims, ", "), "]");
}

// How a window moves over one axis of the left operand, in the terms of StableHLO.
struct Movement {
  int64_t stride = 1, low = 0, high = 0, left_dilation = 1, right_dilation = 1;
};

// The convolution op itself. `dims` says what the dimensions of operands and result are.
Value Convolve(Builder& b, const Value& left, const Value& right, const Shape& result, const std::string& dims,
               const std::vector<Movement>& movements, int64_t feature_groups, int64_t batch_groups) {
  std::vector<int64_t> strides, left_dilations, right_dilations;
  std::vector<std::string> padding, reversal;
  for (const Movement& m : movements) {
    strides.push_back(m.stride);
    left_dilations.push_back(m.left_dilation);
    right_dilations.push_back(m.right_dilation);
    padding.push_back(StrCat("[", m.low, ", ", m.high, "]"));
    reversal.emplace_back("false");
  }
  const std::string_view precision = pjrt::PrecisionOf(left.dtype);
  return b.Op(
      "convolution", {left, right}, left.dtype, result,
      StrCat("batch_group_count = ", batch_groups, " : i64, dimension_numbers = #stablehlo.conv<", dims,
             ">, feature_group_count = ", feature_groups, " : i64, lhs_dilation = ", ArrayText(left_dilations),
             ", padding = dense<[", StrJoin(padding, ", "), "]> : tensor<", movements.size(), "x2xi64>, ", precision,
             precision.empty() ? "" : ", ", "rhs_dilation = ", ArrayText(right_dilations),
             ", window_reversal = array<i1: ", StrJoin(reversal, ", "), ">, window_strides = ", ArrayText(strides)));
}

// The number of elements that a window or a dilated axis covers.
int64_t Extent(int64_t elements, int64_t dilation) { return elements == 0 ? 0 : (elements - 1) * dilation + 1; }

// The filter as [spatial..., in_channels / groups, out_channels]. The filter of a depthwise convolution has the same
// elements as [spatial..., in_channels, multiplier].
Shape GroupedFilterShape(const Convolution& c, const Shape& filter) {
  Shape shape(filter.dims().first(c.axes.size()));
  shape.AddDim(c.groups == 0 ? 0 : c.in_channels / c.groups);
  shape.AddDim(c.out_channels);
  return shape;
}

Value ForwardOf(Builder& b, const Convolution& c, const Value& input, const Value& filter) {
  std::vector<Movement> movements;
  for (const WindowAxis& a : c.axes) {
    const int64_t covered = (a.output - 1) * a.stride + Extent(a.window, a.dilation);
    movements.push_back({.stride = a.stride,
                         .low = a.pad_before,
                         .high = covered - a.input - a.pad_before,
                         .right_dilation = a.dilation});
  }
  const std::string image = ImageText(c, "b", "f");
  return Convolve(b, input, b.Reshape(filter, GroupedFilterShape(c, filter.shape)), c.OutputShape(),
                  StrCat(image, "x", FilterText(c, "i", "o"), "->", image), movements, c.groups, 1);
}

// The gradient of the input: a convolution of the gradient of the output, dilated by the strides, with the mirrored
// filter, whose channels have changed places within each group.
Value InputGradientOf(Builder& b, const Convolution& c, const Shape& input, const Value& filter, const Value& dy) {
  const auto spatial = static_cast<int>(c.axes.size());
  Value mirrored = b.Reshape(filter, GroupedFilterShape(c, filter.shape));
  std::vector<int64_t> axes;
  for (int i = 0; i < spatial; ++i) axes.push_back(i);
  mirrored = b.Reverse(mirrored, axes);
  if (c.groups > 1) {
    const int64_t in = c.in_channels / c.groups, out = c.out_channels / c.groups;
    Shape split(mirrored.shape.dims().first(spatial)), merged = split;
    for (const int64_t size : {in, c.groups, out}) split.AddDim(size);
    merged.AddDim(c.in_channels);
    merged.AddDim(out);
    std::vector<int64_t> permutation = axes;
    for (const int dim : {1, 0, 2}) permutation.push_back(spatial + dim);
    mirrored = b.Reshape(b.Transpose(b.Reshape(mirrored, split), permutation), merged);
  }
  std::vector<Movement> movements;
  for (const WindowAxis& a : c.axes) {
    const int64_t window = Extent(a.window, a.dilation), low = window - 1 - a.pad_before;
    movements.push_back({.low = low,
                         .high = a.input + window - 1 - Extent(a.output, a.stride) - low,
                         .left_dilation = a.stride,
                         .right_dilation = a.dilation});
  }
  const std::string image = ImageText(c, "b", "f");
  // Without groups the filter stays as it is, and its last dimension is what the convolution sums over.
  const std::string letters = FilterText(c, "o", "i");
  return Convolve(b, dy, mirrored, input, StrCat(image, "x", letters, "->", image), movements, c.groups, 1);
}

// The gradient of the filter: a convolution of the input with the gradient of the output, summed over the batch.
Value FilterGradientOf(Builder& b, const Convolution& c, const Value& input, const Shape& filter, const Value& dy) {
  std::vector<Movement> movements;
  for (const WindowAxis& a : c.axes) {
    const int64_t covered = Extent(a.output, a.stride) + (a.window - 1) * a.dilation;
    movements.push_back({.stride = a.dilation,
                         .low = a.pad_before,
                         .high = covered - a.input - a.pad_before,
                         .right_dilation = a.stride});
  }
  const Value gradient =
      Convolve(b, input, dy, GroupedFilterShape(c, filter),
               StrCat(ImageText(c, "f", "b"), "x", ImageText(c, "i", "o"), "->", FilterText(c, "b", "f")), movements, 1,
               c.groups);
  return b.Reshape(gradient, filter);
}

// The shape of input i or, if its value is itself a shape (such as "filter_sizes"), this value.
StatusOr<Shape> ArgumentShape(const EmitContext& ctx, int i) {
  const std::string& name = ctx.node().op().inputs[i].name;
  if (!name.ends_with("_sizes")) return ctx.input_shape(i);
  TF_ASSIGN_OR_RETURN(const Tensor t, ctx.static_input(i));
  if (t.shape().rank() != 1) return InvalidArgument(name, " must be a vector, got shape ", t.shape());
  return ShapeFrom(t, name.c_str());
}

Status EmitConvolution(EmitContext& ctx) {
  const ConvolutionTraits traits = ConvolutionTraitsOf(ctx.node().type());
  TF_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadConvolutionAttrs(ctx.node()));
  TF_ASSIGN_OR_RETURN(const ConvolutionBatch batch, ReadConvolutionBatch(ctx.node()));
  TF_ASSIGN_OR_RETURN(const Shape given, ArgumentShape(ctx, 0));
  TF_ASSIGN_OR_RETURN(Shape input, FoldBatch(batch, attrs, given));
  TF_ASSIGN_OR_RETURN(const Shape filter, ArgumentShape(ctx, 1));
  Shape output = Shape::Unknown();
  if (traits.result != ConvolutionResult::kOutput) {
    TF_ASSIGN_OR_RETURN(output, ctx.input_shape(2));
  }
  if (traits.result == ConvolutionResult::kInput) {
    TF_ASSIGN_OR_RETURN(input, ConvolutionInputShape(attrs, traits.depthwise, input, filter, output));
  }
  TF_ASSIGN_OR_RETURN(const Convolution c, MakeConvolution(attrs, traits, input, filter, output));
  if (traits.result == ConvolutionResult::kOutput) TF_RETURN_IF_ERROR(CheckGroups(batch, input, filter, c.groups));
  Builder& b = ctx.builder();
  const Shape& result = traits.result == ConvolutionResult::kOutput  ? c.OutputShape()
                        : traits.result == ConvolutionResult::kInput ? input
                                                                     : filter;
  const DType dtype = ctx.node().output_type(0);
  Value value;
  if (input.num_elements() == 0 || filter.num_elements() == 0 || c.OutputShape().num_elements() == 0) {
    value = b.Splat(dtype, 0, result);  // each element is an empty sum
  } else if (traits.result == ConvolutionResult::kOutput) {
    TF_ASSIGN_OR_RETURN(const Value x, ctx.input(0));
    TF_ASSIGN_OR_RETURN(const Value w, ctx.input(1));
    value = ForwardOf(b, c, b.Reshape(x, input), w);
  } else if (traits.result == ConvolutionResult::kInput) {
    TF_ASSIGN_OR_RETURN(const Value w, ctx.input(1));
    TF_ASSIGN_OR_RETURN(const Value dy, ctx.input(2));
    value = InputGradientOf(b, c, input, w, dy);
  } else {
    TF_ASSIGN_OR_RETURN(const Value x, ctx.input(0));
    TF_ASSIGN_OR_RETURN(const Value dy, ctx.input(2));
    value = FilterGradientOf(b, c, x, filter, dy);
  }
  if (ctx.node().type() == "_FusedConv2D") {
    TF_ASSIGN_OR_RETURN(value, BiasReluOf(ctx, value, c.channels_first ? 1 : value.rank() - 1));
  }
  if (traits.result == ConvolutionResult::kOutput) value = b.Reshape(value, UnfoldBatch(batch, given, value.shape));
  ctx.set_output(0, value);
  return OkStatus();
}

}  // namespace

EmitterDef& AddConvolution(EmitterRegistry& r, std::string_view op, DTypeSet types, std::source_location location) {
  EmitterDef& def = r.Add(op, {{"T", types}}, EmitConvolution, location);
  const OpDef* schema = OpRegistry::Global().Find(std::string(op));
  for (const ArgDef& arg : schema->inputs) {
    if (arg.name.ends_with("_sizes")) def.static_inputs.push_back(arg.name);
  }
  return def;
}

void RegisterNnConvolutionEmitters(EmitterRegistry& r) {
  for (const char* op : {"Conv", "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropInputV2", "Conv2DBackpropFilter",
                         "Conv2DBackpropFilterV2", "Conv3D", "Conv3DBackpropInput", "Conv3DBackpropInputV2",
                         "Conv3DBackpropFilter", "Conv3DBackpropFilterV2"}) {
    AddConvolution(r, op, kFloats);
  }
  AddConvolution(r, "_FusedConv2D", {kFloat32}).refuse = RefuseFusedOps;
}

}  // namespace tensorbraid::pjrt
