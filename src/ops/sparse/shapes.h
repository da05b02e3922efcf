// Helpers that the shape rules of the sparse ops share.
#ifndef TENSORBRAID_OPS_SPARSE_SHAPES_H_
#define TENSORBRAID_OPS_SPARSE_SHAPES_H_

#include <source_location>

#include "graph/model/node.h"
#include "graph/model/op_registry.h"
#include "tensorbraid/core/shape.h"

namespace tensorbraid {

// The rank of a sparse tensor, whose sizes are in a vector of the shape `vector`. Shape::kUnknownDim if it is unknown.
inline int64_t SparseRankOf(const Shape& vector) {
  return vector.has_rank() && vector.rank() == 1 ? vector.dim(0) : Shape::kUnknownDim;
}

// Checks that inputs `first` to `first` + 2 can be the indices, values and shape of a sparse tensor.
inline Status CheckSparse(ShapeContext& c, int first) {
  TF_RETURN_IF_ERROR(c.WithRank(first, 2).status());
  TF_RETURN_IF_ERROR(c.WithRank(first + 1, 1).status());
  return c.WithRank(first + 2, 1).status();
}

// Sets the shapes of the outputs with the numbers `indices`, `values` and `shape` to those of a sparse tensor with n
// values and this rank. Some ops do not have the output `shape`.
inline void SetSparseOutputs(ShapeContext& c, int indices, int values, int shape, int64_t n, int64_t rank) {
  c.set_output(indices, {n, rank});
  c.set_output(values, {n});
  if (shape < c.num_outputs()) c.set_output(shape, {rank});
}

// Output 0 has one value for each value of the sparse operand.
inline Status SparseValuesShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  c.set_output(0, c.input(1));
  return OkStatus();
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_SPARSE_SHAPES_H_
