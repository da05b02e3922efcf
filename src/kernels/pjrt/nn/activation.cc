// Activation functions and their gradients.
#include "core/text/strings.h"
#include "kernels/pjrt/formulas.h"

namespace tensorbraid::pjrt {
namespace {

// Constants of Klambauer et al., "Self-normalizing neural networks", 2017.
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

// Keeps NaNs, as do the other activations.
Expr EmitRelu(const Expr& x) { return Select(x < 0, 0, x); }
Expr EmitRelu6(const Expr& x) { return Select(x < 0, 0, Select(x > 6, 6, x)); }
Expr EmitElu(const Expr& x) { return Select(x < 0, Expm1(x), x); }
Expr EmitSelu(const Expr& x) { return Select(x < 0, kSeluScaleAlpha * Expm1(x), kSeluScale * x); }
Expr EmitSoftplus(const Expr& x) { return Select(x > 0, x, 0) + Log1p(Exp(-Abs(x))); }
Expr EmitSoftsign(const Expr& x) { return x / (1 + Abs(x)); }

Expr EmitReluGrad(const Expr& dy, const Expr& x) { return Select(x > 0, dy, 0); }
Expr EmitRelu6Grad(const Expr& dy, const Expr& x) { return Select(x > 0 && x < 6, dy, 0); }
Expr EmitEluGrad(const Expr& dy, const Expr& y) { return Select(y < 0, (y + 1) * dy, dy); }
Expr EmitSeluGrad(const Expr& dy, const Expr& y) { return Select(y < 0, dy * (y + kSeluScaleAlpha), dy * kSeluScale); }
Expr EmitSoftplusGrad(const Expr& dy, const Expr& x) { return dy / (Exp(-x) + 1); }
Expr EmitSoftsignGrad(const Expr& dy, const Expr& x) {
  const Expr d = 1 + Abs(x);
  return dy / (d * d);
}

// x where it is positive and alpha * x elsewhere; or the gradient of this, whose inputs are the gradient of the output,
// and x.
Status EmitLeakyRelu(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr factor, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, ctx.num_inputs() - 1));
  if (factor.shape() != x.shape()) {
    return InvalidArgument("inputs must have the same shape, got ", factor.shape(), " and ", x.shape());
  }
  // Rounded to the dtype first, as by the kernel of the CPU.
  const Expr alpha = Expr(ctx.builder(), ctx.builder().Splat(ctx.node().output_type(0), ctx.attr<float>("alpha")));
  SetOutput(ctx, 0, Select(x > 0, factor, factor * alpha.Convert(x.dtype())));
  return OkStatus();
}

}  // namespace

void RegisterNnActivationEmitters(EmitterRegistry& r) {
  AddUnary(r, "Relu", kReals, EmitRelu);
  AddUnary(r, "Relu6", kReals, EmitRelu6);
  AddUnary(r, "Elu", kFloats, EmitElu);
  AddUnary(r, "Selu", kFloats, EmitSelu);
  AddUnary(r, "Softplus", kFloats, EmitSoftplus);
  AddUnary(r, "Softsign", kFloats, EmitSoftsign);
  AddSameShape(r, "ReluGrad", kReals, EmitReluGrad);
  AddSameShape(r, "Relu6Grad", kReals, EmitRelu6Grad);
  AddSameShape(r, "EluGrad", kFloats, EmitEluGrad);
  AddSameShape(r, "SeluGrad", kFloats, EmitSeluGrad);
  AddSameShape(r, "SoftplusGrad", kFloats, EmitSoftplusGrad);
  AddSameShape(r, "SoftsignGrad", kFloats, EmitSoftsignGrad);
  r.Add("LeakyRelu", {{"T", kFloats}}, EmitLeakyRelu);
  r.Add("LeakyReluGrad", {{"T", kFloats}}, EmitLeakyRelu);
}

}  // namespace tensorbraid::pjrt
