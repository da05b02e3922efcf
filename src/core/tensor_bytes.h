// How large a tensor would be.
#ifndef TENSORBRAID_CORE_TENSOR_BYTES_H_
#define TENSORBRAID_CORE_TENSOR_BYTES_H_

#include <cstdint>
#include <limits>

#include "tensorbraid/dtype.h"
#include "tensorbraid/shape.h"

namespace tensorbraid {

// Bytes of the elements of a tensor (of strings and the like: of the objects, not of what they hold); -1 when the shape
// is not known or has too many elements to count, the largest int64 when only the bytes are too many.
inline int64_t TensorBytes(const Shape& shape, DType dtype) {
  const int64_t elements = shape.num_elements();
  int64_t bytes;
  if (elements < 0) return -1;
  if (__builtin_mul_overflow(elements, static_cast<int64_t>(DTypeSize(dtype)), &bytes)) {
    return std::numeric_limits<int64_t>::max();
  }
  return bytes;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TENSOR_BYTES_H_
