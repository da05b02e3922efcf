// Special functions: error functions, gamma, beta and zeta functions, integrals: schemas, shape rules, gradients.
#include <cmath>
#include <numbers>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/math/gradients.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Output ErfGrad(Output x, Output, Output g) { return g * (2 * std::numbers::inv_sqrtpi) * Exp(Neg(Square(x))); }
Output ErfcGrad(Output x, Output, Output g) { return g * (-2 * std::numbers::inv_sqrtpi) * Exp(Neg(Square(x))); }
Output ErfinvGrad(Output, Output y, Output g) { return g * (0.5 / std::numbers::inv_sqrtpi) * Exp(Square(y)); }
Output NdtriGrad(Output, Output y, Output g) { return g * std::sqrt(2 * std::numbers::pi) * Exp(Square(y) / 2.0); }
Output LgammaGrad(Output x, Output, Output g) { return g * Node1("Digamma", x); }
Output DigammaGrad(Output x, Output, Output g) { return g * BinaryOp("Polygamma", Operand(1.0), x, ""); }
Output DawsnGrad(Output x, Output y, Output g) { return g * (1.0 - 2.0 * x * y); }
Output ExpintGrad(Output x, Output, Output g) { return g * Exp(x) / x; }
Output FresnelCosGrad(Output x, Output, Output g) { return g * Cos(Square(x) * (std::numbers::pi / 2)); }
Output FresnelSinGrad(Output x, Output, Output g) { return g * Sin(Square(x) * (std::numbers::pi / 2)); }
Output SpenceGrad(Output x, Output, Output g) {
  return g * Select(Equal(x, 1.0), -1.0, Log(x) / (1.0 - x));  // the limit at 1
}
OperandGrads ZetaGrad(Output x, Output q, Output g) { return {Output(), Neg(g * x * Node2("Zeta", x + 1.0, q))}; }
OperandGrads PolygammaGrad(Output n, Output x, Output g) { return {Output(), g * Node2("Polygamma", n + 1.0, x)}; }

// The derivative of Igamma with respect to x: x^(a-1) exp(-x) / gamma(a).
Output GammaDensity(Output a, Output x) { return Exp((a - 1.0) * Log(x) - x - Node1("Lgamma", a)); }

OperandGrads IgammaGrad(Output a, Output x, Output g) {
  return {g * Node2("IgammaGradA", a, x), g * GammaDensity(a, x)};
}

OperandGrads IgammacGrad(Output a, Output x, Output g) {
  return {Neg(g * Node2("IgammaGradA", a, x)), Neg(g * GammaDensity(a, x))};
}

// As in TensorFlow, only x gets a gradient, not a and b.
Status BetaincGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output a = NodeOf(op)->inputs()[0], b = NodeOf(op)->inputs()[1], x = NodeOf(op)->inputs()[2];
  const Output log_beta = Node1("Lgamma", a) + Node1("Lgamma", b) - Node1("Lgamma", a + b);
  const Output density = Exp(Node2("Xlog1py", b - 1.0, Neg(x)) + Node2("Xlogy", a - 1.0, x) - log_beta);
  (*input_grads)[2] = SumToOperand(density * grads[0], x, op.output(0));
  return OkStatus();
}

// Each input is a scalar or has the shape that all inputs except the scalars have in common. The result has that shape.
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

constexpr const char* kWide = "T: {float, double}";

}  // namespace

void RegisterMathSpecialOps(OpRegistry& r) {
  struct Row {
    const char* name;
    const char* types;
    GradientFn gradient;
  };
  for (const Row& row : std::initializer_list<Row>{{"Erf", kRealFloats, UnaryGradient<ErfGrad>},
                                                   {"Erfc", kRealFloats, UnaryGradient<ErfcGrad>},
                                                   {"Erfinv", kRealFloats, UnaryGradient<ErfinvGrad>},
                                                   {"Ndtri", kRealFloats, UnaryGradient<NdtriGrad>},
                                                   {"Lgamma", kRealFloats, UnaryGradient<LgammaGrad>},
                                                   {"Digamma", kRealFloats, UnaryGradient<DigammaGrad>},
                                                   {"Dawsn", kRealFloats, UnaryGradient<DawsnGrad>},
                                                   {"Expint", kRealFloats, UnaryGradient<ExpintGrad>},
                                                   {"FresnelCos", kRealFloats, UnaryGradient<FresnelCosGrad>},
                                                   {"FresnelSin", kRealFloats, UnaryGradient<FresnelSinGrad>},
                                                   {"Spence", kRealFloats, UnaryGradient<SpenceGrad>}}) {
    r.Add(Op(row.name).Input("x: T").Output("y: T").Attr(row.types).Shape(UnchangedShape).Gradient(row.gradient));
  }
  // The remaining ops have more than one operand.
  const auto add = [&r](const char* name, const char* x, const char* y, const char* types, GradientFn gradient) {
    r.Add(Op(name).Input(x).Input(y).Output("z: T").Attr(types).Shape(BroadcastShape).Gradient(gradient));
  };
  add("Zeta", "x: T", "q: T", kWide, OperandGradient<ZetaGrad>);
  add("Polygamma", "a: T", "x: T", kWide, OperandGradient<PolygammaGrad>);
  add("Igamma", "a: T", "x: T", kRealFloats, OperandGradient<IgammaGrad>);
  add("Igammac", "a: T", "x: T", kRealFloats, OperandGradient<IgammacGrad>);
  add("IgammaGradA", "a: T", "x: T", kWide, nullptr);
  r.Add(Op("Betainc")
            .Input("a: T")
            .Input("b: T")
            .Input("x: T")
            .Output("z: T")
            .Attr(kWide)
            .Shape(BetaincShape)
            .Gradient(BetaincGradient));
}

}  // namespace tensorbraid
