// The checkpoint ops of version 1: schemas and shape rules.
#include "checkpoint/tensor_slice.h"
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// Checks that input 0, the file name, is a scalar and the next `lists` inputs are vectors with one element per tensor.
Status SaveV1Shape(ShapeContext& c, int lists) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  const int num_tensors = c.num_inputs() - 1 - lists;
  for (int i = 1; i <= lists; ++i) {
    TF_ASSIGN_OR_RETURN(const Shape list, c.WithRank(i, 1));
    if (list.dim(0) != Shape::kUnknownDim && list.dim(0) != num_tensors) {
      return InvalidArgument("input ", i, " must have an element for each of the ", num_tensors, " tensors, got shape ",
                             list);
    }
  }
  return OkStatus();
}

Status SaveAllShape(ShapeContext& c) { return SaveV1Shape(c, 1); }
Status SaveSlicesShape(ShapeContext& c) { return SaveV1Shape(c, 2); }

Status RestoreOneShape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  c.set_output(0, Shape::Unknown());
  const Tensor slice = c.num_inputs() > 2 ? c.input_value(2) : Tensor();
  if (!slice.is_valid() || slice.scalar<std::string>().empty()) return OkStatus();
  TF_ASSIGN_OR_RETURN(auto parsed, ParseShapeAndSlice(slice.scalar<std::string>()));
  c.set_output(0, std::move(parsed.slice_shape));
  return OkStatus();
}

}  // namespace

void RegisterIoCheckpointV1Ops(OpRegistry& r) {
  r.Add(Op("Save")
            .Input("filename: string")
            .Input("tensor_names: string")
            .Input("data: T")
            .Attr("T: list(type) >= 1")
            .Stateful()
            .Shape(SaveAllShape)
            .NotDifferentiable());
  r.Add(Op("SaveSlices")
            .Input("filename: string")
            .Input("tensor_names: string")
            .Input("shapes_and_slices: string")
            .Input("data: T")
            .Attr("T: list(type) >= 1")
            .Stateful()
            .Shape(SaveSlicesShape)
            .NotDifferentiable());
  r.Add(Op("Restore")
            .Input("file_pattern: string")
            .Input("tensor_name: string")
            .Output("tensor: dt")
            .Attr("dt: type")
            .Attr("preferred_shard: int = -1")
            .Stateful()
            .Shape(RestoreOneShape)
            .NotDifferentiable());
  r.Add(Op("RestoreSlice")
            .Input("file_pattern: string")
            .Input("tensor_name: string")
            .Input("shape_and_slice: string")
            .Output("tensor: dt")
            .Attr("dt: type")
            .Attr("preferred_shard: int = -1")
            .Stateful()
            .Shape(RestoreOneShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
