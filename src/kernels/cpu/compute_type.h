// The types in which kernels compute with elements of type T.
#ifndef TENSORBRAID_KERNELS_CPU_COMPUTE_TYPE_H_
#define TENSORBRAID_KERNELS_CPU_COMPUTE_TYPE_H_

#include <complex>
#include <cstdint>
#include <type_traits>

#include "tensorbraid/core/dtype.h"

namespace tensorbraid {

// Whether T is a 16-bit float.
template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;

template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

// The type that elements of type T are computed in: float for the 16-bit floats, otherwise T.
template <typename T>
using ComputeType = std::conditional_t<kIsHalf<T>, float, T>;

// The type in which to compute with numbers of type T so that signed integers wrap around on overflow, as in NumPy.
template <typename T>
using Wrapping = std::conditional_t<std::is_integral_v<T>, std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>, T>;

// a + b. Integers wrap around; 16-bit floats are added in float32.
template <typename T>
T Plus(const T& a, const T& b) {
  if constexpr (kIsHalf<T>) {
    return T(float(a) + float(b));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  } else {
    return a + b;
  }
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_COMPUTE_TYPE_H_
