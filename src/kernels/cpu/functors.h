// The arithmetic of elementwise ops with two operands. elementwise.h defines what a functor is.
#ifndef TENSORBRAID_KERNELS_CPU_FUNCTORS_H_
#define TENSORBRAID_KERNELS_CPU_FUNCTORS_H_

#include <cmath>
#include <string>
#include <type_traits>

#include "kernels/cpu/elementwise.h"

namespace tensorbraid::cpu {

struct AddF {
  static constexpr bool kWraps = true;
  template <typename T>
  static T Apply(const T& a, const T& b) {
    if constexpr (std::is_same_v<T, std::string>) {
      return a + b;
    } else {
      return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
    }
  }
};

struct SubF {
  static constexpr bool kWraps = true;
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
  }
};

struct MulF {
  static constexpr bool kWraps = true;
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
  }
};

struct SquaredDifferenceF {
  static constexpr bool kWraps = true;
  template <typename T>
  static T Apply(T a, T b) {
    const T d = SubF::Apply(a, b);
    return MulF::Apply(d, Conjugate(d));
  }
};

// Whether b is -1. Integer division by -1 is done as a negation, which wraps for the smallest value instead of
// trapping.
template <typename T>
bool IsMinusOne(T b) {
  if constexpr (std::is_signed_v<T>) return b == T(-1);
  return false;
}

// Division as in C++: integers truncate towards zero.
// a / b. Complex numbers are divided by Smith's rule, with any compiler: a division by zero gives NaN, as in
// TensorFlow.
template <typename T>
T Quotient(T a, T b) {
  if constexpr (kIsComplex<T>) {
    if (std::abs(b.real()) >= std::abs(b.imag())) {
      const auto r = b.imag() / b.real(), d = b.real() + r * b.imag();
      return {(a.real() + a.imag() * r) / d, (a.imag() - a.real() * r) / d};
    }
    const auto r = b.real() / b.imag(), d = b.imag() + r * b.real();
    return {(a.real() * r + a.imag()) / d, (a.imag() * r - a.real()) / d};
  } else {
    return static_cast<T>(a / b);
  }
}

struct DivF {
  static constexpr double kCostNs = 1;
  static constexpr const char* kRefusal = "Integer division by zero";
  template <typename T>
  static bool Refuses(T b) {
    return b == 0;
  }
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (IsMinusOne(b)) return SubF::Apply(T(0), a);
    }
    return Quotient(a, b);
  }
};

// Division whose result is 0 where b is 0.
struct DivNoNanF {
  template <typename T>
  static T Apply(T a, T b) {
    return b == T(0) ? T(0) : a / b;
  }
};

// Division rounded towards minus infinity, like Python's //.
struct FloorDivF {
  static constexpr double kCostNs = 1.5;
  static constexpr const char* kRefusal = DivF::kRefusal;
  template <typename T>
  static bool Refuses(T b) {
    return b == 0;
  }
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (IsMinusOne(b)) return SubF::Apply(T(0), a);
      const T q = static_cast<T>(a / b);
      return static_cast<T>(q - (a % b != 0 && (a < 0) != (b < 0)));
    } else {
      return std::floor(a / b);
    }
  }
};

// The remainder with the sign of the divisor, like Python's %.
struct FloorModF {
  static constexpr double kCostNs = 3;
  static constexpr const char* kRefusal = DivF::kRefusal;
  template <typename T>
  static bool Refuses(T b) {
    return b == 0;
  }
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (IsMinusOne(b)) return 0;
      const T r = static_cast<T>(a % b);
      return static_cast<T>(r != 0 && (r < 0) != (b < 0) ? r + b : r);
    } else {
      const T r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
  }
};

