// Ops that pass a tensor on, some after a check of its shape.
#include "core/text/strings.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// The value of input 0, also if it is a reference. A known tensor stays known.
Status EmitValue(EmitContext& ctx) {
  if (ctx.is_static(0)) {
    ctx.forward_input(0, 0);
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(const stablehlo::Value x, ctx.input(0));
  ctx.set_output(0, x);
  return OkStatus();
}

Status EmitEnsureShape(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape in, ctx.input_shape(0));
  const Shape& wanted = ctx.attr<Shape>("shape");
  if (!wanted.IsCompatibleWith(in)) {
    return InvalidArgument("the tensor has shape ", in, ", which is not compatible with the expected shape ", wanted);
  }
  return EmitValue(ctx);
}

}  // namespace

void RegisterArrayPassEmitters(EmitterRegistry& r) {
  r.Add("Snapshot", {{"T", kTensors}}, EmitValue);
  r.Add("GuaranteeConst", {{"T", kTensors}}, EmitValue);
  r.Add("EnsureShape", {{"T", kTensors}}, EmitEnsureShape);
}

}  // namespace tensorbraid::pjrt
