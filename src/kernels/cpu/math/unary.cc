// Functions of one operand: arithmetic, rounding, exponential, trigonometric and hyperbolic functions, and the
// gradients that are computed from their results.
#include "kernels/cpu/math/unary.h"

#include <Eigen/Core>
#include <cmath>
#include <complex>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/functors.h"
#include "kernels/cpu/whole_vectors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Functors of an Eigen array, whose functions are vectorised. The cost is for float32.
#define TB_UNARY(name, cost, expression)    \
  struct name {                             \
    static constexpr double kCostNs = cost; \
    template <typename A>                   \
    static auto Apply(const A& x) {         \
      return expression;                    \
    }                                       \
  };
TB_UNARY(ReciprocalF, 0.5, x.inverse())
TB_UNARY(LogF, 3, x.log())
TB_UNARY(Log1pF, 4, x.log1p())
TB_UNARY(ExpF, 2, x.exp())
TB_UNARY(Expm1F, 4, x.expm1())
TB_UNARY(FloorF, 0.4, x.floor())
TB_UNARY(CeilF, 0.4, x.ceil())
TB_UNARY(RintF, 0.4, x.rint())
TB_UNARY(SinF, 4, x.sin())
TB_UNARY(CosF, 4, x.cos())
TB_UNARY(TanhF, 4, x.tanh())
TB_UNARY(SigmoidF, 3, x.logistic())
#undef TB_UNARY

template <typename F, typename T>
void FloatRow(const void* in, void* out, int64_t n) {
  ApplyInVectors(static_cast<const T*>(in), static_cast<T*>(out), n, [](const auto& x) { return F::Apply(x); });
}

// Functors of a single element, for functions that also support integers or that the compiler vectorises as well as
// Eigen. (Eigen's square root of float64 gives NaN for infinity where it uses an approximation.)
struct SqrtF {
  static constexpr double kCostNs = 1;
  template <typename T>
  static T Apply(T a) {
    return std::sqrt(a);
  }
};
struct RsqrtF {
  static constexpr double kCostNs = 1;
  template <typename T>
  static T Apply(T a) {
    return T(1) / std::sqrt(a);
  }
};
struct NegF {
  template <typename T>
  static T Apply(T a) {
    if constexpr (std::is_floating_point_v<T>) return -a;
    return static_cast<T>(Wrapping<T>(0) - Wrapping<T>(a));
  }
};
struct AbsF {
  template <typename T>
  static T Apply(T a) {
    if constexpr (std::is_floating_point_v<T>) return std::abs(a);
    return a < 0 ? NegF::Apply(a) : a;
  }
};
struct SignF {
  template <typename T>
  static T Apply(T a) {
    if (a != a) return a;
    return static_cast<T>((a > T(0)) - (a < T(0)));
  }
};
struct SquareF {
  template <typename T>
  static T Apply(T a) {
    return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(a));
  }
};
struct IdentityF {
  template <typename T>
  static T Apply(T a) {
    return a;
  }
};
struct IsNanF {
  template <typename T>
  static bool Apply(T a) {
    return std::isnan(a);
  }
};
struct IsInfF {
  template <typename T>
  static bool Apply(T a) {
    return std::isinf(a);
  }
};
struct IsFiniteF {
  template <typename T>
  static bool Apply(T a) {
    return std::isfinite(a);
  }
};

template <typename F, typename T>
Status FloatKernel(KernelContext& ctx) {
  if constexpr (kIsHalf<T>) {
    return RunUnary(ctx, HalfUnaryRow<FloatRow<F, float>, T>, sizeof(T), sizeof(T), F::kCostNs + 0.5);
  } else {
    return RunUnary(ctx, FloatRow<F, T>, sizeof(T), sizeof(T), F::kCostNs * sizeof(T) / 4);
  }
}

template <typename F, typename... T>
void AddFloat(KernelRegistry& r, const char* op, Types<T...>) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, FloatKernel<F, T>, FunctorCost<F>), ...);
}

// Trigonometric and hyperbolic functions that Eigen does not vectorise.
#define TB_STD_UNARY(name, cost, function)  \
  struct name {                             \
    static constexpr double kCostNs = cost; \
    template <typename T>                   \
    static T Apply(T x) {                   \
      return std::function(x);              \
    }                                       \
  };
