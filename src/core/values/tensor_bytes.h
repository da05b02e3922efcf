// Computes the size that a tensor of a given shape would have.
#ifndef TENSORBRAID_CORE_VALUES_TENSOR_BYTES_H_
#define TENSORBRAID_CORE_VALUES_TENSOR_BYTES_H_

#include <cstdint>
#include <limits>

#include "tensorbraid/core/dtype.h"
#include "tensorbraid/core/shape.h"

namespace tensorbraid {

// Returns the number of bytes that the elements of a tensor take. For strings, resources and variants it counts the
// objects, without the data that they own. Returns -1 if the shape is not fully defined or has too many elements to
// count, and the largest int64 if only the number of bytes overflows.
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

#endif  // TENSORBRAID_CORE_VALUES_TENSOR_BYTES_H_
