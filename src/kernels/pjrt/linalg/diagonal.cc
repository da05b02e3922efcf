// Ops that make matrices from diagonals, or read or change the diagonals of matrices.
#include <algorithm>

#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"
#include "ops/linalg/matrix_diagonal.h"

namespace tensorbraid::pjrt {
namespace {

using stablehlo::Builder;
using stablehlo::Value;

// The diagonals `lower` to `upper` of matrices (0 is the main diagonal, 1 the one above it), and their layout in a
// tensor: one row per diagonal, the uppermost first, of the length of the longest diagonal.
struct Diagonals {
  int64_t lower = 0, upper = 0;
  bool left_above = true, left_below = true;  // the shorter diagonals on either side are aligned left, not right
  int64_t rows = 0, columns = 0;              // of a matrix
  int64_t longest = 0;

  int64_t count() const { return upper - lower + 1; }
  bool is_single() const { return lower == upper; }
  int64_t LengthOf(int64_t d) const { return std::min(rows + std::min<int64_t>(d, 0), columns - FirstColumn(d)); }
  static int64_t FirstColumn(int64_t d) { return std::max<int64_t>(d, 0); }
  // Where diagonal d begins in its row.
  int64_t OffsetOf(int64_t d) const {
    const bool left = (d >= 0 && left_above) || (d <= 0 && left_below);
    return left ? 0 : longest - LengthOf(d);
  }
  Status SetMatrices(const Shape& shape) {
    rows = shape.dim(shape.rank() - 2);
    columns = shape.dim(shape.rank() - 1);
    for (const int64_t k : {lower, upper}) {
      if (k != 0 && (k <= -rows || k >= columns)) {
        return InvalidArgument("diagonal ", k, " is out of bounds for matrices of ", rows, " rows and ", columns,
                               " columns");
      }
    }
    longest = std::min(rows + std::min<int64_t>(upper, 0), columns - std::max<int64_t>(lower, 0));
    return OkStatus();
  }
  // The shape of the diagonals of matrices with these batch dimensions.
  Shape ShapeOf(std::span<const int64_t> batch) const {
    Shape shape(batch);
    if (!is_single()) shape.AddDim(count());
    shape.AddDim(longest);
    return shape;
  }
};

// The diagonals that the input selects; the main diagonal if the op has no such input.
StatusOr<Diagonals> DiagonalsOf(const EmitContext& ctx, int input) {
  Diagonals d;
  if (const AttrValue* align = ctx.node().FindAttr("align"); align != nullptr) {
    const std::string& text = *align->get<std::string>();
    d.left_above = text.starts_with("LEFT");
    d.left_below = text.ends_with("LEFT");
  }
  if (input >= ctx.num_inputs()) return d;
  TF_ASSIGN_OR_RETURN(const Tensor named, ctx.static_input(input));
  TF_ASSIGN_OR_RETURN(const IntVector k, IntegersOf(named, "k"));
  if (k.empty() || k.size() > 2) {
    return InvalidArgument("k must be a scalar or have one or two elements, got shape ", named.shape());
  }
  d.lower = k[0];
  d.upper = k[k.size() - 1];
  if (d.lower > d.upper) return InvalidArgument("k must not be decreasing, got ", d.lower, " and ", d.upper);
  return d;
}

// Column minus row of each element: the diagonal that it is on.
Expr DiagonalNumbers(Builder& b, const Shape& matrices) {
  const int rank = matrices.rank();
  return Expr(b, b.Iota(kInt64, matrices, rank - 1)) - Expr(b, b.Iota(kInt64, matrices, rank - 2));
}

// Elements [begin, end) of the last dimension.
Value Columns(Builder& b, const Value& x, int64_t begin, int64_t end) {
  std::vector<int64_t> starts(x.rank(), 0), limits(x.shape.dims().begin(), x.shape.dims().end());
  starts.back() = begin;
  limits.back() = end;
  return b.Slice(x, starts, limits, std::vector<int64_t>(x.rank(), 1));
}

// Adds elements at both ends of the last dimension.
Value PadColumns(Builder& b, const Value& x, const Value& padding, int64_t before, int64_t after) {
  std::vector<int64_t> low(x.rank(), 0), high(x.rank(), 0);
  low.back() = before;
  high.back() = after;
  return b.Pad(x, padding, low, high, std::vector<int64_t>(x.rank(), 0));
}

// `matrices` with diagonals replaced. `diagonals` has shape d.ShapeOf(batch).
Value WithDiagonals(Builder& b, const Value& matrices, const Value& diagonals, const Diagonals& d) {
  const Shape batch(matrices.shape.dims().first(matrices.rank() - 2));
  const Expr numbers = DiagonalNumbers(b, matrices.shape);
  Expr result(b, matrices);
  for (int64_t k = d.upper; k >= d.lower; --k) {
    Value row = diagonals;
    if (!d.is_single()) {
      std::vector<int64_t> starts(row.rank(), 0), limits(row.shape.dims().begin(), row.shape.dims().end());
      starts[batch.rank()] = d.upper - k;
      limits[batch.rank()] = d.upper - k + 1;
      row = b.Slice(row, starts, limits, std::vector<int64_t>(row.rank(), 1));
    }
    // Each element goes to its column, in all rows.
    const int64_t first = Diagonals::FirstColumn(k), length = std::max<int64_t>(d.LengthOf(k), 0);
    row = Columns(b, row, d.OffsetOf(k), d.OffsetOf(k) + length);
    row = PadColumns(b, row, b.Splat(row.dtype, 0), first, d.columns - first - length);
    Shape wide = batch;
    wide.AddDim(1);
    wide.AddDim(d.columns);
    const Expr spread(b, b.BroadcastTo(b.Reshape(row, wide), matrices.shape));
    result = Select(numbers == static_cast<double>(k), spread, result);
  }
  return result.value();
}

// Diagonal k of matrices, as a row: the only element of its column that is not 0 in a sum over the rows.
Value DiagonalOf(Builder& b, const Value& matrices, const Diagonals& d, int64_t k) {
  const Expr zero(b, b.Splat(matrices.dtype, 0));
  const Expr others = Select(DiagonalNumbers(b, matrices.shape) == static_cast<double>(k), Expr(b, matrices), zero);
  const std::string_view combine = matrices.dtype == kBool ? "or" : "add";
  const Value row = b.Reduce(others.value(), zero.value(), {matrices.rank() - 2},
                             [&](const Value& x, const Value& y) { return b.Binary(combine, x, y); });
  const int64_t first = Diagonals::FirstColumn(k);
  return Columns(b, row, first, first + d.LengthOf(k));
}

// A scalar input; 0 if the op does not have it.
StatusOr<Value> PaddingOf(EmitContext& ctx, int input, DType dtype) {
  if (input >= ctx.num_inputs()) return ctx.builder().Splat(dtype, 0);
  TF_ASSIGN_OR_RETURN(const Value value, ctx.input(input));
  if (value.shape.num_elements() != 1) {
    return InvalidArgument("padding_value must be a scalar, got shape ", value.shape);
  }
  return ctx.builder().Reshape(value, {});
}

// Inputs: diagonal, k, num_rows, num_cols, padding_value; in the oldest version only the first.
Status EmitMatrixDiag(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(Diagonals d, DiagonalsOf(ctx, 1));
  const int own = d.is_single() ? 1 : 2;
  if (in.rank() < own) return InvalidArgument("diagonal must be at least ", own, "-dim, got shape ", in.shape);
  if (!d.is_single() && in.shape.dim(in.rank() - 2) != d.count()) {
    return InvalidArgument("k selects ", d.count(), " diagonals, but diagonal has shape ", in.shape);
  }
  d.longest = in.shape.dim(in.rank() - 1);
  d.rows = d.columns = -1;
  if (ctx.num_inputs() > 1) {
    TF_ASSIGN_OR_RETURN(const Tensor rows, ctx.static_input(2));
    TF_ASSIGN_OR_RETURN(const Tensor columns, ctx.static_input(3));
    TF_ASSIGN_OR_RETURN(d.rows, IntegerOf(rows, "num_rows"));
    TF_ASSIGN_OR_RETURN(d.columns, IntegerOf(columns, "num_cols"));
  }
  TF_ASSIGN_OR_RETURN(const Value padding, PaddingOf(ctx, 4, in.dtype));
  TF_RETURN_IF_ERROR(FitDiagonals(d.longest, d.lower, d.upper, &d.rows, &d.columns));
  Shape shape(in.shape.dims().first(in.rank() - own));
  shape.AddDim(d.rows);
  shape.AddDim(d.columns);
  Builder& b = ctx.builder();
  const Value empty = b.BroadcastTo(padding, shape);
  ctx.set_output(0, shape.num_elements() == 0 ? empty : WithDiagonals(b, empty, in, d));
  return OkStatus();
}

// Inputs: input, k, padding_value; in the oldest version only the first.
Status EmitMatrixDiagPart(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Value in, ctx.input(0));
  if (in.rank() < 2) return InvalidArgument("input must be at least 2-dim, got shape ", in.shape);
  TF_ASSIGN_OR_RETURN(Diagonals d, DiagonalsOf(ctx, 1));
  TF_RETURN_IF_ERROR(d.SetMatrices(in.shape));
  TF_ASSIGN_OR_RETURN(const Value padding, PaddingOf(ctx, 2, in.dtype));
  Builder& b = ctx.builder();
  const auto batch = in.shape.dims().first(in.rank() - 2);
  const Shape shape = d.ShapeOf(batch);
  if (shape.num_elements() == 0) {
    ctx.set_output(0, b.BroadcastTo(padding, shape));
    return OkStatus();
  }
  std::vector<Value> rows;
  for (int64_t k = d.upper; k >= d.lower; --k) {
    const int64_t before = d.OffsetOf(k), length = d.LengthOf(k);
    Shape row(batch);
    if (!d.is_single()) row.AddDim(1);
    row.AddDim(d.longest);
    const Value diagonal = DiagonalOf(b, in, d, k);
    rows.push_back(b.Reshape(PadColumns(b, diagonal, padding, before, d.longest - before - length), row));
  }
  ctx.set_output(0, b.Concatenate(rows, static_cast<int>(batch.size())));
  return OkStatus();
}

// Inputs: input, diagonal, k (not in the oldest version).
Status EmitMatrixSetDiag(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Value diagonal, ctx.input(1));
  if (in.rank() < 2) return InvalidArgument("input must be at least 2-dim, got shape ", in.shape);
  TF_ASSIGN_OR_RETURN(Diagonals d, DiagonalsOf(ctx, 2));
  TF_RETURN_IF_ERROR(d.SetMatrices(in.shape));
  if (diagonal.rank() < 1) return InvalidArgument("diagonal must be at least 1-dim, got a scalar");
  const Shape wanted = d.ShapeOf(in.shape.dims().first(in.rank() - 2));
  if (diagonal.shape != wanted) {
    return InvalidArgument(
        "first dimensions of diagonal don't match those of the input, or its last dimensions are wrong: expected ",
        "shape ", wanted, ", got ", diagonal.shape);
  }
  ctx.set_output(0, in.shape.num_elements() == 0 ? in : WithDiagonals(ctx.builder(), in, diagonal, d));
  return OkStatus();
}

