// Bessel functions, through Eigen, and integrals that have no closed form.
#include <Eigen/Core>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <unsupported/Eigen/SpecialFunctions>

#include "kernels/cpu/families.h"
#include "kernels/cpu/unary.h"

namespace tensorbraid::cpu {
namespace {

#define TB_BESSEL(name, function)         \
  struct name {                           \
    static constexpr double kCostNs = 40; \
    template <typename T>                 \
    static T Apply(T x) {                 \
      return Eigen::numext::function(x);  \
    }                                     \
  };
TB_BESSEL(BesselI0F, bessel_i0)
TB_BESSEL(BesselI0eF, bessel_i0e)
TB_BESSEL(BesselI1F, bessel_i1)
TB_BESSEL(BesselI1eF, bessel_i1e)
TB_BESSEL(BesselJ0F, bessel_j0)
TB_BESSEL(BesselJ1F, bessel_j1)
TB_BESSEL(BesselK0F, bessel_k0)
TB_BESSEL(BesselK0eF, bessel_k0e)
TB_BESSEL(BesselK1F, bessel_k1)
TB_BESSEL(BesselK1eF, bessel_k1e)
TB_BESSEL(BesselY0F, bessel_y0)
TB_BESSEL(BesselY1F, bessel_y1)
#undef TB_BESSEL

constexpr double kPi = std::numbers::pi;

// exp(-x^2) times the integral of exp(t^2) from 0 to x: a series where it converges fast, else Rybicki's sum of
// Gaussians at distance h, whose error is of the order of exp(-(pi / 2h)^2).
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

// The integral of exp(t) / t up to x > 0.
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

// The sum of z^k / k^2, brought to 0 <= z <= 1/2 by the dilogarithm's identities. NaN unless z <= 1 and finite.
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

// The integrals of cos(pi t^2 / 2) and sin(pi t^2 / 2) from 0 to x, as one complex number: a power series near 0, the
// continued fraction of the complementary error function beyond.
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

void RegisterBesselKernels(KernelRegistry& r) {
  const FloatTypes floats;
  AddUnary<BesselI0F>(r, "BesselI0", floats);
  AddUnary<BesselI0eF>(r, "BesselI0e", floats);
  AddUnary<BesselI1F>(r, "BesselI1", floats);
  AddUnary<BesselI1eF>(r, "BesselI1e", floats);
  AddUnary<BesselJ0F>(r, "BesselJ0", floats);
  AddUnary<BesselJ1F>(r, "BesselJ1", floats);
  AddUnary<BesselK0F>(r, "BesselK0", floats);
  AddUnary<BesselK0eF>(r, "BesselK0e", floats);
  AddUnary<BesselK1F>(r, "BesselK1", floats);
  AddUnary<BesselK1eF>(r, "BesselK1e", floats);
  AddUnary<BesselY0F>(r, "BesselY0", floats);
  AddUnary<BesselY1F>(r, "BesselY1", floats);
  AddUnary<DawsnF>(r, "Dawsn", floats);
  AddUnary<ExpintF>(r, "Expint", floats);
  AddUnary<FresnelCosF>(r, "FresnelCos", floats);
  AddUnary<FresnelSinF>(r, "FresnelSin", floats);
  AddUnary<SpenceF>(r, "Spence", floats);
}

}  // namespace tensorbraid::cpu
