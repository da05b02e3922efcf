#include "kernels/cpu/image/resize_axis.h"

#include <algorithm>
#include <cmath>

namespace tensorbraid::cpu {

ResizeAxis MakeResizeAxis(int64_t in, int64_t out, bool align_corners, bool half_pixel) {
  const float scale = align_corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                               : static_cast<float>(in) / static_cast<float>(out);
  return {in, out, scale, half_pixel};
}

Between BetweenAt(const ResizeAxis& axis, int64_t i) {
  const float position = axis.Position(i);
  const float floor = std::floor(position);
  const int64_t lower = std::clamp<int64_t>(static_cast<int64_t>(floor), 0, axis.in - 1);
  const int64_t upper = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(position)), 0, axis.in - 1);
  return {lower, upper, position - floor};
}

std::vector<Between> BetweenAll(const ResizeAxis& axis) {
  std::vector<Between> all(static_cast<size_t>(axis.out));
  for (int64_t i = 0; i < axis.out; ++i) all[static_cast<size_t>(i)] = BetweenAt(axis, i);
  return all;
}

}  // namespace tensorbraid::cpu
