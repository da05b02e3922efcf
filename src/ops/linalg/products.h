// Products, adjoints and diagonals of batches of matrices, for gradients.
#ifndef TENSORBRAID_OPS_LINALG_PRODUCTS_H_
#define TENSORBRAID_OPS_LINALG_PRODUCTS_H_

#include <source_location>

#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {

// a b, a^H b and a b^H.
inline Output Product(Output a, Output b) { return BatchMatMul(a, b); }
inline Output AdjointProduct(Output a, Output b) { return BatchMatMul(a, b, {.adj_x = true}); }
inline Output ProductAdjoint(Output a, Output b) { return BatchMatMul(a, b, {.adj_y = true}); }

// The transposed matrices.
inline Output MatrixTranspose(Output m) {
  Graph& graph = *m.graph();
  if (m.shape().has_rank()) {
    std::vector<int64_t> order(m.shape().rank());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    if (order.size() >= 2) std::swap(order[order.size() - 2], order[order.size() - 1]);
    return Transpose(m, order);
  }
  const Output rank = Rank(m);
  return Transpose(m, Concat({Range(graph, 0, rank - 2), Stack({rank - 1, rank - 2})}, 0));
}
inline Output Adjoint(Output m) { return Conjugated(MatrixTranspose(m)); }

// Matrices with the main diagonals `diagonal` and 0 elsewhere; the main diagonals of m; and m with the main diagonals
// `diagonal`.
inline Output DiagonalMatrix(Output diagonal) { return Node1("MatrixDiag", diagonal); }
inline Output DiagonalOf(Output m) { return Node1("MatrixDiagPart", m); }
inline Output WithDiagonal(Output m, Output diagonal) { return Node2("MatrixSetDiag", m, diagonal); }

// The part of m on and below the main diagonal if `lower`, else the part on and above it; 0 elsewhere.
inline Output Triangle(Output m, bool lower) {
  Graph& graph = *m.graph();
  const auto count = [&](int64_t n) { return Operand(Tensor::Scalar(n)).ToOutput(graph); };
  return NodeBuilder(graph, "MatrixBandPart")
      .Input(m)
      .Input(count(lower ? -1 : 0))
      .Input(count(lower ? 0 : -1))
      .Output();
}

// The solution of the triangular systems m x = b, or m^H x = b if `adjoint`.
inline Output TriangularSolution(Output m, Output b, bool lower, bool adjoint) {
  return NodeBuilder(*m.graph(), "MatrixTriangularSolve")
      .Input(m)
      .Input(b)
      .Attr("lower", lower)
      .Attr("adjoint", adjoint)
      .Output();
}

// b m^-H for a triangular matrix m.
inline Output TimesInverseAdjoint(Output b, Output m, bool lower) {
  return Adjoint(TriangularSolution(m, Adjoint(b), lower, /*adjoint=*/false));
}

// `numbers` with two more dimensions of size 1 at its end, so that each number multiplies one matrix.
inline Output AsMatrices(Output numbers) { return ExpandDims(ExpandDims(numbers, -1), -1); }

// 1 / x, but 0 where x is 0. (Differs noticeably from 1 / x only where x is very small.)
inline Output SafeReciprocal(Output x) { return x / (x * x + 1e-20); }

// The matrices of 1 / (e_j - e_i) at row i and column j, with 0 on the diagonal, for vectors e.
inline Output ReciprocalDifferences(Output e) {
  return WithDiagonal(SafeReciprocal(ExpandDims(e, -2) - ExpandDims(e, -1)), Node1("ZerosLike", e));
}

// Columns [begin, end) of matrices; to the last one if `end` is 0.
inline Output ColumnsOf(Output m, int64_t begin, int64_t end) {
  return StridedSlice(m, {0, begin}, {0, end}, {1, 1}, {.end_mask = end == 0 ? 2 : 0, .ellipsis_mask = 1});
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_LINALG_PRODUCTS_H_
