// Arithmetic on whole tensors of any number type, vectorised where the processor supports it.
#ifndef TENSORBRAID_KERNELS_CPU_NUMBERS_H_
#define TENSORBRAID_KERNELS_CPU_NUMBERS_H_

#include <Eigen/Core>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/compute_type.h"
#include "tensorbraid/dtype.h"

namespace tensorbraid {

template <typename T>
Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>> Vec(T* data, int64_t n) {
  return {data, static_cast<Eigen::Index>(n)};
}
template <typename T>
Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> Vec(const T* data, int64_t n) {
  return {data, static_cast<Eigen::Index>(n)};
}

// out[i] = f(a[i], b[i]). f must accept Eigen expressions and single numbers.
template <typename T, typename F>
void Combine(const T* a, const T* b, T* out, int64_t n, const F& f) {
  if constexpr (kIsHalf<T>) {
    for (int64_t i = 0; i < n; ++i) out[i] = T(static_cast<float>(f(float(a[i]), float(b[i]))));
  } else {
    Vec(out, n) = f(Vec(a, n), Vec(b, n));
  }
}

// Calls f.template operator()<T>() for each of the types.
template <typename... Ts, typename F>
void ForEachType(const F& f) {
  (f.template operator()<Ts>(), ...);
}

// Calls f for each type of the attribute type "numbertype".
template <typename F>
void ForEachNumberType(const F& f) {
  ForEachType<float, double, Float16, Bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
              uint64_t, std::complex<float>, std::complex<double>>(f);
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_NUMBERS_H_
