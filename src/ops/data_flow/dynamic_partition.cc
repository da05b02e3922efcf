// Ops that partition rows by index and stitch them together again: schemas, shape rules, gradients. Lookups in
// partitioned variables use these ops.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {
namespace {

// The shape [rows], followed by the dimensions of `shape` after its first `prefix` dimensions.
Shape RowsOf(const Shape& shape, int prefix, int64_t rows) {
  Shape result({rows});
  for (int d = prefix; d < shape.rank(); ++d) result.AddDim(shape.dim(d));
  return result;
}

// Returns InvalidArgument if `shape` cannot start with `prefix`. `what` names the tensor of shape `prefix`.
Status CheckPrefix(const Shape& shape, const Shape& prefix, const char* what) {
  if (!shape.has_rank() || !prefix.has_rank()) return OkStatus();
  if (prefix.rank() <= shape.rank() && Shape(shape.dims().subspan(0, prefix.rank())).IsCompatibleWith(prefix)) {
    return OkStatus();
  }
  return InvalidArgument("the shape of data must start with the shape of ", what, ", got ", shape, " and ", prefix);
}

Status PartitionShape(ShapeContext& c) {
  const Shape& data = c.input(0);
  const Shape& partitions = c.input(1);
  TF_RETURN_IF_ERROR(CheckPrefix(data, partitions, "partitions"));
  if (!data.has_rank() || !partitions.has_rank()) return OkStatus();
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_output(i, RowsOf(data, partitions.rank(), Shape::kUnknownDim));
  }
  return OkStatus();
}

Status StitchShape(ShapeContext& c) {
  const int n = c.num_inputs() / 2;
  Shape row = Shape::Unknown();
  int64_t rows = 0;
  for (int i = 0; i < n; ++i) {
    const Shape& indices = c.input(i);
    const Shape& data = c.input(n + i);
    TF_RETURN_IF_ERROR(CheckPrefix(data, indices, "indices"));
    const Tensor values = c.input_value(i);
    if (!values.is_valid()) rows = Shape::kUnknownDim;
    if (rows != Shape::kUnknownDim) {
      for (const int32_t index : values.data<int32_t>()) rows = std::max<int64_t>(rows, int64_t{index} + 1);
    }
    if (!indices.has_rank() || !data.has_rank()) continue;
    TF_ASSIGN_OR_RETURN(row, row.MergeWith(RowsOf(data, indices.rank(), Shape::kUnknownDim)));
  }
  if (row.has_rank()) c.set_output(0, RowsOf(row, 1, rows));
  return OkStatus();
}

// Stitches the gradients of the partitions together. The indices for that are the row numbers, partitioned in the same
// way as the rows.
Status PartitionGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const Output data = NodeOf(op)->inputs()[0];
  const Output partitions = NodeOf(op)->inputs()[1];
  const auto parts = static_cast<int64_t>(grads.size());
  const Output zero = Const(g, Tensor::Scalar<int32_t>(0));
  const Output one = Const(g, Tensor::Scalar<int32_t>(1));
  const Output numbers =
      Reshape(NodeBuilder(g, "Range").Input(zero).Input(Size(partitions)).Input(one).Output(), ShapeOf(partitions));
  const Operation split =
      NodeBuilder(g, "DynamicPartition").Input(numbers).Input(partitions).Attr("num_partitions", parts).Finish();
  std::vector<Output> indices;
  std::vector<Output> values;
  for (int i = 0; i < static_cast<int>(parts); ++i) {
    indices.push_back(split.output(i));
    values.push_back(grads[i].valid() ? grads[i] : ZerosLike(op.output(i)));
  }
  const Output stitched =
      NodeBuilder(g, "ParallelDynamicStitch").InputList(std::move(indices)).InputList(std::move(values)).Output();
  (*input_grads)[0] = Reshape(stitched, ShapeOf(data));
  return OkStatus();
}

Status StitchGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& inputs = NodeOf(op)->inputs();
  const size_t n = inputs.size() / 2;
  for (size_t i = 0; i < n; ++i) (*input_grads)[n + i] = Gather(grads[0], inputs[i]);
  return OkStatus();
}

}  // namespace

void RegisterDataFlowDynamicPartitionOps(OpRegistry& r) {
  r.Add(Op("DynamicPartition")
            .Input("data: T")
            .Input("partitions: int32")
            .Output("outputs: num_partitions * T")
            .Attr("num_partitions: int >= 1")
            .Attr("T: type")
            .Shape(PartitionShape)
            .Gradient(PartitionGradient));
  for (const char* op : {"DynamicStitch", "ParallelDynamicStitch"}) {
    r.Add(Op(op)
              .Input("indices: N * int32")
              .Input("data: N * T")
              .Output("merged: T")
              .Attr("N: int >= 1")
              .Attr("T: type")
              .Shape(StitchShape)
              .Gradient(StitchGradient));
  }
}

}  // namespace tensorbraid
