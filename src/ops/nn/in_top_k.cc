// InTopK and InTopKV2: schemas and shape rule.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status InTopKShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape predictions, c.WithRank(0, 2));
  TF_ASSIGN_OR_RETURN(const Shape targets, c.WithRank(1, 1));
  TF_ASSIGN_OR_RETURN(Shape rows, Shape({predictions.dim(0)}).MergeWith(targets));
  c.set_output(0, std::move(rows));
  return OkStatus();
}

}  // namespace

void RegisterNnInTopKOps(OpRegistry& r) {
  r.Add(Op("InTopK")
            .Input("predictions: float")
            .Input("targets: T")
            .Output("precision: bool")
            .Attr("k: int")
            .Attr("T: {int32, int64} = DT_INT32")
            .Shape(InTopKShape)
            .NotDifferentiable());
  r.Add(Op("InTopKV2")
            .Input("predictions: float")
            .Input("targets: T")
            .Input("k: T")
            .Output("precision: bool")
            .Attr("T: {int32, int64} = DT_INT32")
            .Shape(InTopKShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
