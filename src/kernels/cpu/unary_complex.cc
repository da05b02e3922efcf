// Complex numbers: their parts, and the functions of one operand.
#include <cmath>
#include <complex>

#include "kernels/cpu/families.h"
#include "kernels/cpu/unary.h"

namespace tensorbraid::cpu {
namespace {

#define TB_UNARY(name, cost, expression)    \
  struct name {                             \
    static constexpr double kCostNs = cost; \
    template <typename C>                   \
    static auto Apply(C x) {                \
      return expression;                    \
    }                                       \
  };
TB_UNARY(RealF, 0.5, x.real())
TB_UNARY(ImagF, 0.5, x.imag())
TB_UNARY(ConjF, 0.5, std::conj(x))
TB_UNARY(ComplexAbsF, 5, std::abs(x))
TB_UNARY(AngleF, 20, std::arg(x))
TB_UNARY(NegF, 0.5, -x)
TB_UNARY(SquareF, 1, x* x)
TB_UNARY(ReciprocalF, 5, C(1) / x)
TB_UNARY(SqrtF, 20, std::sqrt(x))
TB_UNARY(RsqrtF, 25, C(1) / std::sqrt(x))
TB_UNARY(ExpF, 30, std::exp(x))
TB_UNARY(LogF, 30, std::log(x))
TB_UNARY(SinF, 30, std::sin(x))
TB_UNARY(CosF, 30, std::cos(x))
TB_UNARY(TanF, 40, std::tan(x))
TB_UNARY(SinhF, 40, std::sinh(x))
TB_UNARY(CoshF, 40, std::cosh(x))
TB_UNARY(TanhF, 40, std::tanh(x))
TB_UNARY(AsinF, 60, std::asin(x))
TB_UNARY(AcosF, 60, std::acos(x))
TB_UNARY(AtanF, 60, std::atan(x))
TB_UNARY(AsinhF, 60, std::asinh(x))
TB_UNARY(AcoshF, 60, std::acosh(x))
TB_UNARY(AtanhF, 60, std::atanh(x))
TB_UNARY(SigmoidF, 40, C(1) / (C(1) + std::exp(-x)))
#undef TB_UNARY

// x / |x|, and 0 for 0.
struct SignF {
  static constexpr double kCostNs = 10;
  template <typename C>
  static C Apply(C x) {
    const auto size = std::abs(x);
    return size == 0 ? C(0) : x / size;
  }
};

// Near 0 nothing may be taken from numbers near 1.
struct Expm1F {
  static constexpr double kCostNs = 60;
  template <typename T>
  static std::complex<T> Apply(std::complex<T> x) {
    const T s = std::sin(x.imag() / 2);
    return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * s * s, std::exp(x.real()) * std::sin(x.imag())};
  }
};
struct Log1pF {
  static constexpr double kCostNs = 60;
  template <typename T>
  static std::complex<T> Apply(std::complex<T> x) {
    const T a = x.real(), b = x.imag();
    if (std::abs(a) > T(0.5) || std::abs(b) > T(0.5)) return std::log(std::complex<T>(1) + x);
    return {std::log1p(a * (2 + a) + b * b) / 2, std::atan2(b, 1 + a)};
  }
};

// A real and an imaginary part to a number.
template <typename T>
bool ComplexRow(const void* av, const void* bv, void* outv, int64_t n, Spread spread) {
  const T* a = static_cast<const T*>(av);
  const T* b = static_cast<const T*>(bv);
  auto* out = static_cast<std::complex<T>*>(outv);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = {a[spread == Spread::kLeft ? 0 : i], b[spread == Spread::kRight ? 0 : i]};
  }
  return true;
}

template <typename T>
Status ComplexKernel(KernelContext& ctx) {
  static constexpr BinaryLoop loop{ComplexRow<T>, sizeof(T), 2 * sizeof(T), 0.5, ""};
  return RunBinary(ctx, loop);
}

// Parts: of the matching types only.
template <typename F>
void AddPart(KernelRegistry& r, const char* op) {
  r.Add(op, {{"T", {DType::kComplex64}}, {"Tout", {kFloat32}}}, UnaryKernel<F, std::complex<float>>);
  r.Add(op, {{"T", {DType::kComplex128}}, {"Tout", {kFloat64}}}, UnaryKernel<F, std::complex<double>>);
}

}  // namespace

void RegisterComplexKernels(KernelRegistry& r) {
  AddPart<RealF>(r, "Real");
  AddPart<ImagF>(r, "Imag");
  AddPart<ComplexAbsF>(r, "ComplexAbs");
  AddPart<AngleF>(r, "Angle");
  r.Add("Complex", {{"T", {kFloat32}}, {"Tout", {DType::kComplex64}}}, ComplexKernel<float>);
  r.Add("Complex", {{"T", {kFloat64}}, {"Tout", {DType::kComplex128}}}, ComplexKernel<double>);
  const ComplexTypes types;
  AddUnary<ConjF>(r, "Conj", types);
  AddUnary<NegF>(r, "Neg", types);
  AddUnary<SignF>(r, "Sign", types);
  AddUnary<SquareF>(r, "Square", types);
  AddUnary<ReciprocalF>(r, "Reciprocal", types);
  AddUnary<ReciprocalF>(r, "Inv", types);
  AddUnary<SqrtF>(r, "Sqrt", types);
  AddUnary<RsqrtF>(r, "Rsqrt", types);
  AddUnary<ExpF>(r, "Exp", types);
  AddUnary<Expm1F>(r, "Expm1", types);
  AddUnary<LogF>(r, "Log", types);
  AddUnary<Log1pF>(r, "Log1p", types);
  AddUnary<SinF>(r, "Sin", types);
  AddUnary<CosF>(r, "Cos", types);
  AddUnary<TanF>(r, "Tan", types);
  AddUnary<SinhF>(r, "Sinh", types);
  AddUnary<CoshF>(r, "Cosh", types);
  AddUnary<TanhF>(r, "Tanh", types);
  AddUnary<AsinF>(r, "Asin", types);
  AddUnary<AcosF>(r, "Acos", types);
  AddUnary<AtanF>(r, "Atan", types);
  AddUnary<AsinhF>(r, "Asinh", types);
  AddUnary<AcoshF>(r, "Acosh", types);
  AddUnary<AtanhF>(r, "Atanh", types);
  AddUnary<SigmoidF>(r, "Sigmoid", types);
}

}  // namespace tensorbraid::cpu
