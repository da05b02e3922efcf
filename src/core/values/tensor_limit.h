// Limits the size of a tensor in this process.
#ifndef TENSORBRAID_CORE_VALUES_TENSOR_LIMIT_H_
#define TENSORBRAID_CORE_VALUES_TENSOR_LIMIT_H_

#include <cstdint>

namespace tensorbraid {

// Tensor::Create fails with ResourceExhausted for more bytes than this. There is no limit before the first call.
// Thread-safe.
void SetMaxTensorBytes(int64_t bytes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_VALUES_TENSOR_LIMIT_H_
