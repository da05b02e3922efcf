// Computes the sizes and padding of a grayscale dilation from the op's attributes and input shapes, for shape rules and
// kernels.
#ifndef TENSORBRAID_OPS_NN_DILATION_H_
#define TENSORBRAID_OPS_NN_DILATION_H_

#include <cstdint>

#include "ops/nn/window.h"

namespace tensorbraid {

// The sizes of one dilation. The input is [batch, height, width, channels], the filter is [height, width, channels],
// and the output is [batch, height, width, channels]. Sizes are Shape::kUnknownDim if they are unknown.
struct Dilation {
  int64_t batch = Shape::kUnknownDim;
  int64_t channels = Shape::kUnknownDim;
  WindowAxis height, width;

  Shape InputShape() const { return {batch, height.input, width.input, channels}; }
  Shape FilterShape() const { return {height.window, width.window, channels}; }
  Shape OutputShape() const { return {batch, height.output, width.output, channels}; }
};

// Checks that the shapes can belong to one dilation, and combines what they tell about it. `output` is the shape of the
// gradient of the output, which the gradient ops have as an input; Dilation2D passes Shape::Unknown(). Returns
// InvalidArgument, naming the shapes, if ranks, channels or `output` do not match or if WindowAttrs::Place refuses the
// sizes.
StatusOr<Dilation> MakeDilation(const WindowAttrs& attrs, const Shape& input, const Shape& filter, const Shape& output);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_NN_DILATION_H_
