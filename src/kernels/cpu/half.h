// 16-bit floats in bulk: kernels compute in float32.
#ifndef TENSORBRAID_KERNELS_CPU_HALF_H_
#define TENSORBRAID_KERNELS_CPU_HALF_H_

#include <cstdint>
#include <type_traits>

#include "tensorbraid/dtype.h"

namespace tensorbraid::cpu {

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;

// What a kernel computes in for elements of type T.
template <typename T>
using Compute = std::conditional_t<kIsHalf<T>, float, T>;

// Widen n elements; round n elements to nearest, ties to even. The arrays do not overlap.
void ToFloat(const Float16* in, float* out, int64_t n);
void ToFloat(const Bfloat16* in, float* out, int64_t n);
void FromFloat(const float* in, Float16* out, int64_t n);
void FromFloat(const float* in, Bfloat16* out, int64_t n);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_HALF_H_
