// Batch normalization: schemas, shape rules, gradients.
#include <algorithm>
#include <vector>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/nn/window.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// Sets *x to the shape of input number `input`, which must have rank 4 or 5, and *channels to [number of its channels].
Status BatchNormInput(ShapeContext& c, int input, Shape* x, Shape* channels) {
  TF_ASSIGN_OR_RETURN(const bool channels_first, ReadChannelsFirst(c.node()));
  TF_ASSIGN_OR_RETURN(*x, c.WithRankAtLeast(input, 4));
  if (x->has_rank() && x->rank() > 5) return InvalidArgument("the input must have rank 4 or 5, got shape ", *x);
  *channels = Shape({x->has_rank() ? x->dim(channels_first ? 1 : x->rank() - 1) : Shape::kUnknownDim});
  return OkStatus();
}

// Merges *channels with the shapes of these inputs, which are vectors with one element for each channel.
Status MergeChannels(ShapeContext& c, std::initializer_list<int> inputs, Shape* channels) {
  for (const int i : inputs) {
    TF_ASSIGN_OR_RETURN(const Shape vector, c.WithRank(i, 1));
    auto merged = channels->MergeWith(vector);
    if (!merged.ok()) {
      return InvalidArgument("input ", i, " must have one element for each of the ", channels->dim(0),
                             " channels, got shape ", vector);
    }
    *channels = *std::move(merged);
  }
  return OkStatus();
}

// The inputs are x, scale, offset, mean and variance. In training, mean and variance are used only for moving averages,
// and may be empty if there are none.
Status FusedBatchNormShape(ShapeContext& c) {
  Shape x, channels;
  TF_RETURN_IF_ERROR(BatchNormInput(c, 0, &x, &channels));
  TF_RETURN_IF_ERROR(MergeChannels(c, {1, 2}, &channels));
  if (!c.attr<bool>("is_training")) TF_RETURN_IF_ERROR(MergeChannels(c, {3, 4}, &channels));
  c.set_output(0, std::move(x));
  for (int i = 1; i < 5; ++i) c.set_output(i, channels);
  if (c.num_outputs() > 5) c.set_output(5, Shape());
  return OkStatus();
}

// The inputs are y_backprop, x, scale, and mean and variance of the batch.
Status FusedBatchNormGradShape(ShapeContext& c) {
  Shape x, channels;
  TF_RETURN_IF_ERROR(BatchNormInput(c, 0, &x, &channels));
  TF_ASSIGN_OR_RETURN(x, x.MergeWith(c.input(1)));
  TF_RETURN_IF_ERROR(MergeChannels(c, {2, 3, 4}, &channels));
  c.set_output(0, std::move(x));
  c.set_output(1, channels);
  c.set_output(2, std::move(channels));
  c.set_output(3, Shape({0}));
  c.set_output(4, Shape({0}));
  return OkStatus();
}

// Output 0 has the shape of the batch norm's result after the maximum over windows that tile it. Unknown sizes stay
// unknown.
Status FusedBatchNormReluShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(FusedBatchNormShape(c));
  TF_ASSIGN_OR_RETURN(Shape y, c.WithRank(0, 4));
  const auto& ksize = c.attr<std::vector<int64_t>>("ksize");
  if (ksize.size() != 4 || std::any_of(ksize.begin(), ksize.end(), [](int64_t size) { return size < 1; })) {
    return InvalidArgument("ksize must have 4 positive elements");
  }
  for (int axis = 1; axis < 3; ++axis) {
    if (y.dim(axis) >= 0) y.set_dim(axis, y.dim(axis) / ksize[axis]);
  }
  c.set_output(0, std::move(y));
  return OkStatus();
}

// As FusedBatchNormGradShape, but y_backprop has the shape of the maxima, and input 6 is the offset.
Status FusedBatchNormReluGradShape(ShapeContext& c) {
  Shape x, channels;
  TF_RETURN_IF_ERROR(BatchNormInput(c, 1, &x, &channels));
  TF_RETURN_IF_ERROR(MergeChannels(c, {2, 3, 4, 6}, &channels));
  c.set_output(0, std::move(x));
  c.set_output(1, channels);
  c.set_output(2, std::move(channels));
  c.set_output(3, Shape({0}));
  c.set_output(4, Shape({0}));
  return OkStatus();
}

