// Decompositions of one dense, non-empty matrix in double precision by LAPACK. W is double or std::complex<double>.
//
// All functions may be called from several threads at once. They return InvalidArgument for a matrix that is too large
// for LAPACK, which counts elements of workspaces in 32 bits, and for an iteration that does not converge.
#ifndef TENSORBRAID_KERNELS_CPU_LINALG_LAPACK_H_
#define TENSORBRAID_KERNELS_CPU_LINALG_LAPACK_H_

#include <complex>
#include <vector>

#include "kernels/cpu/linalg/linalg.h"

namespace tensorbraid::cpu {

// A = Q R, where Q has `inner` columns and R has `inner` rows. `inner` is the number of rows of A, or the smaller of
// its numbers of rows and columns. If A has elements that are not finite, so has Q or R.
template <typename W>
Status FactorQr(const Matrix<W>& a, int64_t inner, Matrix<W>* q, Matrix<W>* r);

// The X that minimizes |A X - B|, for A of any rank; the X with the smallest norm, if there are several. The rank
// counts the diagonal elements of R, after QR with column pivoting, that are above epsilon * min(rows, columns) times
// the largest. Zero, as in TensorFlow, if A has elements that are not finite.
template <typename W>
StatusOr<Matrix<W>> LeastSquares(const Matrix<W>& a, const Matrix<W>& b);

// The eigenvalues of a Hermitian matrix in ascending order, and, if `vectors` is not null, its eigenvectors as columns.
// Only the lower triangle of A is used.
template <typename W>
Status SelfAdjointEigen(const Matrix<W>& a, std::vector<double>* values, Matrix<W>* vectors);

// The eigenvalues of a finite square matrix in no particular order, and, if `vectors` is not null, its eigenvectors of
// length 1 as columns.
Status GeneralEigen(const Matrix<std::complex<double>>& a, std::vector<std::complex<double>>* values,
                    Matrix<std::complex<double>>* vectors);

// The Schur decomposition A = V T V^H of a finite square matrix, with a unitary V and an upper triangular T.
Status Schur(const Matrix<std::complex<double>>& a, Matrix<std::complex<double>>* t, Matrix<std::complex<double>>* v);

// Which columns of U and V a singular value decomposition computes.
enum class SingularVectors { kNone, kThin, kFull };

// A = U diag(s) V^H of a finite matrix, with s in descending order.
template <typename W>
Status SingularValues(const Matrix<W>& a, SingularVectors which, std::vector<double>* s, Matrix<W>* u, Matrix<W>* v);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_LINALG_LAPACK_H_
