// Works out what an op of grayscale dilation computes from its attributes and shapes, for shape rules and kernels.
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

// Checks that the shapes can belong to one dilation, and combines what they tell about it. `output` is unknown for
// Dilation2D itself. InvalidArgument, with the shapes, for wrong ranks or channels, or what WindowAttrs::Place refuses.
StatusOr<Dilation> MakeDilation(const WindowAttrs& attrs, const Shape& input, const Shape& filter, const Shape& output);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_NN_DILATION_H_
