// The adapter to LAPACK. LAPACK's matrices are column-major, a Matrix is row-major. So the elements of a Matrix, as
// LAPACK reads them, are its transpose.
#include "kernels/cpu/linalg/lapack.h"

#include <algorithm>
#include <limits>

#include "core/text/logging.h"
#include "kernels/cpu/linalg/dense.h"

#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

namespace tensorbraid::cpu {
namespace {

using Z = std::complex<double>;

// Calls `f` with a workspace and its size, after asking `f` for the size. The functions of LAPACKE whose names end in
// _work do not check for NaN, so the caller must handle NaN.
template <typename W, typename F>
lapack_int WithWorkspace(const F& f) {
  W size = 0;
  if (const lapack_int info = f(&size, -1); info != 0) return info;
  std::vector<W> work(std::max(1.0, std::real(size)));
  return f(work.data(), static_cast<lapack_int>(work.size()));
}

// Householder reflectors of an [m,n] matrix, and R on and above its diagonal.
lapack_int Geqrf(lapack_int m, lapack_int n, double* a, double* tau) {
  return WithWorkspace<double>([&](double* work, lapack_int size) {
    return LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, n, a, m, tau, work, size);
  });
}
lapack_int Geqrf(lapack_int m, lapack_int n, Z* a, Z* tau) {
  return WithWorkspace<Z>(
      [&](Z* work, lapack_int size) { return LAPACKE_zgeqrf_work(LAPACK_COL_MAJOR, m, n, a, m, tau, work, size); });
}

// As Geqrf, but first exchanges columns so that longer columns come first. Column i of the result is column
// (columns[i] - 1) of the matrix.
lapack_int Geqp3(lapack_int m, lapack_int n, double* a, lapack_int* columns, double* tau) {
  return WithWorkspace<double>([&](double* work, lapack_int size) {
    return LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, m, n, a, m, columns, tau, work, size);
  });
}
lapack_int Geqp3(lapack_int m, lapack_int n, Z* a, lapack_int* columns, Z* tau) {
  std::vector<double> real_work(2 * static_cast<size_t>(n));
  return WithWorkspace<Z>([&](Z* work, lapack_int size) {
    return LAPACKE_zgeqp3_work(LAPACK_COL_MAJOR, m, n, a, m, columns, tau, work, size, real_work.data());
  });
}

// The first n columns of Q, from k reflectors.
lapack_int Ungqr(lapack_int m, lapack_int n, lapack_int k, double* a, const double* tau) {
  return WithWorkspace<double>([&](double* work, lapack_int size) {
    return LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, m, n, k, a, m, tau, work, size);
  });
}
lapack_int Ungqr(lapack_int m, lapack_int n, lapack_int k, Z* a, const Z* tau) {
  return WithWorkspace<Z>(
      [&](Z* work, lapack_int size) { return LAPACKE_zungqr_work(LAPACK_COL_MAJOR, m, n, k, a, m, tau, work, size); });
}

// Eigenvalues of a Hermitian matrix; if job is 'V', the eigenvectors replace the matrix.
lapack_int Heevd(char job, lapack_int n, double* a, double* values) {
  std::vector<lapack_int> int_work(3 + 5 * static_cast<size_t>(n));
  return WithWorkspace<double>([&](double* work, lapack_int size) {
    return LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'L', n, a, n, values, work, size, int_work.data(),
                               size < 0 ? -1 : static_cast<lapack_int>(int_work.size()));
  });
}
lapack_int Heevd(char job, lapack_int n, Z* a, double* values) {
  std::vector<lapack_int> int_work(3 + 5 * static_cast<size_t>(n));
  const size_t squares = job == 'V' ? 2 * static_cast<size_t>(n) * n : 0;
  std::vector<double> real_work(1 + 5 * static_cast<size_t>(n) + squares);
  return WithWorkspace<Z>([&](Z* work, lapack_int size) {
    return LAPACKE_zheevd_work(LAPACK_COL_MAJOR, job, 'L', n, a, n, values, work, size, real_work.data(),
                               size < 0 ? -1 : static_cast<lapack_int>(real_work.size()), int_work.data(),
                               size < 0 ? -1 : static_cast<lapack_int>(int_work.size()));
  });
}

