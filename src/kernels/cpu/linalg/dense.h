// Elimination on one dense matrix in double precision, real or complex (W is double or std::complex<double>).
#ifndef TENSORBRAID_KERNELS_CPU_LINALG_DENSE_H_
#define TENSORBRAID_KERNELS_CPU_LINALG_DENSE_H_

#include <type_traits>
#include <vector>

#include "kernels/cpu/linalg/linalg.h"

namespace tensorbraid::cpu {

// The decomposition P A = L U of a square, non-empty matrix A. Each pivot is the element of largest modulus in its
// column, as in TensorFlow. (LAPACK compares |re| + |im|, which leads to another P for some complex matrices.)
template <typename W>
class LuFactors {
 public:
  explicit LuFactors(Matrix<W> a);
  // L below the diagonal (the diagonal of L is all ones, and not stored), U on and above it.
  const Matrix<W>& triangles() const { return lu_; }
  // Row i of P A is row rows()[i] of A.
  const std::vector<int64_t>& rows() const { return rows_; }
  // The sign of the permutation P: 1 if it is even, -1 if it is odd.
  int sign() const { return sign_; }
  bool has_zero_pivot() const;
  W Determinant() const;
  Matrix<W> Inverse() const;
  // Returns the X that satisfies A X = B.
  Matrix<W> Solve(const Matrix<W>& b) const;

 private:
  void EliminatePanel(int64_t begin, int64_t end);
  // Solves L U X = B; `x` holds B on entry and X on return.
  void Substitute(Matrix<W>* x) const;

  Matrix<W> lu_;
  std::vector<int64_t> rows_;
  int sign_ = 1;
};

// A = L L^H with a lower triangular L. Only the lower triangle of A is used. Returns false if A is not positive
// definite.
template <typename W>
bool FactorCholesky(const Matrix<W>& a, Matrix<W>* l);

// Computes the X that minimizes |A X - B|^2 + l2 |X|^2 (the one with the smallest norm, if there are several) by the
// normal equations. Returns false if the matrix of these equations is singular or nearly singular.
template <typename W>
bool NormalLeastSquares(const Matrix<W>& a, const Matrix<W>& b, double l2, Matrix<W>* x);

// The gradient with respect to A, where A = L L^T and G = `grad` is the gradient with respect to L: (S + S^T) / 2,
// where S = L^-T tril'(L^T G) L^-1 and tril' takes the lower triangle and halves its diagonal. Only the lower triangles
// of both arguments are used.
Matrix<double> CholeskyGradient(const Matrix<double>& l, const Matrix<double>& grad);

// Solves A X = B, or A^H X = B if `adjoint`, by substitution; `x` holds B on entry and X on return. Row k of X is
// (row k of B - sum of A[k, j] * row j of X over the rows j solved before) / A[k, k]. A lower triangle is solved from
// the first row to the last, an upper one from the last to the first. The inner loop runs along rows, which are
// contiguous.
template <typename T>
void SolveTriangular(const T* a, int64_t n, bool lower, bool adjoint, T* x, int64_t columns) {
  const auto at = [&](int64_t row, int64_t column) {
    return adjoint ? Conjugate(a[column * n + row]) : a[row * n + column];
  };
  const bool downwards = lower != adjoint;
  for (int64_t done = 0; done < n; ++done) {
    const int64_t k = downwards ? done : n - 1 - done;
    T* const row = x + k * columns;
    for (int64_t before = 0; before < done; ++before) {
      const int64_t j = downwards ? before : n - 1 - before;
      const T factor = at(k, j);
      const T* const other = x + j * columns;
      for (int64_t c = 0; c < columns; ++c) row[c] -= factor * other[c];
    }
    const T pivot = at(k, k);
    for (int64_t c = 0; c < columns; ++c) row[c] /= pivot;
  }
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_LINALG_DENSE_H_