Status EmitMatrixBandPart(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Value in, ctx.input(0));
  if (in.rank() < 2) return InvalidArgument("input must be at least 2-dim, got shape ", in.shape);
  const int64_t most[] = {in.shape.dim(in.rank() - 2), in.shape.dim(in.rank() - 1)};
  int64_t band[2];
  for (int i = 0; i < 2; ++i) {
    const char* const name = i == 0 ? "num_lower" : "num_upper";
    TF_ASSIGN_OR_RETURN(const Tensor number, ctx.static_input(1 + i));
    if (!number.shape().is_scalar()) return InvalidArgument(name, " must be a scalar, got shape ", number.shape());
    TF_ASSIGN_OR_RETURN(band[i], IntegerOf(number, name));
    if (band[i] > most[i]) return InvalidArgument(name, " must not be more than ", most[i], ", got ", band[i]);
    if (band[i] < 0) band[i] = most[i];
  }
  Builder& b = ctx.builder();
  const Expr numbers = DiagonalNumbers(b, in.shape);
  const Expr kept = numbers >= static_cast<double>(-band[0]) && numbers <= static_cast<double>(band[1]);
  ctx.set_output(0, Select(kept, Expr(b, in), 0).value());
  return OkStatus();
}

// A diagonal matrix, where the rows and the columns stand for the elements of a tensor.
Status EmitDiag(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Value in, ctx.input(0));
  if (in.rank() < 1) return InvalidArgument("diagonal must be at least 1-dim, got a scalar");
  Shape shape = in.shape;
  for (const int64_t dim : in.shape.dims()) shape.AddDim(dim);
  Builder& b = ctx.builder();
  const int64_t n = in.shape.num_elements();
  const Value zeros = b.Splat(in.dtype, 0, {n, n});
  const Diagonals d{.rows = n, .columns = n, .longest = n};
  ctx.set_output(0, b.Reshape(n == 0 ? zeros : WithDiagonals(b, zeros, b.Reshape(in, {n}), d), shape));
  return OkStatus();
}

