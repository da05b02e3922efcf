// How the positions of a resized image map to those of the image. Positions are computed in float32 step by step as in
// TensorFlow. The functions are not inline, because only the folder image/ is compiled without fused multiply-add.
#ifndef TENSORBRAID_KERNELS_CPU_IMAGE_RESIZE_AXIS_H_
#define TENSORBRAID_KERNELS_CPU_IMAGE_RESIZE_AXIS_H_

#include <cstdint>
#include <vector>

namespace tensorbraid::cpu {

// How output positions of one dimension map to input positions.
struct ResizeAxis {
  int64_t in = 0, out = 0;  // sizes
  float scale = 1;
  bool half_pixel = false;

  float Position(int64_t x) const {
    const auto position = static_cast<float>(x);
    return half_pixel ? (position + 0.5f) * scale - 0.5f : position * scale;
  }
};

ResizeAxis MakeResizeAxis(int64_t in, int64_t out, bool align_corners, bool half_pixel);

// An output position between two input positions.
struct Between {
  int64_t lower, upper;
  float lerp;
};

Between BetweenAt(const ResizeAxis& axis, int64_t i);
// The values of BetweenAt for all output positions.
std::vector<Between> BetweenAll(const ResizeAxis& axis);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_IMAGE_RESIZE_AXIS_H_
