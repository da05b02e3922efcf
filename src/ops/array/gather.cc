// Ops that gather rows and slices of tensors and of variables: schemas, shape rules, gradients.
#include "ops/array/gather.h"

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/array/integers.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// The axis along which a node gathers: 0 for Gather, which has no input `axis`. Nothing if the value of the input is
// not known while building the graph.
std::optional<int64_t> GatherAxis(const Node& node, const Tensor& axis) {
  if (node.type() == "Gather") return 0;
  if (const auto values = IntegersOf(axis); values && values->size() == 1) return (*values)[0];
  return std::nullopt;
}

int64_t BatchDims(const Node& node) { return node.type() == "Gather" ? 0 : node.attr<int64_t>("batch_dims"); }

Status GatherShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape params, c.WithRankAtLeast(0, 1));
  const Shape& indices = c.input(1);
  const auto axis_value = GatherAxis(c.node(), c.num_inputs() > 2 ? c.input_value(2) : Tensor());
  if (!params.has_rank() || !indices.has_rank()) return OkStatus();
  TF_ASSIGN_OR_RETURN(const int batch, NumBatchDims(BatchDims(c.node()), params, indices));
  if (!axis_value) {
    c.set_output(0, Shape::UnknownOfRank(params.rank() - 1 + indices.rank() - batch));
    return OkStatus();
  }
  const int64_t axis = *axis_value < 0 ? *axis_value + params.rank() : *axis_value;
  if (axis < 0 || axis >= params.rank()) {
    return InvalidArgument("axis ", *axis_value, " is out of range for ", params);
  }
  TF_RETURN_IF_ERROR(CheckAxisAfterBatchDims(axis, batch));
  Shape out;
  for (int i = 0; i < axis; ++i) out.AddDim(params.dim(i));
  for (int i = batch; i < indices.rank(); ++i) out.AddDim(indices.dim(i));
  for (int i = static_cast<int>(axis) + 1; i < params.rank(); ++i) out.AddDim(params.dim(i));
  c.set_output(0, out);
  return OkStatus();
}

// The axis of a gather node, if it is a constant.
std::optional<int64_t> ConstantAxis(const Node& node) {
  Tensor axis;
  if (node.type() != "Gather" && node.inputs()[2].op().type() == "Const") {
    axis = NodeOf(node.inputs()[2])->attr<Tensor>("value");
  }
  return GatherAxis(node, axis);
}

// The shape of `params`, a tensor or the handle of a variable, as an int64 vector.
Output ShapeOfParams(Graph& g, const Output& params, const Shape& known) {
  if (known.is_fully_defined()) {
    const Tensor shape = Tensor::Vector(std::vector<int64_t>(known.dims().begin(), known.dims().end()));
    return NodeBuilder(g, "Const").Attr("value", shape).Attr("dtype", kInt64).Output();
  }
  const char* op = params.dtype() == DType::kResource ? "VariableShape" : "Shape";
  return NodeBuilder(g, op).Input(params).Attr("out_type", kInt64).Output();
}

// The gradient of a gather along dimension 0: slices, which have the gradient of each gathered row. `params` is a
// tensor or the handle of a variable; `known` is its static shape.
Gradient GatheredRows(const Output& params, const Shape& known, Output indices, Output grad) {
  Graph& g = *params.graph();
  const Output shape = ShapeOfParams(g, params, known);
  if (!indices.shape().has_rank() || indices.shape().rank() != 1) {
    const Output count = NodeBuilder(g, "Size").Input(indices).Attr("out_type", kInt64).Output();
    const Output counts = NodeBuilder(g, "Reshape").Input(count).Input(ConstantVector(g, {1})).Output();
    const Output row = NodeBuilder(g, "StridedSlice")
                           .Input(shape)
                           .Input(ConstantVector(g, {1}))
                           .Input(ConstantVector(g, {0}))
                           .Input(ConstantVector(g, {1}))
                           .Attr("end_mask", 1)
                           .Output();
    const Output axis = NodeBuilder(g, "Const").Attr("value", Tensor::Scalar(0)).Attr("dtype", kInt32).Output();
    const Output rows = NodeBuilder(g, "ConcatV2").InputList({counts, row}).Input(axis).Output();
    grad = NodeBuilder(g, "Reshape").Input(grad).Input(rows).Output();
    indices = NodeBuilder(g, "Reshape").Input(indices).Input(ConstantVector(g, {-1})).Output();
  }
  // Ops that update rows take indices only as int32 or int64.
  if (indices.dtype() != kInt32 && indices.dtype() != kInt64) {
    indices = NodeBuilder(g, "Cast").Input(indices).Attr("DstT", kInt32).Output();
  }
  return IndexedSlices{.values = grad, .indices = indices, .dense_shape = shape};
}

