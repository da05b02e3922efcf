// The shape of a tensor of random numbers.
#ifndef TENSORBRAID_KERNELS_CPU_RANDOM_RANDOM_SHAPE_H_
#define TENSORBRAID_KERNELS_CPU_RANDOM_RANDOM_SHAPE_H_

#include "core/text/strings.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid::cpu {

// The shape that a vector of sizes describes.
inline StatusOr<Shape> RandomShapeFrom(const Tensor& t) {
  if (t.shape().rank() != 1) return InvalidArgument("the shape must be a vector, got shape ", t.shape());
  Shape shape;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const int64_t d = t.dtype() == kInt64 ? t.data<int64_t>()[i] : t.data<int32_t>()[i];
    if (d < 0) return InvalidArgument("shape must not have negative sizes, got ", d);
    shape.AddDim(d);
  }
  if (shape.num_elements() < 0) return InvalidArgument("Shape ", shape, " would have more than 2**63 - 1 elements");
  return shape;
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_RANDOM_RANDOM_SHAPE_H_
