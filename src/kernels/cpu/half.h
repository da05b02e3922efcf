// Converts arrays of 16-bit floats to float32, in which kernels compute, and back.
#ifndef TENSORBRAID_KERNELS_CPU_HALF_H_
#define TENSORBRAID_KERNELS_CPU_HALF_H_

#include <cstdint>

#include "kernels/cpu/compute_type.h"

namespace tensorbraid::cpu {

// ToFloat widens n elements. FromFloat rounds n elements to nearest, ties to even. The arrays must not overlap.
void ToFloat(const Float16* in, float* out, int64_t n);
void ToFloat(const Bfloat16* in, float* out, int64_t n);
void FromFloat(const float* in, Float16* out, int64_t n);
void FromFloat(const float* in, Bfloat16* out, int64_t n);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_HALF_H_
