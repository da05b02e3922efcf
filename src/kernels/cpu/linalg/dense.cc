#include "kernels/cpu/linalg/dense.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tensorbraid::cpu {
namespace {

// Matrices are processed in blocks of this many rows or columns. After each block, a matrix product updates the rest of
// the matrix.
constexpr int64_t kBlock = 64;

// The elements of `a` in the given rows and columns.
template <typename W>
Matrix<W> Part(const Matrix<W>& a, int64_t row, int64_t row_end, int64_t column, int64_t column_end) {
  Matrix<W> part(row_end - row, column_end - column);
  for (int64_t i = row; i < row_end; ++i) {
    std::copy(a.row(i) + column, a.row(i) + column_end, part.row(i - row));
  }
  return part;
}

// Subtracts a b from the part of `c` whose first element is [row, column].
template <typename W>
void SubtractProduct(const Matrix<W>& a, const Matrix<W>& b, int64_t row, int64_t column, Matrix<W>* c) {
  if (a.size() == 0 || b.size() == 0) return;
  const Matrix<W> product = Product(a, b);
  for (int64_t i = 0; i < product.rows(); ++i) {
    W* const to = c->row(row + i) + column;
    for (int64_t j = 0; j < product.columns(); ++j) to[j] -= product(i, j);
  }
}

// row[c] -= factor * other[c] for begin <= c < end.
template <typename W>
void SubtractRow(W factor, const W* other, int64_t begin, int64_t end, W* row) {
  for (int64_t c = begin; c < end; ++c) row[c] -= factor * other[c];
}

Matrix<double> LowerTriangle(const Matrix<double>& a) {
  Matrix<double> lower(a.rows(), a.columns());
  for (int64_t i = 0; i < a.rows(); ++i) std::copy_n(a.row(i), i + 1, lower.row(i));
  return lower;
}

}  // namespace

template <typename W>
LuFactors<W>::LuFactors(Matrix<W> a) : lu_(std::move(a)), rows_(lu_.rows()) {
  std::iota(rows_.begin(), rows_.end(), 0);
  const int64_t n = lu_.rows();
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n);
    EliminatePanel(begin, end);
    for (int64_t i = begin + 1; i < end; ++i) {
      for (int64_t j = begin; j < i; ++j) SubtractRow(lu_(i, j), lu_.row(j), end, n, lu_.row(i));
    }
    SubtractProduct(Part(lu_, end, n, begin, end), Part(lu_, begin, end, end, n), end, end, &lu_);
  }
}

// Eliminates the columns from `begin` to `end`. Rows are exchanged in all columns, but the columns from `end` on are
// otherwise left for the caller to update.
template <typename W>
void LuFactors<W>::EliminatePanel(int64_t begin, int64_t end) {
  const int64_t n = lu_.rows();
  for (int64_t k = begin; k < end; ++k) {
    int64_t pivot = k;
    double largest = std::abs(lu_(k, k));
    for (int64_t i = k + 1; i < n; ++i) {
      const double size = std::abs(lu_(i, k));
      if (size > largest) {
        largest = size;
        pivot = i;
      }
    }
    if (pivot != k) {
      std::swap_ranges(lu_.row(k), lu_.row(k) + n, lu_.row(pivot));
      std::swap(rows_[k], rows_[pivot]);
      sign_ = -sign_;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      if (largest != 0) lu_(i, k) /= lu_(k, k);
      SubtractRow(lu_(i, k), lu_.row(k), k + 1, end, lu_.row(i));
    }
  }
}

template <typename W>
bool LuFactors<W>::has_zero_pivot() const {
  double least = std::abs(lu_(0, 0));
  for (int64_t k = 1; k < lu_.rows(); ++k) least = std::min(least, std::abs(lu_(k, k)));
  return !(least > 0);
}

template <typename W>
W LuFactors<W>::Determinant() const {
  W product = lu_(0, 0);
  for (int64_t k = 1; k < lu_.rows(); ++k) product *= lu_(k, k);
  return static_cast<double>(sign_) * product;
}

