// Special functions: error functions; gamma, beta and zeta functions and related ones, computed by Eigen; integrals
// without a closed form.
#include <Eigen/Core>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <unsupported/Eigen/SpecialFunctions>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/math/unary.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

template <typename T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

struct ErfF {
  static constexpr double kCostNs = 15;
  template <typename T>
  static T Apply(T x) {
    return std::erf(x);
  }
};
struct ErfcF {
  static constexpr double kCostNs = 15;
  template <typename T>
  static T Apply(T x) {
    return std::erfc(x);
  }
};
struct LgammaF {
  static constexpr double kCostNs = 30;
  template <typename T>
  static T Apply(T x) {
    return Eigen::numext::lgamma(x);
  }
};
struct DigammaF {
  static constexpr double kCostNs = 40;
  template <typename T>
  static T Apply(T x) {
    if (x <= 0 && x == std::floor(x)) return kNan<T>;  // a pole
    return Eigen::numext::digamma(x);
  }
};
// The inverse of the cumulative distribution function of the standard normal distribution.
struct NdtriF {
  static constexpr double kCostNs = 40;
  template <typename T>
  static T Apply(T x) {
    if (!(x >= 0 && x <= 1)) return kNan<T>;
    return Eigen::numext::ndtri(x);
  }
};
struct ErfinvF {
  static constexpr double kCostNs = 50;
  template <typename T>
  static T Apply(T x) {
    // Near 0, (x + 1) / 2 would lose the digits of x, so use a series.
    if (std::abs(x) < T(1e-3)) {
      const T t = x * T(0.88622692545275801365);  // sqrt(pi) / 2
      return t * (1 + t * t / 3 * (1 + t * t * T(0.7)));
    }
    return NdtriF::Apply((x + 1) / 2) * T(0.70710678118654752440);
  }
};
struct ZetaF {
  static constexpr double kCostNs = 100;
  template <typename T>
  static T Apply(T x, T q) {
    if (q == std::numeric_limits<T>::infinity() && x > T(1)) return T(0);
    return Eigen::numext::zeta(x, q);
  }
};
struct PolygammaF {
  static constexpr double kCostNs = 150;
  template <typename T>
  static T Apply(T n, T x) {
    // At infinity, Eigen would multiply infinity by 0 if the order n is above 0.
    if (x == std::numeric_limits<T>::infinity() && n >= T(1) && n == std::floor(n)) return T(0);
    return Eigen::numext::polygamma(n, x);
  }
};
struct IgammaF {
  static constexpr double kCostNs = 200;
  template <typename T>
  static T Apply(T a, T x) {
    return Eigen::numext::igamma(a, x);
  }
};
struct IgammacF {
  static constexpr double kCostNs = 200;
  template <typename T>
  static T Apply(T a, T x) {
    return Eigen::numext::igammac(a, x);
  }
};
struct IgammaGradAF {
  static constexpr double kCostNs = 300;
  template <typename T>
  static T Apply(T a, T x) {
    return Eigen::numext::igamma_der_a(a, x);
  }
};

// The regularised incomplete beta function. The operands have the same shape or are scalars.
template <typename T>
Status BetaincKernel(KernelContext& ctx) {
  Shape shape;
  for (int i = 0; i < 3; ++i) {
    const Shape& own = ctx.input(i).shape();
    if (own.is_scalar()) continue;
    if (!shape.is_scalar() && shape != own) {
      return InvalidArgument("a, b and x must have the same shape or be scalars, got ", ctx.input(0).shape(), ", ",
                             ctx.input(1).shape(), " and ", ctx.input(2).shape());
    }
    shape = own;
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  const T* in[3];
  int64_t step[3];
  for (int i = 0; i < 3; ++i) {
    in[i] = ctx.input(i).data<T>().data();
    step[i] = ctx.input(i).shape().is_scalar() ? 0 : 1;
  }
  T* to = out->inplace_data<T>().data();
  Parallel(ctx, shape.num_elements(), 300, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      to[i] = Eigen::numext::betainc(in[0][i * step[0]], in[1][i * step[1]], in[2][i * step[2]]);
    }
  });
  return OkStatus();
}

constexpr double kPi = std::numbers::pi;

// exp(-x^2) times the integral of exp(t^2) from 0 to x. Uses a series where it converges fast, otherwise Rybicki's sum
// of Gaussians at distance h, whose error is of the order of exp(-(pi / 2h)^2).
double Dawson(double x) {
  const double size = std::abs(x);
  if (std::isnan(x)) return x;
  if (size < 0.5) {
    double term = x, sum = x;
    for (int k = 1; k < 30; ++k) {
      term *= -2 * x * x / (2 * k + 1);
      sum += term;
    }
    return sum;
  }
  if (size > 1e8) return 0.5 / x;
  constexpr double h = 0.2;
  const double center = 2 * std::round(size / (2 * h));
  const double rest = size - center * h;
  double sum = 0;
  for (int n = 33; n >= 1; n -= 2) {
    sum += std::exp(-(rest - n * h) * (rest - n * h)) / (center + n);
    sum += std::exp(-(rest + n * h) * (rest + n * h)) / (center - n);
  }
  return std::copysign(sum / std::sqrt(kPi), x);
}

