// SparseToDense, and ops that multiply, divide or add a sparse and a dense tensor: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/sparse/shapes.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status SparseToDenseShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  TF_ASSIGN_OR_RETURN(Shape s, c.input_as_shape(1));
  c.set_output(0, std::move(s));
  return OkStatus();
}

Status SparseMatMulShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  TF_ASSIGN_OR_RETURN(const Shape b, c.WithRank(3, 2));
  const int64_t inner = b.dim(c.attr<bool>("adjoint_b") ? 1 : 0);
  int64_t rows = Shape::kUnknownDim;
  if (const Tensor shape = c.input_value(2); shape.is_valid() && shape.num_elements() == 2) {
    const bool adjoint = c.attr<bool>("adjoint_a");
    rows = shape.data<int64_t>()[adjoint ? 1 : 0];
    const int64_t have = shape.data<int64_t>()[adjoint ? 0 : 1];
    if (inner >= 0 && inner != have) {
      return InvalidArgument("cannot multiply: the inner size of a is ", have, ", but the inner size of b is ", inner);
    }
    if (rows < 0) return InvalidArgument("a_shape must not be negative, got ", shape.ToString());
  }
  c.set_output(0, {rows, b.dim(c.attr<bool>("adjoint_b") ? 0 : 1)});
  return OkStatus();
}

// Output 0 has the shape of the dense operand.
Status DenseAddShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  c.set_output(0, c.input(3));
  return OkStatus();
}

// The gradient of the dense matrix is the product of a sparse and a dense matrix as well. The gradient of the value at
// (row, column) of the sparse matrix is the scalar product of a row of the result's gradient and a row of the dense
// matrix.
Status SparseMatMulGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  const Output indices = in[0], b = in[3];
  const bool adjoint_a = NodeOf(op)->attr<bool>("adjoint_a");
  const bool adjoint_b = NodeOf(op)->attr<bool>("adjoint_b");
  const Output grad_b = NodeBuilder(*op.graph(), "SparseTensorDenseMatMul")
                            .Input(indices)
                            .Input(in[1])
                            .Input(in[2])
                            .Input(grads[0])
                            .Attr("adjoint_a", !adjoint_a)
                            .Output();
  (*input_grads)[3] = adjoint_b ? Conjugated(Transpose(grad_b, {1, 0})) : grad_b;
  // The rows (i = 0) or columns (i = 1) of the sparse values.
  const auto coordinate = [&](int64_t i) {
    return StridedSlice(indices, {0, i}, {0, i + 1}, {1, 1}, {.begin_mask = 1, .end_mask = 1, .shrink_axis_mask = 2});
  };
  Output left = Gather(grads[0], coordinate(adjoint_a ? 1 : 0));
  Output right = Gather(adjoint_b ? Transpose(b, {1, 0}) : b, coordinate(adjoint_a ? 0 : 1));
  if (adjoint_a) left = Conjugated(left);
  if (adjoint_a == adjoint_b) right = Conjugated(right);
  (*input_grads)[1] = ReduceSum(left * right, 1);
  return OkStatus();
}

Status SparseToDenseGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  if (!in[0].shape().has_rank() || !in[2].shape().has_rank()) {
    return Unimplemented("the gradient of ", NodeOf(op)->Describe(), " requires inputs of known rank");
  }
  // For a dense tensor of one dimension, the indices may also be a scalar or a vector.
  const Output indices = in[0].shape().rank() == 2 ? in[0] : Reshape(in[0], {-1, 1});
  const Output values = GatherNd(grads[0], indices);
  (*input_grads)[2] = in[2].shape().rank() == 0 ? ReduceSum(values) : values;
  (*input_grads)[3] = ReduceSum(grads[0]) - ReduceSum(values);
  return OkStatus();
}

Status DenseAddGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[1] = GatherNd(grads[0], NodeOf(op)->inputs()[0]);
  (*input_grads)[3] = grads[0];
  return OkStatus();
}

// The gradient of SparseDenseCwiseMul and SparseDenseCwiseDiv: each sparse value is multiplied or divided by the
// element of the dense tensor at the same indices. The dense tensor is broadcast.
Status DenseFactorGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  const Output y = in[3];
  if (!y.shape().has_rank()) {
    return Unimplemented("the gradient of ", NodeOf(op)->Describe(), " requires a dense tensor of known rank");
  }
  // The dimensions of y correspond to the last dimensions of the sparse tensor, whose indices are in `last`. Along a
  // dimension of size 1, y is broadcast, so all indices mean element 0.
  const int rank = y.shape().rank();
  const Output last = rank == 0 ? StridedSlice(in[0], {0, 0}, {0, 0}, {1, 1}, {.begin_mask = 1, .end_mask = 1})
                                : StridedSlice(in[0], {0, -rank}, {0, 0}, {1, 1}, {.begin_mask = 1, .end_mask = 3});
  const Output sizes = ShapeOf(y, kInt64);
  const Output at = Select(Equal(sizes, 1), 0, last);
  const Output factor = GatherNd(y, at);
  Output of_factor;
  if (op.type() == "SparseDenseCwiseMul") {
    (*input_grads)[1] = grads[0] * factor;
    of_factor = grads[0] * in[1];
  } else {
    (*input_grads)[1] = grads[0] / factor;
    of_factor = Neg(grads[0] * in[1] / Square(factor));
  }
  (*input_grads)[3] = NodeBuilder(*op.graph(), "ScatterNd").Input(at).Input(of_factor).Input(sizes).Output();
  return OkStatus();
}

}  // namespace

void RegisterSparseDenseOps(OpRegistry& r) {
  r.Add(Op("SparseToDense")
            .Input("sparse_indices: Tindices")
            .Input("output_shape: Tindices")
            .Input("sparse_values: T")
            .Input("default_value: T")
            .Output("dense: T")
            .Attr("validate_indices: bool = true")
            .Attr("T: type")
            .Attr("Tindices: {int32, int64}")
            .Shape(SparseToDenseShape)
            .Gradient(SparseToDenseGradient));
  r.Add(Op("SparseTensorDenseMatMul")
            .Input("a_indices: Tindices")
            .Input("a_values: T")
            .Input("a_shape: int64")
            .Input("b: T")
            .Output("product: T")
            .Attr("T: type")
            .Attr("Tindices: {int32, int64} = DT_INT64")
            .Attr("adjoint_a: bool = false")
            .Attr("adjoint_b: bool = false")
            .Shape(SparseMatMulShape)
            .Gradient(SparseMatMulGradient));
  r.Add(Op("SparseTensorDenseAdd")
            .Input("a_indices: Tindices")
            .Input("a_values: T")
            .Input("a_shape: Tindices")
            .Input("b: T")
            .Output("output: T")
            .Attr("T: numbertype")
            .Attr("Tindices: {int32, int64}")
            .Shape(DenseAddShape)
            .Gradient(DenseAddGradient));
  for (const char* name : {"SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"}) {
    Op op(name);
    if (std::string_view(name) != "SparseDenseCwiseAdd") op.Gradient(DenseFactorGradient);
    r.Add(op.Input("sp_indices: int64")
              .Input("sp_values: T")
              .Input("sp_shape: int64")
              .Input("dense: T")
              .Output("output: T")
              .Attr("T: numbertype")
              .Shape(SparseValuesShape));
  }
}

}  // namespace tensorbraid
