// Helpers for the shape rules of ops on batches of matrices.
#ifndef TENSORBRAID_OPS_LINALG_MATRICES_H_
#define TENSORBRAID_OPS_LINALG_MATRICES_H_

#include <algorithm>
#include <initializer_list>
#include <source_location>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "graph/model/op_registry.h"
#include "ops/builder.h"
#include "tensorbraid/core/shape.h"

namespace tensorbraid {

inline constexpr const char* kLinalgTypes = "T: {double, float, half, complex64, complex128}";

// The shape of a batch of matrices. `known` is false if the rank is unknown; `batch` is then empty.
struct Matrices {
  bool known = false;
  Shape batch;
  int64_t rows = Shape::kUnknownDim;
  int64_t columns = Shape::kUnknownDim;

  // The shape of the batch with the given last dimensions.
  Shape With(std::initializer_list<int64_t> last) const {
    if (!known) return Shape::Unknown();
    Shape shape = batch;
    for (int64_t d : last) shape.AddDim(d);
    return shape;
  }
};

// The shape of an input. Returns InvalidArgument if its rank is below 2; SquareMatricesOf also if the matrices are not
// square.
inline StatusOr<Matrices> MatricesOf(ShapeContext& c, int input) {
  TF_ASSIGN_OR_RETURN(const Shape s, c.WithRankAtLeast(input, 2));
  Matrices m;
  if (!s.has_rank()) return m;
  m.known = true;
  m.batch = Shape(s.dims().first(s.rank() - 2));
  m.rows = s.dim(s.rank() - 2);
  m.columns = s.dim(s.rank() - 1);
  return m;
}

inline StatusOr<Matrices> SquareMatricesOf(ShapeContext& c, int input) {
  TF_ASSIGN_OR_RETURN(Matrices m, MatricesOf(c, input));
  if (m.rows >= 0 && m.columns >= 0 && m.rows != m.columns) {
    return InvalidArgument("input ", input, " must be square matrices, got shape ", c.input(input));
  }
  m.rows = m.columns = std::max(m.rows, m.columns);
  return m;
}

// The smaller one of two sizes; kUnknownDim if that depends on an unknown size.
inline int64_t LeastSize(int64_t a, int64_t b) {
  return a < 0 || b < 0 ? (a == 0 || b == 0 ? 0 : Shape::kUnknownDim) : std::min(a, b);
}

// Shape rule: input 0 and output 0 are square matrices of the same shape.
inline Status SquareMatricesShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(c, 0));
  c.set_output(0, m.With({m.rows, m.rows}));
  return OkStatus();
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_LINALG_MATRICES_H_