// The integral of exp(t) / t from minus infinity to x > 0 (principal value). Uses a power series, or an asymptotic
// series for large x.
double ExponentialIntegral(double x) {
  if (!(x >= 0) || std::isinf(x)) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -std::numeric_limits<double>::infinity();
  if (x > 720) return std::numeric_limits<double>::infinity();
  if (x < 40) {
    double term = 1, sum = 0;
    for (int k = 1; k < 200; ++k) {
      term *= x / k;
      sum += term / k;
      if (term < 1e-18 * sum) break;
    }
    return std::numbers::egamma + std::log(x) + sum;
  }
  double term = 1, sum = 1;
  for (int k = 1; k < 40 && term > 1e-18; ++k) {
    term *= k / x;
    sum += term;
  }
  return std::exp(x) / x * sum;
}

// The sum of z^k / k^2 over k >= 1. Identities of the dilogarithm reduce z to 0 <= z <= 1/2. NaN unless z is finite and
// at most 1.
double Dilogarithm(double z) {
  if (!(z <= 1) || std::isinf(z)) return std::numeric_limits<double>::quiet_NaN();
  constexpr double kSixth = kPi * kPi / 6;
  if (z == 1) return kSixth;
  if (z < -1) {
    const double log = std::log(-z);
    return -kSixth - log * log / 2 - Dilogarithm(1 / z);
  }
  if (z < 0) {
    const double log = std::log1p(-z);
    return -log * log / 2 - Dilogarithm(z / (z - 1));
  }
  if (z > 0.5) return kSixth - std::log(z) * std::log1p(-z) - Dilogarithm(1 - z);
  double power = 1, sum = 0;
  for (int k = 1; k < 60; ++k) {
    power *= z;
    sum += power / (static_cast<double>(k) * k);
  }
  return sum;
}

// The integrals of cos(pi t^2 / 2) and sin(pi t^2 / 2) from 0 to x, as one complex number. Uses a power series near
// 0, otherwise the continued fraction of the complementary error function.
std::complex<double> Fresnel(double x) {
  using C = std::complex<double>;
  const double size = std::abs(x);
  if (std::isnan(x)) return {x, x};
  C result;
  if (size < 1.5) {
    const C step(0, kPi / 2 * size * size);
    C term = size;
    result = term;
    for (int k = 1; k < 40; ++k) {
      term *= step / static_cast<double>(k);
      result += term / static_cast<double>(2 * k + 1);
    }
  } else if (size > 1e8) {
    result = C(0.5, 0.5);
  } else {
    const double angle = kPi * size * size;
    C b(1, -angle);
    C c = 1e300, d = 1.0 / b, h = d;
    for (int k = 1; k < 200; k += 2) {
      const double a = -k * (k + 1.0);
      b += 4;
      d = 1.0 / (a * d + b);
      c = b + a / c;
      const C change = c * d;
      h *= change;
      if (std::abs(change - 1.0) < 1e-16) break;
    }
    const double phase = kPi / 2 * std::fmod(size * size, 4.0);
    result = C(0.5, 0.5) * (1.0 - std::polar(1.0, phase) * h * C(size, -size));
  }
  return x < 0 ? -result : result;
}

#define TB_INTEGRAL(name, expression)      \
  struct name {                            \
    static constexpr double kCostNs = 200; \
    template <typename T>                  \
    static T Apply(T x) {                  \
      return static_cast<T>(expression);   \
    }                                      \
  };
TB_INTEGRAL(DawsnF, Dawson(x))
TB_INTEGRAL(ExpintF, ExponentialIntegral(x))
TB_INTEGRAL(FresnelCosF, Fresnel(x).real())
TB_INTEGRAL(FresnelSinF, Fresnel(x).imag())
TB_INTEGRAL(SpenceF, Dilogarithm(1 - static_cast<double>(x)))
#undef TB_INTEGRAL

}  // namespace

void RegisterMathSpecialKernels(KernelRegistry& r) {
  const FloatTypes floats;
  const Types<float, double> wide;
  AddUnary<ErfF>(r, "Erf", floats);
  AddUnary<ErfcF>(r, "Erfc", floats);
  AddUnary<LgammaF>(r, "Lgamma", floats);
  AddUnary<DigammaF>(r, "Digamma", floats);
  AddUnary<NdtriF>(r, "Ndtri", floats);
  AddUnary<ErfinvF>(r, "Erfinv", floats);
  AddBinary<ZetaF>(r, "Zeta", wide);
  AddBinary<PolygammaF>(r, "Polygamma", wide);
  AddBinary<IgammaF>(r, "Igamma", floats);
  AddBinary<IgammacF>(r, "Igammac", floats);
  AddBinary<IgammaGradAF>(r, "IgammaGradA", wide);
  r.Add("Betainc", {{"T", {kFloat32}}}, BetaincKernel<float>, ElementCost<300'000>);
  r.Add("Betainc", {{"T", {kFloat64}}}, BetaincKernel<double>, ElementCost<300'000>);
  AddUnary<DawsnF>(r, "Dawsn", floats);
  AddUnary<ExpintF>(r, "Expint", floats);
  AddUnary<FresnelCosF>(r, "FresnelCos", floats);
  AddUnary<FresnelSinF>(r, "FresnelSin", floats);
  AddUnary<SpenceF>(r, "Spence", floats);
}

}  // namespace tensorbraid::cpu
