// Ops on ragged tensors: schemas, shape rules, gradients. A ragged tensor consists of row splits for each level, and of
// the concatenated values of all rows.
#include <algorithm>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/sparse/fill_empty_rows.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status RaggedToSparseShape(ShapeContext& c) {
  const int levels = c.num_inputs() - 1;
  for (int i = 0; i < levels; ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 1).status());
  TF_ASSIGN_OR_RETURN(const Shape values, c.WithRankAtLeast(levels, 1));
  const int rank = values.has_rank() ? levels + values.rank() : Shape::kUnknownDim;
  const int64_t n = values.is_fully_defined() ? values.num_elements() : Shape::kUnknownDim;
  c.set_output(0, {n, rank});
  c.set_output(1, {n});
  c.set_output(2, {rank});
  return OkStatus();
}

Status RaggedRangeShape(ShapeContext& c) {
  int64_t rows = 1;
  bool is_known = true;
  for (int i = 0; i < 3; ++i) {
    const Shape& s = c.input(i);
    if (!s.has_rank()) {
      is_known = false;
      continue;
    }
    if (s.rank() > 1) return InvalidArgument("starts, limits and deltas must be scalars or vectors, got shape ", s);
    if (s.rank() == 1) rows = s.dim(0);
    is_known = is_known && (s.rank() == 0 || s.dim(0) >= 0);
  }
  c.set_output(0, {is_known ? rows + 1 : Shape::kUnknownDim});
  c.set_output(1, {Shape::kUnknownDim});
  return OkStatus();
}

Status RaggedFillEmptyRowsShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape rowids, c.WithRank(0, 1));
  TF_ASSIGN_OR_RETURN(const Shape values, c.WithRank(1, 1));
  TF_ASSIGN_OR_RETURN(Shape lines, rowids.MergeWith(values));
  TF_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  TF_RETURN_IF_ERROR(c.WithRank(3, 0).status());
  for (int i = 0; i < 3; ++i) c.set_output(i, {Shape::kUnknownDim});
  c.set_output(3, std::move(lines));
  return OkStatus();
}

// The sparse tensor has the values of the ragged tensor in the same order.
Status RaggedToSparseGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output values = NodeOf(op)->inputs().back();
  if (grads[1].valid()) input_grads->back() = Reshape(grads[1], ShapeOf(values));
  return OkStatus();
}

// The gradient for the values of params consists of slices (IndexedSlices): the gradient of the result's values, at the
// positions in params that these values came from.
Status RaggedGatherGradient(const Operation& op, const std::vector<Gradient>& grads,
                            std::vector<Gradient>* input_grads) {
  Graph& g = *op.graph();
  const Node& node = *NodeOf(op);
  const std::vector<Output>& inputs = node.inputs();
  const auto levels = node.attr<int64_t>("PARAMS_RAGGED_RANK");
  if (!grads.back().valid()) return OkStatus();
  // After this loop, row i of params has the values [splits[i], splits[i + 1]).
  Output splits = inputs[0];
  for (int64_t i = 1; i < levels; ++i) splits = Gather(inputs[i], splits);
  const Output rows = Reshape(inputs[levels + 1], {-1});
  const Output begin = Gather(splits, rows), end = Gather(splits, rows + 1);
  const Operation positions = NodeBuilder(g, "RaggedRange").Input(begin).Input(end).Input(OnesLike(begin)).Finish();
  if (!positions.valid()) return OkStatus();
  (*input_grads)[levels] = IndexedSlices{
      .values = grads.back().ToDense(), .indices = positions.output(1), .dense_shape = ShapeOf(inputs[levels], kInt64)};
  return OkStatus();
}

