#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// The shape of an elementwise result: that of the operand that is no scalar.
const Shape& CommonShape(const Shape& a, const Shape& b) { return a.is_scalar() ? b : a; }

}  // namespace

Expr Binary(std::string_view name, const Expr& x, const Expr& y) {
  const Shape shape = CommonShape(x.shape(), y.shape());
  return {x.builder(), x.builder().Binary(name, x.BroadcastTo(shape).value(), y.BroadcastTo(shape).value())};
}

Expr Compare(std::string_view direction, const Expr& x, const Expr& y) {
  const Shape shape = CommonShape(x.shape(), y.shape());
  return {x.builder(), x.builder().Compare(direction, x.BroadcastTo(shape).value(), y.BroadcastTo(shape).value())};
}

Expr Select(const Expr& condition, const Expr& if_true, const Expr& if_false) {
  const Shape shape = CommonShape(CommonShape(if_true.shape(), if_false.shape()), condition.shape());
  return {condition.builder(), condition.builder().Select(condition.value(), if_true.BroadcastTo(shape).value(),
                                                          if_false.BroadcastTo(shape).value())};
}

StatusOr<Expr> WideInput(const EmitContext& ctx, int i) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value value, ctx.input(i));
  return Expr(ctx.builder(), value).Convert(ComputeDType(value.dtype));
}

void SetOutput(EmitContext& ctx, int i, const Expr& value) {
  ctx.set_output(i, value.Convert(BaseType(ctx.node().output_type(i))).value());
}

}  // namespace tensorbraid::pjrt
