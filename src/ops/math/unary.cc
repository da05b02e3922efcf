// Functions of one operand: schemas and gradients.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/math/gradients.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Output NegGrad(Output, Output, Output g) { return Neg(g); }
Output AbsGrad(Output x, Output, Output g) { return g * Sign(x); }
Output SignGrad(Output x, Output, Output) { return Node1("ZerosLike", x); }
Output InverseGrad(Output, Output y, Output g) { return Node2("ReciprocalGrad", y, g); }
Output SquareGrad(Output x, Output, Output g) { return g * (2.0 * Conjugated(x)); }
Output SqrtGrad(Output, Output y, Output g) { return Node2("SqrtGrad", y, g); }
Output RsqrtGrad(Output, Output y, Output g) { return Node2("RsqrtGrad", y, g); }
Output ExpGrad(Output, Output y, Output g) { return g * Conjugated(y); }
Output Expm1Grad(Output x, Output, Output g) { return g * Exp(Conjugated(x)); }
Output LogGrad(Output x, Output, Output g) { return g / Conjugated(x); }
Output Log1pGrad(Output x, Output, Output g) { return g / (1.0 + Conjugated(x)); }
Output SinGrad(Output x, Output, Output g) { return g * Cos(Conjugated(x)); }
Output CosGrad(Output x, Output, Output g) { return Neg(g * Sin(Conjugated(x))); }
Output TanhGrad(Output, Output y, Output g) { return Node2("TanhGrad", Conjugated(y), g); }
Output SigmoidGrad(Output, Output y, Output g) { return Node2("SigmoidGrad", Conjugated(y), g); }

// The gradients of the inputs y and dy of an op such as TanhGrad, which computes a gradient: second derivatives.
struct SecondGrads {
  Output y;
  Output dy;
};

template <SecondGrads (*gradient)(Output y, Output dy, Output z, Output g)>
Status SecondGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  const SecondGrads p = gradient(in[0], in[1], op.output(0), grads[0]);
  *input_grads = {p.y, p.dy};
  return OkStatus();
}

SecondGrads TanhGradGrad(Output y, Output dy, Output, Output g) {
  const Output cy = Conjugated(y);
  return {g * -2.0 * Conjugated(dy) * cy, Node2("TanhGrad", cy, g)};
}

SecondGrads SigmoidGradGrad(Output y, Output dy, Output, Output g) {
  const Output cy = Conjugated(y);
  const Output gd = g * Conjugated(dy);
  return {gd - 2.0 * gd * cy, Node2("SigmoidGrad", cy, g)};
}

// Unlike TanhGrad and SigmoidGrad, the next three ops conjugate y themselves. So the gradient of y contains the
// conjugate of g.
SecondGrads ReciprocalGradGrad(Output y, Output dy, Output, Output g) {
  const Output cy = Conjugated(y);
  return {Conjugated(g) * -2.0 * dy * cy, Node2("ReciprocalGrad", cy, g)};
}

SecondGrads SqrtGradGrad(Output y, Output, Output z, Output g) {
  const Output r = g / y;
  return {Neg(Conjugated(r) * z), 0.5 * r};
}

SecondGrads RsqrtGradGrad(Output y, Output dy, Output, Output g) {
  const Output cy = Conjugated(y);
  return {-1.5 * Conjugated(g) * dy * Square(cy), Node2("RsqrtGrad", cy, g)};
}

constexpr const char* kSigned = "T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}";
constexpr const char* kReals = "T: {bfloat16, half, float, double, int8, int16, int32, int64}";

constexpr const char* kSquare =
    "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, "
    "complex128}";

Output TanGrad(Output, Output y, Output g) { return g * (1.0 + Square(Conjugated(y))); }
Output AsinGrad(Output x, Output, Output g) { return g * Rsqrt(1.0 - Square(Conjugated(x))); }
Output AcosGrad(Output x, Output, Output g) { return Neg(g * Rsqrt(1.0 - Square(Conjugated(x)))); }
Output AtanGrad(Output x, Output, Output g) { return g / (1.0 + Square(Conjugated(x))); }
Output SinhGrad(Output x, Output, Output g) { return g * Node1("Cosh", Conjugated(x)); }
Output CoshGrad(Output x, Output, Output g) { return g * Node1("Sinh", Conjugated(x)); }
Output AsinhGrad(Output, Output y, Output g) { return g / Node1("Cosh", Conjugated(y)); }
Output AcoshGrad(Output, Output y, Output g) { return g / Node1("Sinh", Conjugated(y)); }
Output AtanhGrad(Output x, Output, Output g) { return g / (1.0 - Square(Conjugated(x))); }

}  // namespace

