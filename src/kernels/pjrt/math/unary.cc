// Functions of one operand, and the gradients that are computed from their results.
#include <cmath>
#include <limits>

#include "kernels/pjrt/formulas.h"

namespace tensorbraid::pjrt {
namespace {

Expr EmitReciprocal(const Expr& x) { return 1 / x; }
Expr EmitTan(const Expr& x) { return x.Unary("sine") / x.Unary("cosine"); }
// x is NaN, and x is infinite.
Expr EmitIsNan(const Expr& x) { return x != x; }
Expr EmitIsInf(const Expr& x) { return Abs(x) == std::numeric_limits<double>::infinity(); }
Expr EmitIsFinite(const Expr& x) { return Abs(x) < std::numeric_limits<double>::infinity(); }
// sqrt(1 - x^2), without the cancellation near 1.
Expr Complement(const Expr& x) { return Sqrt((1 - x) * (1 + x)); }

// For large x, the difference of the exponentials; near 0, they would cancel.
Expr EmitSinh(const Expr& x) {
  const Expr e = Expm1(Abs(x)), small = 0.5 * (e + e / (e + 1)), large = Exp(Abs(x) - std::log(2.0));
  return Sign(x) * Select(Abs(x) < 10, small, large);
}
Expr EmitCosh(const Expr& x) {
  const Expr half = Exp(Abs(x) - std::log(2.0));
  return half + 0.25 / half;
}

// The inverses of the hyperbolic functions. A square of a large number would overflow, so for these they are
// log(2 |x|).
Expr LogOfTwice(const Expr& x) { return Log(x) + std::log(2.0); }
Expr EmitAsinh(const Expr& x) {
  const Expr size = Abs(x), small = Min(size, 1e8), square = small * small;
  return Sign(x) * Select(size < 1e8, Log1p(small + square / (1 + Sqrt(1 + square))), LogOfTwice(size));
}
Expr EmitAcosh(const Expr& x) {
  const Expr above = Min(x, 1e8) - 1, value = Log1p(above + Sqrt(above * (above + 2)));
  return Select(x < 1, std::numeric_limits<double>::quiet_NaN(), Select(x < 1e8, value, LogOfTwice(x)));
}
Expr EmitAtanh(const Expr& x) {
  const Expr size = Abs(x);
  return Sign(x) * 0.5 * Log1p(2 * size / (1 - size));
}

Expr EmitTanhGrad(const Expr& y, const Expr& dy) { return dy * (1 - y * y); }
Expr EmitSigmoidGrad(const Expr& y, const Expr& dy) { return dy * y * (1 - y); }
// The next three are 0 where dy is 0, also at a pole of the derivative.
Expr EmitReciprocalGrad(const Expr& y, const Expr& dy) { return Select(dy == 0, 0, -dy * y * y); }
Expr EmitSqrtGrad(const Expr& y, const Expr& dy) { return Select(dy == 0, 0, dy * 0.5 / y); }
Expr EmitRsqrtGrad(const Expr& y, const Expr& dy) { return Select(dy == 0, 0, -0.5 * dy * y * y * y); }

}  // namespace

void RegisterMathUnaryEmitters(EmitterRegistry& r) {
  AddUnary(r, "Neg", kNumbers, [](const Expr& x) { return -x; });
  AddUnary(r, "Square", kNumbers, [](const Expr& x) { return x * x; });
  AddUnary(r, "Abs", kFloats | DTypeSet{kInt8, kInt16, kInt32, kInt64}, Abs);
  AddUnary(r, "Sign", kFloats | DTypeSet{kInt8, kInt16, kInt32, kInt64}, Sign);
  AddUnary(r, "Reciprocal", kFloats, EmitReciprocal);
  AddUnary(r, "Inv", kFloats, EmitReciprocal);
  AddUnary(r, "Exp", kFloats, Exp);
  AddUnary(r, "Expm1", kFloats, Expm1);
  AddUnary(r, "Log", kFloats, Log);
  AddUnary(r, "Log1p", kFloats, Log1p);
  AddUnary(r, "Sqrt", kFloats, Sqrt);
  AddUnary(r, "Rsqrt", kFloats, Rsqrt);
  AddUnary(r, "Floor", kFloats, Floor);
  AddUnary(r, "Ceil", kFloats, [](const Expr& x) { return x.Unary("ceil"); });
  AddUnary(r, "Rint", kFloats, [](const Expr& x) { return x.Unary("round_nearest_even"); });
  AddUnary(r, "Round", kFloats, [](const Expr& x) { return x.Unary("round_nearest_even"); });
  AddUnary(r, "Round", kIntegers, [](const Expr& x) { return x; });
  AddUnary(r, "Sin", kFloats, [](const Expr& x) { return x.Unary("sine"); });
  AddUnary(r, "Cos", kFloats, [](const Expr& x) { return x.Unary("cosine"); });
  AddUnary(r, "Tan", kFloats, EmitTan);
  AddUnary(r, "Asin", kFloats, [](const Expr& x) { return Atan2(x, Complement(x)); });
  AddUnary(r, "Acos", kFloats, [](const Expr& x) { return Atan2(Complement(x), x); });
  AddUnary(r, "Atan", kFloats, [](const Expr& x) { return Atan2(x, 1); });
  AddUnary(r, "Asinh", kFloats, EmitAsinh);
  AddUnary(r, "Acosh", kFloats, EmitAcosh);
  AddUnary(r, "Atanh", kFloats, EmitAtanh);
  AddUnary(r, "Sinh", kFloats, EmitSinh);
  AddUnary(r, "Cosh", kFloats, EmitCosh);
  AddUnary(r, "Tanh", kFloats, Tanh);
  AddUnary(r, "Sigmoid", kFloats, Sigmoid);
  AddUnary(r, "IsNan", kFloats, EmitIsNan);
  AddUnary(r, "IsInf", kFloats, EmitIsInf);
  AddUnary(r, "IsFinite", kFloats, EmitIsFinite);
  AddSameShape(r, "TanhGrad", kFloats, EmitTanhGrad);
  AddSameShape(r, "SigmoidGrad", kFloats, EmitSigmoidGrad);
  AddSameShape(r, "ReciprocalGrad", kFloats, EmitReciprocalGrad);
  AddSameShape(r, "InvGrad", kFloats, EmitReciprocalGrad);
  AddSameShape(r, "SqrtGrad", kFloats, EmitSqrtGrad);
  AddSameShape(r, "RsqrtGrad", kFloats, EmitRsqrtGrad);
}

}  // namespace tensorbraid::pjrt
