// Kernels that make matrices from diagonals, or read or change the diagonals of matrices. They only move elements, so
// they work for any type.
#include <algorithm>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/elementwise.h"
#include "ops/linalg/matrix_diagonal.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The diagonals `lower` to `upper` of matrices (0 is the main diagonal, 1 the one above it), and their layout in a
// tensor: one row per diagonal, the uppermost first. Rows have the length of the longest diagonal; shorter diagonals
// are aligned left or right.
struct Diagonals {
  int64_t lower = 0;
  int64_t upper = 0;
  bool left_above = true;  // whether the diagonals above the main one are aligned left
  bool left_below = true;  // whether those below it are aligned left
  int64_t rows = 0;        // of a matrix
  int64_t columns = 0;     // of a matrix
  int64_t longest = 0;     // the length of the longest diagonal

  int64_t count() const { return upper - lower + 1; }
  // The tensor of a single diagonal has no dimension for the number of the diagonal.
  bool is_single() const { return lower == upper; }
  bool Has(int64_t row, int64_t column) const { return column - row >= lower && column - row <= upper; }
  int64_t LengthOf(int64_t d) const {
    return std::min(rows + std::min<int64_t>(d, 0), columns - std::max<int64_t>(d, 0));
  }
  // The offset of the first element of diagonal d in its row.
  int64_t OffsetOf(int64_t d) const {
    const bool left = (d >= 0 && left_above) || (d <= 0 && left_below);
    return left ? 0 : longest - LengthOf(d);
  }
  // The offset of an element in the tensor of diagonals. REQUIRES: the element is on one of the diagonals.
  int64_t At(int64_t row, int64_t column) const {
    const int64_t d = column - row;
    return (upper - d) * longest + OffsetOf(d) + column - std::max<int64_t>(d, 0);
  }
};

// The base class of the kernels on diagonals. It reads the attribute `align`, and checks diagonals and sizes.
class DiagonalKernel : public Kernel {
 public:
  explicit DiagonalKernel(const KernelConstruction& c) {
    const AttrValue* align = c.node().FindAttr("align");
    const std::string text = align == nullptr ? "LEFT_LEFT" : *align->get<std::string>();
    alignment_.left_above = text.starts_with("LEFT");
    alignment_.left_below = text.ends_with("LEFT");
  }

 protected:
  // The diagonals that the input selects; the main diagonal if the op has no such input.
  StatusOr<Diagonals> Named(KernelContext& ctx, int input) const {
    Diagonals d = alignment_;
    if (input >= ctx.num_inputs()) return d;
    TF_ASSIGN_OR_RETURN(const IntVector k, IntegersOf(ctx.input(input), "k"));
    if (k.empty() || k.size() > 2) {
      return InvalidArgument("k must be a scalar or have one or two elements, got shape ", ctx.input(input).shape());
    }
    d.lower = k[0];
    d.upper = k[k.size() - 1];
    if (d.lower > d.upper) return InvalidArgument("k must not be decreasing, got ", d.lower, " and ", d.upper);
    return d;
  }

  // Sets the sizes of the matrices in *d. Returns InvalidArgument if a diagonal is outside them.
  static Status SetMatrices(int64_t rows, int64_t columns, Diagonals* d) {
    d->rows = rows;
    d->columns = columns;
    for (int64_t k : {d->lower, d->upper}) {
      if (k != 0 && (k <= -rows || k >= columns)) {
        return InvalidArgument("diagonal ", k, " is out of bounds for matrices of ", rows, " rows and ", columns,
                               " columns");
      }
    }
    d->longest = std::min(rows + std::min<int64_t>(d->upper, 0), columns - std::max<int64_t>(d->lower, 0));
    return OkStatus();
  }

  // The shape of the diagonals of a batch of matrices.
  static Shape ShapeOf(const Diagonals& d, std::span<const int64_t> batch) {
    Shape shape(batch);
    if (!d.is_single()) shape.AddDim(d.count());
    shape.AddDim(d.longest);
    return shape;
  }

 private:
  Diagonals alignment_;
};

// Makes matrices with given diagonals. Inputs: diagonal, k, num_rows, num_cols, padding_value. The oldest version of
// the op has only the first input.
class MatrixDiagKernel final : public DiagonalKernel {
 public:
  using DiagonalKernel::DiagonalKernel;

