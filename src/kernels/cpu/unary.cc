// Functions of one operand, through Eigen's packet mathematics.
#include "kernels/cpu/unary.h"

#include <Eigen/Core>
#include <cmath>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/families.h"

namespace tensorbraid::cpu {
namespace {

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
  using Array = Eigen::Array<T, Eigen::Dynamic, 1>;
  Eigen::Map<const Array> x(static_cast<const T*>(in), n);
  Eigen::Map<Array>(static_cast<T*>(out), n) = F::Apply(x);
}

// Functors of one element, for what also takes integers or what the compiler vectorises as well. (Eigen's square root
// of float64 is NaN for infinity where it goes by way of an approximation.)
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
struct SameF {
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
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, FloatKernel<F, T>), ...);
}
}  // namespace

void RegisterUnaryKernels(KernelRegistry& r) {
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
  AddUnary<SameF>(r, "Round", IntTypes{});
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
}

}  // namespace tensorbraid::cpu
