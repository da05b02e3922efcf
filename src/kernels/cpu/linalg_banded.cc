// Matrices of a few diagonals.
#include <cmath>

#include "kernels/cpu/families.h"
#include "kernels/cpu/linalg.h"

namespace tensorbraid::cpu {
namespace {

// diagonals [..., 3, n] (above, on, below), rhs [..., n, k]: elimination from the first row down. With pivoting a row
// may change place with the next, which brings a second diagonal above.
template <typename T>
class TridiagonalSolveKernel final : public Kernel {
 public:
  explicit TridiagonalSolveKernel(const KernelConstruction& c)
      : pivoting_(c.attr<bool>("partial_pivoting")), perturb_(c.attr<bool>("perturb_singular")) {}

  Status Compute(KernelContext& ctx) override {
    if (perturb_) return Unimplemented("perturb_singular is not supported on CPUs");
    TF_ASSIGN_OR_RETURN(const Matrices d, MatricesOf(ctx.input(0), "diagonals"));
    TF_ASSIGN_OR_RETURN(const Matrices b, MatricesOf(ctx.input(1), "rhs"));
    if (d.rows != 3) return InvalidArgument("diagonals must have 3 rows, got shape ", ctx.input(0).shape());
    if (d.batch != b.batch || d.columns != b.rows) {
      return InvalidArgument("diagonals and rhs do not fit: ", ctx.input(0).shape(), " and ", ctx.input(1).shape());
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(1).shape()));
    T* to = out->mutable_data<T>().data();
    return ForEachMatrix(ctx, d.count(), 10.0 * (d.size() + b.size()), [&](int64_t i) {
      Solve(MatrixAtIndex<T>(ctx.input(0), d, i), MatrixAtIndex<T>(ctx.input(1), b, i),
            MatrixMap<T>(to + i * b.size(), b.rows, b.columns));
      return OkStatus();
    });
  }

 private:
  void Solve(const ConstMatrixMap<T>& diagonals, const ConstMatrixMap<T>& b, MatrixMap<T> x) const {
    const int64_t n = diagonals.cols();
    if (n == 0 || b.cols() == 0) return;
    // Row i of the triangle that is left: on the diagonal, one to the right, two to the right.
    MatrixOf<T> u = MatrixOf<T>::Zero(n, 3);
    x = b;
    u(0, 0) = diagonals(1, 0);
    if (n > 1) u(0, 1) = diagonals(0, 0);
    for (int64_t i = 0; i + 1 < n; ++i) {
      T below = diagonals(2, i + 1), on = diagonals(1, i + 1), above = i + 2 < n ? diagonals(0, i + 1) : T(0);
      if (pivoting_ && std::abs(below) > std::abs(u(i, 0))) {
        std::swap(below, u(i, 0));
        std::swap(on, u(i, 1));
        std::swap(above, u(i, 2));
        x.row(i).swap(x.row(i + 1));
      }
      const T factor = below / u(i, 0);
      u(i + 1, 0) = on - factor * u(i, 1);
      u(i + 1, 1) = above - factor * u(i, 2);
      x.row(i + 1) -= factor * x.row(i);
    }
    for (int64_t i = n - 1; i >= 0; --i) {
      if (i + 1 < n) x.row(i) -= u(i, 1) * x.row(i + 1);
      if (i + 2 < n) x.row(i) -= u(i, 2) * x.row(i + 2);
      x.row(i) /= u(i, 0);
    }
  }

