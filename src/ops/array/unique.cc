// Array ops that find the distinct elements of a tensor, or those that another one lacks: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/op_registry.h"

namespace tensorbraid {
namespace {

// The outputs are y, idx and, for some ops, count. With an axis, y has the rank of x.
Status UniqueShape(ShapeContext& c) {
  const bool has_axis = c.num_inputs() > 1;
  const Shape& x = c.input(0);
  if (!has_axis) {
    TF_ASSIGN_OR_RETURN(Shape vector, c.WithRank(0, 1));
    c.set_output(1, std::move(vector));
  }
  const Shape places({Shape::kUnknownDim});
  c.set_output(0, has_axis ? (x.has_rank() ? Shape::UnknownOfRank(x.rank()) : Shape::Unknown()) : places);
  if (has_axis) c.set_output(1, places);
  if (c.num_outputs() > 2) c.set_output(2, places);
  return OkStatus();
}

Status ListDiffShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  TF_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  c.set_output(0, Shape({Shape::kUnknownDim}));
  c.set_output(1, Shape({Shape::kUnknownDim}));
  return OkStatus();
}

}  // namespace

void RegisterArrayUniqueOps(OpRegistry& r) {
  r.Add(Op("Unique")
            .Input("x: T")
            .Output("y: T")
            .Output("idx: out_idx")
            .Attr("T: type")
            .Attr("out_idx: {int32, int64} = DT_INT32")
            .Shape(UniqueShape)
            .NotDifferentiable());
  r.Add(Op("UniqueWithCounts")
            .Input("x: T")
            .Output("y: T")
            .Output("idx: out_idx")
            .Output("count: out_idx")
            .Attr("T: type")
            .Attr("out_idx: {int32, int64} = DT_INT32")
            .Shape(UniqueShape)
            .NotDifferentiable());
  r.Add(Op("UniqueV2")
            .Input("x: T")
            .Input("axis: Taxis")
            .Output("y: T")
            .Output("idx: out_idx")
            .Attr("T: type")
            .Attr("Taxis: {int32, int64} = DT_INT64")
            .Attr("out_idx: {int32, int64} = DT_INT32")
            .Shape(UniqueShape)
            .NotDifferentiable());
  r.Add(Op("UniqueWithCountsV2")
            .Input("x: T")
            .Input("axis: Taxis")
            .Output("y: T")
            .Output("idx: out_idx")
            .Output("count: out_idx")
            .Attr("T: type")
            .Attr("Taxis: {int32, int64} = DT_INT64")
            .Attr("out_idx: {int32, int64} = DT_INT32")
            .Shape(UniqueShape)
            .NotDifferentiable());
  r.Add(Op("ListDiff")
            .Input("x: T")
            .Input("y: T")
            .Output("out: T")
            .Output("idx: out_idx")
            .Attr("T: type")
            .Attr("out_idx: {int32, int64} = DT_INT32")
            .Shape(ListDiffShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
