// Conversion between dtypes.
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// A float that the integer type cannot hold gives the nearest integer of this type; the CPU gives other ones.
Status EmitCast(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(stablehlo::Value x, ctx.input(0));
  const DType to = ctx.attr<DType>("DstT");
  // Of a number that uint32 cannot hold, it gets the low bits; 0 if int64 cannot hold it either. So does the CPU.
  if (IsFloating(x.dtype) && to == DType::kUint32) {
    const Expr wide(ctx.builder(), ctx.builder().Convert(x, kFloat64));
    x = Select(Abs(wide) < 0x1p63, wide.Convert(kInt64), 0).value();
  }
  ctx.set_output(0, ctx.builder().Convert(x, to));
  return OkStatus();
}

}  // namespace

void RegisterMathCastEmitters(EmitterRegistry& r) {
  r.Add("Cast", {{"SrcT", kTensors}, {"DstT", kTensors}}, EmitCast).refuse = [](const Node& node) {
    return std::string(node.attr<bool>("Truncate") ? "with Truncate = true has no emitter" : "");
  };
}

}  // namespace tensorbraid::pjrt
