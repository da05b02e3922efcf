// Bools whose bytes come from elsewhere.
#ifndef TENSORBRAID_CORE_BOOLS_H_
#define TENSORBRAID_CORE_BOOLS_H_

#include "tensorbraid/tensor.h"

namespace tensorbraid {

// Makes every byte of a bool tensor 0 or 1: what others have written may be any number, and a bool that is neither
// makes programs go astray. Nothing happens to other tensors.
inline void NormalizeBools(Tensor* tensor) {
  if (tensor->dtype() != kBool) return;
  auto* bytes = static_cast<unsigned char*>(tensor->mutable_raw_data());
  for (int64_t i = 0; i < tensor->num_elements(); ++i) bytes[i] = bytes[i] != 0;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_BOOLS_H_
