// The windows of ExtractImagePatches and ExtractVolumePatches, for the shape rule and the kernel.
#ifndef TENSORBRAID_OPS_IMAGE_PATCHES_H_
#define TENSORBRAID_OPS_IMAGE_PATCHES_H_

#include <cstdint>
#include <vector>

#include "graph/model/node.h"

namespace tensorbraid {

// The attributes ksizes, strides and rates. ExtractVolumePatches has no rates: they are 1.
struct PatchWindow {
  std::vector<int64_t> sizes, strides, rates;

  // Returns InvalidArgument unless each list has `rank` elements, which are 1 for the batch and the depth, and positive
  // 32-bit numbers for the other dimensions. The kernel must check this, too: servers ignore errors of shape rules in
  // the graphs that they import.
  static StatusOr<PatchWindow> Of(const Node& node, int rank);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_IMAGE_PATCHES_H_