  Status Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    TF_ASSIGN_OR_RETURN(Diagonals d, Named(ctx, 1));
    const int rank = in.shape().rank(), own = d.is_single() ? 1 : 2;
    if (rank < own) return InvalidArgument("diagonal must be at least ", own, "-dim, got shape ", in.shape());
    if (!d.is_single() && in.shape().dim(rank - 2) != d.count()) {
      return InvalidArgument("k selects ", d.count(), " diagonals, but diagonal has shape ", in.shape());
    }
    d.longest = in.shape().dim(rank - 1);
    int64_t rows = -1, columns = -1;
    if (ctx.num_inputs() > 1) {
      TF_ASSIGN_OR_RETURN(rows, IntegerOf(ctx.input(2), "num_rows"));
      TF_ASSIGN_OR_RETURN(columns, IntegerOf(ctx.input(3), "num_cols"));
      if (ctx.input(4).num_elements() != 1) {
        return InvalidArgument("padding_value must be a scalar, got shape ", ctx.input(4).shape());
      }
    }
    TF_RETURN_IF_ERROR(FitDiagonals(d.longest, d.lower, d.upper, &rows, &columns));
    d.rows = rows;
    d.columns = columns;
    Shape shape(in.shape().dims().first(rank - own));
    shape.AddDim(rows);
    shape.AddDim(columns);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return OkStatus();
    const int64_t batch = SizeOf(shape, 0, shape.rank() - 2);
    return ForElementsOf(in.dtype(), [&]<typename E>() {
      const E padding = ctx.num_inputs() > 1 ? Elements<E>(ctx.input(4))[0] : ZeroElement<E>();
      const E* from = Elements<E>(in);
      E* to = MutableElements<E>(*out);
      Parallel(ctx, batch * rows, 1.0 * columns, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t row = i % rows;
          const E* diagonals = from + i / rows * d.count() * d.longest;
          for (int64_t column = 0; column < columns; ++column) {
            to[i * columns + column] = d.Has(row, column) ? diagonals[d.At(row, column)] : padding;
          }
        }
      });
      return OkStatus();
    });
  }
};

// Returns diagonals of matrices. Inputs: input, k, padding_value. The oldest version of the op has only the first
// input.
class MatrixDiagPartKernel final : public DiagonalKernel {
 public:
  using DiagonalKernel::DiagonalKernel;

  Status Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    const int rank = in.shape().rank();
    if (rank < 2) return InvalidArgument("input must be at least 2-dim, got shape ", in.shape());
    TF_ASSIGN_OR_RETURN(Diagonals d, Named(ctx, 1));
    TF_RETURN_IF_ERROR(SetMatrices(in.shape().dim(rank - 2), in.shape().dim(rank - 1), &d));
    if (ctx.num_inputs() > 2 && ctx.input(2).num_elements() != 1) {
      return InvalidArgument("padding_value must be a scalar, got shape ", ctx.input(2).shape());
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ShapeOf(d, in.shape().dims().first(rank - 2))));
    if (out->num_elements() == 0) return OkStatus();
    const int64_t batch = SizeOf(in.shape(), 0, rank - 2);
    return ForElementsOf(in.dtype(), [&]<typename E>() {
      const E padding = ctx.num_inputs() > 2 ? Elements<E>(ctx.input(2))[0] : ZeroElement<E>();
      const E* from = Elements<E>(in);
      E* to = MutableElements<E>(*out);
      Parallel(ctx, batch * d.count(), 2.0 * d.longest, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t diagonal = d.upper - i % d.count();
          const E* matrix = from + i / d.count() * d.rows * d.columns;
          E* row = to + i * d.longest;
          std::fill(row, row + d.longest, padding);
          row += d.OffsetOf(diagonal);
          const int64_t first_row = -std::min<int64_t>(diagonal, 0), first_column = std::max<int64_t>(diagonal, 0);
          for (int64_t k = 0; k < d.LengthOf(diagonal); ++k) {
            row[k] = matrix[(first_row + k) * d.columns + first_column + k];
          }
        }
      });
      return OkStatus();
    });
  }
};

// Returns matrices with some diagonals replaced. Inputs: input, diagonal, k (not in the oldest version).
class MatrixSetDiagKernel final : public DiagonalKernel {
 public:
  using DiagonalKernel::DiagonalKernel;

  Status Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    const int rank = in.shape().rank();
    if (rank < 2) return InvalidArgument("input must be at least 2-dim, got shape ", in.shape());
    TF_ASSIGN_OR_RETURN(Diagonals d, Named(ctx, 2));
    TF_RETURN_IF_ERROR(SetMatrices(in.shape().dim(rank - 2), in.shape().dim(rank - 1), &d));
    if (ctx.input(1).shape().rank() < 1) return InvalidArgument("diagonal must be at least 1-dim, got a scalar");
    const Shape wanted = ShapeOf(d, in.shape().dims().first(rank - 2));
    if (ctx.input(1).shape() != wanted) {
      return InvalidArgument(
          "first dimensions of diagonal don't match those of the input, or its last dimensions are "
          "wrong: expected shape ",
          wanted, ", got ", ctx.input(1).shape());
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
    if (out->num_elements() == 0) return OkStatus();
    const int64_t batch = SizeOf(in.shape(), 0, rank - 2);
    return ForElementsOf(in.dtype(), [&]<typename E>() {
      const E* from = Elements<E>(in);
      const E* diagonals = Elements<E>(ctx.input(1));
      E* to = MutableElements<E>(*out);
      Parallel(ctx, batch * d.rows, 1.0 * d.columns, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t row = i % d.rows;
          const E* own = diagonals + i / d.rows * d.count() * d.longest;
          for (int64_t column = 0; column < d.columns; ++column) {
            const int64_t at = i * d.columns + column;
            to[at] = d.Has(row, column) ? own[d.At(row, column)] : from[at];
          }
        }
      });
      return OkStatus();
    });
  }
};

