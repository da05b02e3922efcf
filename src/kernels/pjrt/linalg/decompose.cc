// The Cholesky decomposition. StableHLO has none of the others.
#include <limits>

#include "core/text/strings.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// The lower triangle is NaN if the matrix has no decomposition. What plugins give then differs, but has a NaN.
Status EmitCholesky(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value x, ctx.input(0));
  const int rank = x.rank();
  if (rank < 2) return InvalidArgument("input must have rank 2 or more, got shape ", x.shape);
  const int64_t n = x.shape.dim(rank - 1);
  if (n != x.shape.dim(rank - 2)) return InvalidArgument("input must be square, got shape ", x.shape);
  if (x.shape.num_elements() == 0) {
    ctx.set_output(0, x);
    return OkStatus();
  }
  stablehlo::Builder& b = ctx.builder();
  const Expr factor(b, b.Op("cholesky", {x}, x.dtype, x.shape, "lower = true"));
  const Shape triangle({n, n});
  const Expr is_lower = Expr(b, b.Iota(kInt64, triangle, 0)) >= Expr(b, b.Iota(kInt64, triangle, 1));
  const Expr is_bad = (is_lower && factor != factor).Convert(kInt32);
  const Expr has_none = Sum(is_bad, {rank - 2, rank - 1}) > 0;
  const Expr value = Select(has_none, std::numeric_limits<double>::quiet_NaN(), factor);
  SetOutput(ctx, 0, Select(is_lower, value, 0));
  return OkStatus();
}

}  // namespace

void RegisterLinalgDecomposeEmitters(EmitterRegistry& r) {
  r.Add("Cholesky", {{"T", {kFloat32, kFloat64, DType::kComplex64, DType::kComplex128}}}, EmitCholesky);
}

}  // namespace tensorbraid::pjrt
