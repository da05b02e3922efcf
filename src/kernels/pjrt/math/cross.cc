// The cross products of vectors of three elements in the last dimension.
#include "core/text/strings.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

Status EmitCross(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Expr y, WideInput(ctx, 1));
  const Shape& shape = x.shape();
  if (shape != y.shape()) {
    return InvalidArgument("both inputs must have the same shape, got ", shape, " and ", y.shape());
  }
  if (shape.rank() < 1 || shape.dim(shape.rank() - 1) != 3) {
    return InvalidArgument("the last dimension must have size 3, got shape ", shape);
  }
  stablehlo::Builder& b = ctx.builder();
  // The elements of each vector, moved by `n` places to the left, in a circle.
  const auto moved = [&](const Expr& v, int64_t n) -> Expr {
    const int last = shape.rank() - 1;
    std::vector<int64_t> zeros(shape.rank(), 0), middle = zeros, ones(shape.rank(), 1);
    std::vector<int64_t> limits(shape.dims().begin(), shape.dims().end()), ends = limits;
    middle[last] = ends[last] = n;
    return {b, b.Concatenate({b.Slice(v.value(), middle, limits, ones), b.Slice(v.value(), zeros, ends, ones)}, last)};
  };
  SetOutput(ctx, 0, moved(x, 1) * moved(y, 2) - moved(x, 2) * moved(y, 1));
  return OkStatus();
}

}  // namespace

void RegisterMathCrossEmitters(EmitterRegistry& r) { r.Add("Cross", {{"T", kReals}}, EmitCross); }

}  // namespace tensorbraid::pjrt
