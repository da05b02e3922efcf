// Sums, reductions and extremes of sparse tensors: schemas and shape rules.
#include "graph/node.h"
#include "ops/sparse/registration.h"
#include "ops/sparse/shapes.h"

namespace tensorbraid {
namespace {

Status TwoSparseShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  TF_RETURN_IF_ERROR(CheckSparse(c, 3));
  SetSparseOutputs(c, 0, 1, 2, Shape::kUnknownDim, SparseRankOf(c.input(2)));
  return OkStatus();
}

Status SparseAddGradShape(ShapeContext& c) {
  for (int side = 0; side < 2; ++side) {
    TF_ASSIGN_OR_RETURN(const Shape indices, c.WithRank(1 + side, 2));
    c.set_output(side, {indices.dim(0)});
  }
  return OkStatus();
}

Status SparseReduceSparseShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  SetSparseOutputs(c, 0, 1, 2, Shape::kUnknownDim, Shape::kUnknownDim);
  return OkStatus();
}

}  // namespace

void RegisterSparseMathOps(OpRegistry& r) {
  r.Add(Op("SparseAdd")
            .Input("a_indices: int64")
            .Input("a_values: T")
            .Input("a_shape: int64")
            .Input("b_indices: int64")
            .Input("b_values: T")
            .Input("b_shape: int64")
            .Input("thresh: Treal")
            .Output("sum_indices: int64")
            .Output("sum_values: T")
            .Output("sum_shape: int64")
            .Attr("T: numbertype")
            .Attr("Treal: realnumbertype")
            .Shape(TwoSparseShape));
  r.Add(Op("SparseAddGrad")
            .Input("backprop_val_grad: T")
            .Input("a_indices: int64")
            .Input("b_indices: int64")
            .Input("sum_indices: int64")
            .Output("a_val_grad: T")
            .Output("b_val_grad: T")
            .Attr("T: numbertype")
            .Shape(SparseAddGradShape));
  r.Add(Op("SparseSparseMinimum")
            .Input("a_indices: int64")
            .Input("a_values: T")
            .Input("a_shape: int64")
            .Input("b_indices: int64")
            .Input("b_values: T")
            .Input("b_shape: int64")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Attr("T: numbertype")
            .Shape(TwoSparseShape));
  r.Add(Op("SparseSparseMaximum")
            .Input("a_indices: int64")
            .Input("a_values: T")
            .Input("a_shape: int64")
            .Input("b_indices: int64")
            .Input("b_values: T")
            .Input("b_shape: int64")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Attr("T: realnumbertype")
            .Shape(TwoSparseShape));
  r.Add(Op("SparseReduceSum")
            .Input("input_indices: int64")
            .Input("input_values: T")
            .Input("input_shape: int64")
            .Input("reduction_axes: int32")
            .Output("output: T")
            .Attr("keep_dims: bool = false")
            .Attr("T: numbertype")
            .Shape(UnknownShape));
  r.Add(Op("SparseReduceSumSparse")
            .Input("input_indices: int64")
            .Input("input_values: T")
            .Input("input_shape: int64")
            .Input("reduction_axes: int32")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Output("output_shape: int64")
            .Attr("keep_dims: bool = false")
            .Attr("T: numbertype")
            .Shape(SparseReduceSparseShape)
            .NotDifferentiable());
  r.Add(Op("SparseReduceMax")
            .Input("input_indices: int64")
            .Input("input_values: T")
            .Input("input_shape: int64")
            .Input("reduction_axes: int32")
            .Output("output: T")
            .Attr("keep_dims: bool = false")
            .Attr("T: realnumbertype")
            .Shape(UnknownShape));
  r.Add(Op("SparseReduceMaxSparse")
            .Input("input_indices: int64")
            .Input("input_values: T")
            .Input("input_shape: int64")
            .Input("reduction_axes: int32")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Output("output_shape: int64")
            .Attr("keep_dims: bool = false")
            .Attr("T: realnumbertype")
            .Shape(SparseReduceSparseShape)
            .NotDifferentiable());
  r.Add(Op("SparseSoftmax")
            .Input("sp_indices: int64")
            .Input("sp_values: T")
            .Input("sp_shape: int64")
            .Output("output: T")
            .Attr("T: {half, float, double}")
            .Shape(SparseValuesShape));
}

}  // namespace tensorbraid