TB_STD_UNARY(TanF, 15, tan)
TB_STD_UNARY(AsinF, 10, asin)
TB_STD_UNARY(AcosF, 10, acos)
TB_STD_UNARY(AtanF, 10, atan)
TB_STD_UNARY(SinhF, 15, sinh)
TB_STD_UNARY(CoshF, 15, cosh)
TB_STD_UNARY(AsinhF, 20, asinh)
TB_STD_UNARY(AcoshF, 20, acosh)
TB_STD_UNARY(AtanhF, 20, atanh)
#undef TB_STD_UNARY

// Functions of complex numbers.
#define TB_COMPLEX_UNARY(name, cost, expression) \
  struct name {                                  \
    static constexpr double kCostNs = cost;      \
    template <typename C>                        \
    static auto Apply(C x) {                     \
      return expression;                         \
    }                                            \
  };
TB_COMPLEX_UNARY(ComplexNegF, 0.5, -x)
TB_COMPLEX_UNARY(ComplexSquareF, 1, x* x)
TB_COMPLEX_UNARY(ComplexReciprocalF, 5, C(1) / x)
TB_COMPLEX_UNARY(ComplexSqrtF, 20, std::sqrt(x))
TB_COMPLEX_UNARY(ComplexRsqrtF, 25, C(1) / std::sqrt(x))
TB_COMPLEX_UNARY(ComplexExpF, 30, std::exp(x))
TB_COMPLEX_UNARY(ComplexLogF, 30, std::log(x))
TB_COMPLEX_UNARY(ComplexSinF, 30, std::sin(x))
TB_COMPLEX_UNARY(ComplexCosF, 30, std::cos(x))
TB_COMPLEX_UNARY(ComplexTanF, 40, std::tan(x))
TB_COMPLEX_UNARY(ComplexSinhF, 40, std::sinh(x))
TB_COMPLEX_UNARY(ComplexCoshF, 40, std::cosh(x))
TB_COMPLEX_UNARY(ComplexTanhF, 40, std::tanh(x))
TB_COMPLEX_UNARY(ComplexAsinF, 60, std::asin(x))
TB_COMPLEX_UNARY(ComplexAcosF, 60, std::acos(x))
TB_COMPLEX_UNARY(ComplexAtanF, 60, std::atan(x))
TB_COMPLEX_UNARY(ComplexAsinhF, 60, std::asinh(x))
TB_COMPLEX_UNARY(ComplexAcoshF, 60, std::acosh(x))
TB_COMPLEX_UNARY(ComplexAtanhF, 60, std::atanh(x))
TB_COMPLEX_UNARY(ComplexSigmoidF, 40, C(1) / (C(1) + std::exp(-x)))
#undef TB_COMPLEX_UNARY

// x / |x|, and 0 for 0.
struct ComplexSignF {
  static constexpr double kCostNs = 10;
  template <typename C>
  static C Apply(C x) {
    const auto size = std::abs(x);
    return size == 0 ? C(0) : x / size;
  }
};

// Both functors below avoid the cancellation that exp(x) - 1 and log(1 + x) have near 0.
struct ComplexExpm1F {
  static constexpr double kCostNs = 60;
  template <typename T>
  static std::complex<T> Apply(std::complex<T> x) {
    const T s = std::sin(x.imag() / 2);
    return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * s * s, std::exp(x.real()) * std::sin(x.imag())};
  }
};
struct ComplexLog1pF {
  static constexpr double kCostNs = 60;
  template <typename T>
  static std::complex<T> Apply(std::complex<T> x) {
    const T a = x.real(), b = x.imag();
    if (std::abs(a) > T(0.5) || std::abs(b) > T(0.5)) return std::log(std::complex<T>(1) + x);
    return {std::log1p(a * (2 + a) + b * b) / 2, std::atan2(b, 1 + a)};
  }
};

}  // namespace

