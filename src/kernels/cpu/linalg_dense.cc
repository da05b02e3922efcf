#include "kernels/cpu/linalg_dense.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>

namespace tensorbraid::cpu {

template <typename W>
LuFactors<W>::LuFactors(const MatrixOf<W>& a) : lu_(std::make_unique<Eigen::PartialPivLU<MatrixOf<W>>>(a)) {}
template <typename W>
LuFactors<W>::~LuFactors() = default;

template <typename W>
const MatrixOf<W>& LuFactors<W>::triangles() const {
  return lu_->matrixLU();
}

template <typename W>
std::vector<int> LuFactors<W>::rows() const {
  const Eigen::PermutationMatrix<Eigen::Dynamic> inverse = lu_->permutationP().inverse();
  return {inverse.indices().begin(), inverse.indices().end()};
}

template <typename W>
int LuFactors<W>::sign() const {
  return static_cast<int>(lu_->permutationP().determinant());
}

template <typename W>
bool LuFactors<W>::has_zero_pivot() const {
  return !(lu_->matrixLU().diagonal().cwiseAbs().minCoeff() > 0);
}

template <typename W>
W LuFactors<W>::Determinant() const {
  return lu_->determinant();
}

template <typename W>
MatrixOf<W> LuFactors<W>::Inverse() const {
  return lu_->inverse();
}

template <typename W>
MatrixOf<W> LuFactors<W>::Solve(const MatrixOf<W>& b) const {
  return lu_->solve(b);
}

template <typename W>
bool FactorCholesky(const MatrixOf<W>& a, MatrixOf<W>* l) {
  const Eigen::LLT<MatrixOf<W>> llt(a);
  if (llt.info() != Eigen::Success) return false;
  *l = llt.matrixL();
  return true;
}

template <typename W>
void FactorQr(const MatrixOf<W>& a, int64_t inner, MatrixOf<W>* q, MatrixOf<W>* r) {
  const Eigen::HouseholderQR<MatrixOf<W>> qr(a);
  *r = MatrixOf<W>::Zero(inner, a.cols());
  for (int64_t row = 0; row < std::min(a.rows(), a.cols()); ++row) {
    const int64_t right = a.cols() - row;
    r->row(row).tail(right) = qr.matrixQR().row(row).tail(right);
  }
  *q = MatrixOf<W>::Identity(a.rows(), inner);
  q->applyOnTheLeft(qr.householderQ());
}

template <typename W>
MatrixOf<W> LeastSquares(const MatrixOf<W>& a, const MatrixOf<W>& b) {
  return Eigen::CompleteOrthogonalDecomposition<MatrixOf<W>>(a).solve(b);
}

template <typename W>
bool NormalLeastSquares(const MatrixOf<W>& a, const MatrixOf<W>& b, double l2, MatrixOf<W>* x) {
  const bool tall = a.rows() >= a.cols();
  const MatrixOf<W> adjoint = a.adjoint();
  MatrixOf<W> gramian;
  if (tall) {
    gramian = adjoint * a;
  } else {
    gramian = a * adjoint;
  }
  gramian.diagonal().array() += W(l2);
  const Eigen::LLT<MatrixOf<W>> llt(gramian);
  if (llt.info() != Eigen::Success) return false;
  if (tall) {
    *x = adjoint * b;
    llt.solveInPlace(*x);
  } else {
    MatrixOf<W> solved = b;
    llt.solveInPlace(solved);
    *x = adjoint * solved;
  }
  return true;
}

MatrixOf<double> CholeskyGradient(const MatrixOf<double>& l, const MatrixOf<double>& grad) {
  const MatrixOf<double> lower = l.triangularView<Eigen::Lower>();
  const MatrixOf<double> g = grad.triangularView<Eigen::Lower>();
  MatrixOf<double> middle = (lower.transpose() * g).triangularView<Eigen::Lower>();
  middle.diagonal() *= 0.5;
  const auto triangle = lower.triangularView<Eigen::Lower>();
  triangle.transpose().solveInPlace(middle);
  triangle.solveInPlace<Eigen::OnTheRight>(middle);
  return 0.5 * (middle + middle.transpose());
}

template class LuFactors<double>;
template class LuFactors<std::complex<double>>;
template bool FactorCholesky(const MatrixOf<double>&, MatrixOf<double>*);
template bool FactorCholesky(const MatrixOf<std::complex<double>>&, MatrixOf<std::complex<double>>*);
template void FactorQr(const MatrixOf<double>&, int64_t, MatrixOf<double>*, MatrixOf<double>*);
template void FactorQr(const MatrixOf<std::complex<double>>&, int64_t, MatrixOf<std::complex<double>>*,
                       MatrixOf<std::complex<double>>*);
template MatrixOf<double> LeastSquares(const MatrixOf<double>&, const MatrixOf<double>&);
template MatrixOf<std::complex<double>> LeastSquares(const MatrixOf<std::complex<double>>&,
                                                     const MatrixOf<std::complex<double>>&);
template bool NormalLeastSquares(const MatrixOf<double>&, const MatrixOf<double>&, double, MatrixOf<double>*);
template bool NormalLeastSquares(const MatrixOf<std::complex<double>>&, const MatrixOf<std::complex<double>>&, double,
                                 MatrixOf<std::complex<double>>*);

}  // namespace tensorbraid::cpu
