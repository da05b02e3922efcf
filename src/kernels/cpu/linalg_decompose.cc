// Decompositions by elimination and reflection: Cholesky, LU, QR; determinants and inverses.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>
#include <limits>

#include "kernels/cpu/families.h"
#include "kernels/cpu/linalg.h"

namespace tensorbraid::cpu {
namespace {

Status Singular(int64_t matrix) { return InvalidArgument("matrix ", matrix, " is singular: Input is not invertible."); }

template <typename T>
using Lu = Eigen::PartialPivLU<MatrixOf<Wide<T>>>;

template <typename T>
bool HasZeroPivot(const Lu<T>& lu) {
  return !(lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 0);
}

// The lower triangle L of A = L L^H; NaN where there is none.
template <typename T>
Status CholeskyKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "input"));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
  T* to = out->mutable_data<T>().data();
  return ForEachMatrix(ctx, m.count(), CubicCost(m), [&](int64_t i) {
    MatrixMap<T> result(to + i * m.size(), m.rows, m.rows);
    if (m.rows == 0) return OkStatus();
    const Eigen::LLT<MatrixOf<Wide<T>>> llt(WideMatrixAtIndex<T>(ctx.input(0), m, i));
    result.setZero();
    if (llt.info() == Eigen::Success) {
      const MatrixOf<Wide<T>> l = llt.matrixL();
      result = l.template cast<T>();
    } else {
      result.template triangularView<Eigen::Lower>().setConstant(
          std::numeric_limits<typename Eigen::NumTraits<T>::Real>::quiet_NaN());
    }
    return OkStatus();
  });
}

// With L and the gradient G of L: (S + S^T) / 2 where S = L^-T tril'(L^T G) L^-1 and tril' halves the diagonal.
template <typename T>
Status CholeskyGradKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "l"));
  if (ctx.input(1).shape() != ctx.input(0).shape()) {
    return InvalidArgument("l and grad must have the same shape, got ", ctx.input(0).shape(), " and ",
                           ctx.input(1).shape());
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
  T* to = out->mutable_data<T>().data();
  return ForEachMatrix(ctx, m.count(), 4 * CubicCost(m), [&](int64_t i) {
    if (m.rows == 0) return OkStatus();
    using M = MatrixOf<double>;
    const M l = WideMatrixAtIndex<T>(ctx.input(0), m, i).template triangularView<Eigen::Lower>();
    const M g = WideMatrixAtIndex<T>(ctx.input(1), m, i).template triangularView<Eigen::Lower>();
    M middle = (l.transpose() * g).template triangularView<Eigen::Lower>();
    middle.diagonal() *= 0.5;
    const auto lower = l.template triangularView<Eigen::Lower>();
    lower.transpose().solveInPlace(middle);
    lower.template solveInPlace<Eigen::OnTheRight>(middle);
    const M symmetric = 0.5 * (middle + middle.transpose());
    MatrixMap<T>(to + i * m.size(), m.rows, m.rows) = symmetric.template cast<T>();
    return OkStatus();
  });
}

// P A = L U, with both triangles in one matrix; p[i] says which row of A is row i of the product.
template <typename T>
Status LuKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "input"));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
  TF_ASSIGN_OR_RETURN(Tensor * p, ctx.AllocateOutput(1, m.With({m.rows})));
  T* to = out->mutable_data<T>().data();
  return ForEachMatrix(ctx, m.count(), CubicCost(m), [&](int64_t i) -> Status {
    if (m.rows == 0) return OkStatus();
    const Lu<T> lu(WideMatrixAtIndex<T>(ctx.input(0), m, i));
    if (HasZeroPivot<T>(lu)) return Singular(i);
    MatrixMap<T>(to + i * m.size(), m.rows, m.rows) = lu.matrixLU().template cast<T>();
    const Eigen::PermutationMatrix<Eigen::Dynamic> inverse = lu.permutationP().inverse();
    for (int64_t k = 0; k < m.rows; ++k) {
      const int row = inverse.indices()(k);
      if (p->dtype() == kInt64) {
        p->mutable_data<int64_t>()[i * m.rows + k] = row;
      } else {
        p->mutable_data<int32_t>()[i * m.rows + k] = row;
      }
    }
    return OkStatus();
  });
}

