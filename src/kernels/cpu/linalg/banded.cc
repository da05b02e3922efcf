// Kernels for tridiagonal and banded matrices.
#include <cmath>

#include "kernels/cpu/linalg/linalg.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// row += factor * other, for rows of `columns` elements.
template <typename T>
void AddRow(T factor, const T* other, int64_t columns, T* row) {
  for (int64_t c = 0; c < columns; ++c) row[c] += factor * other[c];
}

// Inputs: diagonals [..., 3, n] (above, on and below the main diagonal) and rhs [..., n, k]. Eliminates from the first
// row down. Pivoting may exchange a row with the next one, which fills a second diagonal above the main one.
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
      return InvalidArgument("diagonals and rhs have incompatible shapes: ", ctx.input(0).shape(), " and ",
                             ctx.input(1).shape());
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(1).shape()));
    T* to = out->inplace_data<T>().data();
    return ForEachMatrix(ctx, d.count(), 10.0 * (d.size() + b.size()), [&](int64_t i) {
      const T* diagonals = ctx.input(0).data<T>().data() + i * d.size();
      T* const x = to + i * b.size();
      std::copy_n(ctx.input(1).data<T>().data() + i * b.size(), b.size(), x);
      Solve(diagonals, diagonals + d.columns, diagonals + 2 * d.columns, b.rows, b.columns, x);
      return OkStatus();
    });
  }

 private:
  // Replaces B, which is in the rows of `x`, by the solution.
  void Solve(const T* above, const T* on, const T* below, int64_t n, int64_t columns, T* x) const {
    if (n == 0 || columns == 0) return;
    // Row i of the upper triangle after elimination: the element on the diagonal, and the two to its right.
    Matrix<T> u(n, 3);
    const auto row = [&](int64_t i) { return x + i * columns; };
    u(0, 0) = on[0];
    if (n > 1) u(0, 1) = above[0];
    for (int64_t i = 0; i + 1 < n; ++i) {
      T left = below[i + 1], middle = on[i + 1], right = i + 2 < n ? above[i + 1] : T(0);
      if (pivoting_ && std::abs(left) > std::abs(u(i, 0))) {
        std::swap(left, u(i, 0));
        std::swap(middle, u(i, 1));
        std::swap(right, u(i, 2));
        std::swap_ranges(row(i), row(i + 1), row(i + 1));
      }
      const T factor = left / u(i, 0);
      u(i + 1, 0) = middle - factor * u(i, 1);
      u(i + 1, 1) = right - factor * u(i, 2);
      AddRow(-factor, row(i), columns, row(i + 1));
    }
    for (int64_t i = n - 1; i >= 0; --i) {
      if (i + 1 < n) AddRow(-u(i, 1), row(i + 1), columns, row(i));
      if (i + 2 < n) AddRow(-u(i, 2), row(i + 2), columns, row(i));
      for (int64_t c = 0; c < columns; ++c) row(i)[c] /= u(i, 0);
    }
  }

  const bool pivoting_;
  const bool perturb_;
};

// The product of a tridiagonal matrix and rhs [..., n, k]. Inputs: the diagonals above, on and below the main diagonal,
// each [..., 1, n], and rhs.
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
    T* to = out->inplace_data<T>().data();
    return ForEachMatrix(ctx, b.count(), 3.0 * b.size(), [&](int64_t i) {
      const T* const x = ctx.input(3).data<T>().data() + i * b.size();
      for (int64_t k = 0; k < b.rows; ++k) {
        const int64_t at = i * b.rows + k;
        const T* const row = x + k * b.columns;
        T* const y = to + i * b.size() + k * b.columns;
        for (int64_t c = 0; c < b.columns; ++c) y[c] = on[at] * row[c];
        if (k > 0) AddRow(below[at], row - b.columns, b.columns, y);
        if (k + 1 < b.rows) AddRow(above[at], row + b.columns, b.columns, y);
      }
      return OkStatus();
    });
  }
};