// An int64 scalar.
Output Number(Graph& g, int64_t value) { return Const(g, Tensor::Scalar(value)); }

// The number of batch dimensions. A negative attribute batch_dims counts from the end of the dimensions of `indices`.
Output BatchDimsOf(const Node& node, Output indices) {
  Graph& g = *indices.graph();
  const int64_t dims = BatchDims(node);
  if (dims >= 0) return Number(g, dims);
  if (indices.shape().has_rank()) return Number(g, dims + indices.shape().rank());
  return dims + Cast(Rank(indices), kInt64);
}

// The product of the elements [begin, end) of an int64 vector.
Output ProductOf(Output vector, Output begin, Output end) {
  return ReduceProd(Slice(vector, ExpandDims(begin, 0), ExpandDims(end - begin, 0)), {0});
}

// The gradient of params, a tensor with the given shape, from which slices were gathered along dimension `axis`. It is
// the sum, for each slice of params, of the slices of the gradient that were gathered from it. `outer` says that there
// may be dimensions between the batch dimensions and the axis. Treats params as [batches, between, rows, inner] and the
// gradient as [batches, between, count, inner], with `count` indices in each batch.
Output SumOfGathered(Output shape, Output indices, Output grad, Output axis, Output batch_dims, bool outer) {
  Graph& g = *grad.graph();
  const Output zero = Number(g, 0);
  const Output of_indices = ShapeOf(indices, kInt64);
  const Output batches = ProductOf(shape, zero, batch_dims);
  const Output count = ProductOf(of_indices, batch_dims, Size(of_indices, kInt64));
  const Output between = ProductOf(shape, batch_dims, axis);
  const Output rows = ProductOf(shape, axis, axis + 1);
  const Output inner = ProductOf(shape, axis + 1, Size(shape, kInt64));
  if (outer) grad = Transpose(Reshape(grad, Stack({batches, between, count, inner})), {0, 2, 1, 3});
  // UnsortedSegmentSum gets the rows of all batches in one dimension: row r of batch b is row b * rows + r.
  const Output first = ExpandDims(Range(g, 0, batches) * rows, 1);
  const Output row = first + Reshape(Cast(indices, kInt64), Stack({batches, count}));
  Output sum = NodeBuilder(g, "UnsortedSegmentSum")
                   .Input(Reshape(grad, Stack({batches, count, between * inner})))
                   .Input(row)
                   .Input(batches * rows)
                   .Output();
  if (outer) sum = Transpose(Reshape(sum, Stack({batches, rows, between, inner})), {0, 2, 1, 3});
  return Reshape(sum, shape);
}

// The gradient of a gather along dimension 0 consists of slices (IndexedSlices). The gradient of a gather along another
// dimension, or along one that is not known while building the graph, is a dense tensor.
Status GatherGradient(const Operation& op, const std::vector<Gradient>& grads, std::vector<Gradient>* input_grads) {
  Graph& g = *op.graph();
  const Node& node = *NodeOf(op);
  const Output params = node.inputs()[0];
  const Output indices = node.inputs()[1];
  const auto known = ConstantAxis(node);
  const Output grad = grads[0].ToDense();
  if (known == 0) {
    (*input_grads)[0] = GatheredRows(params, params.shape(), indices, grad);
    return OkStatus();
  }
  const Output shape = ShapeOfParams(g, params, params.shape());
  // A negative axis counts from the end.
  const Output axis =
      known && *known > 0 ? Number(g, *known) : FloorMod(Cast(node.inputs()[2], kInt64), Size(shape, kInt64));
  const bool outer = !known || *known != BatchDims(node);
  (*input_grads)[0] = SumOfGathered(shape, indices, grad, axis, BatchDimsOf(node, indices), outer);
  return OkStatus();
}

