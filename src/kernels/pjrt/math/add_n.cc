// Sums of many tensors.
#include "core/text/strings.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

Status EmitAddN(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(Expr sum, WideInput(ctx, 0));
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    TF_ASSIGN_OR_RETURN(const Expr next, WideInput(ctx, i));
    if (next.shape() != sum.shape()) {
      return InvalidArgument("all inputs must have the same shape, got ", sum.shape(), " and ", next.shape(),
                             " (input ", i, ")");
    }
    sum = (sum + next).Convert(ctx.node().output_type(0)).Convert(sum.dtype());
  }
  SetOutput(ctx, 0, sum);
  return OkStatus();
}

}  // namespace

void RegisterMathAddNEmitters(EmitterRegistry& r) { r.Add("AddN", {{"T", kNumbers}}, EmitAddN); }

}  // namespace tensorbraid::pjrt
