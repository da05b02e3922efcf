// ClipByValue: limits elements to a range.
#include "core/text/strings.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// min(max(x, low), high). Each bound is a scalar or has the shape of x.
Status EmitClip(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Expr low, WideInput(ctx, 1));
  TF_ASSIGN_OR_RETURN(const Expr high, WideInput(ctx, 2));
  for (const Expr* bound : {&low, &high}) {
    if (!bound->shape().is_scalar() && bound->shape() != x.shape()) {
      return InvalidArgument("the bounds must be scalars or have the shape of the input, ", x.shape(), ", got ",
                             low.shape(), " and ", high.shape());
    }
  }
  const Expr raised = Select(x < low, low, x);
  SetOutput(ctx, 0, Select(high < raised, high, raised));
  return OkStatus();
}

}  // namespace

void RegisterMathClipEmitters(EmitterRegistry& r) { r.Add("ClipByValue", {{"T", kReals}}, EmitClip); }

}  // namespace tensorbraid::pjrt
