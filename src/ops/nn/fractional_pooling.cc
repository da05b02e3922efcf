// Pooling over windows whose sizes vary at random, so that the output is smaller by a ratio that need not be an
// integer: schemas, shape rules, gradients.
#include <cmath>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

Status FractionalPoolShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape value, c.WithRank(0, 4));
  const auto& ratios = c.attr<std::vector<float>>("pooling_ratio");
  if (ratios.size() != 4) {
    return InvalidArgument("attribute 'pooling_ratio' must have one element for each of the 4 axes, got ",
                           ratios.size());
  }
  Shape output = Shape::UnknownOfRank(4);
  for (int i = 0; i < 4; ++i) {
    // The comparison is written such that NaN is refused. The kernel checks everything else.
    if (!(ratios[i] >= 1)) return InvalidArgument("attribute 'pooling_ratio' must be at least 1, got ", ratios[i]);
    if (value.dim(i) >= 0) output.set_dim(i, static_cast<int64_t>(std::floor(value.dim(i) / ratios[i])));
  }
  c.set_output(0, output);
  // The pooling sequences are the bounds of the windows, so they have one element more than there are windows.
  for (int i = 1; i < 3; ++i) {
    c.set_output(i, {output.dim(i) < 0 ? Shape::kUnknownDim : output.dim(i) + 1});
  }
  return OkStatus();
}

Status FractionalMaxPoolGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape x, c.WithRank(0, 4));
  TF_RETURN_IF_ERROR(c.WithRank(1, 4).status());
  TF_RETURN_IF_ERROR(c.input(1).MergeWith(c.input(2)).status());
  c.set_output(0, std::move(x));
  return OkStatus();
}

Status FractionalAvgPoolGradShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  TF_RETURN_IF_ERROR(c.WithRank(1, 4).status());
  TF_ASSIGN_OR_RETURN(const Shape x, c.input_as_shape(0));
  TF_ASSIGN_OR_RETURN(Shape known, x.MergeWith(Shape::UnknownOfRank(4)));
  c.set_output(0, std::move(known));
  return OkStatus();
}

Status FractionalMaxPoolGradient(const Operation& op, const std::vector<Output>& grads,
                                 std::vector<Output>* input_grads) {
  if (!grads[0].valid()) return OkStatus();
  (*input_grads)[0] = NodeBuilder(*op.graph(), "FractionalMaxPoolGrad")
                          .Input(NodeOf(op)->inputs()[0])
                          .Input(op.output(0))
                          .Input(grads[0])
                          .Input(op.output(1))
                          .Input(op.output(2))
                          .Attr("overlapping", NodeOf(op)->attr<bool>("overlapping"))
                          .Output();
  return OkStatus();
}

Status FractionalAvgPoolGradient(const Operation& op, const std::vector<Output>& grads,
                                 std::vector<Output>* input_grads) {
  if (!grads[0].valid()) return OkStatus();
  const Output shape =
      NodeBuilder(*op.graph(), "Shape").Input(NodeOf(op)->inputs()[0]).Attr("out_type", kInt64).Output();
  (*input_grads)[0] = NodeBuilder(*op.graph(), "FractionalAvgPoolGrad")
                          .Input(shape)
                          .Input(grads[0])
                          .Input(op.output(1))
                          .Input(op.output(2))
                          .Attr("overlapping", NodeOf(op)->attr<bool>("overlapping"))
                          .Output();
  return OkStatus();
}

}  // namespace

void RegisterNnFractionalPoolingOps(OpRegistry& r) {
  struct Row {
    const char* name;
    GradientFn gradient;
  };
  for (const Row& row : std::initializer_list<Row>{{"FractionalMaxPool", FractionalMaxPoolGradient},
                                                   {"FractionalAvgPool", FractionalAvgPoolGradient}}) {
    r.Add(Op(row.name)
              .Input("value: T")
              .Output("output: T")
              .Output("row_pooling_sequence: int64")
              .Output("col_pooling_sequence: int64")
              .Attr("pooling_ratio: list(float) >= 4")
              .Attr("pseudo_random: bool = false")
              .Attr("overlapping: bool = false")
              .Attr("deterministic: bool = false")
              .Attr("seed: int = 0")
              .Attr("seed2: int = 0")
              .Attr("T: {float, double, int32, int64}")
              .Impure()  // random, though TensorFlow does not say so
              .Shape(FractionalPoolShape)
              .Gradient(row.gradient));
  }
  r.Add(Op("FractionalMaxPoolGrad")
            .Input("orig_input: T")
            .Input("orig_output: T")
            .Input("out_backprop: T")
            .Input("row_pooling_sequence: int64")
            .Input("col_pooling_sequence: int64")
            .Output("output: T")
            .Attr("overlapping: bool = false")
            .Attr("T: {float, double, int32, int64}")
            .Shape(FractionalMaxPoolGradShape));
  r.Add(Op("FractionalAvgPoolGrad")
            .Input("orig_input_tensor_shape: int64")
            .Input("out_backprop: T")
            .Input("row_pooling_sequence: int64")
            .Input("col_pooling_sequence: int64")
            .Output("output: T")
            .Attr("overlapping: bool = false")
            .Attr("T: {float, double, int32, int64}")
            .Shape(FractionalAvgPoolGradShape));
}

}  // namespace tensorbraid
