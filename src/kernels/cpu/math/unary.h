// Makes kernels of one operand from functors.
//
// A functor F is a struct with `template <typename T> static R Apply(T x)` and optionally `static constexpr double
// kCostNs`. 16-bit floats are computed in float32.
#ifndef TENSORBRAID_KERNELS_CPU_MATH_UNARY_H_
#define TENSORBRAID_KERNELS_CPU_MATH_UNARY_H_

#include "kernels/cpu/elementwise.h"

namespace tensorbraid::cpu {

template <typename F>
constexpr double UnaryCost() {
  if constexpr (requires { F::kCostNs; }) {
    return F::kCostNs;
  } else {
    return 0.3;
  }
}

template <typename F, typename T, typename R>
void ScalarRow(const void* in, void* out, int64_t n) {
  const T* a = static_cast<const T*>(in);
  R* o = static_cast<R*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = F::Apply(a[i]);
}

// Computes results of another type, such as bool, from 16-bit floats.
template <typename F, typename H, typename R>
void HalfToRow(const void* inv, void* outv, int64_t n) {
  const H* in = static_cast<const H*>(inv);
  R* out = static_cast<R*>(outv);
  for (int64_t i = 0; i < n; ++i) out[i] = F::Apply(static_cast<float>(in[i]));
}

// A kernel from T to the result type of the functor, usually T.
template <typename F, typename T>
Status UnaryKernel(KernelContext& ctx) {
  if constexpr (kIsHalf<T>) {
    using R = decltype(F::Apply(0.0f));
    if constexpr (std::is_same_v<R, float>) {
      return RunUnary(ctx, HalfUnaryRow<ScalarRow<F, float, float>, T>, sizeof(T), sizeof(T), UnaryCost<F>() + 0.5);
    } else {
      return RunUnary(ctx, HalfToRow<F, T, R>, sizeof(T), sizeof(R), UnaryCost<F>() + 0.5);
    }
  } else {
    using R = decltype(F::Apply(T()));
    return RunUnary(ctx, ScalarRow<F, T, R>, sizeof(T), sizeof(R), UnaryCost<F>());
  }
}

template <typename F, typename... T>
void AddUnary(KernelRegistry& r, const char* op, Types<T...>,
              std::source_location location = std::source_location::current()) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, UnaryKernel<F, T>, FunctorCost<F>, location), ...);
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_MATH_UNARY_H_
