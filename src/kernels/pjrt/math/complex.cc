// Complex numbers and their parts.
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

using PartFormula = Expr (*)(const Expr& x);

// Adds an op whose output has the dtype of the parts (attribute Tout) or, without this attribute, of the input.
void AddPart(EmitterRegistry& r, std::string_view op, bool is_real, PartFormula formula,
             std::source_location location = std::source_location::current()) {
  const EmitFn emit = [formula](EmitContext& ctx) -> Status {
    TF_ASSIGN_OR_RETURN(const stablehlo::Value x, ctx.input(0));
    ctx.set_output(0, formula(Expr(ctx.builder(), x)).value());
    return OkStatus();
  };
  if (!is_real) {
    r.Add(op, {{"T", kComplex}}, emit, location);
    return;
  }
  r.Add(op, {{"T", {DType::kComplex64}}, {"Tout", {kFloat32}}}, emit, location);
  r.Add(op, {{"T", {DType::kComplex128}}, {"Tout", {kFloat64}}}, emit, location);
}

Status EmitComplex(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr real, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Expr imag, WideInput(ctx, 1));
  TF_ASSIGN_OR_RETURN(const Shape shape, BroadcastShapes(real.shape(), imag.shape()));
  ctx.set_output(0, ComplexOf(real.BroadcastTo(shape), imag.BroadcastTo(shape)).value());
  return OkStatus();
}

}  // namespace

void RegisterMathComplexEmitters(EmitterRegistry& r) {
  AddPart(r, "Real", true, [](const Expr& x) { return PartOf(x, "real"); });
  AddPart(r, "Imag", true, [](const Expr& x) { return PartOf(x, "imag"); });
  AddPart(r, "ComplexAbs", true, [](const Expr& x) { return PartOf(x, "abs"); });
  AddPart(r, "Angle", true, [](const Expr& x) { return Atan2(PartOf(x, "imag"), PartOf(x, "real")); });
  AddPart(r, "Conj", false, Conjugate);
  r.Add("Complex", {{"T", {kFloat32}}, {"Tout", {DType::kComplex64}}}, EmitComplex);
  r.Add("Complex", {{"T", {kFloat64}}, {"Tout", {DType::kComplex128}}}, EmitComplex);
}

}  // namespace tensorbraid::pjrt
