// Functions of one operand, through Eigen's packet mathematics.
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
TB_UNARY(SqrtF, 1, x.sqrt())
TB_UNARY(RsqrtF, 1, x.sqrt().inverse())
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

// Functors of one element, for what also takes integers.
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

template <typename F, typename T, typename R>
void ScalarRow(const void* in, void* out, int64_t n) {
  const T* a = static_cast<const T*>(in);
  R* o = static_cast<R*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = F::Apply(a[i]);
}

template <typename F, typename H>
void HalfTestRow(const void* inv, void* outv, int64_t n) {
  const H* in = static_cast<const H*>(inv);
  bool* out = static_cast<bool*>(outv);
  for (int64_t i = 0; i < n; ++i) out[i] = F::Apply(static_cast<float>(in[i]));
}

template <typename F, typename T>
Status FloatKernel(KernelContext& ctx) {
  if constexpr (kIsHalf<T>) {
    return RunUnary(ctx, HalfUnaryRow<FloatRow<F, float>, T>, sizeof(T), sizeof(T), F::kCostNs + 0.5);
  } else {
    return RunUnary(ctx, FloatRow<F, T>, sizeof(T), sizeof(T), F::kCostNs * sizeof(T) / 4);
  }
}

template <typename F, typename T>
Status RealKernel(KernelContext& ctx) {
  if constexpr (kIsHalf<T>) {
    return RunUnary(ctx, HalfUnaryRow<ScalarRow<F, float, float>, T>, sizeof(T), sizeof(T), 0.5);
  } else {
    return RunUnary(ctx, ScalarRow<F, T, T>, sizeof(T), sizeof(T), 0.3);
  }
}

template <typename F, typename T>
Status TestKernel(KernelContext& ctx) {
  if constexpr (kIsHalf<T>) {
    return RunUnary(ctx, HalfTestRow<F, T>, sizeof(T), sizeof(bool), 1);
  } else {
    return RunUnary(ctx, ScalarRow<F, T, bool>, sizeof(T), sizeof(bool), 0.3);
  }
}

template <typename F, typename... T>
void AddFloat(KernelRegistry& r, const char* op, Types<T...>) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, FloatKernel<F, T>), ...);
}
template <typename F, typename... T>
void AddReal(KernelRegistry& r, const char* op, Types<T...>) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, RealKernel<F, T>), ...);
}
template <typename F, typename... T>
void AddTest(KernelRegistry& r, const char* op, Types<T...>) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, TestKernel<F, T>), ...);
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
  AddFloat<SqrtF>(r, "Sqrt", floats);
  AddFloat<RsqrtF>(r, "Rsqrt", floats);
  AddFloat<FloorF>(r, "Floor", floats);
  AddFloat<CeilF>(r, "Ceil", floats);
  AddFloat<RintF>(r, "Rint", floats);
  AddFloat<RintF>(r, "Round", floats);
  AddReal<SameF>(r, "Round", IntTypes{});
  AddFloat<SinF>(r, "Sin", floats);
  AddFloat<CosF>(r, "Cos", floats);
  AddFloat<TanhF>(r, "Tanh", floats);
  AddFloat<SigmoidF>(r, "Sigmoid", floats);
  AddReal<NegF>(r, "Neg", RealTypes{});
  AddReal<AbsF>(r, "Abs", RealTypes{});
  AddReal<SignF>(r, "Sign", RealTypes{});
  AddReal<SquareF>(r, "Square", RealTypes{});
  AddTest<IsNanF>(r, "IsNan", floats);
  AddTest<IsInfF>(r, "IsInf", floats);
  AddTest<IsFiniteF>(r, "IsFinite", floats);
}

}  // namespace tensorbraid::cpu
