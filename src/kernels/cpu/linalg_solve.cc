// Linear equations.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>

#include "kernels/cpu/families.h"
#include "kernels/cpu/linalg.h"

namespace tensorbraid::cpu {
namespace {

// The sides of A X = B, where A has as many rows as B.
struct Sides {
  Matrices a;
  Matrices b;
};

StatusOr<Sides> SidesOf(KernelContext& ctx, bool square, bool broadcast) {
  Sides s;
  if (square) {
    TF_ASSIGN_OR_RETURN(s.a, SquareMatricesOf(ctx.input(0), "matrix"));
  } else {
    TF_ASSIGN_OR_RETURN(s.a, MatricesOf(ctx.input(0), "matrix"));
  }
  TF_ASSIGN_OR_RETURN(s.b, MatricesOf(ctx.input(1), "rhs"));
  if (s.a.rows != s.b.rows || (!broadcast && s.a.batch != s.b.batch)) {
    return InvalidArgument("matrix and rhs do not fit: ", ctx.input(0).shape(), " and ", ctx.input(1).shape());
  }
  return s;
}

template <typename T>
class SolveKernel final : public Kernel {
 public:
  explicit SolveKernel(const KernelConstruction& c) : adjoint_(c.attr<bool>("adjoint")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Sides s, SidesOf(ctx, true, false));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(1).shape()));
    T* to = out->mutable_data<T>().data();
    return ForEachMatrix(ctx, s.a.count(), 2 * CubicCost(s.a), [&](int64_t i) -> Status {
      if (s.b.size() == 0) return OkStatus();
      MatrixOf<T> a = MatrixAtIndex<T>(ctx.input(0), s.a, i);
      if (adjoint_) a.adjointInPlace();
      const Eigen::PartialPivLU<MatrixOf<T>> lu(a);
      if (!(lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 0)) {
        return InvalidArgument("the matrix is not invertible");
      }
      MatrixMap<T>(to + i * s.b.size(), s.b.rows, s.b.columns) = lu.solve(MatrixAtIndex<T>(ctx.input(1), s.b, i));
      return OkStatus();
    });
  }

 private:
  const bool adjoint_;
};

// Batches are broadcast.
template <typename T>
class TriangularSolveKernel final : public Kernel {
 public:
  explicit TriangularSolveKernel(const KernelConstruction& c)
      : lower_(c.attr<bool>("lower")), adjoint_(c.attr<bool>("adjoint")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Sides s, SidesOf(ctx, true, true));
    TF_ASSIGN_OR_RETURN(const Shape batch, BroadcastShapes(s.a.batch, s.b.batch));
    Shape shape = batch;
    shape.AddDim(s.b.rows);
    shape.AddDim(s.b.columns);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    T* to = out->mutable_data<T>().data();
    return ForEachMatrix(ctx, batch.num_elements(), CubicCost(s.a), [&](int64_t i) {
      const auto a = MatrixAtIndex<T>(ctx.input(0), s.a, MatrixAt(s.a.batch, batch, i));
      MatrixMap<T> x(to + i * s.b.size(), s.b.rows, s.b.columns);
      if (s.b.size() == 0) return OkStatus();
      x = MatrixAtIndex<T>(ctx.input(1), s.b, MatrixAt(s.b.batch, batch, i));
      if (lower_) {
        Solve(a.template triangularView<Eigen::Lower>(), x);
      } else {
        Solve(a.template triangularView<Eigen::Upper>(), x);
      }
      return OkStatus();
    });
  }

 private:
  template <typename View>
  void Solve(const View& view, MatrixMap<T>& x) const {
    if (adjoint_) {
      view.adjoint().solveInPlace(x);
    } else {
      view.solveInPlace(x);
    }
  }

  const bool lower_;
  const bool adjoint_;
};

// The X that makes |A X - B|^2 + l2 |X|^2 least: by the normal equations when `fast`, which fails for matrices that are
// nearly singular, or by a complete decomposition without l2.
template <typename T>
class SolveLsKernel final : public Kernel {
 public:
  using Real = typename Eigen::NumTraits<T>::Real;
  explicit SolveLsKernel(const KernelConstruction& c) : fast_(c.attr<bool>("fast")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Sides s, SidesOf(ctx, false, false));
    if (!ctx.input(2).shape().is_scalar()) {
      return InvalidArgument("l2_regularizer must be a scalar, got shape ", ctx.input(2).shape());
    }
    const double l2 = ctx.input(2).scalar<double>();
    if (!(l2 >= 0)) return InvalidArgument("l2_regularizer must not be negative, got ", l2);
    const int64_t rows = s.a.columns, columns = s.b.columns;
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, s.a.With({rows, columns})));
    T* to = out->mutable_data<T>().data();
    return ForEachMatrix(ctx, s.a.count(), 5 * CubicCost(s.a), [&](int64_t i) -> Status {
      MatrixMap<T> x(to + i * rows * columns, rows, columns);
      if (x.size() == 0) return OkStatus();
      if (s.a.rows == 0) {
        x.setZero();
        return OkStatus();
      }
      const MatrixOf<T> a = MatrixAtIndex<T>(ctx.input(0), s.a, i);
      const auto b = MatrixAtIndex<T>(ctx.input(1), s.b, i);
      if (!fast_) {
        x = Eigen::CompleteOrthogonalDecomposition<MatrixOf<T>>(a).solve(MatrixOf<T>(b));
        return OkStatus();
      }
      const bool tall = s.a.rows >= s.a.columns;
      MatrixOf<T> gramian;
      if (tall) {
        gramian = a.adjoint() * a;
      } else {
        gramian = a * a.adjoint();
      }
      gramian.diagonal().array() += T(static_cast<Real>(l2));
      const Eigen::LLT<MatrixOf<T>> llt(gramian);
      if (llt.info() != Eigen::Success) {
        return InvalidArgument(
            "the matrix is rank deficient or nearly so; fast = false or a larger l2_regularizer may help");
      }
      if (tall) {
        x = llt.solve(MatrixOf<T>(a.adjoint() * b));
      } else {
        x = a.adjoint() * llt.solve(MatrixOf<T>(b));
      }
      return OkStatus();
    });
  }

 private:
  const bool fast_;
};

}  // namespace

void RegisterSolveKernels(KernelRegistry& r) {
  AddLinalg<SolveKernel>(r, "MatrixSolve", LinalgTypes{});
  AddLinalg<TriangularSolveKernel>(r, "MatrixTriangularSolve", LinalgTypes{});
  AddLinalg<SolveLsKernel>(r, "MatrixSolveLs", LinalgTypes{});
}

}  // namespace tensorbraid::cpu