constexpr char kFusedBatchNormGrad[] = "FusedBatchNormGrad";
constexpr char kFusedBatchNormGradV2[] = "FusedBatchNormGradV2";
constexpr char kFusedBatchNormGradV3[] = "FusedBatchNormGradV3";

// Gradients of x, scale and offset. As in TensorFlow, the moving averages do not pass a gradient on.
template <const char* name>
Status FusedBatchNormGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  if (!grads[0].valid()) return OkStatus();
  const Node& node = *NodeOf(op);
  const bool training = node.attr<bool>("is_training");
  NodeBuilder builder(*op.graph(), name);
  builder.Input(grads[0]).Input(node.inputs()[0]).Input(node.inputs()[1]);
  // In training, the mean and variance of the batch are outputs 3 and 4.
  builder.Input(training ? op.output(3) : node.inputs()[3]).Input(training ? op.output(4) : node.inputs()[4]);
  if (op.num_outputs() > 5) builder.Input(op.output(5));
  builder.Attr("epsilon", node.attr<float>("epsilon"))
      .Attr("data_format", node.attr<std::string>("data_format"))
      .Attr("is_training", training);
  const Operation gradient = builder.Finish();
  if (!gradient.valid()) return OkStatus();
  for (int i = 0; i < 3; ++i) (*input_grads)[i] = gradient.output(i);
  return OkStatus();
}

// Sums and means of each channel, for one data format.
class ChannelMath {
 public:
  ChannelMath(int rank, bool channels_first) {
    for (int64_t axis = 0; axis < rank; ++axis) {
      if (axis == (channels_first ? 1 : rank - 1)) continue;
      axes_.push_back(axis);
    }
    if (!channels_first) return;
    spread_.assign(rank, 1);
    spread_[1] = -1;
  }
  Output Sum(Output x) const { return ReduceSum(x, axes_); }
  Output Mean(Output x) const { return ReduceMean(x, axes_); }
  // Reshapes a vector with one element for each channel so that it broadcasts to the shape of x.
  Output Spread(Output vector) const { return spread_.empty() ? vector : Reshape(vector, spread_); }

 private:
  std::vector<int64_t> axes_, spread_;
};

// Gradients of y_backprop, x and scale. As in TensorFlow, mean and variance are functions of x in training. Without
// training they are inputs, which get no gradient. With r = 1 / sqrt(variance + epsilon), n = (x - mean) * r and
// dy = y_backprop, the op computes
//
//   scale_backprop = sum(dy * n)
//   offset_backprop = sum(dy)
//   x_backprop = scale * r * R(dy)
//
// where R(v) = v - mean(v) - n * mean(v * n) in training, and R(v) = v otherwise.
Status FusedBatchNormGradGradient(const Operation& op, const std::vector<Output>& grads,
                                  std::vector<Output>* input_grads) {
  const Node& node = *NodeOf(op);
  const std::vector<Output>& in = node.inputs();
  TF_ASSIGN_OR_RETURN(const bool channels_first, ReadChannelsFirst(node));
  // A data format such as "NHWC" has a letter for each axis.
  const int rank =
      in[1].shape().has_rank() ? in[1].shape().rank() : static_cast<int>(node.attr<std::string>("data_format").size());
  const ChannelMath math(rank, channels_first);
  const std::vector<Output> d = FilledGradients(op, grads);
  const Output dy = Cast(in[0], kFloat32), x = Cast(in[1], kFloat32), gx = Cast(d[0], kFloat32);
  const Output scale = math.Spread(in[2]), gscale = math.Spread(d[1]), goffset = math.Spread(d[2]);
  const Output r = Rsqrt(math.Spread(in[4]) + node.attr<float>("epsilon"));
  const Output n = (x - math.Spread(in[3])) * r;
  const auto mean = [&](Output v) { return math.Spread(math.Mean(v)); };
  Output of_dy, of_x, of_scale;
  if (node.attr<bool>("is_training")) {
    const auto rest = [&](Output v) { return v - mean(v) - n * mean(v * n); };
    const Output rest_dy = rest(dy);
    of_dy = scale * r * rest(gx);
    // The outputs depend on x through n, whose derivative is r * R, and through r.
    const Output of_n = gscale * dy - scale * r * (gx * mean(dy * n) + dy * mean(gx * n));
    of_x = r * rest(of_n) - n * (scale * Square(r) * mean(gx * rest_dy));
    of_scale = math.Sum(gx * rest_dy * r);
  } else {
    of_dy = scale * r * gx;
    of_x = gscale * r * dy;
    of_scale = math.Sum(gx * dy * r);
  }
  (*input_grads)[0] = Cast(of_dy + gscale * n + goffset, in[0].dtype());
  (*input_grads)[1] = Cast(of_x, in[1].dtype());
  (*input_grads)[2] = of_scale;
  return OkStatus();
}

