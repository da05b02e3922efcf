// Maximum and mean over windows of images, and their gradients: schemas, shape rules, gradients.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/nn/pool_gradients.h"
#include "ops/nn/pool_window.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// `kPoolsChannels`: the op may pool over channels.
template <bool kPoolsChannels>
Status PoolShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(PoolAttrs attrs, ReadPoolAttrs(c.node(), 2));
  attrs.pools_channels = kPoolsChannels;
  TF_ASSIGN_OR_RETURN(PoolWindows windows, PlacePool(attrs, c.input(0)));
  c.set_output(0, std::move(windows.output));
  return OkStatus();
}

// For ops that have ksize and strides as inputs number `sizes` and `sizes` + 1. Sets them in *attrs, or returns false
// if their values are not known while building the graph.
StatusOr<bool> ReadPoolSizes(ShapeContext& c, int sizes, PoolAttrs* attrs) {
  TF_RETURN_IF_ERROR(c.WithRank(sizes, 1).status());
  TF_RETURN_IF_ERROR(c.WithRank(sizes + 1, 1).status());
  const Tensor ksize = c.input_value(sizes), strides = c.input_value(sizes + 1);
  if (!ksize.is_valid() || !strides.is_valid()) return false;
  TF_RETURN_IF_ERROR(SetPoolSizes(ksize, strides, attrs));
  return true;
}

Status MaxPoolV2Shape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(PoolAttrs attrs, ReadPoolAttrs(c.node(), 2));
  attrs.pools_channels = true;
  TF_ASSIGN_OR_RETURN(const Shape input, c.WithRank(0, 4));
  TF_ASSIGN_OR_RETURN(const bool known, ReadPoolSizes(c, 1, &attrs));
  if (!known) {
    c.set_output(0, {input.dim(0), -1, -1, -1});
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(PoolWindows windows, PlacePool(attrs, input));
  c.set_output(0, std::move(windows.output));
  return OkStatus();
}

// The inputs are x, y and dy, and the output is dx. The attributes or the last inputs give the windows.
Status MaxPoolGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(PoolAttrs attrs, ReadPoolAttrs(c.node(), 2));
  TF_ASSIGN_OR_RETURN(Shape x, c.WithRank(0, 4));
  TF_ASSIGN_OR_RETURN(Shape y, c.WithRank(1, 4));
  bool known = true;
  if (c.num_inputs() == 5) {
    TF_ASSIGN_OR_RETURN(known, ReadPoolSizes(c, 3, &attrs));
  }
  if (known) {
    TF_ASSIGN_OR_RETURN(const PoolWindows windows, PlacePool(attrs, x));
    TF_ASSIGN_OR_RETURN(y, y.MergeWith(windows.output));
  }
  TF_RETURN_IF_ERROR(y.MergeWith(c.input(2)).status());
  c.set_output(0, std::move(x));
  return OkStatus();
}

// The inputs are x, y and ddx, and the output is ddy.
Status MaxPoolGradGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(PoolAttrs attrs, ReadPoolAttrs(c.node(), 2));
  TF_ASSIGN_OR_RETURN(Shape x, c.WithRank(0, 4));
  TF_ASSIGN_OR_RETURN(Shape y, c.WithRank(1, 4));
  TF_ASSIGN_OR_RETURN(x, x.MergeWith(c.input(2)));
  bool known = true;
  if (c.num_inputs() == 5) {
    TF_ASSIGN_OR_RETURN(known, ReadPoolSizes(c, 3, &attrs));
  }
  if (known) {
    TF_ASSIGN_OR_RETURN(const PoolWindows windows, PlacePool(attrs, x));
    TF_ASSIGN_OR_RETURN(y, y.MergeWith(windows.output));
  }
  c.set_output(0, std::move(y));
  return OkStatus();
}

Status AvgPoolGradShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  TF_RETURN_IF_ERROR(c.WithRank(1, 4).status());
  TF_RETURN_IF_ERROR(ReadPoolAttrs(c.node(), 2).status());
  TF_ASSIGN_OR_RETURN(const Shape x, c.input_as_shape(0));
  TF_ASSIGN_OR_RETURN(Shape known, x.MergeWith(Shape::UnknownOfRank(4)));
  c.set_output(0, std::move(known));
  return OkStatus();
}

constexpr const char* kPoolFormat = "data_format: {'NHWC', 'NCHW'} = 'NHWC'";
constexpr const char* kMaxPoolFormat = "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'";
constexpr const char* kMaxPoolTypes =
    "T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = DT_FLOAT";