// Solves A X = rhs for triangular matrices A that are 0 except on k diagonals. The input `matrix`, of shape [..., k,
// n], holds these diagonals: for lower triangular matrices the main diagonal, then those below it; for upper triangular
// matrices the diagonals above the main diagonal, outermost first, then the main diagonal. Element j of each diagonal
// is in row j of A.
template <typename T>
class BandedTriangularSolveKernel final : public Kernel {
 public:
  explicit BandedTriangularSolveKernel(const KernelConstruction& c)
      : lower_(c.attr<bool>("lower")), adjoint_(c.attr<bool>("adjoint")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Matrices a, MatricesOf(ctx.input(0), "matrix"));
    TF_ASSIGN_OR_RETURN(const Matrices b, MatricesOf(ctx.input(1), "rhs"));
    if (a.rows < 1 || a.rows > a.columns) {
      return InvalidArgument("the input must have 1 to n bands of n elements each, got shape ", ctx.input(0).shape());
    }
    if (a.columns != b.rows) {
      return InvalidArgument("matrix and rhs have incompatible shapes: ", ctx.input(0).shape(), " and ",
                             ctx.input(1).shape());
    }
    TF_ASSIGN_OR_RETURN(const Shape batch, BroadcastShapes(a.batch, b.batch));
    Shape shape = batch;
    shape.AddDim(b.rows);
    shape.AddDim(b.columns);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    T* to = out->inplace_data<T>().data();
    return ForEachMatrix(ctx, batch.num_elements(), 2.0 * a.rows * b.size(), [&](int64_t i) {
      const Bands bands{ctx.input(0).data<T>().data() + MatrixAt(a.batch, batch, i) * a.size(), a.rows, a.columns};
      T* const x = to + i * b.size();
      std::copy_n(ctx.input(1).data<T>().data() + MatrixAt(b.batch, batch, i) * b.size(), b.size(), x);
      Solve(bands, b.columns, x);
      return OkStatus();
    });
  }

 private:
  struct Bands {
    const T* data;
    int64_t width;
    int64_t n;
    T operator()(int64_t band, int64_t row) const { return data[band * n + row]; }
  };

  // Element [row, column] of the triangle, or of its adjoint.
  T At(const Bands& bands, int64_t row, int64_t column) const {
    if (adjoint_) return Conjugate(Stored(bands, column, row));
    return Stored(bands, row, column);
  }
  T Stored(const Bands& bands, int64_t row, int64_t column) const {
    return lower_ ? bands(row - column, row) : bands(bands.width - 1 - (column - row), row);
  }

  // Replaces B, which is in the rows of `x`, by the solution.
  void Solve(const Bands& bands, int64_t columns, T* x) const {
    const bool down = lower_ != adjoint_;  // solve from the first row to the last
    for (int64_t k = 0; k < bands.n; ++k) {
      const int64_t row = down ? k : bands.n - 1 - k;
      for (int64_t d = 1; d < bands.width && d <= k; ++d) {
        const int64_t column = down ? row - d : row + d;
        AddRow(-At(bands, row, column), x + column * columns, columns, x + row * columns);
      }
      const T pivot = At(bands, row, row);
      for (int64_t c = 0; c < columns; ++c) x[row * columns + c] /= pivot;
    }
  }

  const bool lower_;
  const bool adjoint_;
};

}  // namespace

void RegisterLinalgBandedKernels(KernelRegistry& r) {
  AddLinalg<TridiagonalSolveKernel>(r, "TridiagonalSolve", LinalgTypes{});
  AddLinalg<TridiagonalMatMulKernel>(r, "TridiagonalMatMul", LinalgTypes{});
  AddLinalg<BandedTriangularSolveKernel>(r, "BandedTriangularSolve", LinalgTypes{});
}

}  // namespace tensorbraid::cpu
