// Convolutions of images that are first resized and padded with mirrored pixels: schemas and shape rules. Like
// TensorFlow's ops, these have no gradient.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "graph/model/op_registry.h"
#include "ops/nn/convolution.h"

namespace tensorbraid {
namespace {

// The inputs are the images, for FusedResizeAndPadConv2D the size to which they are resized, the paddings [4, 2] and
// the filter.
Status FusedConvolutionShape(ShapeContext& c) {
  const int paddings = c.num_inputs() - 2;
  TF_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadFusedConvolutionAttrs(c.node()));
  TF_ASSIGN_OR_RETURN(Shape images, c.WithRank(0, 4));
  if (paddings == 2) {
    TF_RETURN_IF_ERROR(c.WithRank(1, 1).status());
    TF_ASSIGN_OR_RETURN(const Shape size, c.input_as_shape(1));
    if (size.has_rank() && size.rank() != 2) return InvalidArgument("size must have two elements, got ", size);
    for (int i = 0; i < 2; ++i) images.set_dim(1 + i, size.has_rank() ? size.dim(i) : Shape::kUnknownDim);
  }
  TF_ASSIGN_OR_RETURN(const Shape pairs, c.WithRank(paddings, 2));
  if (!pairs.IsCompatibleWith({4, 2})) return InvalidArgument("paddings must have shape [4,2], got ", pairs);
  const Tensor value = c.input_value(paddings);
  if (value.is_valid()) {
    TF_ASSIGN_OR_RETURN(const MirrorPaddings around, ReadMirrorPaddings(value));
    for (int i = 0; i < 2; ++i) {
      if (images.dim(1 + i) >= 0) images.set_dim(1 + i, images.dim(1 + i) + around.before[i] + around.after[i]);
    }
  } else {
    images.set_dim(1, Shape::kUnknownDim);
    images.set_dim(2, Shape::kUnknownDim);
  }
  TF_ASSIGN_OR_RETURN(const Convolution convolution,
                      MakeConvolution(attrs, ConvolutionTraits(), images, c.input(paddings + 1), Shape::Unknown()));
  c.set_output(0, convolution.OutputShape());
  return OkStatus();
}

}  // namespace

StatusOr<WindowAttrs> ReadFusedConvolutionAttrs(const Node& node) {
  return ReadWindowAttrs(node, /*spatial=*/2, /*dilations=*/"", absl::StatusCode::kInvalidArgument);
}

StatusOr<MirrorPaddings> ReadMirrorPaddings(const Tensor& t) {
  if (t.shape() != Shape({4, 2})) return InvalidArgument("paddings must have shape [4,2], got ", t.shape());
  const std::span<const int32_t> pairs = t.data<int32_t>();
  for (const int i : {0, 1, 6, 7}) {
    if (pairs[i] != 0) {
      return InvalidArgument("Fused mirror padding only support spatial padding, not ",
                             i < 2 ? "the batch" : "channels", ", got ", t.ToString());
    }
  }
  MirrorPaddings p;
  for (int i = 0; i < 2; ++i) {
    p.before[i] = pairs[2 + 2 * i];
    p.after[i] = pairs[3 + 2 * i];
    if (p.before[i] < 0 || p.after[i] < 0) return InvalidArgument("paddings must not be negative, got ", t.ToString());
  }
  return p;
}

void RegisterNnFusedConvolutionOps(OpRegistry& r) {
  r.Add(Op("FusedResizeAndPadConv2D")
            .Input("input: T")
            .Input("size: int32")
            .Input("paddings: int32")
            .Input("filter: T")
            .Output("output: T")
            .Attr("T: {half, float, double}")
            .Attr("resize_align_corners: bool = false")
            .Attr("mode: {'REFLECT', 'SYMMETRIC'}")
            .Attr("strides: list(int)")
            .Attr("padding: {'SAME', 'VALID'}")
            .Shape(FusedConvolutionShape));
  r.Add(Op("FusedPadConv2D")
            .Input("input: T")
            .Input("paddings: int32")
            .Input("filter: T")
            .Output("output: T")
            .Attr("T: {half, bfloat16, float, double}")
            .Attr("mode: {'REFLECT', 'SYMMETRIC'}")
            .Attr("strides: list(int)")
            .Attr("padding: {'SAME', 'VALID'}")
            .Shape(FusedConvolutionShape));
}

}  // namespace tensorbraid
