// Comparisons, which broadcast.
#include "core/text/strings.h"
#include "graph/model/op_registry.h"
#include "kernels/pjrt/formulas.h"

namespace tensorbraid::pjrt {
namespace {

// Operands that do not broadcast are unequal if the attribute incompatible_shape_error is false.
Status EmitEquality(EmitContext& ctx, bool equal) {
  TF_ASSIGN_OR_RETURN(const Shape x_shape, ctx.input_shape(0));
  TF_ASSIGN_OR_RETURN(const Shape y_shape, ctx.input_shape(1));
  const auto shape = BroadcastShapes(x_shape, y_shape);
  if (!shape.ok()) {
    const AttrValue* strict = ctx.node().FindAttr("incompatible_shape_error");
    if (strict == nullptr || strict->get<bool>() == nullptr || *strict->get<bool>()) return shape.status();
    ctx.set_constant(0, Tensor::Scalar(!equal));
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(const stablehlo::Value x, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value y, ctx.input(1));
  SetOutput(ctx, 0, Compare(equal ? "EQ" : "NE", Expr(ctx.builder(), x), Expr(ctx.builder(), y)));
  return OkStatus();
}

Status EmitApproximateEqual(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Expr y, WideInput(ctx, 1));
  if (x.shape() != y.shape()) {
    return InvalidArgument("x and y must have the same shape, got ", x.shape(), " and ", y.shape());
  }
  ctx.set_output(0, (Abs(x - y) < ctx.attr<float>("tolerance")).value());
  return OkStatus();
}

}  // namespace

void RegisterMathComparisonEmitters(EmitterRegistry& r) {
  r.Add("Equal", {{"T", kTensors}}, [](EmitContext& ctx) { return EmitEquality(ctx, true); });
  r.Add("NotEqual", {{"T", kTensors}}, [](EmitContext& ctx) { return EmitEquality(ctx, false); });
  r.Add("ApproximateEqual", {{"T", {kFloat32, kFloat64}}}, EmitApproximateEqual);
  AddBinary(r, "Less", kReals, [](const Expr& x, const Expr& y) { return x < y; });
  AddBinary(r, "LessEqual", kReals, [](const Expr& x, const Expr& y) { return x <= y; });
  AddBinary(r, "Greater", kReals, [](const Expr& x, const Expr& y) { return x > y; });
  AddBinary(r, "GreaterEqual", kReals, [](const Expr& x, const Expr& y) { return x >= y; });
}

}  // namespace tensorbraid::pjrt