template <typename W>
void LuFactors<W>::Substitute(Matrix<W>* x) const {
  const int64_t n = lu_.rows(), columns = x->columns();
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n);
    for (int64_t i = begin + 1; i < end; ++i) {
      for (int64_t j = begin; j < i; ++j) SubtractRow(lu_(i, j), x->row(j), 0, columns, x->row(i));
    }
    SubtractProduct(Part(lu_, end, n, begin, end), Part(*x, begin, end, 0, columns), end, 0, x);
  }
  for (int64_t end = n; end > 0;) {
    const int64_t begin = (end - 1) / kBlock * kBlock;
    for (int64_t i = end - 1; i >= begin; --i) {
      for (int64_t j = end - 1; j > i; --j) SubtractRow(lu_(i, j), x->row(j), 0, columns, x->row(i));
      for (int64_t c = 0; c < columns; ++c) (*x)(i, c) /= lu_(i, i);
    }
    SubtractProduct(Part(lu_, 0, begin, begin, end), Part(*x, begin, end, 0, columns), 0, 0, x);
    end = begin;
  }
}

template <typename W>
Matrix<W> LuFactors<W>::Inverse() const {
  Matrix<W> x(lu_.rows(), lu_.rows());
  for (int64_t i = 0; i < lu_.rows(); ++i) x(i, rows_[i]) = 1;
  Substitute(&x);
  return x;
}

template <typename W>
Matrix<W> LuFactors<W>::Solve(const Matrix<W>& b) const {
  Matrix<W> x(b.rows(), b.columns());
  for (int64_t i = 0; i < b.rows(); ++i) std::copy_n(b.row(rows_[i]), b.columns(), x.row(i));
  Substitute(&x);
  return x;
}

template <typename W>
bool FactorCholesky(const Matrix<W>& a, Matrix<W>* result) {
  const int64_t n = a.rows();
  Matrix<W> l = a;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n);
    SubtractProduct(Part(l, begin, n, 0, begin), Adjoint(Part(l, begin, end, 0, begin)), begin, begin, &l);
    for (int64_t k = begin; k < end; ++k) {
      double square = std::real(l(k, k));
      for (int64_t j = begin; j < k; ++j) square -= std::norm(l(k, j));
      if (square <= 0) return false;
      const double pivot = std::sqrt(square);
      l(k, k) = pivot;
      for (int64_t i = k + 1; i < n; ++i) {
        W sum = l(i, k);
        for (int64_t j = begin; j < k; ++j) sum -= l(i, j) * Conjugate(l(k, j));
        l(i, k) = sum / pivot;
      }
    }
  }
  for (int64_t i = 0; i < n; ++i) std::fill(l.row(i) + i + 1, l.row(i) + n, W(0));
  *result = std::move(l);
  return true;
}

template <typename W>
bool NormalLeastSquares(const Matrix<W>& a, const Matrix<W>& b, double l2, Matrix<W>* x) {
  const bool tall = a.rows() >= a.columns();
  const Matrix<W> adjoint = Adjoint(a);
  Matrix<W> gramian = tall ? Product(adjoint, a) : Product(a, adjoint);
  for (int64_t i = 0; i < gramian.rows(); ++i) gramian(i, i) += l2;
  Matrix<W> l;
  if (!FactorCholesky(gramian, &l)) return false;
  Matrix<W> solved = tall ? Product(adjoint, b) : b;
  SolveTriangular(l.data(), l.rows(), /*lower=*/true, /*adjoint=*/false, solved.data(), solved.columns());
  SolveTriangular(l.data(), l.rows(), /*lower=*/true, /*adjoint=*/true, solved.data(), solved.columns());
  *x = tall ? std::move(solved) : Product(adjoint, solved);
  return true;
}

Matrix<double> CholeskyGradient(const Matrix<double>& l, const Matrix<double>& grad) {
  const int64_t n = l.rows();
  Matrix<double> s = LowerTriangle(Product(Transpose(LowerTriangle(l)), LowerTriangle(grad)));
  for (int64_t i = 0; i < n; ++i) s(i, i) *= 0.5;
  // Now `s` holds M = tril'(L^T G). Two rounds of s = (L^-T s)^T give S = L^-T M L^-1.
  for (int i = 0; i < 2; ++i) {
    SolveTriangular(l.data(), n, /*lower=*/true, /*adjoint=*/true, s.data(), n);
    s = Transpose(s);
  }
  Matrix<double> result(n, n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) result(i, j) = 0.5 * (s(i, j) + s(j, i));
  }
  return result;
}

#define TB_DENSE(W)                                           \
  template class LuFactors<W>;                                \
  template bool FactorCholesky(const Matrix<W>&, Matrix<W>*); \
  template bool NormalLeastSquares(const Matrix<W>&, const Matrix<W>&, double, Matrix<W>*);
TB_DENSE(double)
TB_DENSE(std::complex<double>)
#undef TB_DENSE

}  // namespace tensorbraid::cpu
