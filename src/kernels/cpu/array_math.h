// Arithmetic on whole arrays of any number type, vectorised where the processor supports it.
#ifndef TENSORBRAID_KERNELS_CPU_ARRAY_MATH_H_
#define TENSORBRAID_KERNELS_CPU_ARRAY_MATH_H_

#include <Eigen/Core>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/compute_type.h"

namespace tensorbraid {

// The n numbers at `data` as an Eigen array.
template <typename T>
Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>> Vec(T* data, int64_t n) {
  return {data, static_cast<Eigen::Index>(n)};
}
template <typename T>
Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> Vec(const T* data, int64_t n) {
  return {data, static_cast<Eigen::Index>(n)};
}

// out[i] = f(a[i], b[i]). f must accept both Eigen expressions and single numbers. Integers wrap around.
template <typename T, typename F>
void Combine(const T* a, const T* b, T* out, int64_t n, const F& f) {
  if constexpr (kIsHalf<T>) {
    for (int64_t i = 0; i < n; ++i) out[i] = T(static_cast<float>(f(float(a[i]), float(b[i]))));
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    Combine(reinterpret_cast<const Unsigned*>(a), reinterpret_cast<const Unsigned*>(b),
            reinterpret_cast<Unsigned*>(out), n, f);
  } else {
    Vec(out, n) = f(Vec(a, n), Vec(b, n));
  }
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_ARRAY_MATH_H_
