// Creates tensors in memory of a given allocator.
#ifndef TENSORBRAID_CORE_VALUES_NEW_TENSOR_H_
#define TENSORBRAID_CORE_VALUES_NEW_TENSOR_H_

#include "core/memory/allocator.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Like Tensor::Create, but in memory of `allocator`. Elements of types that are not plain are always in host memory.
StatusOr<Tensor> NewTensor(DType dtype, const Shape& shape, Allocator& allocator);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_VALUES_NEW_TENSOR_H_
