// Sums, reductions and extremes of sparse tensors: schemas, shape rules, gradients.
#include "tensorbraid/ops/math.h"

#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/sparse/shapes.h"
#include "tensorbraid/ops/array.h"

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

Status SparseAddGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  if (!grads[1].valid()) return OkStatus();
  const auto& in = NodeOf(op)->inputs();
  const Operation parts =
      NodeBuilder(*op.graph(), "SparseAddGrad").Input(grads[1]).Input(in[0]).Input(in[3]).Input(op.output(0)).Finish();
  if (!parts.valid()) return OkStatus();
  (*input_grads)[1] = parts.output(0);
  (*input_grads)[4] = parts.output(1);
  return OkStatus();
}

// The gradient of a value is the gradient of the sum to which the value was added. The indices of that sum are the
// indices of the value, but 0 along the reduced axes.
Status SparseReduceSumGradient(const Operation& op, const std::vector<Output>& grads,
                               std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const auto& in = NodeOf(op)->inputs();
  const Output rank = Size(in[2]);
  const Output axes = FloorMod(Reshape(in[3], {-1}) + rank, Maximum(rank, 1));
  const Output reduced = ReduceAny(Equal(ExpandDims(axes, -1), Range(g, 0, rank)), {0});
  const Output sizes = Select(reduced, 1, in[2]);
  const Output at = Select(reduced, 0, in[0]);
  (*input_grads)[1] = GatherNd(Reshape(grads[0], sizes), at);
  return OkStatus();
}

// The gradient is g y - y sum(g y), where y is the result, g is the gradient of y, and the sum is over the values of a
// row.
Status SparseSoftmaxGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const auto& in = NodeOf(op)->inputs();
  const Output y = op.output(0);
  const Output sums = NodeBuilder(g, "SparseReduceSum")
                          .Input(in[0])
                          .Input(grads[0] * y)
                          .Input(in[2])
                          .Input(ConstantVector(g, {-1}))
                          .Attr("keep_dims", true)
                          .Output();
  const Output difference =
      NodeBuilder(g, "SparseDenseCwiseAdd").Input(in[0]).Input(grads[0]).Input(in[2]).Input(Neg(sums)).Output();
  (*input_grads)[1] = difference * y;
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
            .Shape(TwoSparseShape)
            .Gradient(SparseAddGradient));
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
            .Shape(UnknownShape)
            .Gradient(SparseReduceSumGradient));
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
            .Shape(SparseValuesShape)
            .Gradient(SparseSoftmaxGradient));
}

}  // namespace tensorbraid