// The gradient for the values consists of slices. The gradient for the default value is the sum of the gradients of the
// places that it fills.
Status RaggedToTensorGradient(const Operation& op, const std::vector<Gradient>& grads,
                              std::vector<Gradient>* input_grads) {
  Graph& g = *op.graph();
  const Node& node = *NodeOf(op);
  const Output values = node.inputs()[1], default_value = node.inputs()[2];
  const Output grad = grads[0].ToDense();
  const auto& kinds = node.attr<std::vector<std::string>>("row_partition_types");
  const auto levels = std::count_if(kinds.begin(), kinds.end(), [](auto& kind) { return kind != "FIRST_DIM_SIZE"; });
  const Output of_values = ShapeOf(values, kInt64);
  const Output count = StridedSlice(of_values, {0}, {1}, {1}, {.shrink_axis_mask = 1});
  // For each place in the first levels + 1 dimensions of the result: the index in `values` of what fills it, or -1 if
  // the default value fills it. The same op computes this from the values 0, 1, 2, ... and the default value -1.
  const Output number = NodeBuilder(g, "RaggedTensorToTensor")
                            .Input(Slice(ShapeOf(grad, kInt64), {0}, {levels + 1}))
                            .Input(Range(g, 0, count))
                            .Input(Const(g, Tensor::Scalar<int64_t>(-1)))
                            .InputList(std::vector<Output>(node.inputs().begin() + 3, node.inputs().end()))
                            .Attr("row_partition_types", kinds)
                            .Output();
  const Output places = Where(NotEqual(number, -1));
  const Output of_default = GatherNd(grad, Where(Equal(number, -1)));
  (*input_grads)[1] =
      IndexedSlices{.values = GatherNd(grad, places), .indices = GatherNd(number, places), .dense_shape = of_values};
  (*input_grads)[2] = SumToOperand(of_default, default_value, of_default);
  return OkStatus();
}

}  // namespace

void RegisterSparseRaggedOps(OpRegistry& r) {
  r.Add(Op("RaggedTensorToSparse")
            .Input("rt_nested_splits: RAGGED_RANK * Tsplits")
            .Input("rt_dense_values: T")
            .Output("sparse_indices: int64")
            .Output("sparse_values: T")
            .Output("sparse_dense_shape: int64")
            .Attr("RAGGED_RANK: int >= 1")
            .Attr("T: type")
            .Attr("Tsplits: {int32, int64} = int64")
            .Shape(RaggedToSparseShape)
            .Gradient(RaggedToSparseGradient));
  r.Add(Op("RaggedTensorToTensor")
            .Input("shape: Tshape")
            .Input("values: T")
            .Input("default_value: T")
            .Input("row_partition_tensors: num_row_partition_tensors * Tindex")
            .Output("result: T")
            .Attr("T: type")
            .Attr("Tindex: {int64, int32}")
            .Attr("Tshape: {int64, int32}")
            .Attr("num_row_partition_tensors: int >= 1")
            .Attr("row_partition_types: list(string)")
            .Shape(UnknownShape)
            .Gradient(RaggedToTensorGradient));
  r.Add(Op("RaggedGather")
            .Input("params_nested_splits: PARAMS_RAGGED_RANK * Tsplits")
            .Input("params_dense_values: Tvalues")
            .Input("indices: Tindices")
            .Output("output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits")
            .Output("output_dense_values: Tvalues")
            .Attr("Tvalues: type")
            .Attr("Tindices: {int32, int64}")
            .Attr("Tsplits: {int32, int64} = int64")
            .Attr("PARAMS_RAGGED_RANK: int >= 1")
            .Attr("OUTPUT_RAGGED_RANK: int >= 0")
            .Shape(UnknownShape)
            .Gradient(RaggedGatherGradient));
  r.Add(Op("RaggedFillEmptyRows")
            .Input("value_rowids: int64")
            .Input("values: T")
            .Input("nrows: int64")
            .Input("default_value: T")
            .Output("output_value_rowids: int64")
            .Output("output_values: T")
            .Output("empty_row_indicator: bool")
            .Output("reverse_index_map: int64")
            .Attr("T: type")
            .Shape(RaggedFillEmptyRowsShape)
            .Gradient(FillEmptyRowsGradient));
  r.Add(Op("RaggedFillEmptyRowsGrad")
            .Input("reverse_index_map: int64")
            .Input("grad_values: T")
            .Output("d_values: T")
            .Output("d_default_value: T")
            .Attr("T: type")
            .Shape(FillEmptyRowsGradShape));
  r.Add(Op("RaggedRange")
            .Input("starts: T")
            .Input("limits: T")
            .Input("deltas: T")
            .Output("rt_nested_splits: Tsplits")
            .Output("rt_dense_values: T")
            .Attr("T: {bfloat16, float, double, int32, int64} = int32")
            .Attr("Tsplits: {int32, int64} = int64")
            .Shape(RaggedRangeShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
