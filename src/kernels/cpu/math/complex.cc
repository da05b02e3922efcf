// Complex numbers and their parts.
#include <cmath>
#include <complex>

#include "kernels/cpu/math/unary.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

#define TB_PART(name, cost, expression)     \
  struct name {                             \
    static constexpr double kCostNs = cost; \
    template <typename C>                   \
    static auto Apply(C x) {                \
      return expression;                    \
    }                                       \
  };
TB_PART(RealF, 0.5, x.real())
TB_PART(ImagF, 0.5, x.imag())
TB_PART(ConjF, 0.5, std::conj(x))
TB_PART(ComplexAbsF, 5, std::abs(x))
TB_PART(AngleF, 20, std::arg(x))
#undef TB_PART

// Combines real and imaginary parts to complex numbers.
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

// Adds a kernel for a part of complex numbers. T and Tout must match.
template <typename F>
void AddPart(KernelRegistry& r, const char* op) {
  r.Add(op, {{"T", {DType::kComplex64}}, {"Tout", {kFloat32}}}, UnaryKernel<F, std::complex<float>>);
  r.Add(op, {{"T", {DType::kComplex128}}, {"Tout", {kFloat64}}}, UnaryKernel<F, std::complex<double>>);
}

}  // namespace

void RegisterMathComplexKernels(KernelRegistry& r) {
  AddPart<RealF>(r, "Real");
  AddPart<ImagF>(r, "Imag");
  AddPart<ComplexAbsF>(r, "ComplexAbs");
  AddPart<AngleF>(r, "Angle");
  r.Add("Complex", {{"T", {kFloat32}}, {"Tout", {DType::kComplex64}}}, ComplexKernel<float>);
  r.Add("Complex", {{"T", {kFloat64}}, {"Tout", {DType::kComplex128}}}, ComplexKernel<double>);
  AddUnary<ConjF>(r, "Conj", ComplexTypes{});
}

}  // namespace tensorbraid::cpu
