// Ops that reorder, reshape, join, split or slice sparse tensors or fill their empty rows, and EditDistance: schemas,
// shape rules, gradients.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/sparse/fill_empty_rows.h"
#include "ops/sparse/shapes.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status ReorderShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  c.set_output(0, c.input(0));
  c.set_output(1, c.input(1));
  return OkStatus();
}

Status SparseReshapeShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape indices, c.WithRank(0, 2));
  TF_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  TF_ASSIGN_OR_RETURN(const Shape wanted, c.WithRank(2, 1));
  c.set_output(0, {indices.dim(0), wanted.dim(0)});
  c.set_output(1, wanted);
  return OkStatus();
}

Status SparseConcatShape(ShapeContext& c) {
  SetSparseOutputs(c, 0, 1, 2, Shape::kUnknownDim, SparseRankOf(c.input(c.num_inputs() - 1)));
  return OkStatus();
}

Status SparseSplitShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 1));
  const int num = static_cast<int>(c.attr<int64_t>("num_split"));
  for (int i = 0; i < num; ++i)
    SetSparseOutputs(c, i, num + i, 2 * num + i, Shape::kUnknownDim, SparseRankOf(c.input(3)));
  return OkStatus();
}

Status SparseSliceShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  SetSparseOutputs(c, 0, 1, 2, Shape::kUnknownDim, SparseRankOf(c.input(2)));
  return OkStatus();
}

Status SparseSliceGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape indices, c.WithRank(1, 2));
  c.set_output(0, {indices.dim(0)});
  return OkStatus();
}

Status FillEmptyRowsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  TF_RETURN_IF_ERROR(c.WithRank(3, 0).status());
  c.set_output(0, {Shape::kUnknownDim, SparseRankOf(c.input(2))});
  c.set_output(1, {Shape::kUnknownDim});
  c.set_output(2, {Shape::kUnknownDim});
  c.set_output(3, c.input(1));
  return OkStatus();
}

Status EditDistanceShape(ShapeContext& c) {
  for (int i : {0, 3}) {
    TF_RETURN_IF_ERROR(c.WithRank(i, 2).status());
    TF_RETURN_IF_ERROR(c.WithRank(i + 1, 1).status());
    TF_RETURN_IF_ERROR(c.WithRank(i + 2, 1).status());
  }
  return OkStatus();
}

// Reorders the numbers 0, 1, 2, ... of the values in the same way, to find the new position of each value.
Status ReorderGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  if (!grads[1].valid()) return OkStatus();
  Graph& g = *op.graph();
  const auto& in = NodeOf(op)->inputs();
  const Operation numbers =
      NodeBuilder(g, "SparseReorder").Input(in[0]).Input(Range(g, 0, Size(in[1]))).Input(in[2]).Finish();
  (*input_grads)[1] = Gather(grads[1], InvertPermutation(numbers.output(1)));
  return OkStatus();
}

Status SparseSliceGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  if (!grads[1].valid()) return OkStatus();
  const auto& in = NodeOf(op)->inputs();
  (*input_grads)[1] = NodeBuilder(*op.graph(), "SparseSliceGrad")
                          .Input(grads[1])
                          .Input(in[0])
                          .Input(in[3])
                          .Input(op.output(0))
                          .Output();
  return OkStatus();
}

}  // namespace

void RegisterSparseStructureOps(OpRegistry& r) {
  r.Add(Op("SparseReorder")
            .Input("input_indices: int64")
            .Input("input_values: T")
            .Input("input_shape: int64")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Attr("T: type")
            .Shape(ReorderShape)
            .Gradient(ReorderGradient));
  r.Add(Op("SparseReshape")
            .Input("input_indices: int64")
            .Input("input_shape: int64")
            .Input("new_shape: int64")
            .Output("output_indices: int64")
            .Output("output_shape: int64")
            .Shape(SparseReshapeShape)
            .NotDifferentiable());
  r.Add(Op("SparseConcat")
            .Input("indices: N * int64")
            .Input("values: N * T")
            .Input("shapes: N * int64")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Output("output_shape: int64")
            .Attr("concat_dim: int")
            .Attr("N: int >= 2")
            .Attr("T: type")
            .Shape(SparseConcatShape)
            .NotDifferentiable());
  r.Add(Op("SparseSplit")
            .Input("split_dim: int64")
            .Input("indices: int64")
            .Input("values: T")
            .Input("shape: int64")
            .Output("output_indices: num_split * int64")
            .Output("output_values: num_split * T")
            .Output("output_shape: num_split * int64")
            .Attr("num_split: int >= 1")
            .Attr("T: type")
            .Shape(SparseSplitShape));
  r.Add(Op("SparseSlice")
            .Input("indices: int64")
            .Input("values: T")
            .Input("shape: int64")
            .Input("start: int64")
            .Input("size: int64")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Output("output_shape: int64")
            .Attr("T: type")
            .Shape(SparseSliceShape)
            .Gradient(SparseSliceGradient));
  r.Add(Op("SparseSliceGrad")
            .Input("backprop_val_grad: T")
            .Input("input_indices: int64")
            .Input("input_start: int64")
            .Input("output_indices: int64")
            .Output("val_grad: T")
            .Attr("T: numbertype")
            .Shape(SparseSliceGradShape));
  r.Add(Op("SparseFillEmptyRows")
            .Input("indices: int64")
            .Input("values: T")
            .Input("dense_shape: int64")
            .Input("default_value: T")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Output("empty_row_indicator: bool")
            .Output("reverse_index_map: int64")
            .Attr("T: type")
            .Shape(FillEmptyRowsShape)
            .Gradient(FillEmptyRowsGradient));
  r.Add(Op("SparseFillEmptyRowsGrad")
            .Input("reverse_index_map: int64")
            .Input("grad_values: T")
            .Output("d_values: T")
            .Output("d_default_value: T")
            .Attr("T: type")
            .Shape(FillEmptyRowsGradShape));
  r.Add(Op("EditDistance")
            .Input("hypothesis_indices: int64")
            .Input("hypothesis_values: T")
            .Input("hypothesis_shape: int64")
            .Input("truth_indices: int64")
            .Input("truth_values: T")
            .Input("truth_shape: int64")
            .Output("output: float")
            .Attr("normalize: bool = true")
            .Attr("T: type")
            .Shape(EditDistanceShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
