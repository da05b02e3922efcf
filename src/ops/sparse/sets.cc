// Ops on the sets that the last dimension of a dense or sparse tensor contains: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status SetSizeShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape shape, c.WithRank(2, 1));
  if (shape.dim(0) > 0) c.set_output(0, Shape::UnknownOfRank(static_cast<int>(shape.dim(0)) - 1));
  return OkStatus();
}

// The outputs are the indices, values and shape of a sparse tensor.
Status SetOperationShape(ShapeContext& c) {
  c.set_output(0, Shape::UnknownOfRank(2));
  c.set_output(1, Shape::UnknownOfRank(1));
  c.set_output(2, Shape::UnknownOfRank(1));
  return OkStatus();
}

}  // namespace

void RegisterSparseSetsOps(OpRegistry& r) {
  r.Add(Op("SetSize")
            .Input("set_indices: int64")
            .Input("set_values: T")
            .Input("set_shape: int64")
            .Output("size: int32")
            .Attr("validate_indices: bool = true")
            .Attr("T: {int8, int16, int32, int64, uint8, uint16, string}")
            .Shape(SetSizeShape)
            .NotDifferentiable());
  r.Add(Op("DenseToDenseSetOperation")
            .Input("set1: T")
            .Input("set2: T")
            .Output("result_indices: int64")
            .Output("result_values: T")
            .Output("result_shape: int64")
            .Attr("set_operation: string")
            .Attr("validate_indices: bool = true")
            .Attr("T: {int8, int16, int32, int64, uint8, uint16, string}")
            .Shape(SetOperationShape)
            .NotDifferentiable());
  r.Add(Op("DenseToSparseSetOperation")
            .Input("set1: T")
            .Input("set2_indices: int64")
            .Input("set2_values: T")
            .Input("set2_shape: int64")
            .Output("result_indices: int64")
            .Output("result_values: T")
            .Output("result_shape: int64")
            .Attr("set_operation: string")
            .Attr("validate_indices: bool = true")
            .Attr("T: {int8, int16, int32, int64, uint8, uint16, string}")
            .Shape(SetOperationShape)
            .NotDifferentiable());
  r.Add(Op("SparseToSparseSetOperation")
            .Input("set1_indices: int64")
            .Input("set1_values: T")
            .Input("set1_shape: int64")
            .Input("set2_indices: int64")
            .Input("set2_values: T")
            .Input("set2_shape: int64")
            .Output("result_indices: int64")
            .Output("result_values: T")
            .Output("result_shape: int64")
            .Attr("set_operation: string")
            .Attr("validate_indices: bool = true")
            .Attr("T: {int8, int16, int32, int64, uint8, uint16, string}")
            .Shape(SetOperationShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