Status GatherNdShape(ShapeContext& c) {
  const Shape& params = c.input(0);
  TF_ASSIGN_OR_RETURN(const Shape indices, c.WithRankAtLeast(1, 1));
  if (!params.has_rank() || !indices.has_rank() || indices.dim(indices.rank() - 1) < 0) return OkStatus();
  const int64_t depth = indices.dim(indices.rank() - 1);
  if (depth > params.rank()) {
    return InvalidArgument("indices with ", depth, " components are too long for params of shape ", params);
  }
  Shape out;
  for (int i = 0; i + 1 < indices.rank(); ++i) out.AddDim(indices.dim(i));
  for (int i = static_cast<int>(depth); i < params.rank(); ++i) out.AddDim(params.dim(i));
  c.set_output(0, out);
  return OkStatus();
}

// The gradient of GatherNd. If the positions in `indices` are known to have one component, which is then a row number,
// returns slices. Otherwise returns a tensor to which each slice of `grad` is added at its position.
Gradient GatheredPositions(const Output& params, const Shape& known, const Output& indices, const Output& grad) {
  Graph& g = *params.graph();
  const Shape& shape = indices.shape();
  if (shape.has_rank() && shape.rank() == 2 && shape.dim(1) == 1) {
    const Output rows = NodeBuilder(g, "Squeeze").Input(indices).Attr("squeeze_dims", std::vector<int64_t>{1}).Output();
    return GatheredRows(params, known, rows, grad);
  }
  Output whole = ShapeOfParams(g, params, known);
  if (indices.dtype() != kInt64) whole = NodeBuilder(g, "Cast").Input(whole).Attr("DstT", indices.dtype()).Output();
  return NodeBuilder(g, "ScatterNd").Input(indices).Input(grad).Input(whole).Output();
}

Status GatherNdGradient(const Operation& op, const std::vector<Gradient>& grads, std::vector<Gradient>* input_grads) {
  const auto& inputs = NodeOf(op)->inputs();
  (*input_grads)[0] = GatheredPositions(inputs[0], inputs[0].shape(), inputs[1], grads[0].ToDense());
  return OkStatus();
}

// The shape that VarHandleOp declares for its variable. Unknown for other handles.
Shape DeclaredShape(const Output& handle) {
  return handle.op().type() == "VarHandleOp" ? NodeOf(handle)->attr<Shape>("shape") : Shape::Unknown();
}

// Without batch dimensions, the gradient consists of slices. With batch dimensions, the rows were gathered along the
// dimension after the batch dimensions.
Status ResourceGatherGradient(const Operation& op, const std::vector<Gradient>& grads,
                              std::vector<Gradient>* input_grads) {
  const Node& node = *NodeOf(op);
  const Output handle = node.inputs()[0], indices = node.inputs()[1];
  const Output grad = grads[0].ToDense();
  if (BatchDims(node) == 0) {
    (*input_grads)[0] = GatheredRows(handle, DeclaredShape(handle), indices, grad);
    return OkStatus();
  }
  const Output shape = ShapeOfParams(*op.graph(), handle, DeclaredShape(handle));
  const Output batch_dims = BatchDimsOf(node, indices);
  (*input_grads)[0] = SumOfGathered(shape, indices, grad, batch_dims, batch_dims, /*outer=*/false);
  return OkStatus();
}

Status ResourceGatherNdGradient(const Operation& op, const std::vector<Gradient>& grads,
                                std::vector<Gradient>* input_grads) {
  const auto& inputs = NodeOf(op)->inputs();
  (*input_grads)[0] = GatheredPositions(inputs[0], DeclaredShape(inputs[0]), inputs[1], grads[0].ToDense());
  return OkStatus();
}

Status ResourceGatherShape(ShapeContext& c) {
  const Shape params = c.input_handle_shape(0);
  const Shape& indices = c.input(1);
  if (!params.has_rank() || !indices.has_rank()) return OkStatus();
  TF_ASSIGN_OR_RETURN(const int batch, NumBatchDims(c.attr<int64_t>("batch_dims"), params, indices));
  Shape out;
  for (int i = 0; i < batch; ++i) out.AddDim(params.dim(i));
  for (int i = batch; i < indices.rank(); ++i) out.AddDim(indices.dim(i));
  for (int i = batch + 1; i < params.rank(); ++i) out.AddDim(params.dim(i));
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status ResourceGatherNdShape(ShapeContext& c) {
  const Shape params = c.input_handle_shape(0);
  TF_ASSIGN_OR_RETURN(const Shape indices, c.WithRankAtLeast(1, 1));
  if (!params.has_rank() || !indices.has_rank()) return OkStatus();
  const int64_t depth = indices.dim(indices.rank() - 1);
  if (depth < 0) return OkStatus();
  if (depth > params.rank())
    return InvalidArgument("indices with ", depth, " components are too long for shape ", params);
  Shape out;
  for (int i = 0; i + 1 < indices.rank(); ++i) out.AddDim(indices.dim(i));
  for (int i = static_cast<int>(depth); i < params.rank(); ++i) out.AddDim(params.dim(i));
  c.set_output(0, std::move(out));
  return OkStatus();
}

}  // namespace

