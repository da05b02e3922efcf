// Calls a template for each of several element types.
#ifndef TENSORBRAID_KERNELS_CPU_NUMBERS_H_
#define TENSORBRAID_KERNELS_CPU_NUMBERS_H_

#include <complex>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/compute_type.h"
#include "tensorbraid/core/dtype.h"

namespace tensorbraid {

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
