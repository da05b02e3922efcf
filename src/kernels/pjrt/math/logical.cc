// Logical ops.
#include "core/text/strings.h"
#include "graph/model/op_registry.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

Status EmitLogical(EmitContext& ctx, std::string_view op) {
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Expr y, WideInput(ctx, 1));
  TF_RETURN_IF_ERROR(BroadcastShapes(x.shape(), y.shape()).status());
  SetOutput(ctx, 0, Binary(op, x, y));
  return OkStatus();
}

Status EmitNot(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
  SetOutput(ctx, 0, !x);
  return OkStatus();
}

}  // namespace

void RegisterMathLogicalEmitters(EmitterRegistry& r) {
  r.Add("LogicalAnd", {}, [](EmitContext& ctx) { return EmitLogical(ctx, "and"); });
  r.Add("LogicalOr", {}, [](EmitContext& ctx) { return EmitLogical(ctx, "or"); });
  r.Add("LogicalNot", {}, EmitNot);
}

}  // namespace tensorbraid::pjrt
