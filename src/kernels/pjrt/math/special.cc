// Error functions, by the rational approximations of Cephes (S. Moshier, "Methods and Programs for Mathematical
// Functions", 1989), and their inverses. The logarithm of the gamma function and its derivative.
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "kernels/pjrt/formulas.h"

namespace tensorbraid::pjrt {
namespace {

// The value of a polynomial. The first coefficient belongs to the highest power.
Expr Polynomial(const Expr& x, std::initializer_list<double> coefficients) {
  Expr sum = x.Number(0);
  for (const double c : coefficients) sum = sum * x + c;
  return sum;
}

// exp(-x^2). The rounding error of a square would be multiplied by its size. So the square is taken of a number that is
// rounded to half the digits, which is exact, and the rest is a second factor.
Expr ExpOfNegativeSquare(const Expr& x) {
  const Expr high = x.Convert(x.dtype() == kFloat64 ? kFloat32 : kBfloat16).Convert(x.dtype());
  return Exp(-(high * high)) * Exp((high - x) * (high + x));
}

// For |x| < 1.
Expr ErfNearZero(const Expr& x) {
  const Expr z = x * x;
  return x *
         Polynomial(z, {9.60497373987051638749E0, 9.00260197203842689217E1, 2.23200534594684319226E3,
                        7.00332514112805075473E3, 5.55923013010394962768E4}) /
         Polynomial(z, {1, 3.35617141647503099647E1, 5.21357949780152679795E2, 4.59432382970980127987E3,
                        2.26290000613890934246E4, 4.92673942608635921086E4});
}

// For x >= 1.
Expr ErfcFarFromZero(const Expr& x) {
  const Expr near = Polynomial(x, {2.46196981473530512524E-10, 5.64189564831068821977E-1, 7.46321056442269912687E0,
                                   4.86371970985681366614E1, 1.96520832956077098242E2, 5.26445194995477358631E2,
                                   9.34528527171957607540E2, 1.02755188689515710272E3, 5.57535335369399327526E2}) /
                    Polynomial(x, {1, 1.32281951154744992508E1, 8.67072140885989742329E1, 3.54937778887819891062E2,
                                   9.75708501743205489753E2, 1.82390916687909736289E3, 2.24633760818710981792E3,
                                   1.65666309194161350182E3, 5.57535340817727675546E2});
  // In powers of 1 / x, which do not overflow.
  const Expr y = 1 / x;
  const Expr far = y *
                   Polynomial(y, {2.97886665372100240670E0, 7.40974269950448939160E0, 6.16021097993053585195E0,
                                  5.01905042251180477414E0, 1.27536670759978104416E0, 5.64189583547755073984E-1}) /
                   Polynomial(y, {3.36907645100081516050E0, 9.60896809063285878198E0, 1.70814450747565897222E1,
                                  1.20489539808096656605E1, 9.39603524938001434673E0, 2.26052863220117276590E0, 1});
  const Expr factor = Select(x < 8, near, far);
  // Beyond this it is 0, also where the factors of the exponential are not numbers.
  return Select(x > 30, 0, ExpOfNegativeSquare(x) * factor);
}

// Both parts are evaluated for all elements, each at a place where it has a value.
Expr EmitErf(const Expr& x) {
  const Expr size = Abs(x), far = Sign(x) * (1 - ErfcFarFromZero(Max(size, 1)));
  return Select(size < 1, ErfNearZero(x), far);
}
Expr EmitErfc(const Expr& x) {
  const Expr size = Abs(x), tail = ErfcFarFromZero(Max(size, 1));
  return Select(size < 1, 1 - ErfNearZero(x), Select(x < 0, 2 - tail, tail));
}

// The gamma functions are computed in float64: their terms are large, and cancel near the zeros.
Expr WideOf(const Expr& x) { return x.Convert(kFloat64); }
constexpr double kPi = 3.14159265358979323846;

// For x > 0, by Lanczos's approximation with g = 7 (C. Lanczos, "A Precision Approximation of the Gamma Function",
// 1964).
Expr LgammaOfPositive(const Expr& x) {
  constexpr std::array<double, 8> kTerms = {676.5203681218851,     -1259.1392167224028,  771.32342877765313,
                                            -176.61502916214059,   12.507343278686905,   -0.13857109526572012,
                                            9.9843695780195716e-6, 1.5056327351493116e-7};
  const Expr z = x - 1;
  Expr sum = x.Number(0.99999999999980993);
  for (size_t i = 0; i < kTerms.size(); ++i) sum = sum + kTerms[i] / (z + static_cast<double>(i + 1));
  const Expr t = z + 7.5;
  return (z + 0.5) * (Log(t) - 1) + Log(sum) + (0.91893853320467274 - 7);
}

Expr EmitLgamma(const Expr& narrow) {
  const Expr x = WideOf(narrow), reflects = x < 0.5, size = Abs(x);
  const Expr far = LgammaOfPositive(Select(reflects, 1 - x, x));
  // log |pi / sin(pi x)| - lgamma(1 - x). The sine has the period 1 in absolute value; it is 0 at the poles.
  const Expr fraction = size - Floor(size);
  const Expr near = std::log(kPi) - Log((fraction * kPi).Unary("sine")) - far;
  const Expr value = Select(reflects, near, far);
  const Expr infinity = x.Number(std::numeric_limits<double>::infinity());
  const Expr is_pole = x <= 0 && Floor(x) == x;
  return Select(is_pole || size == infinity, infinity, value).Convert(narrow.dtype());
}

// Below 10, by psi(x) = psi(x + 1) - 1 / x; above, by its asymptotic series.
Expr EmitDigamma(const Expr& narrow) {
  const Expr x = WideOf(narrow), reflects = x <= 0;
  Expr y = Select(reflects, 1 - x, x), sum = x.Number(0);
  for (int i = 0; i < 10; ++i) {
    const Expr is_small = y < 10;
    sum = Select(is_small, sum - 1 / y, sum);
    y = Select(is_small, y + 1, y);
  }
  const Expr w = 1 / (y * y);
  const Expr series =
      w * Polynomial(w, {1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12});
  const Expr far = sum + Log(y) - 0.5 / y - series;
  // psi(1 - x) - psi(x) = pi / tan(pi x), which has the period 1.
  const Expr angle = (x - Floor(x)) * kPi;
  const Expr near = far - kPi * (angle.Unary("cosine") / angle.Unary("sine"));
  const Expr nan = x.Number(std::numeric_limits<double>::quiet_NaN());
  const Expr is_pole = reflects && Floor(x) == x;
  return Select(is_pole, nan, Select(reflects, near, far)).Convert(narrow.dtype());
}

// The number y >= 0 with erf(y) = s and erfc(y) = t = 1 - s, in float64: an approximation (S. Winitzki, "A handy
// approximation for the error function and its inverse", 2008) and three steps of Newton's method. Both s and t are
// given, because each has the digits of y on its side. Far from zero, the steps are those for the logarithm of erfc,
// which is nearly a parabola.
Expr InverseErf(const Expr& s, const Expr& t) {
  constexpr double kA = 0.147;
  const Expr log = Log(t * (2 - t)), u = log * 0.5 + 2 / (kPi * kA);
  Expr y = Sqrt(Max(Sqrt(u * u - log * (1 / kA)) - u, 0));
  for (int step = 0; step < 3; ++step) {
    const Expr erfc = EmitErfc(y), slope = ExpOfNegativeSquare(y) * (2 / std::sqrt(kPi));
    const Expr near = (s - EmitErf(y)) / slope, far = (Log(erfc) - Log(t)) * erfc / slope;
    y = y + Select(s < 0.5, near, far);
  }
  return Select(t == 0, std::numeric_limits<double>::infinity(), y);
}

Expr EmitErfinv(const Expr& narrow) {
  const Expr x = WideOf(narrow), size = Abs(x), y = Sign(x) * InverseErf(size, 1 - size);
  return Select(size <= 1, y, std::numeric_limits<double>::quiet_NaN()).Convert(narrow.dtype());
}

// The number of which this part of the standard normal distribution is below.
Expr EmitNdtri(const Expr& narrow) {
  const Expr p = WideOf(narrow), from_middle = p * 2 - 1;
  const Expr y = Sign(from_middle) * InverseErf(Abs(from_middle), 2 * Min(p, 1 - p)) * std::sqrt(2.0);
  return Select(p >= 0 && p <= 1, y, std::numeric_limits<double>::quiet_NaN()).Convert(narrow.dtype());
}

}  // namespace

void RegisterMathSpecialEmitters(EmitterRegistry& r) {
  AddUnary(r, "Lgamma", kFloats, EmitLgamma);
  AddUnary(r, "Digamma", kFloats, EmitDigamma);
  AddUnary(r, "Erf", kFloats, EmitErf);
  AddUnary(r, "Erfc", kFloats, EmitErfc);
  AddUnary(r, "Erfinv", kFloats, EmitErfinv);
  AddUnary(r, "Ndtri", kFloats, EmitNdtri);
}

}  // namespace tensorbraid::pjrt
