// Trigonometric, hyperbolic and special functions, of one, two and three operands: schemas and gradients.
#include <cmath>
#include <numbers>

#include "core/strings.h"
#include "graph/node.h"
#include "ops/builder.h"
#include "tensorbraid/math_ops.h"

namespace tensorbraid {
namespace {

// A gradient from the op's input x, its output y and the output's gradient g.
template <Output (*gradient)(Output x, Output y, Output g)>
Status Gradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = gradient(op.node()->inputs()[0], op.output(0), grads[0]);
  return OkStatus();
}

Output TanGrad(Output, Output y, Output g) { return g * (1.0 + Square(y)); }
Output AsinGrad(Output x, Output, Output g) { return g * Rsqrt(1.0 - Square(x)); }
Output AcosGrad(Output x, Output, Output g) { return Neg(g * Rsqrt(1.0 - Square(x))); }
Output AtanGrad(Output x, Output, Output g) { return g / (1.0 + Square(x)); }
Output SinhGrad(Output x, Output, Output g) { return g * Node1("Cosh", x); }
Output CoshGrad(Output x, Output, Output g) { return g * Node1("Sinh", x); }
Output AsinhGrad(Output, Output y, Output g) { return g / Node1("Cosh", y); }
Output AcoshGrad(Output, Output y, Output g) { return g / Node1("Sinh", y); }
Output AtanhGrad(Output x, Output, Output g) { return g / (1.0 - Square(x)); }
Output ErfGrad(Output x, Output, Output g) { return g * (2 * std::numbers::inv_sqrtpi) * Exp(Neg(Square(x))); }
Output ErfcGrad(Output x, Output, Output g) { return g * (-2 * std::numbers::inv_sqrtpi) * Exp(Neg(Square(x))); }
Output ErfinvGrad(Output, Output y, Output g) { return g * (0.5 / std::numbers::inv_sqrtpi) * Exp(Square(y)); }
Output NdtriGrad(Output, Output y, Output g) { return g * std::sqrt(2 * std::numbers::pi) * Exp(Square(y) / 2.0); }
Output LgammaGrad(Output x, Output, Output g) { return g * Node1("Digamma", x); }
Output DigammaGrad(Output x, Output, Output g) { return g * BinaryOp("Polygamma", Operand(1.0), x, ""); }
Output BesselI0Grad(Output x, Output, Output g) { return g * Node1("BesselI1", x); }
Output BesselI0eGrad(Output x, Output y, Output g) { return g * (Node1("BesselI1e", x) - Sign(x) * y); }
Output BesselI1Grad(Output x, Output y, Output g) { return g * (Node1("BesselI0", x) - y / x); }
Output BesselI1eGrad(Output x, Output y, Output g) {
  return g * (Node1("BesselI0e", x) - y * (Sign(x) + Reciprocal(x)));
}
Output BesselJ0Grad(Output x, Output, Output g) { return Neg(g * Node1("BesselJ1", x)); }
Output BesselJ1Grad(Output x, Output y, Output g) { return g * (Node1("BesselJ0", x) - y / x); }
Output BesselK0Grad(Output x, Output, Output g) { return Neg(g * Node1("BesselK1", x)); }
Output BesselK0eGrad(Output x, Output y, Output g) { return g * (y - Node1("BesselK1e", x)); }
Output BesselK1Grad(Output x, Output y, Output g) { return Neg(g * (Node1("BesselK0", x) + y / x)); }
Output BesselK1eGrad(Output x, Output y, Output g) { return g * (y * (1.0 - Reciprocal(x)) - Node1("BesselK0e", x)); }
Output BesselY0Grad(Output x, Output, Output g) { return Neg(g * Node1("BesselY1", x)); }
Output BesselY1Grad(Output x, Output y, Output g) { return g * (Node1("BesselY0", x) - y / x); }
Output DawsnGrad(Output x, Output y, Output g) { return g * (1.0 - 2.0 * x * y); }
Output ExpintGrad(Output x, Output, Output g) { return g * Exp(x) / x; }
Output FresnelCosGrad(Output x, Output, Output g) { return g * Cos(Square(x) * (std::numbers::pi / 2)); }
Output FresnelSinGrad(Output x, Output, Output g) { return g * Sin(Square(x) * (std::numbers::pi / 2)); }
Output SpenceGrad(Output x, Output, Output g) { return g * Log(x) / (1.0 - x); }

struct Pair {
  Output x;  // invalid: nothing flows there
  Output y;
};

template <Pair (*gradient)(Output x, Output y, Output g)>
Status BinaryGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = op.node()->inputs()[0];
  const Output y = op.node()->inputs()[1];
  const Pair p = gradient(x, y, grads[0]);
  if (p.x.valid()) (*input_grads)[0] = SumToOperand(p.x, x, op.output(0));
  if (p.y.valid()) (*input_grads)[1] = SumToOperand(p.y, y, op.output(0));
  return OkStatus();
}