// Singular values and, unless job is 'N', singular vectors.
lapack_int Gesdd(char job, lapack_int m, lapack_int n, double* a, double* s, double* u, double* vt,
                 lapack_int vt_rows) {
  std::vector<lapack_int> int_work(8 * static_cast<size_t>(std::min(m, n)));
  return WithWorkspace<double>([&](double* work, lapack_int size) {
    return LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, m, vt, vt_rows, work, size, int_work.data());
  });
}
lapack_int Gesdd(char job, lapack_int m, lapack_int n, Z* a, double* s, Z* u, Z* vt, lapack_int vt_rows) {
  const size_t least = std::min(m, n), most = std::max(m, n);
  std::vector<lapack_int> int_work(8 * least);
  std::vector<double> real_work(job == 'N' ? 7 * least : least * std::max(5 * least + 7, 2 * most + 2 * least + 1));
  return WithWorkspace<Z>([&](Z* work, lapack_int size) {
    return LAPACKE_zgesdd_work(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, m, vt, vt_rows, work, size, real_work.data(),
                               int_work.data());
  });
}

// Returns InvalidArgument if `elements`, an upper bound of the size of every workspace, does not fit in LAPACK's
// integers.
Status CheckSize(int64_t rows, int64_t columns, int64_t elements) {
  if (elements <= std::numeric_limits<lapack_int>::max()) return OkStatus();
  return InvalidArgument("a matrix of shape [", rows, ",", columns,
                         "] is too large for LAPACK, which counts elements of workspaces in 32 bits");
}

// Checks the size for QR decompositions. LAPACK works on panels of at most 64 columns.
template <typename W>
Status CheckQrSize(const Matrix<W>& a) {
  return CheckSize(a.rows(), a.columns(), 65 * (std::max(a.rows(), a.columns()) + 64));
}

// Checks the size for eigenvalues, singular values and the Schur decomposition.
template <typename W>
Status CheckIterationSize(const Matrix<W>& a) {
  const int64_t least = std::min(a.rows(), a.columns()), most = std::max(a.rows(), a.columns());
  const int64_t panels = 65 * (most + 64);
  return CheckSize(a.rows(), a.columns(), std::max(panels, least * std::max(7 * least + 64, 2 * (most + least) + 64)));
}

}  // namespace

template <typename W>
Status FactorQr(const Matrix<W>& a, int64_t inner, Matrix<W>* q, Matrix<W>* r) {
  TF_RETURN_IF_ERROR(CheckQrSize(a));
  const int64_t least = std::min(a.rows(), a.columns());
  Matrix<W> factors = Transpose(a);
  std::vector<W> tau(least);
  TB_CHECK(Geqrf(a.rows(), a.columns(), factors.data(), tau.data()) == 0);
  *r = Matrix<W>(inner, a.columns());
  for (int64_t i = 0; i < least; ++i) {
    for (int64_t j = i; j < a.columns(); ++j) (*r)(i, j) = factors(j, i);
  }
  Matrix<W> columns(inner, a.rows());
  std::copy_n(factors.data(), least * a.rows(), columns.data());
  TB_CHECK(Ungqr(a.rows(), inner, least, columns.data(), tau.data()) == 0);
  *q = Transpose(columns);
  return OkStatus();
}

// A P = Q R, where R has only as many rows as the rank of A. With the QR decomposition R^H = Z T, R is T^H Z^H, so the
// shortest solution of R Y = Q^H B is Y = Z (T^-H Q^H B).
template <typename W>
StatusOr<Matrix<W>> LeastSquares(const Matrix<W>& a, const Matrix<W>& b) {
  TF_RETURN_IF_ERROR(CheckQrSize(a));
  const int64_t m = a.rows(), n = a.columns(), least = std::min(m, n);
  Matrix<W> x(n, b.columns());
  if (!AllFinite(a)) return x;
  Matrix<W> factors = Transpose(a);
  std::vector<W> tau(least);
  std::vector<lapack_int> order(n);
  TB_CHECK(Geqp3(m, n, factors.data(), order.data(), tau.data()) == 0);
  double largest = 0;
  for (int64_t i = 0; i < least; ++i) largest = std::max(largest, std::abs(factors(i, i)));
  const double negligible = largest * std::numeric_limits<double>::epsilon() * static_cast<double>(least);
  int64_t rank = 0;
  for (int64_t i = 0; i < least; ++i) rank += std::abs(factors(i, i)) > negligible;
  if (rank == 0) return x;

  Matrix<W> r(rank, n);
  for (int64_t i = 0; i < rank; ++i) {
    for (int64_t j = i; j < n; ++j) r(i, j) = factors(j, i);
  }
  Matrix<W> columns(rank, m);
  std::copy_n(factors.data(), rank * m, columns.data());
  TB_CHECK(Ungqr(m, rank, rank, columns.data(), tau.data()) == 0);
  Matrix<W> y = Product(Adjoint(Transpose(columns)), b);
  if (rank == n) {
    SolveTriangular(r.data(), n, /*lower=*/false, /*adjoint=*/false, y.data(), y.columns());
  } else {
    Matrix<W> z, t;
    TF_RETURN_IF_ERROR(FactorQr(Adjoint(r), rank, &z, &t));
    SolveTriangular(t.data(), rank, /*lower=*/false, /*adjoint=*/true, y.data(), y.columns());
    y = Product(z, y);
  }
  for (int64_t i = 0; i < n; ++i) std::copy_n(y.row(i), y.columns(), x.row(order[i] - 1));
  return x;
}