  const bool pivoting_;
  const bool perturb_;
};

// Diagonals [..., 1, n] above, on and below times rhs [..., n, k].
template <typename T>
class TridiagonalMatMulKernel final : public Kernel {
 public:
  explicit TridiagonalMatMulKernel(const KernelConstruction&) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Matrices b, MatricesOf(ctx.input(3), "rhs"));
    const Shape wanted = b.With({1, b.rows});
    for (int i = 0; i < 3; ++i) {
      if (ctx.input(i).shape() != wanted) {
        return InvalidArgument("the diagonals must have shape ", wanted, ", got ", ctx.input(i).shape());
      }
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(3).shape()));
    const T* above = ctx.input(0).data<T>().data();
    const T* on = ctx.input(1).data<T>().data();
    const T* below = ctx.input(2).data<T>().data();
    T* to = out->mutable_data<T>().data();
    return ForEachMatrix(ctx, b.count(), 3.0 * b.size(), [&](int64_t i) {
      const auto x = MatrixAtIndex<T>(ctx.input(3), b, i);
      MatrixMap<T> y(to + i * b.size(), b.rows, b.columns);
      for (int64_t k = 0; k < b.rows; ++k) {
        const int64_t at = i * b.rows + k;
        y.row(k) = on[at] * x.row(k);
        if (k > 0) y.row(k) += below[at] * x.row(k - 1);
        if (k + 1 < b.rows) y.row(k) += above[at] * x.row(k + 1);
      }
      return OkStatus();
    });
  }
};

// bands [..., k, n]: of a lower triangle the diagonal and those below it, aligned left in such a way that element j of
// each is of row j; of an upper triangle the diagonals above it, from the outermost, and the diagonal.
template <typename T>
class BandedTriangularSolveKernel final : public Kernel {
 public:
  explicit BandedTriangularSolveKernel(const KernelConstruction& c)
      : lower_(c.attr<bool>("lower")), adjoint_(c.attr<bool>("adjoint")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Matrices a, MatricesOf(ctx.input(0), "matrix"));
    TF_ASSIGN_OR_RETURN(const Matrices b, MatricesOf(ctx.input(1), "rhs"));
    if (a.rows < 1 || a.rows > a.columns) {
      return InvalidArgument("there must be 1 to n bands of n elements, got shape ", ctx.input(0).shape());
    }
    if (a.columns != b.rows) {
      return InvalidArgument("matrix and rhs do not fit: ", ctx.input(0).shape(), " and ", ctx.input(1).shape());
    }
    TF_ASSIGN_OR_RETURN(const Shape batch, BroadcastShapes(a.batch, b.batch));
    Shape shape = batch;
    shape.AddDim(b.rows);
    shape.AddDim(b.columns);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    T* to = out->mutable_data<T>().data();
    return ForEachMatrix(ctx, batch.num_elements(), 2.0 * a.rows * b.size(), [&](int64_t i) {
      const auto bands = MatrixAtIndex<T>(ctx.input(0), a, MatrixAt(a.batch, batch, i));
      MatrixMap<T> x(to + i * b.size(), b.rows, b.columns);
      x = MatrixAtIndex<T>(ctx.input(1), b, MatrixAt(b.batch, batch, i));
      Solve(bands, x);
      return OkStatus();
    });
  }

 private:
  // Element [row, column] of the triangle, or of its adjoint.
  T At(const ConstMatrixMap<T>& bands, int64_t row, int64_t column) const {
    if (adjoint_) return Conjugate(Stored(bands, column, row));
    return Stored(bands, row, column);
  }
  T Stored(const ConstMatrixMap<T>& bands, int64_t row, int64_t column) const {
    return lower_ ? bands(row - column, row) : bands(bands.rows() - 1 - (column - row), row);
  }

  void Solve(const ConstMatrixMap<T>& bands, MatrixMap<T>& x) const {
    const int64_t n = bands.cols(), width = bands.rows();
    const bool down = lower_ != adjoint_;  // solved from the first row on
    for (int64_t k = 0; k < n; ++k) {
      const int64_t row = down ? k : n - 1 - k;
      for (int64_t d = 1; d < width && d <= k; ++d) {
        const int64_t column = down ? row - d : row + d;
        x.row(row) -= At(bands, row, column) * x.row(column);
      }
      x.row(row) /= At(bands, row, row);
    }
  }

  const bool lower_;
  const bool adjoint_;
};

}  // namespace

void RegisterBandedKernels(KernelRegistry& r) {
  AddLinalg<TridiagonalSolveKernel>(r, "TridiagonalSolve", LinalgTypes{});
  AddLinalg<TridiagonalMatMulKernel>(r, "TridiagonalMatMul", LinalgTypes{});
  AddLinalg<BandedTriangularSolveKernel>(r, "BandedTriangularSolve", LinalgTypes{});
}

}  // namespace tensorbraid::cpu
