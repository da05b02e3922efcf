// InTopK: whether a class is among the k most likely.
#include <limits>

#include "core/text/strings.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/rows.h"

namespace tensorbraid::pjrt {
namespace {

// Whether the prediction for the target is among the k largest of its row. As by the CPU's kernel, the result is false
// if the target is out of range or the row has a value that is not finite.
Status EmitInTopK(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value targets, ctx.input(1));
  if (in.rank() != 2) return InvalidArgument("predictions must be a matrix, got shape ", in.shape);
  if (targets.rank() != 1) return InvalidArgument("targets must be a vector, got shape ", targets.shape);
  const int64_t rows = in.shape.dim(0), classes = in.shape.dim(1);
  if (rows != targets.shape.dim(0)) {
    return InvalidArgument("predictions ", in.shape, " and targets ", targets.shape,
                           " must have the same number of rows");
  }
  stablehlo::Builder& b = ctx.builder();
  stablehlo::Value k;
  if (ctx.num_inputs() == 2) {
    k = b.Constant(Tensor::Scalar(ctx.attr<int64_t>("k")));
  } else {
    TF_ASSIGN_OR_RETURN(k, ctx.input(2));
    if (k.shape.num_elements() != 1) return InvalidArgument("k must be a scalar, got shape ", k.shape);
    k = b.Reshape(b.Convert(k, kInt64), {});
  }
  const Expr x(b, in), target = Expr(b, targets).Convert(kInt64);
  const Expr exists = target >= 0 && target < static_cast<double>(classes);
  const Expr place = Expr(b, b.Iota(kInt64, {rows}, 0)) * static_cast<double>(classes) + Select(exists, target, 0);
  const Expr chosen = GatherRows(x.Reshape({rows * classes, 1}), place);
  const Expr infinite = !(Abs(x) < std::numeric_limits<double>::infinity());
  const Expr larger = Sum((x > chosen).Convert(kInt64), {1}), bad = Sum(infinite.Convert(kInt64), {1});
  const Expr is_in = larger.Reshape({rows}) < Expr(b, k) && bad.Reshape({rows}) == 0;
  ctx.set_output(0, (exists && is_in).value());
  return OkStatus();
}

}  // namespace

void RegisterNnInTopKEmitters(EmitterRegistry& r) {
  r.Add("InTopK", {}, EmitInTopK);
  r.Add("InTopKV2", {}, EmitInTopK);
}

}  // namespace tensorbraid::pjrt
