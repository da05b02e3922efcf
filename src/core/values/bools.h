// Repairs bool tensors whose bytes come from files or other programs.
#ifndef TENSORBRAID_CORE_VALUES_BOOLS_H_
#define TENSORBRAID_CORE_VALUES_BOOLS_H_

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Sets every byte of a bool tensor to 0 or 1. Bytes from elsewhere may have any value, and the behaviour of a program
// is undefined if a bool is neither 0 nor 1. Leaves other tensors unchanged.
inline void NormalizeBools(Tensor* tensor) {
  if (tensor->dtype() != kBool) return;
  auto* bytes = static_cast<unsigned char*>(tensor->inplace_raw_data());
  for (int64_t i = 0; i < tensor->num_elements(); ++i) bytes[i] = bytes[i] != 0;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_VALUES_BOOLS_H_
