// Sparse tensors with dense ones: conversion, products, sums: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/node.h"
#include "ops/sparse/registration.h"
#include "ops/sparse/shapes.h"

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
            .Shape(SparseToDenseShape));
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
            .Shape(SparseMatMulShape));
  r.Add(Op("SparseTensorDenseAdd")
            .Input("a_indices: Tindices")
            .Input("a_values: T")
            .Input("a_shape: Tindices")
            .Input("b: T")
            .Output("output: T")
            .Attr("T: numbertype")
            .Attr("Tindices: {int32, int64}")
            .Shape(DenseAddShape));
  for (const char* op : {"SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"}) {
    r.Add(Op(op)
              .Input("sp_indices: int64")
              .Input("sp_values: T")
              .Input("sp_shape: int64")
              .Input("dense: T")
              .Output("output: T")
              .Attr("T: numbertype")
              .Shape(SparseValuesShape));
  }
}

}  // namespace tensorbraid
