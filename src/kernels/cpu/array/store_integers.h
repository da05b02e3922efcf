// Stores integers in a tensor whose dtype an attribute of the op chooses.
#ifndef TENSORBRAID_KERNELS_CPU_ARRAY_STORE_INTEGERS_H_
#define TENSORBRAID_KERNELS_CPU_ARRAY_STORE_INTEGERS_H_

#include <cstdint>
#include <span>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid::cpu {

// Stores `values` at elements [at, at + values.size()) of a tensor of int16, int32 or int64.
inline void StoreIntegers(std::span<const int64_t> values, int64_t at, Tensor* to) {
  const auto store = [&](auto all) {
    for (size_t i = 0; i < values.size(); ++i) all[at + i] = static_cast<typename decltype(all)::value_type>(values[i]);
  };
  if (to->dtype() == kInt16) return store(to->inplace_data<int16_t>());
  if (to->dtype() == kInt32) return store(to->inplace_data<int32_t>());
  store(to->inplace_data<int64_t>());
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_ARRAY_STORE_INTEGERS_H_
