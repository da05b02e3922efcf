// What the entries and masks of a StridedSlice mean for each dimension of its input.
#ifndef TENSORBRAID_OPS_STRIDED_SLICE_H_
#define TENSORBRAID_OPS_STRIDED_SLICE_H_

#include <span>

#include "graph/node.h"
#include "tensorbraid/shape.h"

namespace tensorbraid {

struct StridedRegion {
  // Per dimension of the input: `size` elements from `begin` on, `stride` apart. Where the input's size is unknown,
  // `size` is -1.
  absl::InlinedVector<int64_t, 6> begin, stride, size;
  // The result: without the dimensions of which one element was named, with new ones of size 1.
  Shape shape;
};

// The region that these entries describe under the masks (attributes) of `node`. InvalidArgument when there are too
// many entries, a stride is 0, or a single element is out of range.
StatusOr<StridedRegion> ResolveStridedSlice(const Node& node, const Shape& input, std::span<const int64_t> begin,
                                            std::span<const int64_t> end, std::span<const int64_t> strides);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_STRIDED_SLICE_H_
