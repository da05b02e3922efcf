// Functions of one operand: schemas and gradients.
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

Output NegGrad(Output, Output, Output g) { return Neg(g); }
Output AbsGrad(Output x, Output, Output g) { return g * Sign(x); }
Output SignGrad(Output x, Output, Output) { return Node1("ZerosLike", x); }
Output InverseGrad(Output, Output y, Output g) { return Node2("ReciprocalGrad", y, g); }
Output SquareGrad(Output x, Output, Output g) { return g * (2.0 * x); }
Output SqrtGrad(Output, Output y, Output g) { return Node2("SqrtGrad", y, g); }
Output RsqrtGrad(Output, Output y, Output g) { return Node2("RsqrtGrad", y, g); }
Output ExpGrad(Output, Output y, Output g) { return g * y; }
Output Expm1Grad(Output x, Output, Output g) { return g * Exp(x); }
Output LogGrad(Output x, Output, Output g) { return g / x; }
Output Log1pGrad(Output x, Output, Output g) { return g / (1.0 + x); }
Output SinGrad(Output x, Output, Output g) { return g * Cos(x); }
Output CosGrad(Output x, Output, Output g) { return Neg(g * Sin(x)); }
Output TanhGrad(Output, Output y, Output g) { return Node2("TanhGrad", y, g); }
Output SigmoidGrad(Output, Output y, Output g) { return Node2("SigmoidGrad", y, g); }

// The gradient ops of y and dy: second derivatives.
struct Pair {
  Output y;
  Output dy;
};
template <Pair (*gradient)(Output y, Output dy, Output z, Output g)>
Status SecondGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = op.node()->inputs();
  const Pair p = gradient(in[0], in[1], op.output(0), grads[0]);
  *input_grads = {p.y, p.dy};
  return OkStatus();
}
Pair TanhGradGrad(Output y, Output dy, Output, Output g) { return {g * -2.0 * dy * y, Node2("TanhGrad", y, g)}; }
Pair SigmoidGradGrad(Output y, Output dy, Output, Output g) {
  const Output gd = g * dy;
  return {gd - 2.0 * gd * y, Node2("SigmoidGrad", y, g)};
}
Pair ReciprocalGradGrad(Output y, Output dy, Output, Output g) {
  return {g * -2.0 * dy * y, Node2("ReciprocalGrad", y, g)};
}
Pair SqrtGradGrad(Output y, Output, Output z, Output g) {
  const Output r = g / y;
  return {Neg(r * z), 0.5 * r};
}
Pair RsqrtGradGrad(Output y, Output dy, Output, Output g) {
  return {-1.5 * g * dy * Square(y), Node2("RsqrtGrad", y, g)};
}

constexpr const char* kSigned = "T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}";
constexpr const char* kReals = "T: {bfloat16, half, float, double, int8, int16, int32, int64}";
constexpr const char* kSquare =
    "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, "
    "complex128}";
constexpr const char* kComplex = "T: {bfloat16, half, float, double, complex64, complex128}";
constexpr const char* kFloats = "T: {bfloat16, half, float, double}";

}  // namespace

void RegisterUnaryOps(OpRegistry& r) {
  struct Row {
    const char* name;
    const char* types;
    GradientFn gradient;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"Neg", kSigned, Gradient<NegGrad>},
           {"Abs", kReals, Gradient<AbsGrad>},
           {"Sign", kSigned, Gradient<SignGrad>},
           {"Reciprocal", kSigned, Gradient<InverseGrad>},
           {"Inv", kSigned, Gradient<InverseGrad>},
           {"Square", kSquare, Gradient<SquareGrad>},
           {"Sqrt", kComplex, Gradient<SqrtGrad>},
           {"Rsqrt", kComplex, Gradient<RsqrtGrad>},
           {"Exp", kComplex, Gradient<ExpGrad>},
           {"Expm1", kComplex, Gradient<Expm1Grad>},
           {"Log", kComplex, Gradient<LogGrad>},
           {"Log1p", kComplex, Gradient<Log1pGrad>},
           {"Sin", kComplex, Gradient<SinGrad>},
           {"Cos", kComplex, Gradient<CosGrad>},
           {"Tanh", kComplex, Gradient<TanhGrad>},
           {"Sigmoid", kComplex, Gradient<SigmoidGrad>},
       }) {
    r.Add(Op(row.name).Input("x: T").Output("y: T").Attr(row.types).Shape(UnchangedShape).Gradient(row.gradient));
  }
  for (const Row& row : std::initializer_list<Row>{{"Floor", kFloats, nullptr},
                                                   {"Ceil", kFloats, nullptr},
                                                   {"Rint", kFloats, nullptr},
                                                   {"Round", kSigned, nullptr}}) {
    r.Add(Op(row.name).Input("x: T").Output("y: T").Attr(row.types).Shape(UnchangedShape).NotDifferentiable());
  }
  for (const char* name : {"IsNan", "IsInf", "IsFinite"}) {
    r.Add(Op(name).Input("x: T").Output("y: bool").Attr(kFloats).Shape(UnchangedShape).NotDifferentiable());
  }
  r.Add(Op("LogicalNot").Input("x: bool").Output("y: bool").Shape(UnchangedShape).NotDifferentiable());
  for (const Row& row : std::initializer_list<Row>{
           {"TanhGrad", kComplex, SecondGradient<TanhGradGrad>},
           {"SigmoidGrad", kComplex, SecondGradient<SigmoidGradGrad>},
           {"ReciprocalGrad", kComplex, SecondGradient<ReciprocalGradGrad>},
           {"SqrtGrad", kComplex, SecondGradient<SqrtGradGrad>},
           {"RsqrtGrad", kComplex, SecondGradient<RsqrtGradGrad>},
       }) {
    r.Add(Op(row.name)
              .Input("y: T")
              .Input("dy: T")
              .Output("z: T")
              .Attr(row.types)
              .Shape(SameShapes)
              .Gradient(row.gradient));
  }
}

}  // namespace tensorbraid