Status GlobalBatchNormShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape t, c.WithRank(0, 4));
  Shape channels({t.dim(3)});
  TF_RETURN_IF_ERROR(MergeChannels(c, {1, 2, 3, 4}, &channels));
  t.set_dim(3, channels.dim(0));
  c.set_output(0, std::move(t));
  return OkStatus();
}

Status GlobalBatchNormGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape t, c.WithRank(0, 4));
  TF_ASSIGN_OR_RETURN(t, t.MergeWith(c.input(4)));
  Shape channels({t.dim(3)});
  TF_RETURN_IF_ERROR(MergeChannels(c, {1, 2, 3}, &channels));
  t.set_dim(3, channels.dim(0));
  c.set_output(0, std::move(t));
  for (int i = 1; i < 5; ++i) c.set_output(i, channels);
  return OkStatus();
}

Status GlobalBatchNormGradient(const Operation& op, const std::vector<Output>& grads,
                               std::vector<Output>* input_grads) {
  const std::vector<Output>& in = NodeOf(op)->inputs();  // t, mean, variance, beta, gamma
  const Operation gradient = NodeBuilder(*op.graph(), "BatchNormWithGlobalNormalizationGrad")
                                 .Input(in[0])
                                 .Input(in[1])
                                 .Input(in[2])
                                 .Input(in[4])
                                 .Input(grads[0])
                                 .Attr("variance_epsilon", NodeOf(op)->attr<float>("variance_epsilon"))
                                 .Attr("scale_after_normalization", NodeOf(op)->attr<bool>("scale_after_normalization"))
                                 .Finish();
  if (!gradient.valid()) return OkStatus();
  for (int i = 0; i < 5; ++i) (*input_grads)[i] = gradient.output(i);
  return OkStatus();
}

constexpr const char* kBatchNormFormat = "data_format: {'NHWC', 'NCHW'} = 'NHWC'";
constexpr const char* kBatchNormFormatV3 = "data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'";
constexpr const char* kBatchNormChannelsLast = "data_format: {'NHWC'} = 'NHWC'";

// Starts the schema of a version of FusedBatchNorm, without its attributes. `vectors` is the dtype of the vectors with
// one element per channel (scale, offset, mean, variance).
Op FusedBatchNormOp(const char* name, const char* vectors) {
  Op op(name);
  op.Input("x: T").Output("y: T");
  for (const char* input : {"scale", "offset", "mean", "variance"}) op.Input(StrCat(input, ": ", vectors).c_str());
  for (const char* output : {"batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"}) {
    op.Output(StrCat(output, ": ", vectors).c_str());
  }
  return op;
}

// Starts the schema of a version of FusedBatchNormGrad, without its attributes and without the inputs and outputs that
// depend on the version.
Op FusedBatchNormGradOp(const char* name, const char* scale, const char* vectors) {
  Op op(name);
  op.Input("y_backprop: T").Input("x: T").Input(StrCat("scale: ", scale).c_str()).Output("x_backprop: T");
  for (const char* input : {"reserve_space_1", "reserve_space_2"}) op.Input(StrCat(input, ": ", vectors).c_str());
  for (const char* output : {"scale_backprop", "offset_backprop"}) op.Output(StrCat(output, ": ", vectors).c_str());
  return op;
}

// Adds the attributes that follow the dtypes.
Op FusedBatchNormAttrs(Op op, const char* format) {
  return op.Attr("epsilon: float = 0.0001")
      .Attr("exponential_avg_factor: float = 1.0")
      .Attr(format)
      .Attr("is_training: bool = true");
}
Op FusedBatchNormGradAttrs(Op op, const char* format) {
  return op.Attr("epsilon: float = 0.0001").Attr(format).Attr("is_training: bool = true");
}

}  // namespace

