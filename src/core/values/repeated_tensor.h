// Tensors whose elements all have the same value. Large ones take little memory.
#ifndef TENSORBRAID_CORE_VALUES_REPEATED_TENSOR_H_
#define TENSORBRAID_CORE_VALUES_REPEATED_TENSOR_H_

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Returns a tensor whose elements all have the value at `element`, which has DTypeSize(dtype) bytes. From 1 MiB on, the
// elements are in a small block of memory that is mapped many times, if the system allows so many mappings. Such a
// tensor takes at most 1/32 of its size, or 256 KiB if that is more, and is not writable. InvalidArgument for a bad
// shape, ResourceExhausted for too many bytes. REQUIRES: IsPlain(dtype).
StatusOr<Tensor> RepeatedTensor(DType dtype, const Shape& shape, const void* element);

// If `tensor` is a large tensor that RepeatedTensor has made, or a part of such a tensor that is not empty, returns the
// element that it repeats. Returns null for all other tensors. The element lives as long as the tensor's buffer.
const void* RepeatedElement(const Tensor& tensor);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_VALUES_REPEATED_TENSOR_H_
