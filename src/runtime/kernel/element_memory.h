// Whole tensors made of other tensors in the memory of a device, for lists of tensors and TensorArrays.
#ifndef TENSORBRAID_RUNTIME_KERNEL_ELEMENT_MEMORY_H_
#define TENSORBRAID_RUNTIME_KERNEL_ELEMENT_MEMORY_H_

#include <span>
#include <vector>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// What the kernels of lists and TensorArrays do with tensors whose elements the host cannot access. All tensors are in
// the memory of the device, and dtypes are plain. The work is enqueued in the stream of the device. The functions may
// block while a program is compiled, the first time for each combination of shapes. Thread-safe.
class ElementMemory {
 public:
  virtual ~ElementMemory() = default;
  virtual StatusOr<Tensor> Zeros(DType dtype, const Shape& shape) = 0;
  // Divides the elements of `from`, in their order, into tensors of these shapes. REQUIRES: the shapes have as many
  // elements as `from`.
  virtual StatusOr<std::vector<Tensor>> Split(const Tensor& from, std::span<const Shape> shapes) = 0;
  // A tensor of this shape with the elements of all parts, one part after the other. REQUIRES: there is a part, all
  // have one dtype, and they have as many elements as `shape`.
  virtual StatusOr<Tensor> Join(std::span<const Tensor> parts, const Shape& shape) = 0;
  // a + b, element by element. REQUIRES: both have one shape and one dtype, of numbers.
  virtual StatusOr<Tensor> Add(const Tensor& a, const Tensor& b) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_ELEMENT_MEMORY_H_
