// Bessel functions: schemas and gradients.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/math/gradients.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Output BesselI0Grad(Output x, Output, Output g) { return g * Node1("BesselI1", x); }
Output BesselI0eGrad(Output x, Output y, Output g) { return g * (Node1("BesselI1e", x) - Sign(x) * y); }

// Replaces `derivative` by `value` where x is 0. There, the formula of the derivative gives NaN, and TensorFlow uses
// `value`.
Output AtZero(Output x, double value, Output derivative) { return Select(Equal(x, 0.0), value, derivative); }

Output BesselI1Grad(Output x, Output y, Output g) { return g * AtZero(x, 1.0, Node1("BesselI0", x) - y / x); }

Output BesselI1eGrad(Output x, Output y, Output g) {
  return g * AtZero(x, 0.5, Node1("BesselI0e", x) - y * (Sign(x) + Reciprocal(x)));
}

Output BesselJ0Grad(Output x, Output, Output g) { return Neg(g * Node1("BesselJ1", x)); }
Output BesselJ1Grad(Output x, Output y, Output g) { return g * AtZero(x, 0.5, Node1("BesselJ0", x) - y / x); }
Output BesselK0Grad(Output x, Output, Output g) { return Neg(g * Node1("BesselK1", x)); }
Output BesselK0eGrad(Output x, Output y, Output g) { return g * (y - Node1("BesselK1e", x)); }
Output BesselK1Grad(Output x, Output y, Output g) { return Neg(g * (Node1("BesselK0", x) + y / x)); }
Output BesselK1eGrad(Output x, Output y, Output g) { return g * (y * (1.0 - Reciprocal(x)) - Node1("BesselK0e", x)); }
Output BesselY0Grad(Output x, Output, Output g) { return Neg(g * Node1("BesselY1", x)); }
Output BesselY1Grad(Output x, Output y, Output g) { return g * (Node1("BesselY0", x) - y / x); }

}  // namespace

void RegisterMathBesselOps(OpRegistry& r) {
  struct Row {
    const char* name;
    const char* types;
    GradientFn gradient;
  };
  for (const Row& row : std::initializer_list<Row>{{"BesselI0", kRealFloats, UnaryGradient<BesselI0Grad>},
                                                   {"BesselI0e", kRealFloats, UnaryGradient<BesselI0eGrad>},
                                                   {"BesselI1", kRealFloats, UnaryGradient<BesselI1Grad>},
                                                   {"BesselI1e", kRealFloats, UnaryGradient<BesselI1eGrad>},
                                                   {"BesselJ0", kRealFloats, UnaryGradient<BesselJ0Grad>},
                                                   {"BesselJ1", kRealFloats, UnaryGradient<BesselJ1Grad>},
                                                   {"BesselK0", kRealFloats, UnaryGradient<BesselK0Grad>},
                                                   {"BesselK0e", kRealFloats, UnaryGradient<BesselK0eGrad>},
                                                   {"BesselK1", kRealFloats, UnaryGradient<BesselK1Grad>},
                                                   {"BesselK1e", kRealFloats, UnaryGradient<BesselK1eGrad>},
                                                   {"BesselY0", kRealFloats, UnaryGradient<BesselY0Grad>},
                                                   {"BesselY1", kRealFloats, UnaryGradient<BesselY1Grad>}}) {
    r.Add(Op(row.name).Input("x: T").Output("y: T").Attr(row.types).Shape(UnchangedShape).Gradient(row.gradient));
  }
}

}  // namespace tensorbraid