template <typename W>
Status SelfAdjointEigen(const Matrix<W>& a, std::vector<double>* values, Matrix<W>* vectors) {
  TF_RETURN_IF_ERROR(CheckIterationSize(a));
  const int64_t n = a.rows();
  if (n > 1) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        if (!std::isfinite(std::abs(a(i, j)))) return InvalidArgument("the matrix has elements that are not finite");
      }
    }
  }
  Matrix<W> columns = Transpose(a);
  values->resize(n);
  if (Heevd(vectors == nullptr ? 'N' : 'V', n, columns.data(), values->data()) != 0) {
    return InvalidArgument("the eigenvalues do not converge");
  }
  if (vectors != nullptr) *vectors = Transpose(columns);
  return OkStatus();
}

Status GeneralEigen(const Matrix<Z>& a, std::vector<Z>* values, Matrix<Z>* vectors) {
  TF_RETURN_IF_ERROR(CheckIterationSize(a));
  const lapack_int n = a.rows();
  Matrix<Z> columns = Transpose(a), right(vectors == nullptr ? 0 : n, n);
  values->resize(n);
  std::vector<double> real_work(2 * static_cast<size_t>(n));
  const lapack_int info = WithWorkspace<Z>([&](Z* work, lapack_int size) {
    return LAPACKE_zgeev_work(LAPACK_COL_MAJOR, 'N', vectors == nullptr ? 'N' : 'V', n, columns.data(), n,
                              values->data(), nullptr, 1, right.data(), n, work, size, real_work.data());
  });
  if (info != 0) return InvalidArgument("the eigenvalues do not converge");
  if (vectors != nullptr) *vectors = Transpose(right);
  return OkStatus();
}

Status Schur(const Matrix<Z>& a, Matrix<Z>* t, Matrix<Z>* v) {
  TF_RETURN_IF_ERROR(CheckIterationSize(a));
  const lapack_int n = a.rows();
  Matrix<Z> triangle = Transpose(a), vectors(n, n);
  std::vector<Z> values(n);
  std::vector<double> real_work(n);
  lapack_int selected = 0;
  const lapack_int info = WithWorkspace<Z>([&](Z* work, lapack_int size) {
    return LAPACKE_zgees_work(LAPACK_COL_MAJOR, 'V', 'N', nullptr, n, triangle.data(), n, &selected, values.data(),
                              vectors.data(), n, work, size, real_work.data(), nullptr);
  });
  if (info != 0) return InvalidArgument("the eigenvalues do not converge");
  *t = Transpose(triangle);
  *v = Transpose(vectors);
  return OkStatus();
}

template <typename W>
Status SingularValues(const Matrix<W>& a, SingularVectors which, std::vector<double>* s, Matrix<W>* u, Matrix<W>* v) {
  TF_RETURN_IF_ERROR(CheckIterationSize(a));
  const int64_t m = a.rows(), n = a.columns(), least = std::min(m, n);
  const bool full = which == SingularVectors::kFull, none = which == SingularVectors::kNone;
  const int64_t nu = none ? 0 : full ? m : least, nv = none ? 0 : full ? n : least;
  Matrix<W> columns = Transpose(a), left(nu, m);
  // LAPACK returns V^H, column by column. Read row by row, that is the conjugate of V.
  *v = Matrix<W>(n, nv);
  s->resize(least);
  if (Gesdd(none   ? 'N'
            : full ? 'A'
                   : 'S',
            m, n, columns.data(), s->data(), left.data(), v->data(), std::max<int64_t>(nv, 1)) != 0) {
    return InvalidArgument("the singular values do not converge");
  }
  *u = Transpose(left);
  std::for_each(v->data(), v->data() + v->size(), [](W& element) { element = Conjugate(element); });
  return OkStatus();
}

#define TB_LAPACK(W)                                                                    \
  template Status FactorQr(const Matrix<W>&, int64_t, Matrix<W>*, Matrix<W>*);          \
  template StatusOr<Matrix<W>> LeastSquares(const Matrix<W>&, const Matrix<W>&);        \
  template Status SelfAdjointEigen(const Matrix<W>&, std::vector<double>*, Matrix<W>*); \
  template Status SingularValues(const Matrix<W>&, SingularVectors, std::vector<double>*, Matrix<W>*, Matrix<W>*);
TB_LAPACK(double)
TB_LAPACK(Z)
#undef TB_LAPACK

}  // namespace tensorbraid::cpu
