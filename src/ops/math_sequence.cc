// Sequences, clipping, cross products, and products of matrices of several types: schemas and shape rules.
#include "core/strings.h"
#include "graph/node.h"
#include "ops/builder.h"
#include "tensorbraid/math_ops.h"

namespace tensorbraid {
namespace {

Status LinSpaceShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  const Tensor num = c.input_value(2);
  if (!num.is_valid()) {
    c.set_output(0, Shape::UnknownOfRank(1));
    return OkStatus();
  }
  const int64_t n = num.dtype() == kInt64 ? num.scalar<int64_t>() : num.scalar<int32_t>();
  if (n <= 0) return InvalidArgument("num must be positive, got ", n);
  c.set_output(0, {n});
  return OkStatus();
}

Status CrossShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape a, c.WithRankAtLeast(0, 1));
  TF_ASSIGN_OR_RETURN(const Shape b, c.WithRankAtLeast(1, 1));
  auto merged = a.MergeWith(b);
  if (!merged.ok()) return InvalidArgument("both inputs must have the same shape, got ", a, " and ", b);
  if (merged->has_rank()) {
    const int64_t last = merged->dim(merged->rank() - 1);
    if (last >= 0 && last != 3) return InvalidArgument("the last dimension must have size 3, got shape ", *merged);
  }
  c.set_output(0, *std::move(merged));
  return OkStatus();
}

Status CrossGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = op.node()->inputs();
  *input_grads = {Node2("Cross", in[1], grads[0]), Node2("Cross", grads[0], in[0])};
  return OkStatus();
}

// What was clipped flows to the bound, the rest to the input.
Status ClipByValueGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = op.node()->inputs();
  const Output g = grads[0];
  const Output below = Less(in[0], in[1]), above = Greater(in[0], in[2]);
  (*input_grads)[0] = Select(LogicalOr(below, above), 0.0, g);
  (*input_grads)[1] = SumToOperand(Select(below, g, 0.0), in[1], op.output(0));
  (*input_grads)[2] = SumToOperand(Select(above, g, 0.0), in[2], op.output(0));
  return OkStatus();
}

Status AccumulateShape(ShapeContext& c) {
  c.set_output(0, c.attr<Shape>("shape"));
  return OkStatus();
}

Status AccumulateGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  for (Output& g : *input_grads) g = grads[0];
  return OkStatus();
}

}  // namespace

void RegisterSequenceOps(OpRegistry& r) {
  r.Add(Op("LinSpace")
            .Input("start: T")
            .Input("stop: T")
            .Input("num: Tidx")
            .Output("output: T")
            .Attr("T: {bfloat16, half, float, double}")
            .Attr("Tidx: {int32, int64} = DT_INT32")
            .Shape(LinSpaceShape));
  r.Add(Op("Cross")
            .Input("a: T")
            .Input("b: T")
            .Output("product: T")
            .Attr("T: realnumbertype")
            .Shape(CrossShape)
            .Gradient(CrossGradient));
  r.Add(Op("ClipByValue")
            .Input("t: T")
            .Input("clip_value_min: T")
            .Input("clip_value_max: T")
            .Output("output: T")
            .Attr("T: numbertype")
            .Shape(UnchangedShape)
            .Gradient(ClipByValueGradient));
  r.Add(Op("AccumulateNV2")
            .Input("inputs: N * T")
            .Output("sum: T")
            .Attr("N: int >= 1")
            .Attr("T: numbertype")
            .Attr("shape: shape")
            .Shape(AccumulateShape)
            .Gradient(AccumulateGradient));
}

}  // namespace tensorbraid