constexpr const char* kPoolPadding = "padding: {'SAME', 'VALID'}";

// Adds ksize and strides as attributes (or as inputs, with PoolSizeInputs), and the attributes of the padding.
Op PoolSizeAttrs(Op op) { return op.Attr("ksize: list(int) >= 4").Attr("strides: list(int) >= 4").Attr(kPoolPadding); }
Op ExplicitPoolAttrs(Op op) {
  return op.Attr("ksize: list(int) >= 4")
      .Attr("strides: list(int) >= 4")
      .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .Attr("explicit_paddings: list(int) = []");
}
Op PoolSizeInputs(Op op) { return op.Input("ksize: int32").Input("strides: int32"); }

// Adds the inputs of a gradient of a maximum: x, y, and the gradient of one of them.
Op MaxPoolGradInputs(Op op) { return op.Input("orig_input: T").Input("orig_output: T").Input("grad: T"); }

}  // namespace

void RegisterNnPoolingOps(OpRegistry& r) {
  r.Add(ExplicitPoolAttrs(Op("MaxPool").Input("input: T").Output("output: T").Attr(kMaxPoolTypes))
            .Attr(kMaxPoolFormat)
            .Shape(PoolShape<true>)
            .Gradient(PoolGradient<kMaxPoolGrad>));
  r.Add(PoolSizeInputs(Op("MaxPoolV2").Input("input: T"))
            .Output("output: T")
            .Attr(kMaxPoolTypes)
            .Attr(kPoolPadding)
            .Attr(kMaxPoolFormat)
            .Shape(MaxPoolV2Shape)
            .Gradient(PoolGradient<kMaxPoolGradV2>));
  r.Add(PoolSizeAttrs(Op("AvgPool").Input("value: T").Output("output: T"))
            .Attr(kPoolFormat)
            .Attr("T: {half, bfloat16, float, double}")
            .Shape(PoolShape<false>)
            .Gradient(AvgPoolGradient<kAvgPoolGrad>));
  r.Add(PoolSizeAttrs(Op("AvgPoolGrad").Input("orig_input_shape: int32").Input("grad: T").Output("output: T"))
            .Attr(kPoolFormat)
            .Attr("T: {half, bfloat16, float, double}")
            .Shape(AvgPoolGradShape)
            .Gradient(AvgPoolGradGradient<kAvgPool>));
  r.Add(ExplicitPoolAttrs(MaxPoolGradInputs(Op("MaxPoolGrad")).Output("output: T"))
            .Attr(kPoolFormat)
            .Attr("T: realnumbertype = DT_FLOAT")
            .Shape(MaxPoolGradShape)
            .Gradient(PoolGradGradient<kMaxPoolGradGrad>));
  // executor/passes/fuse_relu_gradients.cc makes this op. It computes the MaxPoolGrad of a maximum over the output of a
  // Relu, and then the gradient of that Relu.
  r.Add(ExplicitPoolAttrs(MaxPoolGradInputs(Op("_MaxPoolReluGrad")).Output("output: T"))
            .Attr(kPoolFormat)
            .Attr("T: {float} = DT_FLOAT")
            .Shape(MaxPoolGradShape));
  r.Add(PoolSizeInputs(MaxPoolGradInputs(Op("MaxPoolGradV2")))
            .Output("output: T")
            .Attr(kPoolPadding)
            .Attr(kPoolFormat)
            .Attr("T: realnumbertype = DT_FLOAT")
            .Shape(MaxPoolGradShape)
            .Gradient(PoolGradGradient<kMaxPoolGradGradV2>));
  r.Add(PoolSizeAttrs(MaxPoolGradInputs(Op("MaxPoolGradGrad")).Output("output: T"))
            .Attr(kPoolFormat)
            .Attr("T: realnumbertype")
            .Shape(MaxPoolGradGradShape)
            .Gradient(PoolGradGradient<kMaxPoolGrad>));
  r.Add(PoolSizeInputs(MaxPoolGradInputs(Op("MaxPoolGradGradV2")))
            .Output("output: T")
            .Attr(kPoolPadding)
            .Attr(kPoolFormat)
            .Attr("T: realnumbertype")
            .Shape(MaxPoolGradGradShape)
            .Gradient(PoolGradGradient<kMaxPoolGradV2>));
}

}  // namespace tensorbraid