void RegisterNnBatchNormOps(OpRegistry& r) {
  r.Add(FusedBatchNormAttrs(FusedBatchNormOp("FusedBatchNorm", "T").Attr("T: {float}"), kBatchNormFormat)
            .Shape(FusedBatchNormShape)
            .Gradient(FusedBatchNormGradient<kFusedBatchNormGrad>));
  r.Add(FusedBatchNormAttrs(
            FusedBatchNormOp("FusedBatchNormV2", "U").Attr("T: {half, bfloat16, float}").Attr("U: {float}"),
            kBatchNormFormat)
            .Shape(FusedBatchNormShape)
            .Gradient(FusedBatchNormGradient<kFusedBatchNormGradV2>));
  r.Add(FusedBatchNormAttrs(FusedBatchNormOp("FusedBatchNormV3", "U")
                                .Output("reserve_space_3: U")
                                .Attr("T: {half, bfloat16, float}")
                                .Attr("U: {bfloat16, float}"),
                            kBatchNormFormatV3)
            .Shape(FusedBatchNormShape)
            .Gradient(FusedBatchNormGradient<kFusedBatchNormGradV3>));
  r.Add(FusedBatchNormGradAttrs(FusedBatchNormGradOp("FusedBatchNormGrad", "T", "T")
                                    .Output("reserve_space_3: T")
                                    .Output("reserve_space_4: T")
                                    .Attr("T: {float}"),
                                kBatchNormFormat)
            .Shape(FusedBatchNormGradShape)
            .Gradient(FusedBatchNormGradGradient));
  r.Add(FusedBatchNormGradAttrs(FusedBatchNormGradOp("FusedBatchNormGradV2", "float", "U")
                                    .Output("reserve_space_3: U")
                                    .Output("reserve_space_4: U")
                                    .Attr("T: {half, bfloat16, float}")
                                    .Attr("U: {float}"),
                                kBatchNormFormat)
            .Shape(FusedBatchNormGradShape)
            .Gradient(FusedBatchNormGradGradient));
  r.Add(FusedBatchNormGradAttrs(FusedBatchNormGradOp("FusedBatchNormGradV3", "float", "U")
                                    .Input("reserve_space_3: U")
                                    .Output("reserve_space_4: U")
                                    .Output("reserve_space_5: U")
                                    .Attr("T: {half, bfloat16, float}")
                                    .Attr("U: {float}"),
                                kBatchNormFormatV3)
            .Shape(FusedBatchNormGradShape)
            .Gradient(FusedBatchNormGradGradient));
  // executor/passes/fuse_batch_norms.cc replaces FusedBatchNormV3, Relu and a MaxPool whose windows tile the image by
  // this op. Without a MaxPool, the windows have one pixel.
  r.Add(FusedBatchNormAttrs(FusedBatchNormOp("_FusedBatchNormRelu", "U")
                                .Output("reserve_space_3: U")
                                .Attr("T: {float}")
                                .Attr("U: {float}"),
                            kBatchNormChannelsLast)
            .Attr("ksize: list(int) >= 4")
            .Shape(FusedBatchNormReluShape));
  // The gradient of _FusedBatchNormRelu: computes the gradients of MaxPool, Relu and FusedBatchNormV3 in one node.
  r.Add(FusedBatchNormGradAttrs(FusedBatchNormGradOp("_FusedBatchNormReluGrad", "float", "U")
                                    .Input("reserve_space_3: U")
                                    .Input("offset: U")
                                    .Output("reserve_space_4: U")
                                    .Output("reserve_space_5: U")
                                    .Attr("T: {float}")
                                    .Attr("U: {float}"),
                                kBatchNormChannelsLast)
            .Attr("ksize: list(int) >= 4")
            .Shape(FusedBatchNormReluGradShape));
  r.Add(Op("BatchNormWithGlobalNormalization")
            .Input("t: T")
            .Input("m: T")
            .Input("v: T")
            .Input("beta: T")
            .Input("gamma: T")
            .Output("result: T")
            .Attr("T: numbertype")
            .Attr("variance_epsilon: float")
            .Attr("scale_after_normalization: bool")
            .Shape(GlobalBatchNormShape)
            .Gradient(GlobalBatchNormGradient));
  r.Add(Op("BatchNormWithGlobalNormalizationGrad")
            .Input("t: T")
            .Input("m: T")
            .Input("v: T")
            .Input("gamma: T")
            .Input("backprop: T")
            .Output("dx: T")
            .Output("dm: T")
            .Output("dv: T")
            .Output("db: T")
            .Output("dg: T")
            .Attr("T: numbertype")
            .Attr("variance_epsilon: float")
            .Attr("scale_after_normalization: bool")
            .Shape(GlobalBatchNormGradShape));
}

}  // namespace tensorbraid
