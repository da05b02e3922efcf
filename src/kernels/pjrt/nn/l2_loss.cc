// L2Loss: half the sum of squares.
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

Status EmitL2Loss(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
  std::vector<int64_t> axes;
  for (int i = 0; i < x.shape().rank(); ++i) axes.push_back(i);
  SetOutput(ctx, 0, Sum(x * x, axes).Reshape({}) * 0.5);
  return OkStatus();
}

}  // namespace

void RegisterNnL2LossEmitters(EmitterRegistry& r) { r.Add("L2Loss", {{"T", kFloats}}, EmitL2Loss); }

}  // namespace tensorbraid::pjrt