// Keeps num_lower diagonals below and num_upper diagonals above the main one, and sets the rest to 0. A negative number
// keeps all diagonals on that side.
Status MatrixBandPartKernel(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  const int rank = in.shape().rank();
  if (rank < 2) return InvalidArgument("input must be at least 2-dim, got shape ", in.shape());
  const int64_t rows = in.shape().dim(rank - 2), columns = in.shape().dim(rank - 1);
  int64_t band[2];
  const char* const names[] = {"num_lower", "num_upper"};
  const int64_t most[] = {rows, columns};
  for (int i = 0; i < 2; ++i) {
    if (!ctx.input(1 + i).shape().is_scalar()) {
      return InvalidArgument(names[i], " must be a scalar, got shape ", ctx.input(1 + i).shape());
    }
    TF_ASSIGN_OR_RETURN(band[i], IntegerOf(ctx.input(1 + i), names[i]));
    if (band[i] > most[i]) return InvalidArgument(names[i], " must not be more than ", most[i], ", got ", band[i]);
    if (band[i] < 0) band[i] = most[i];
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
  if (out->num_elements() == 0) return OkStatus();
  return ForElementsOf(in.dtype(), [&]<typename E>() {
    const E* from = Elements<E>(in);
    E* to = MutableElements<E>(*out);
    Parallel(ctx, in.num_elements() / columns, 0.5 * columns, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i % rows;
        const int64_t first = std::clamp<int64_t>(row - band[0], 0, columns);
        const int64_t last = std::clamp<int64_t>(row + band[1] + 1, first, columns);
        const int64_t at = i * columns;
        std::fill(to + at, to + at + first, ZeroElement<E>());
        std::copy(from + at + first, from + at + last, to + at + first);
        std::fill(to + at + last, to + at + columns, ZeroElement<E>());
      }
    });
    return OkStatus();
  });
}

// Outputs a tensor of twice the rank of the input. It is 0 except where both halves of the index are equal; there it
// has the input's element at this index.
Status DiagKernel(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (in.shape().rank() < 1) return InvalidArgument("diagonal must be at least 1-dim, got a scalar");
  Shape shape = in.shape();
  for (int64_t d : in.shape().dims()) shape.AddDim(d);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  const int64_t n = in.num_elements();
  return ForElementsOf(in.dtype(), [&]<typename E>() {
    const E* from = Elements<E>(in);
    E* to = MutableElements<E>(*out);
    std::fill(to, to + n * n, ZeroElement<E>());
    for (int64_t i = 0; i < n; ++i) to[i * (n + 1)] = from[i];
    return OkStatus();
  });
}

Status DiagPartKernel(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  const int rank = in.shape().rank();
  const int half = rank / 2;
  if (rank < 2 || rank % 2 != 0 || Shape(in.shape().dims().first(half)) != Shape(in.shape().dims().last(half))) {
    return InvalidArgument("input must have an even rank and equal halves of its shape, got ", in.shape());
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape(in.shape().dims().first(half))));
  const int64_t n = out->num_elements();
  return ForElementsOf(in.dtype(), [&]<typename E>() {
    const E* from = Elements<E>(in);
    E* to = MutableElements<E>(*out);
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * (n + 1)];
    return OkStatus();
  });
}

}  // namespace

void RegisterLinalgDiagonalKernels(KernelRegistry& r) {
  for (const char* version : {"", "V2", "V3"}) {
    r.Add<MatrixDiagKernel>(std::string("MatrixDiag") + version);
    r.Add<MatrixDiagPartKernel>(std::string("MatrixDiagPart") + version);
    r.Add<MatrixSetDiagKernel>(std::string("MatrixSetDiag") + version);
  }
  r.Add("MatrixBandPart", {}, MatrixBandPartKernel);
  r.Add("Diag", {}, DiagKernel);
  r.Add("DiagPart", {}, DiagPartKernel);
}

}  // namespace tensorbraid::cpu
