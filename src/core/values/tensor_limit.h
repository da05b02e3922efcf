// Limits the size of a tensor in this process.
#ifndef TENSORBRAID_CORE_VALUES_TENSOR_LIMIT_H_
#define TENSORBRAID_CORE_VALUES_TENSOR_LIMIT_H_

#include <cstdint>

#include "tensorbraid/core/dtype.h"
#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// From now on, Tensor::Create fails with ResourceExhausted for more than `bytes` bytes. There is no limit before the
// first call. Thread-safe.
void SetMaxTensorBytes(int64_t bytes);

// Checks that a tensor may have this dtype and shape. InvalidArgument if no tensor can have the dtype, if the shape is
// not fully defined or if it has too many elements to count; ResourceExhausted if the tensor would have more bytes than
// the limit. Thread-safe.
Status CheckTensorSize(DType dtype, const Shape& shape);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_VALUES_TENSOR_LIMIT_H_
