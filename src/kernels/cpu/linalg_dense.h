// Algorithms on one dense matrix in double precision, real or complex (W is double or std::complex<double>). Eigen's
// templates behind them take long to compile, and are compiled here once, whatever the types of the kernels.
#ifndef TENSORBRAID_KERNELS_CPU_LINALG_DENSE_H_
#define TENSORBRAID_KERNELS_CPU_LINALG_DENSE_H_

#include <memory>
#include <vector>

#include "kernels/cpu/linalg.h"

namespace tensorbraid::cpu {

// P A = L U of a square matrix that is not empty.
template <typename W>
class LuFactors {
 public:
  explicit LuFactors(const MatrixOf<W>& a);
  ~LuFactors();
  // L below the diagonal, whose own is all ones, and U from it on.
  const MatrixOf<W>& triangles() const;
  // Which row of A is row i of P A; and whether that takes an even number of exchanges (1) or not (-1).
  std::vector<int> rows() const;
  int sign() const;
  bool has_zero_pivot() const;
  W Determinant() const;
  MatrixOf<W> Inverse() const;
  // The X of A X = B.
  MatrixOf<W> Solve(const MatrixOf<W>& b) const;

 private:
  const std::unique_ptr<const Eigen::PartialPivLU<MatrixOf<W>>> lu_;
};

// A = L L^H with a lower triangle L. False where A is not positive definite.
template <typename W>
bool FactorCholesky(const MatrixOf<W>& a, MatrixOf<W>* l);

// A = Q R with `inner` columns of Q and rows of R, as many as the lesser side of A or as its rows.
template <typename W>
void FactorQr(const MatrixOf<W>& a, int64_t inner, MatrixOf<W>* q, MatrixOf<W>* r);

// The least X that makes |A X - B| least, whatever the rank of A.
template <typename W>
MatrixOf<W> LeastSquares(const MatrixOf<W>& a, const MatrixOf<W>& b);
// The X that makes |A X - B|^2 + l2 |X|^2 least (of many, the least X), by the normal equations. False where their
// matrix is singular or nearly so.
template <typename W>
bool NormalLeastSquares(const MatrixOf<W>& a, const MatrixOf<W>& b, double l2, MatrixOf<W>* x);

// The gradient by A, given that by L where A = L L^T: (S + S^T) / 2 where S = L^-T tril'(L^T G) L^-1 and tril' halves
// the diagonal. Only the lower triangles of both count.
MatrixOf<double> CholeskyGradient(const MatrixOf<double>& l, const MatrixOf<double>& grad);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_LINALG_DENSE_H_
