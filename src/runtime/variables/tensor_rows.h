// Copies elements between tensors of any dtype.
#ifndef TENSORBRAID_RUNTIME_VARIABLES_TENSOR_ROWS_H_
#define TENSORBRAID_RUNTIME_VARIABLES_TENSOR_ROWS_H_

#include <cstdint>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Copies `n` elements. REQUIRES: equal dtypes, both ranges are in bounds, and `to` holds the only reference to its
// buffer.
void CopyElementRange(const Tensor& from, int64_t from_begin, int64_t n, Tensor* to, int64_t to_begin);

// Returns a copy with its own buffer, or an error of Tensor::Create.
StatusOr<Tensor> CopyOf(const Tensor& tensor);

// Returns a copy of row `i` along the first dimension, or an error of Tensor::Create. REQUIRES: rank >= 1 and row `i`
// exists.
StatusOr<Tensor> CopyOfRow(const Tensor& batch, int64_t i);

// Returns a tensor filled with zero, false or the empty string, or an error of Tensor::Create.
StatusOr<Tensor> ZeroTensor(DType dtype, const Shape& shape);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_VARIABLES_TENSOR_ROWS_H_