Status EmitDiagPart(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Value in, ctx.input(0));
  const int half = in.rank() / 2;
  const Shape shape(in.shape.dims().first(half));
  if (in.rank() < 2 || in.rank() % 2 != 0 || shape != Shape(in.shape.dims().last(half))) {
    return InvalidArgument("input must have an even rank and equal halves of its shape, got ", in.shape);
  }
  Builder& b = ctx.builder();
  const int64_t n = shape.num_elements();
  const Diagonals d{.rows = n, .columns = n, .longest = n};
  ctx.set_output(0, b.Reshape(n == 0 ? in : DiagonalOf(b, b.Reshape(in, {n, n}), d, 0), shape));
  return OkStatus();
}

}  // namespace

void RegisterLinalgDiagonalEmitters(EmitterRegistry& r) {
  const TypeConstraints types = {{"T", kTensors}};
  r.Add("MatrixDiag", types, EmitMatrixDiag);
  r.Add("MatrixDiagPart", types, EmitMatrixDiagPart);
  r.Add("MatrixSetDiag", types, EmitMatrixSetDiag);
  for (const std::string version : {"V2", "V3"}) {
    r.Add("MatrixDiag" + version, types, EmitMatrixDiag).static_inputs = {"k", "num_rows", "num_cols"};
    r.Add("MatrixDiagPart" + version, types, EmitMatrixDiagPart).static_inputs = {"k"};
    r.Add("MatrixSetDiag" + version, types, EmitMatrixSetDiag).static_inputs = {"k"};
  }
  r.Add("MatrixBandPart", types, EmitMatrixBandPart).static_inputs = {"num_lower", "num_upper"};
  r.Add("Diag", types, EmitDiag);
  r.Add("DiagPart", types, EmitDiagPart);
}

}  // namespace tensorbraid::pjrt