Output IsNonzero(Output x) { return Cast(NotEqual(x, 0.0), x.dtype()); }
Pair Atan2Grad(Output y, Output x, Output g) {
  const Output r = g / (Square(x) + Square(y));
  return {x * r, Neg(y * r)};
}
Pair MulNoNanGrad(Output x, Output y, Output g) { return {Node2("MulNoNan", g, y), Node2("MulNoNan", x, g)}; }
Pair XdivyGrad(Output x, Output y, Output g) {
  return {Node2("Xdivy", IsNonzero(x), y) * g, Node2("Xdivy", Neg(x), Square(y)) * g};
}
Pair XlogyGrad(Output x, Output y, Output g) { return {Node2("Xlogy", IsNonzero(x), y) * g, Node2("Xdivy", x, y) * g}; }
Pair Xlog1pyGrad(Output x, Output y, Output g) {
  return {Node2("Xlog1py", IsNonzero(x), y) * g, Node2("Xdivy", x, y + 1.0) * g};
}
Pair ZetaGrad(Output x, Output q, Output g) { return {Output(), Neg(g * x * Node2("Zeta", x + 1.0, q))}; }
Pair PolygammaGrad(Output n, Output x, Output g) { return {Output(), g * Node2("Polygamma", n + 1.0, x)}; }
// x^(a-1) exp(-x) / gamma(a)
Output GammaDensity(Output a, Output x) { return Exp((a - 1.0) * Log(x) - x - Node1("Lgamma", a)); }
Pair IgammaGrad(Output a, Output x, Output g) { return {g * Node2("IgammaGradA", a, x), g * GammaDensity(a, x)}; }
Pair IgammacGrad(Output a, Output x, Output g) {
  return {Neg(g * Node2("IgammaGradA", a, x)), Neg(g * GammaDensity(a, x))};
}

Status BetaincShape(ShapeContext& c) {
  Shape shape;
  bool some_unknown = false;
  for (int i = 0; i < 3; ++i) {
    const Shape& own = c.input(i);
    if (!own.has_rank()) some_unknown = true;
    if (!own.has_rank() || own.is_scalar()) continue;
    if (shape.is_scalar()) {
      shape = own;
      continue;
    }
    auto merged = shape.MergeWith(own);
    if (!merged.ok()) {
      return InvalidArgument("a, b and x must have the same shape or be scalars, got ", c.input(0), ", ", c.input(1),
                             " and ", c.input(2));
    }
    shape = *std::move(merged);
  }
  if (!some_unknown || !shape.is_scalar()) c.set_output(0, std::move(shape));
  return OkStatus();
}

constexpr const char* kComplex = "T: {bfloat16, half, float, double, complex64, complex128}";
constexpr const char* kFloats = "T: {bfloat16, half, float, double}";
constexpr const char* kWide = "T: {float, double}";
constexpr const char* kIntegers = "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}";

struct Row {
  const char* name;
  const char* types;
  GradientFn gradient;
};

constexpr Row kUnary[] = {
    {"Tan", kComplex, Gradient<TanGrad>},
    {"Asin", kComplex, Gradient<AsinGrad>},
    {"Acos", kComplex, Gradient<AcosGrad>},
    {"Atan", kComplex, Gradient<AtanGrad>},
    {"Sinh", kComplex, Gradient<SinhGrad>},
    {"Cosh", kComplex, Gradient<CoshGrad>},
    {"Asinh", kComplex, Gradient<AsinhGrad>},
    {"Acosh", kComplex, Gradient<AcoshGrad>},
    {"Atanh", kComplex, Gradient<AtanhGrad>},
    {"Erf", kFloats, Gradient<ErfGrad>},
    {"Erfc", kFloats, Gradient<ErfcGrad>},
    {"Erfinv", kFloats, Gradient<ErfinvGrad>},
    {"Ndtri", kFloats, Gradient<NdtriGrad>},
    {"Lgamma", kFloats, Gradient<LgammaGrad>},
    {"Digamma", kFloats, Gradient<DigammaGrad>},
    {"BesselI0", kFloats, Gradient<BesselI0Grad>},
    {"BesselI0e", kFloats, Gradient<BesselI0eGrad>},
    {"BesselI1", kFloats, Gradient<BesselI1Grad>},
    {"BesselI1e", kFloats, Gradient<BesselI1eGrad>},
    {"BesselJ0", kFloats, Gradient<BesselJ0Grad>},
    {"BesselJ1", kFloats, Gradient<BesselJ1Grad>},
    {"BesselK0", kFloats, Gradient<BesselK0Grad>},
    {"BesselK0e", kFloats, Gradient<BesselK0eGrad>},
    {"BesselK1", kFloats, Gradient<BesselK1Grad>},
    {"BesselK1e", kFloats, Gradient<BesselK1eGrad>},
    {"BesselY0", kFloats, Gradient<BesselY0Grad>},
    {"BesselY1", kFloats, Gradient<BesselY1Grad>},
    {"Dawsn", kFloats, Gradient<DawsnGrad>},
    {"Expint", kFloats, Gradient<ExpintGrad>},
    {"FresnelCos", kFloats, Gradient<FresnelCosGrad>},
    {"FresnelSin", kFloats, Gradient<FresnelSinGrad>},
    {"Spence", kFloats, Gradient<SpenceGrad>},
};

