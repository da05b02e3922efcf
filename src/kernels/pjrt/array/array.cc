// Constants, and ops that pass their inputs on.
#include "core/text/strings.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

constexpr DTypeSet kEdges = kTensors | DTypeSet{DType::kResource};

Status EmitConst(EmitContext& ctx) {
  ctx.set_constant(0, ctx.attr<Tensor>("value"));
  return OkStatus();
}

// A reference or a handle stays one.
Status EmitForward(EmitContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.forward_input(i, i);
  return OkStatus();
}

// IdentityN: all dtypes must be those of tensors of programs, or handles.
std::string RefuseOtherDTypes(const Node& node) {
  for (const DType dtype : node.output_types()) {
    if (!kEdges.Contains(BaseType(dtype))) return StrCat("has no emitter for ", dtype);
  }
  return "";
}

}  // namespace

void RegisterArrayEmitters(EmitterRegistry& r) {
  // Strings can only be static inputs.
  r.Add("Const", {{"dtype", kTensors | DTypeSet{kString}}}, EmitConst);
  r.Add("Identity", {{"T", kEdges}}, EmitForward);
  r.Add("IdentityN", {}, EmitForward).refuse = RefuseOtherDTypes;
  r.Add("StopGradient", {{"T", kEdges}}, EmitForward);
  r.Add("PreventGradient", {{"T", kEdges}}, EmitForward);
  r.Add("NoOp", {}, [](EmitContext&) { return OkStatus(); });
}

}  // namespace tensorbraid::pjrt
