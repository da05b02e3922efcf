// ArgMax and ArgMin: schemas and shape rules.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/reduction/axes.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status ArgShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  TF_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  if (!in.has_rank()) return OkStatus();
  const Tensor axis_value = c.input_value(1);
  // AxisValues does not read int16, so an int16 axis is treated as unknown.
  if (!axis_value.is_valid() || axis_value.dtype() == kInt16) {
    if (in.rank() > 0) c.set_output(0, Shape::UnknownOfRank(in.rank() - 1));
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(const std::vector<int64_t> axis, CheckedAxes(AxisValues(axis_value), in.rank()));
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (i != axis[0]) out.AddDim(in.dim(i));
  }
  c.set_output(0, std::move(out));
  return OkStatus();
}

constexpr const char* kOrdered = "T: {realnumbertype, quantizedtype, bool}";

}  // namespace

void RegisterReductionArgMaxOps(OpRegistry& r) {
  r.Add(Op("ArgMax")
            .Input("input: T")
            .Input("dimension: Tidx")
            .Output("output: output_type")
            .Attr(kOrdered)
            .Attr("Tidx: {int16, int32, int64} = DT_INT32")
            .Attr("output_type: {int16, uint16, int32, int64} = DT_INT64")
            .Shape(ArgShape)
            .NotDifferentiable());
  r.Add(Op("ArgMin")
            .Input("input: T")
            .Input("dimension: Tidx")
            .Output("output: output_type")
            .Attr(kOrdered)
            .Attr("Tidx: {int32, int64} = DT_INT32")
            .Attr("output_type: {int32, int64} = DT_INT64")
            .Shape(ArgShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
