// Decompositions by elimination and reflection: Cholesky, LU, QR; determinants and inverses.
#include <cmath>
#include <limits>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/linalg/dense.h"
#include "kernels/cpu/linalg/lapack.h"
#include "kernels/cpu/linalg/linalg.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

Status Singular(int64_t matrix) { return InvalidArgument("matrix ", matrix, " is singular: Input is not invertible."); }

// The lower triangular L of A = L L^H. L is NaN if A has no such decomposition.
template <typename T>
Status CholeskyKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "input"));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
  T* to = out->inplace_data<T>().data();
  return ForEachMatrix(ctx, m.count(), CubicCost(m), [&](int64_t i) {
    Matrix<Wide<T>> l;
    if (!FactorCholesky(WideMatrixAtIndex<T>(ctx.input(0), m, i), &l)) {
      l = Matrix<Wide<T>>(m.rows, m.rows);
      for (int64_t k = 0; k < m.rows; ++k) std::fill_n(l.row(k), k + 1, std::numeric_limits<double>::quiet_NaN());
    }
    Store(l, to + i * m.size());
    return OkStatus();
  });
}

template <typename T>
Status CholeskyGradKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "l"));
  if (ctx.input(1).shape() != ctx.input(0).shape()) {
    return InvalidArgument("l and grad must have the same shape, got ", ctx.input(0).shape(), " and ",
                           ctx.input(1).shape());
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
  T* to = out->inplace_data<T>().data();
  return ForEachMatrix(ctx, m.count(), 4 * CubicCost(m), [&](int64_t i) {
    Store(CholeskyGradient(WideMatrixAtIndex<T>(ctx.input(0), m, i), WideMatrixAtIndex<T>(ctx.input(1), m, i)),
          to + i * m.size());
    return OkStatus();
  });
}

// P A = L U. Output 0 has both triangles in one matrix. Output 1 is p: row i of P A is row p[i] of A.
template <typename T>
Status LuKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "input"));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
  TF_ASSIGN_OR_RETURN(Tensor * p, ctx.AllocateOutput(1, m.With({m.rows})));
  T* to = out->inplace_data<T>().data();
  return ForEachMatrix(ctx, m.count(), CubicCost(m), [&](int64_t i) -> Status {
    if (m.rows == 0) return OkStatus();
    const LuFactors<Wide<T>> lu(WideMatrixAtIndex<T>(ctx.input(0), m, i));
    if (lu.has_zero_pivot()) return Singular(i);
    Store(lu.triangles(), to + i * m.size());
    for (int64_t k = 0; k < m.rows; ++k) {
      const int64_t row = lu.rows()[k];
      if (p->dtype() == kInt64) {
        p->inplace_data<int64_t>()[i * m.rows + k] = row;
      } else {
        p->inplace_data<int32_t>()[i * m.rows + k] = static_cast<int32_t>(row);
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
    T* to_q = q->inplace_data<T>().data();
    T* to_r = r->inplace_data<T>().data();
    return ForEachMatrix(ctx, m.count(), 4 * CubicCost(m), [&](int64_t i) -> Status {
      if (least == 0) {  // R is empty
        StoreIdentity(m.rows, inner, to_q + i * m.rows * inner);
        return OkStatus();
      }
      Matrix<Wide<T>> q_wide, r_wide;
      TF_RETURN_IF_ERROR(FactorQr(WideMatrixAtIndex<T>(ctx.input(0), m, i), inner, &q_wide, &r_wide));
      Store(q_wide, to_q + i * m.rows * inner);
      Store(r_wide, to_r + i * inner * m.columns);
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
  T* to = out->inplace_data<T>().data();
  return ForEachMatrix(ctx, m.count(), CubicCost(m), [&](int64_t i) {
    to[i] =
        m.rows == 0 ? T(1) : static_cast<T>(LuFactors<Wide<T>>(WideMatrixAtIndex<T>(ctx.input(0), m, i)).Determinant());
    return OkStatus();
  });
}

// The determinant as sign * exp(logarithm); 0 is 0 * exp(-inf).
template <typename T>
Status LogDeterminantKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "input"));
  TF_ASSIGN_OR_RETURN(Tensor * sign, ctx.AllocateOutput(0, m.batch));
  TF_ASSIGN_OR_RETURN(Tensor * log, ctx.AllocateOutput(1, m.batch));
  T* to_sign = sign->inplace_data<T>().data();
  T* to_log = log->inplace_data<T>().data();
  return ForEachMatrix(ctx, m.count(), CubicCost(m), [&](int64_t i) {
    Wide<T> direction = 1;
    double sum = 0;
    if (m.rows > 0) {
      const LuFactors<Wide<T>> lu(WideMatrixAtIndex<T>(ctx.input(0), m, i));
      direction = lu.sign();
      for (int64_t k = 0; k < m.rows; ++k) {
        const Wide<T> pivot = lu.triangles()(k, k);
        const double size = std::abs(pivot);
        sum += std::log(size);
        direction *= pivot / size;
      }
    }
    if (!std::isfinite(sum)) {  // a pivot is 0, infinite or NaN
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
    T* to = out->inplace_data<T>().data();
    return ForEachMatrix(ctx, m.count(), 3 * CubicCost(m), [&](int64_t i) -> Status {
      if (m.rows == 0) return OkStatus();
      Matrix<Wide<T>> a = WideMatrixAtIndex<T>(ctx.input(0), m, i);
      if (adjoint_) a = Adjoint(a);
      const LuFactors<Wide<T>> lu(std::move(a));
      if (lu.has_zero_pivot()) return Singular(i);
      Store(lu.Inverse(), to + i * m.size());
      return OkStatus();
    });
  }

 private:
  const bool adjoint_;
};

template <typename... T>
void AddFunctions(KernelRegistry& r, Types<T...>) {
  (r.Add("Cholesky", {{"T", {DTypeOf<T>::value}}}, CholeskyKernel<T>, LinalgCost), ...);
  (r.Add("Lu", {{"T", {DTypeOf<T>::value}}}, LuKernel<T>, LinalgCost), ...);
  (r.Add("MatrixDeterminant", {{"T", {DTypeOf<T>::value}}}, DeterminantKernel<T>, LinalgCost), ...);
  (r.Add("LogMatrixDeterminant", {{"T", {DTypeOf<T>::value}}}, LogDeterminantKernel<T>, LinalgCost), ...);
}

}  // namespace

void RegisterLinalgDecomposeKernels(KernelRegistry& r) {
  AddFunctions(r, LinalgTypes{});
  AddLinalg<QrKernel>(r, "Qr", LinalgTypes{});
  AddLinalg<InverseKernel>(r, "MatrixInverse", LinalgTypes{});
  r.Add("CholeskyGrad", {{"T", {kFloat32}}}, CholeskyGradKernel<float>, LinalgCost);
  r.Add("CholeskyGrad", {{"T", {kFloat64}}}, CholeskyGradKernel<double>, LinalgCost);
}

}  // namespace tensorbraid::cpu