// Named x and y.
constexpr Row kBinary[] = {
    {"MulNoNan", kComplex, BinaryGradient<MulNoNanGrad>},
    {"Xdivy", kComplex, BinaryGradient<XdivyGrad>},
    {"Xlogy", kComplex, BinaryGradient<XlogyGrad>},
    {"Xlog1py", kComplex, BinaryGradient<Xlog1pyGrad>},
    {"TruncateMod", "T: {int32, int64, bfloat16, half, float, double}", nullptr},
};

void RegisterBitwise(OpRegistry& r) {
  for (const char* name : {"BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"}) {
    r.Add(
        Op(name).Input("x: T").Input("y: T").Output("z: T").Attr(kIntegers).Shape(BroadcastShape).NotDifferentiable());
  }
  r.Add(Op("Invert").Input("x: T").Output("y: T").Attr(kIntegers).Shape(UnchangedShape).NotDifferentiable());
  r.Add(
      Op("PopulationCount").Input("x: T").Output("y: uint8").Attr(kIntegers).Shape(UnchangedShape).NotDifferentiable());
}

void RegisterComplex(OpRegistry& r) {
  for (const char* name : {"Real", "Imag", "Angle"}) {
    r.Add(Op(name)
              .Input("input: T")
              .Output("output: Tout")
              .Attr("T: {complex64, complex128} = DT_COMPLEX64")
              .Attr("Tout: {float, double} = DT_FLOAT")
              .Shape(UnchangedShape));
  }
  r.Add(Op("ComplexAbs")
            .Input("x: T")
            .Output("y: Tout")
            .Attr("T: {complex64, complex128} = DT_COMPLEX64")
            .Attr("Tout: {float, double} = DT_FLOAT")
            .Shape(UnchangedShape));
  r.Add(Op("Complex")
            .Input("real: T")
            .Input("imag: T")
            .Output("out: Tout")
            .Attr("T: {float, double} = DT_FLOAT")
            .Attr("Tout: {complex64, complex128} = DT_COMPLEX64")
            .Shape(BroadcastShape));
  r.Add(Op("Conj")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: {complex64, complex128, variant} = DT_COMPLEX64")
            .Shape(UnchangedShape));
}

}  // namespace

void RegisterSpecialOps(OpRegistry& r) {
  for (const Row& row : kUnary) {
    r.Add(Op(row.name).Input("x: T").Output("y: T").Attr(row.types).Shape(UnchangedShape).Gradient(row.gradient));
  }
  for (const Row& row : kBinary) {
    r.Add(Op(row.name)
              .Input("x: T")
              .Input("y: T")
              .Output("z: T")
              .Attr(row.types)
              .Shape(BroadcastShape)
              .Gradient(row.gradient));
  }
  // The others have names of their own for their operands.
  const auto add = [&r](const char* name, const char* x, const char* y, const char* types, GradientFn gradient) {
    r.Add(Op(name).Input(x).Input(y).Output("z: T").Attr(types).Shape(BroadcastShape).Gradient(gradient));
  };
  add("Atan2", "y: T", "x: T", kFloats, BinaryGradient<Atan2Grad>);
  add("Zeta", "x: T", "q: T", kWide, BinaryGradient<ZetaGrad>);
  add("Polygamma", "a: T", "x: T", kWide, BinaryGradient<PolygammaGrad>);
  add("Igamma", "a: T", "x: T", kFloats, BinaryGradient<IgammaGrad>);
  add("Igammac", "a: T", "x: T", kFloats, BinaryGradient<IgammacGrad>);
  add("IgammaGradA", "a: T", "x: T", kWide, nullptr);
  r.Add(Op("InvGrad").Input("y: T").Input("dy: T").Output("z: T").Attr(kComplex).Shape(SameShapes));
  r.Add(Op("Betainc").Input("a: T").Input("b: T").Input("x: T").Output("z: T").Attr(kWide).Shape(BetaincShape));
  r.Add(Op("NextAfter")
            .Input("x1: T")
            .Input("x2: T")
            .Output("output: T")
            .Attr("T: {double, float} = DT_FLOAT")
            .Shape(BroadcastShape));
  r.Add(Op("ApproximateEqual")
            .Input("x: T")
            .Input("y: T")
            .Output("z: bool")
            .Attr("T: numbertype")
            .Attr("tolerance: float = 1e-05")
            .Shape(SameShapes)
            .NotDifferentiable());
  RegisterBitwise(r);
  RegisterComplex(r);
}

}  // namespace tensorbraid