template <typename T>
class QrKernel final : public Kernel {
 public:
  explicit QrKernel(const KernelConstruction& c) : full_matrices_(c.attr<bool>("full_matrices")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Matrices m, MatricesOf(ctx.input(0), "input"));
    const int64_t least = std::min(m.rows, m.columns);
    const int64_t inner = full_matrices_ ? m.rows : least;
    TF_ASSIGN_OR_RETURN(Tensor * q, ctx.AllocateOutput(0, m.With({m.rows, inner})));
    TF_ASSIGN_OR_RETURN(Tensor * r, ctx.AllocateOutput(1, m.With({inner, m.columns})));
    T* to_q = q->mutable_data<T>().data();
    T* to_r = r->mutable_data<T>().data();
    return ForEachMatrix(ctx, m.count(), 4 * CubicCost(m), [&](int64_t i) {
      MatrixMap<T> mq(to_q + i * m.rows * inner, m.rows, inner);
      MatrixMap<T> mr(to_r + i * inner * m.columns, inner, m.columns);
      mr.setZero();
      mq.setIdentity();
      if (least == 0) return OkStatus();
      const Eigen::HouseholderQR<MatrixOf<Wide<T>>> qr(WideMatrixAtIndex<T>(ctx.input(0), m, i));
      for (int64_t row = 0; row < least; ++row) {
        const int64_t right = m.columns - row;
        mr.row(row).tail(right) = qr.matrixQR().row(row).tail(right).template cast<T>();
      }
      MatrixOf<Wide<T>> q_wide = MatrixOf<Wide<T>>::Identity(m.rows, inner);
      q_wide.applyOnTheLeft(qr.householderQ());
      mq = q_wide.template cast<T>();
      return OkStatus();
    });
  }

 private:
  const bool full_matrices_;
};

template <typename T>
Status DeterminantKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "input"));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, m.batch));
  T* to = out->mutable_data<T>().data();
  return ForEachMatrix(ctx, m.count(), CubicCost(m), [&](int64_t i) {
    to[i] = m.rows == 0 ? T(1) : static_cast<T>(Lu<T>(WideMatrixAtIndex<T>(ctx.input(0), m, i)).determinant());
    return OkStatus();
  });
}

// The determinant as sign * exp(logarithm); 0 is 0 * exp(-inf).
template <typename T>
Status LogDeterminantKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "input"));
  TF_ASSIGN_OR_RETURN(Tensor * sign, ctx.AllocateOutput(0, m.batch));
  TF_ASSIGN_OR_RETURN(Tensor * log, ctx.AllocateOutput(1, m.batch));
  T* to_sign = sign->mutable_data<T>().data();
  T* to_log = log->mutable_data<T>().data();
  return ForEachMatrix(ctx, m.count(), CubicCost(m), [&](int64_t i) {
    Wide<T> direction = 1;
    double sum = 0;
    if (m.rows > 0) {
      const Lu<T> lu(WideMatrixAtIndex<T>(ctx.input(0), m, i));
      direction = static_cast<double>(lu.permutationP().determinant());
      for (int64_t k = 0; k < m.rows; ++k) {
        const Wide<T> pivot = lu.matrixLU()(k, k);
        const double size = std::abs(pivot);
        sum += std::log(size);
        direction *= pivot / size;
      }
    }
    if (!std::isfinite(sum)) {
      direction = 0;
      sum = sum > 0 ? -sum : sum;
    }
    to_sign[i] = static_cast<T>(direction);
    to_log[i] = static_cast<T>(sum);
    return OkStatus();
  });
}

template <typename T>
class InverseKernel final : public Kernel {
 public:
  explicit InverseKernel(const KernelConstruction& c) : adjoint_(c.attr<bool>("adjoint")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "input"));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
    T* to = out->mutable_data<T>().data();
    return ForEachMatrix(ctx, m.count(), 3 * CubicCost(m), [&](int64_t i) -> Status {
      if (m.rows == 0) return OkStatus();
      MatrixOf<Wide<T>> a = WideMatrixAtIndex<T>(ctx.input(0), m, i);
      if (adjoint_) a.adjointInPlace();
      const Lu<T> lu(a);
      if (HasZeroPivot<T>(lu)) return Singular(i);
      const MatrixOf<Wide<T>> inverse = lu.inverse();
      MatrixMap<T>(to + i * m.size(), m.rows, m.rows) = inverse.template cast<T>();
      return OkStatus();
    });
  }

 private:
  const bool adjoint_;
};

template <typename... T>
void AddFunctions(KernelRegistry& r, Types<T...>) {
  const auto expensive = KernelCost::kExpensive;
  (r.Add("Cholesky", {{"T", {DTypeOf<T>::value}}}, CholeskyKernel<T>, expensive), ...);
  (r.Add("Lu", {{"T", {DTypeOf<T>::value}}}, LuKernel<T>, expensive), ...);
  (r.Add("MatrixDeterminant", {{"T", {DTypeOf<T>::value}}}, DeterminantKernel<T>, expensive), ...);
  (r.Add("LogMatrixDeterminant", {{"T", {DTypeOf<T>::value}}}, LogDeterminantKernel<T>, expensive), ...);
}

}  // namespace

void RegisterDecompositionKernels(KernelRegistry& r) {
  AddFunctions(r, LinalgTypes{});
  AddLinalg<QrKernel>(r, "Qr", LinalgTypes{});
  AddLinalg<InverseKernel>(r, "MatrixInverse", LinalgTypes{});
  r.Add("CholeskyGrad", {{"T", {kFloat32}}}, CholeskyGradKernel<float>, KernelCost::kExpensive);
  r.Add("CholeskyGrad", {{"T", {kFloat64}}}, CholeskyGradKernel<double>, KernelCost::kExpensive);
}

}  // namespace tensorbraid::cpu
