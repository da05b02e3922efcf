// Products with tridiagonal matrices.
#include "core/text/strings.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// Inputs: the diagonals above, on and below the main diagonal, each [..., 1, n], and rhs [..., n, k].
Status EmitTridiagonalMatMul(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value rhs, ctx.input(3));
  const int rank = rhs.rank();
  if (rank < 2) return InvalidArgument("rhs must be at least 2-dim, got shape ", rhs.shape);
  const int64_t n = rhs.shape.dim(rank - 2);
  Shape wanted(rhs.shape.dims().first(rank - 2)), columns = wanted;
  wanted.AddDim(1);
  wanted.AddDim(n);
  columns.AddDim(n);
  columns.AddDim(1);
  stablehlo::Builder& b = ctx.builder();
  // Row i of the result is row i + `step` of rhs, or 0 if there is none.
  const auto moved = [&](int64_t step) -> Expr {
    std::vector<int64_t> low(rank, 0), high(rank, 0);
    low[rank - 2] = -step;
    high[rank - 2] = step;
    return {b, b.Pad(rhs, b.Splat(rhs.dtype, 0), low, high, std::vector<int64_t>(rank, 0))};
  };
  std::vector<Expr> terms;
  for (int i = 0; i < 3; ++i) {
    TF_ASSIGN_OR_RETURN(const stablehlo::Value diagonal, ctx.input(i));
    if (diagonal.shape != wanted) {
      return InvalidArgument("the diagonals must have shape ", wanted, ", got ", diagonal.shape);
    }
    terms.push_back(Expr(b, diagonal).Reshape(columns) * moved(1 - i));
  }
  ctx.set_output(0, (terms[1] + terms[2] + terms[0]).value());
  return OkStatus();
}

}  // namespace

void RegisterLinalgBandedEmitters(EmitterRegistry& r) {
  r.Add("TridiagonalMatMul", {{"T", {kFloat32, kFloat64, DType::kComplex64, DType::kComplex128}}},
        EmitTridiagonalMatMul);
}

}  // namespace tensorbraid::pjrt