// The remainder with the sign of the dividend, like C++'s %.
struct ModF {
  static constexpr double kCostNs = 3;
  static constexpr const char* kRefusal = DivF::kRefusal;
  template <typename T>
  static bool Refuses(T b) {
    return b == 0;
  }
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return IsMinusOne(b) ? T(0) : static_cast<T>(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
};

struct PowF {
  static constexpr double kCostNs = 15;
  static constexpr const char* kRefusal = "integers cannot be raised to negative integer powers";
  template <typename T>
  static bool Refuses(T b) {
    return b < 0;
  }
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      T result = 1;
      for (T base = a; b > 0; b = static_cast<T>(b / 2)) {
        if (b % 2 != 0) result = MulF::Apply(result, base);
        base = MulF::Apply(base, base);
      }
      return result;
    } else {
      return std::pow(a, b);
    }
  }
};

// Maximum and minimum. The result is NaN if either operand is NaN.
struct MaximumF {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return (a > b || a != a) ? a : b;
    return a > b ? a : b;
  }
};
struct MinimumF {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return (a < b || a != a) ? a : b;
    return a < b ? a : b;
  }
};

#define TB_COMPARISON(name, op, wraps)          \
  struct name {                                 \
    static constexpr bool kWraps = wraps;       \
    template <typename T>                       \
    static bool Apply(const T& a, const T& b) { \
      return a op b;                            \
    }                                           \
  };
TB_COMPARISON(EqualF, ==, true)
TB_COMPARISON(NotEqualF, !=, true)
TB_COMPARISON(LessF, <, false)
TB_COMPARISON(LessEqualF, <=, false)
TB_COMPARISON(GreaterF, >, false)
TB_COMPARISON(GreaterEqualF, >=, false)
#undef TB_COMPARISON

struct AndF {
  static bool Apply(bool a, bool b) { return a & b; }
};
struct OrF {
  static bool Apply(bool a, bool b) { return a | b; }
};

// Gradients of functions y(x), computed from the output y or, for some activations, from the input x.
struct TanhGradF {
  template <typename T>
  static T Apply(T y, T dy) {
    return dy * (T(1) - y * y);
  }
};
struct SigmoidGradF {
  template <typename T>
  static T Apply(T y, T dy) {
    return dy * y * (T(1) - y);
  }
};
// The next three are 0 where dy is 0, also at a pole of the derivative.
struct ReciprocalGradF {
  template <typename T>
  static T Apply(T y, T dy) {
    const T c = Conjugate(y);
    return dy == T(0) ? T(0) : -dy * c * c;
  }
};
struct SqrtGradF {
  template <typename T>
  static T Apply(T y, T dy) {
    return dy == T(0) ? T(0) : Quotient(T(dy * T(0.5)), Conjugate(y));
  }
};
struct RsqrtGradF {
  template <typename T>
  static T Apply(T y, T dy) {
    const T c = Conjugate(y);
    return dy == T(0) ? T(0) : T(-0.5) * dy * c * c * c;
  }
};
struct ReluGradF {
  template <typename T>
  static T Apply(T dy, T x) {
    return x > T(0) ? dy : T(0);
  }
};
struct Relu6GradF {
  template <typename T>
  static T Apply(T dy, T x) {
    return x > T(0) && x < T(6) ? dy : T(0);
  }
};
struct EluGradF {
  template <typename T>
  static T Apply(T dy, T y) {
    return y < T(0) ? (y + T(1)) * dy : dy;
  }
};
// Constants of Klambauer et al., "Self-normalizing neural networks", 2017.
inline constexpr double kSeluScale = 1.0507009873554804934193349852946;
inline constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;
struct SeluGradF {
  template <typename T>
  static T Apply(T dy, T y) {
    return y < T(0) ? dy * (y + T(kSeluScaleAlpha)) : dy * T(kSeluScale);
  }
};
struct SoftplusGradF {
  static constexpr double kCostNs = 8;
  template <typename T>
  static T Apply(T dy, T x) {
    return dy / (std::exp(-x) + T(1));
  }
};
struct SoftsignGradF {
  template <typename T>
  static T Apply(T dy, T x) {
    const T d = T(1) + std::abs(x);
    return dy / (d * d);
  }
};

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_FUNCTORS_H_