void RegisterMathUnaryKernels(KernelRegistry& r) {
  const FloatTypes floats;
  AddFloat<ReciprocalF>(r, "Reciprocal", floats);
  AddFloat<ReciprocalF>(r, "Inv", floats);
  AddFloat<LogF>(r, "Log", floats);
  AddFloat<Log1pF>(r, "Log1p", floats);
  AddFloat<ExpF>(r, "Exp", floats);
  AddFloat<Expm1F>(r, "Expm1", floats);
  AddUnary<SqrtF>(r, "Sqrt", floats);
  AddUnary<RsqrtF>(r, "Rsqrt", floats);
  AddFloat<FloorF>(r, "Floor", floats);
  AddFloat<CeilF>(r, "Ceil", floats);
  AddFloat<RintF>(r, "Rint", floats);
  AddFloat<RintF>(r, "Round", floats);
  AddUnary<IdentityF>(r, "Round", IntTypes{});
  AddFloat<SinF>(r, "Sin", floats);
  AddFloat<CosF>(r, "Cos", floats);
  AddFloat<TanhF>(r, "Tanh", floats);
  AddFloat<SigmoidF>(r, "Sigmoid", floats);
  AddUnary<NegF>(r, "Neg", RealTypes{});
  AddUnary<AbsF>(r, "Abs", RealTypes{});
  AddUnary<SignF>(r, "Sign", RealTypes{});
  AddUnary<SquareF>(r, "Square", RealTypes{});
  AddUnary<IsNanF>(r, "IsNan", floats);
  AddUnary<IsInfF>(r, "IsInf", floats);
  AddUnary<IsFiniteF>(r, "IsFinite", floats);
  AddUnary<TanF>(r, "Tan", floats);
  AddUnary<AsinF>(r, "Asin", floats);
  AddUnary<AcosF>(r, "Acos", floats);
  AddUnary<AtanF>(r, "Atan", floats);
  AddUnary<SinhF>(r, "Sinh", floats);
  AddUnary<CoshF>(r, "Cosh", floats);
  AddUnary<AsinhF>(r, "Asinh", floats);
  AddUnary<AcoshF>(r, "Acosh", floats);
  AddUnary<AtanhF>(r, "Atanh", floats);
  const ComplexTypes complex;
  AddUnary<ComplexNegF>(r, "Neg", complex);
  AddUnary<ComplexSignF>(r, "Sign", complex);
  AddUnary<ComplexSquareF>(r, "Square", complex);
  AddUnary<ComplexReciprocalF>(r, "Reciprocal", complex);
  AddUnary<ComplexReciprocalF>(r, "Inv", complex);
  AddUnary<ComplexSqrtF>(r, "Sqrt", complex);
  AddUnary<ComplexRsqrtF>(r, "Rsqrt", complex);
  AddUnary<ComplexExpF>(r, "Exp", complex);
  AddUnary<ComplexExpm1F>(r, "Expm1", complex);
  AddUnary<ComplexLogF>(r, "Log", complex);
  AddUnary<ComplexLog1pF>(r, "Log1p", complex);
  AddUnary<ComplexSinF>(r, "Sin", complex);
  AddUnary<ComplexCosF>(r, "Cos", complex);
  AddUnary<ComplexTanF>(r, "Tan", complex);
  AddUnary<ComplexSinhF>(r, "Sinh", complex);
  AddUnary<ComplexCoshF>(r, "Cosh", complex);
  AddUnary<ComplexTanhF>(r, "Tanh", complex);
  AddUnary<ComplexAsinF>(r, "Asin", complex);
  AddUnary<ComplexAcosF>(r, "Acos", complex);
  AddUnary<ComplexAtanF>(r, "Atan", complex);
  AddUnary<ComplexAsinhF>(r, "Asinh", complex);
  AddUnary<ComplexAcoshF>(r, "Acosh", complex);
  AddUnary<ComplexAtanhF>(r, "Atanh", complex);
  AddUnary<ComplexSigmoidF>(r, "Sigmoid", complex);
  AddSameShape<TanhGradF>(r, "TanhGrad", FloatTypes{} + ComplexTypes{});
  AddSameShape<SigmoidGradF>(r, "SigmoidGrad", FloatTypes{} + ComplexTypes{});
  AddSameShape<ReciprocalGradF>(r, "ReciprocalGrad", FloatTypes{} + ComplexTypes{});
  AddSameShape<SqrtGradF>(r, "SqrtGrad", FloatTypes{} + ComplexTypes{});
  AddSameShape<RsqrtGradF>(r, "RsqrtGrad", FloatTypes{} + ComplexTypes{});
  AddSameShape<ReciprocalGradF>(r, "InvGrad", FloatTypes{} + ComplexTypes{});
}

}  // namespace tensorbraid::cpu