void RegisterMathUnaryOps(OpRegistry& r) {
  struct Row {
    const char* name;
    const char* types;
    GradientFn gradient;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"Neg", kSigned, UnaryGradient<NegGrad>},
           {"Abs", kReals, UnaryGradient<AbsGrad>},
           {"Sign", kSigned, UnaryGradient<SignGrad>},
           {"Reciprocal", kSigned, UnaryGradient<InverseGrad>},
           {"Inv", kSigned, UnaryGradient<InverseGrad>},
           {"Square", kSquare, UnaryGradient<SquareGrad>},
           {"Sqrt", kFloatsAndComplex, UnaryGradient<SqrtGrad>},
           {"Rsqrt", kFloatsAndComplex, UnaryGradient<RsqrtGrad>},
           {"Exp", kFloatsAndComplex, UnaryGradient<ExpGrad>},
           {"Expm1", kFloatsAndComplex, UnaryGradient<Expm1Grad>},
           {"Log", kFloatsAndComplex, UnaryGradient<LogGrad>},
           {"Log1p", kFloatsAndComplex, UnaryGradient<Log1pGrad>},
           {"Sin", kFloatsAndComplex, UnaryGradient<SinGrad>},
           {"Cos", kFloatsAndComplex, UnaryGradient<CosGrad>},
           {"Tanh", kFloatsAndComplex, UnaryGradient<TanhGrad>},
           {"Sigmoid", kFloatsAndComplex, UnaryGradient<SigmoidGrad>},
       }) {
    r.Add(Op(row.name).Input("x: T").Output("y: T").Attr(row.types).Shape(UnchangedShape).Gradient(row.gradient));
  }
  for (const Row& row : std::initializer_list<Row>{{"Floor", kRealFloats, nullptr},
                                                   {"Ceil", kRealFloats, nullptr},
                                                   {"Rint", kRealFloats, nullptr},
                                                   {"Round", kSigned, nullptr}}) {
    r.Add(Op(row.name).Input("x: T").Output("y: T").Attr(row.types).Shape(UnchangedShape).NotDifferentiable());
  }
  for (const char* name : {"IsNan", "IsInf", "IsFinite"}) {
    r.Add(Op(name).Input("x: T").Output("y: bool").Attr(kRealFloats).Shape(UnchangedShape).NotDifferentiable());
  }
  for (const Row& row : std::initializer_list<Row>{
           {"TanhGrad", kFloatsAndComplex, SecondGradient<TanhGradGrad>},
           {"SigmoidGrad", kFloatsAndComplex, SecondGradient<SigmoidGradGrad>},
           {"ReciprocalGrad", kFloatsAndComplex, SecondGradient<ReciprocalGradGrad>},
           {"InvGrad", kFloatsAndComplex, SecondGradient<ReciprocalGradGrad>},
           {"SqrtGrad", kFloatsAndComplex, SecondGradient<SqrtGradGrad>},
           {"RsqrtGrad", kFloatsAndComplex, SecondGradient<RsqrtGradGrad>},
       }) {
    r.Add(Op(row.name)
              .Input("y: T")
              .Input("dy: T")
              .Output("z: T")
              .Attr(row.types)
              .Shape(SameShapes)
              .Gradient(row.gradient));
  }
  for (const Row& row : std::initializer_list<Row>{{"Tan", kFloatsAndComplex, UnaryGradient<TanGrad>},
                                                   {"Asin", kFloatsAndComplex, UnaryGradient<AsinGrad>},
                                                   {"Acos", kFloatsAndComplex, UnaryGradient<AcosGrad>},
                                                   {"Atan", kFloatsAndComplex, UnaryGradient<AtanGrad>},
                                                   {"Sinh", kFloatsAndComplex, UnaryGradient<SinhGrad>},
                                                   {"Cosh", kFloatsAndComplex, UnaryGradient<CoshGrad>},
                                                   {"Asinh", kFloatsAndComplex, UnaryGradient<AsinhGrad>},
                                                   {"Acosh", kFloatsAndComplex, UnaryGradient<AcoshGrad>},
                                                   {"Atanh", kFloatsAndComplex, UnaryGradient<AtanhGrad>}}) {
    r.Add(Op(row.name).Input("x: T").Output("y: T").Attr(row.types).Shape(UnchangedShape).Gradient(row.gradient));
  }
}

}  // namespace tensorbraid
