// Constants, and ops that pass their inputs on.
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

Status EmitConst(EmitContext& ctx) {
  ctx.set_constant(0, ctx.attr<Tensor>("value"));
  return OkStatus();
}

// A reference or a handle stays one.
Status EmitForward(EmitContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.forward_input(i, i);
  return OkStatus();
}

}  // namespace

void RegisterArrayEmitters(EmitterRegistry& r) {
  constexpr DTypeSet kEdges = kTensors | DTypeSet{DType::kResource};
  r.Add("Const", {{"dtype", kTensors}}, EmitConst);
  r.Add("Identity", {{"T", kEdges}}, EmitForward);
  r.Add("StopGradient", {{"T", kEdges}}, EmitForward);
  r.Add("PreventGradient", {{"T", kEdges}}, EmitForward);
  r.Add("NoOp", {}, [](EmitContext&) { return OkStatus(); });
}

}  // namespace tensorbraid::pjrt
