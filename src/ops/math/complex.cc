// Complex numbers and their parts: schemas and gradients.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Output ComplexOf(const Output& real, const Output& imag) {
  return NodeBuilder(*real.graph(), "Complex")
      .Input(real)
      .Input(imag)
      .Attr("Tout", real.dtype() == kFloat64 ? DType::kComplex128 : DType::kComplex64)
      .Output();
}

Output PartOf(const char* op, const Output& z) {
  return NodeBuilder(*z.graph(), op)
      .Input(z)
      .Attr("Tout", z.dtype() == DType::kComplex128 ? kFloat64 : kFloat32)
      .Output();
}

Output ZeroOf(const Output& like) { return Operand(0.0).ToOutput(*like.graph(), like.dtype()); }

Output RealGrad(Output, Output, Output g) { return ComplexOf(g, ZeroOf(g)); }
Output ImagGrad(Output, Output, Output g) { return ComplexOf(ZeroOf(g), g); }
Output ConjGrad(Output, Output, Output g) { return Conjugated(g); }

// The change dz of z changes the angle by the imaginary part of dz / z. So the gradient is g times the conjugate of
// 1 / (i z), which is -g / (i conj(z)), and i conj(z) has the real part Imag(z) and the imaginary part Real(z).
Output AngleGrad(Output z, Output, Output g) {
  return Neg(ComplexOf(g, ZeroOf(g)) / ComplexOf(PartOf("Imag", z), PartOf("Real", z)));
}

// The gradient is g z / |z|, and 0 where z is 0. `size` is |z|.
Output ComplexAbsGrad(Output z, Output size, Output g) {
  return DivNoNan(ComplexOf(g, ZeroOf(g)) * z, ComplexOf(size, ZeroOf(size)));
}

Status ComplexGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  SumToOperands(in[0], in[1], PartOf("Real", grads[0]), PartOf("Imag", grads[0]), input_grads);
  return OkStatus();
}

}  // namespace

void RegisterMathComplexOps(OpRegistry& r) {
  struct Row {
    const char* name;
    GradientFn gradient;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"Real", UnaryGradient<RealGrad>}, {"Imag", UnaryGradient<ImagGrad>}, {"Angle", UnaryGradient<AngleGrad>}}) {
    r.Add(Op(row.name)
              .Input("input: T")
              .Output("output: Tout")
              .Attr("T: {complex64, complex128} = DT_COMPLEX64")
              .Attr("Tout: {float, double} = DT_FLOAT")
              .Shape(UnchangedShape)
              .Gradient(row.gradient));
  }
  r.Add(Op("ComplexAbs")
            .Input("x: T")
            .Output("y: Tout")
            .Attr("T: {complex64, complex128} = DT_COMPLEX64")
            .Attr("Tout: {float, double} = DT_FLOAT")
            .Shape(UnchangedShape)
            .Gradient(UnaryGradient<ComplexAbsGrad>));
  r.Add(Op("Complex")
            .Input("real: T")
            .Input("imag: T")
            .Output("out: Tout")
            .Attr("T: {float, double} = DT_FLOAT")
            .Attr("Tout: {complex64, complex128} = DT_COMPLEX64")
            .Shape(BroadcastShape)
            .Gradient(ComplexGradient));
  r.Add(Op("Conj")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: {complex64, complex128, variant} = DT_COMPLEX64")
            .Shape(UnchangedShape)
            .Gradient(UnaryGradient<ConjGrad>));
}

}  // namespace tensorbraid
