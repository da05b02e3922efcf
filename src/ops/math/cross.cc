// Cross: schema, shape rule, gradient.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

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
  const auto& in = NodeOf(op)->inputs();
  *input_grads = {Node2("Cross", in[1], grads[0]), Node2("Cross", grads[0], in[0])};
  return OkStatus();
}

}  // namespace

void RegisterMathCrossOps(OpRegistry& r) {
  r.Add(Op("Cross")
            .Input("a: T")
            .Input("b: T")
            .Output("product: T")
            .Attr("T: realnumbertype")
            .Shape(CrossShape)
            .Gradient(CrossGradient));
}

}  // namespace tensorbraid
