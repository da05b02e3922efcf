// Ops that join strings: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// Each input is a scalar or has the shape that all inputs except the scalars have in common.
Status JoinShape(ShapeContext& c) {
  Shape out;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Shape& in = c.input(i);
    if (in.is_scalar()) continue;
    if (!in.has_rank()) {
      c.set_output(0, Shape::Unknown());
      return OkStatus();
    }
    if (out.is_scalar()) {
      out = in;
      continue;
    }
    TF_ASSIGN_OR_RETURN(out, out.MergeWith(in));
  }
  c.set_output(0, out);
  return OkStatus();
}

Status ReduceJoinShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  const Tensor axes = c.input_value(1);
  if (!in.has_rank() || !axes.is_valid()) return OkStatus();
  std::vector<bool> reduced(in.rank(), false);
  for (int64_t axis : axes.data<int32_t>()) {
    if (axis < -in.rank() || axis >= in.rank()) {
      return InvalidArgument("Invalid reduction dimension ", axis, " of an input with ", in.rank(), " dimension(s)");
    }
    reduced[axis < 0 ? axis + in.rank() : axis] = true;
  }
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (!reduced[i]) out.AddDim(in.dim(i));
    if (reduced[i] && c.attr<bool>("keep_dims")) out.AddDim(1);
  }
  c.set_output(0, out);
  return OkStatus();
}

// The shape of inputs starts with the shape of segment_ids. In the output, one dimension with the number of segments
// replaces these dimensions.
Status SegmentJoinShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(2, 0));
  const Shape& in = c.input(0);
  const Shape& ids = c.input(1);
  const Tensor count = c.input_value(2);
  int64_t segments = Shape::kUnknownDim;
  if (count.is_valid()) {
    segments = count.dtype() == kInt32 ? count.data<int32_t>()[0] : count.data<int64_t>()[0];
    if (segments < 0) return InvalidArgument("num_segments must not be negative, got ", segments);
  }
  if (!in.has_rank() || !ids.has_rank()) return OkStatus();
  Shape out({segments});
  if (ids.rank() > in.rank())
    return InvalidArgument("the shape of inputs must start with the shape of segment_ids, got ", in, " and ", ids);
  for (int i = 0; i < in.rank(); ++i) {
    if (i >= ids.rank()) {
      out.AddDim(in.dim(i));
    } else if (ids.dim(i) >= 0 && in.dim(i) >= 0 && ids.dim(i) != in.dim(i)) {
      return InvalidArgument("the shape of inputs must start with the shape of segment_ids, got ", in, " and ", ids);
    }
  }
  c.set_output(0, out);
  return OkStatus();
}

}  // namespace

void RegisterStringJoinOps(OpRegistry& r) {
  r.Add(Op("StringJoin")
            .Input("inputs: N * string")
            .Output("output: string")
            .Attr("N: int >= 0")
            .Attr("separator: string = ''")
            .Shape(JoinShape)
            .NotDifferentiable());
  r.Add(Op("ReduceJoin")
            .Input("inputs: string")
            .Input("reduction_indices: int32")
            .Output("output: string")
            .Attr("keep_dims: bool = false")
            .Attr("separator: string = ''")
            .Shape(ReduceJoinShape)
            .NotDifferentiable());
  r.Add(Op("UnsortedSegmentJoin")
            .Input("inputs: string")
            .Input("segment_ids: Tindices")
            .Input("num_segments: Tnumsegments")
            .Output("output: string")
            .Attr("separator: string = ''")
            .Attr("Tindices: {int32, int64}")
            .Attr("Tnumsegments: {int32, int64} = DT_INT32")
            .Shape(SegmentJoinShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
