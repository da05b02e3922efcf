// Moving elements between tensors of any dtype.
#ifndef TENSORBRAID_RUNTIME_TENSOR_ROWS_H_
#define TENSORBRAID_RUNTIME_TENSOR_ROWS_H_

#include <cstdint>

#include "tensorbraid/tensor.h"

namespace tensorbraid {

// Copies `n` elements. REQUIRES: equal dtypes, both ranges lie within, and nobody else holds the buffer of `to`.
void CopyElementRange(const Tensor& from, int64_t from_begin, int64_t n, Tensor* to, int64_t to_begin);

// Row `i` along the first dimension, in a buffer of its own. REQUIRES: rank >= 1 and there is such a row.
Tensor CopyOfRow(const Tensor& batch, int64_t i);

// Zero, false, the empty string, everywhere. As Tensor::Create otherwise.
StatusOr<Tensor> ZeroTensor(DType dtype, const Shape& shape);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TENSOR_ROWS_H_