StatusOr<int> NumBatchDims(int64_t batch_dims, const Shape& params, const Shape& indices) {
  if (params.rank() == 0) return InvalidArgument("params must have rank 1 or more, got a scalar");
  const int rank = indices.rank();
  if (batch_dims < -rank || batch_dims > rank) {
    return InvalidArgument("Expected batch_dims in the range [", -rank, ", ", rank, "], but got ", batch_dims,
                           ": the indices have shape ", indices);
  }
  const int batch = static_cast<int>(batch_dims < 0 ? batch_dims + rank : batch_dims);
  if (batch >= params.rank()) {
    return InvalidArgument("batch_dims (", batch, ") must be less than rank(params) (", params.rank(),
                           "): params have shape ", params);
  }
  return batch;
}

Status CheckAxisAfterBatchDims(int64_t axis, int batch) {
  if (axis >= batch) return OkStatus();
  return InvalidArgument("batch_dims (", batch, ") must be less than or equal to axis (", axis, ")");
}

StatusOr<Shape> GatheredShape(const Shape& params, const Shape& indices, int axis, int batch) {
  TF_RETURN_IF_ERROR(CheckAxisAfterBatchDims(axis, batch));
  for (int i = 0; i < batch; ++i) {
    if (params.dim(i) != indices.dim(i)) {
      return InvalidArgument("params.shape[", i, "]: ", params.dim(i), " should be equal to indices.shape[", i,
                             "]: ", indices.dim(i), ", because dimension ", i, " is a batch dimension");
    }
  }
  Shape shape;
  for (int i = 0; i < axis; ++i) shape.AddDim(params.dim(i));
  for (int i = batch; i < indices.rank(); ++i) shape.AddDim(indices.dim(i));
  for (int i = axis + 1; i < params.rank(); ++i) shape.AddDim(params.dim(i));
  return shape;
}

void RegisterArrayGatherOps(OpRegistry& r) {
  r.Add(Op("Gather")
            .Input("params: Tparams")
            .Input("indices: Tindices")
            .Output("output: Tparams")
            .Attr("validate_indices: bool = true")
            .Attr("Tparams: type")
            .Attr("Tindices: {int32, int64}")
            .Shape(GatherShape)
            .Gradient(GatherGradient));
  r.Add(Op("GatherV2")
            .Input("params: Tparams")
            .Input("indices: Tindices")
            .Input("axis: Taxis")
            .Output("output: Tparams")
            .Attr("batch_dims: int = 0")
            .Attr("Tparams: type")
            .Attr("Tindices: {int16, int32, int64}")
            .Attr("Taxis: {int32, int64}")
            .Shape(GatherShape)
            .Gradient(GatherGradient));
  r.Add(Op("GatherNd")
            .Input("params: Tparams")
            .Input("indices: Tindices")
            .Output("output: Tparams")
            .Attr("Tparams: type")
            .Attr("Tindices: {int16, int32, int64}")
            .Attr("bad_indices_policy: string = ''")
            .Shape(GatherNdShape)
            .Gradient(GatherNdGradient));
  r.Add(Op("ResourceGather")
            .Input("resource: resource")
            .Input("indices: Tindices")
            .Output("output: dtype")
            .Attr("batch_dims: int = 0")
            .Attr("validate_indices: bool = true")
            .Attr("dtype: type")
            .Attr("Tindices: {int32, int64}")
            .Stateful()
            .Shape(ResourceGatherShape)
            .Gradient(ResourceGatherGradient));
  r.Add(Op("ResourceGatherNd")
            .Input("resource: resource")
            .Input("indices: Tindices")
            .Output("output: dtype")
            .Attr("dtype: type")
            .Attr("Tindices: {int32, int64}")
            .Stateful()
            .Shape(ResourceGatherNdShape)
            .Gradient(ResourceGatherNdGradient));
}

}  // namespace tensorbraid
