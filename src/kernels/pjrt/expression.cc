#include "kernels/pjrt/expression.h"

#include "graph/model/op_registry.h"

namespace tensorbraid::pjrt {
namespace {

// The shape of an elementwise result. The plugin refuses operands that do not broadcast.
Shape CommonShape(const Shape& a, const Shape& b) { return a == b ? a : BroadcastShapes(a, b).value_or(a); }

}  // namespace

Expr Binary(std::string_view name, const Expr& x, const Expr& y) {
  const Shape shape = CommonShape(x.shape(), y.shape());
  return {x.builder(), x.builder().Binary(name, x.BroadcastTo(shape).value(), y.BroadcastTo(shape).value())};
}

Expr Compare(std::string_view direction, const Expr& x, const Expr& y) {
  const Shape shape = CommonShape(x.shape(), y.shape());
  return {x.builder(), x.builder().Compare(direction, x.BroadcastTo(shape).value(), y.BroadcastTo(shape).value())};
}

Expr PartOf(const Expr& x, std::string_view part) {
  const DType dtype = x.dtype() == DType::kComplex64 ? kFloat32 : kFloat64;
  return {x.builder(), x.builder().Op(part, {x.value()}, dtype, x.shape())};
}

Expr ComplexOf(const Expr& real, const Expr& imag) {
  const DType dtype = real.dtype() == kFloat32 ? DType::kComplex64 : DType::kComplex128;
  return {real.builder(), real.builder().Op("complex", {real.value(), imag.value()}, dtype, real.shape())};
}

Expr Conjugate(const Expr& x) { return IsComplex(x.dtype()) ? ComplexOf(PartOf(x, "real"), -PartOf(x, "imag")) : x; }

Expr Select(const Expr& condition, const Expr& if_true, const Expr& if_false) {
  const Shape shape = CommonShape(CommonShape(if_true.shape(), if_false.shape()), condition.shape());
  return {condition.builder(),
          condition.builder().Select(condition.BroadcastTo(shape).value(), if_true.BroadcastTo(shape).value(),
                                     if_false.BroadcastTo(shape).value())};
}

Expr Max(const Expr& x, const Expr& y) {
  return IsFloating(x.dtype()) ? Select(x > y || x != x, x, y) : Binary("maximum", x, y);
}

Expr Min(const Expr& x, const Expr& y) {
  return IsFloating(x.dtype()) ? Select(x < y || x != x, x, y) : Binary("minimum", x, y);
}

Expr Reduce(const Expr& x, const std::vector<int64_t>& axes, const Expr& initial, Combination combine) {
  stablehlo::Builder& b = x.builder();
  Shape kept = x.shape();
  for (const int64_t axis : axes) kept.set_dim(static_cast<int>(axis), 1);
  const auto combine_values = [&](const stablehlo::Value& u, const stablehlo::Value& v) {
    return combine(Expr(b, u), Expr(b, v)).value();
  };
  return Expr(b, b.Reduce(x.value(), initial.value(), axes, combine_values)).Reshape(kept);
}

Expr Sum(const Expr& x, const std::vector<int64_t>& axes) {
  return Reduce(x, axes, x.Number(0), [](const Expr& u, const Expr& v) { return u + v; });
}

Expr MaxOf(const Expr& x, const std::vector<int64_t>& axes) {
  return Reduce(x, axes, Expr(x.builder(), x.builder().Lowest(x.dtype())), Max);
}

StatusOr<Expr> WideInput(const EmitContext& ctx, int i) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value value, ctx.input(i));
  return Expr(ctx.builder(), value).Convert(ComputeDType(value.dtype));
}

void SetOutput(EmitContext& ctx, int i, const Expr& value) {
  ctx.set_output(i, value.Convert(BaseType(ctx.node().output_type(i))).value());
}

}  // namespace tensorbraid::pjrt
