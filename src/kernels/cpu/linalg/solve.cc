// Kernels that solve linear equations.
#include <algorithm>
#include <utility>

#include "kernels/cpu/linalg/dense.h"
#include "kernels/cpu/linalg/lapack.h"
#include "kernels/cpu/linalg/linalg.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The operands of A X = B, where A has as many rows as B.
struct Sides {
  Matrices a;
  Matrices b;
};

// Inputs 0 and 1. Checks that A is square, if `square`, and that the batch dimensions are equal, unless `broadcast`.
StatusOr<Sides> SidesOf(KernelContext& ctx, bool square, bool broadcast) {
  Sides s;
  if (square) {
    TF_ASSIGN_OR_RETURN(s.a, SquareMatricesOf(ctx.input(0), "matrix"));
  } else {
    TF_ASSIGN_OR_RETURN(s.a, MatricesOf(ctx.input(0), "matrix"));
  }
  TF_ASSIGN_OR_RETURN(s.b, MatricesOf(ctx.input(1), "rhs"));
  if (s.a.rows != s.b.rows || (!broadcast && s.a.batch != s.b.batch)) {
    return InvalidArgument("matrix and rhs have incompatible shapes: ", ctx.input(0).shape(), " and ",
                           ctx.input(1).shape());
  }
  return s;
}

// Solves A X = B, or A^H X = B if `adjoint`, for square matrices A.
template <typename T>
class SolveKernel final : public Kernel {
 public:
  explicit SolveKernel(const KernelConstruction& c) : adjoint_(c.attr<bool>("adjoint")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Sides s, SidesOf(ctx, /*square=*/true, /*broadcast=*/false));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(1).shape()));
    T* to = out->inplace_data<T>().data();
    return ForEachMatrix(ctx, s.a.count(), 2 * CubicCost(s.a), [&](int64_t i) -> Status {
      if (s.b.size() == 0) return OkStatus();
      Matrix<Wide<T>> a = WideMatrixAtIndex<T>(ctx.input(0), s.a, i);
      if (adjoint_) a = Adjoint(a);
      const LuFactors<Wide<T>> lu(std::move(a));
      if (lu.has_zero_pivot()) {
        return InvalidArgument("matrix ", i, " is singular: Input matrix is not invertible.");
      }
      Store(lu.Solve(WideMatrixAtIndex<T>(ctx.input(1), s.b, i)), to + i * s.b.size());
      return OkStatus();
    });
  }

 private:
  const bool adjoint_;
};

// Solves A X = B for triangular matrices A. Batch dimensions are broadcast.
template <typename T>
class TriangularSolveKernel final : public Kernel {
 public:
  explicit TriangularSolveKernel(const KernelConstruction& c)
      : lower_(c.attr<bool>("lower")), adjoint_(c.attr<bool>("adjoint")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Sides s, SidesOf(ctx, /*square=*/true, /*broadcast=*/true));
    TF_ASSIGN_OR_RETURN(const Shape batch, BroadcastShapes(s.a.batch, s.b.batch));
    Shape shape = batch;
    shape.AddDim(s.b.rows);
    shape.AddDim(s.b.columns);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    const T* a = ctx.input(0).data<T>().data();
    const T* b = ctx.input(1).data<T>().data();
    T* to = out->inplace_data<T>().data();
    return ForEachMatrix(ctx, batch.num_elements(), CubicCost(s.a), [&](int64_t i) {
      T* const x = to + i * s.b.size();
      std::copy_n(b + MatrixAt(s.b.batch, batch, i) * s.b.size(), s.b.size(), x);
      SolveTriangular(a + MatrixAt(s.a.batch, batch, i) * s.a.size(), s.a.rows, lower_, adjoint_, x, s.b.columns);
      return OkStatus();
    });
  }

 private:
  const bool lower_;
  const bool adjoint_;
};

// The X that minimizes |A X - B|^2 + l2 |X|^2. If `fast`, X is computed by the normal equations, which fails for
// matrices that are nearly rank deficient. Otherwise X is computed by a complete orthogonal decomposition, and l2 is
// ignored.
template <typename T>
class SolveLsKernel final : public Kernel {
 public:
  using W = Wide<T>;
  explicit SolveLsKernel(const KernelConstruction& c) : fast_(c.attr<bool>("fast")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Sides s, SidesOf(ctx, /*square=*/false, /*broadcast=*/false));
    if (!ctx.input(2).shape().is_scalar()) {
      return InvalidArgument("l2_regularizer must be a scalar, got shape ", ctx.input(2).shape());
    }
    const double l2 = ctx.input(2).scalar<double>();
    if (!(l2 >= 0)) return InvalidArgument("l2_regularizer must not be negative, got ", l2);
    const int64_t rows = s.a.columns, columns = s.b.columns;
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, s.a.With({rows, columns})));
    T* to = out->inplace_data<T>().data();
    return ForEachMatrix(ctx, s.a.count(), 5 * CubicCost(s.a), [&](int64_t i) -> Status {
      T* const x = to + i * rows * columns;
      if (rows * columns == 0) return OkStatus();
      if (s.a.rows == 0) {
        std::fill_n(x, rows * columns, T(0));
        return OkStatus();
      }
      const Matrix<W> a = WideMatrixAtIndex<T>(ctx.input(0), s.a, i);
      const Matrix<W> b = WideMatrixAtIndex<T>(ctx.input(1), s.b, i);
      Matrix<W> solution;
      if (!fast_) {
        TF_ASSIGN_OR_RETURN(solution, LeastSquares(a, b));
      } else if (!NormalLeastSquares(a, b, l2, &solution)) {
        return InvalidArgument(
            "the matrix is rank deficient or nearly so; fast = false or a larger l2_regularizer may help");
      }
      Store(solution, x);
      return OkStatus();
    });
  }

 private:
  const bool fast_;
};

}  // namespace

void RegisterLinalgSolveKernels(KernelRegistry& r) {
  AddLinalg<SolveKernel>(r, "MatrixSolve", LinalgTypes{});
  AddLinalg<TriangularSolveKernel>(r, "MatrixTriangularSolve", LinalgTypes{});
  AddLinalg<SolveLsKernel>(r, "MatrixSolveLs", LinalgTypes{});
}

}  // namespace tensorbraid::cpu
