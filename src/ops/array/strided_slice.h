// Finds the region of its input that a StridedSlice selects by its entries (begin, end and strides) and masks.
#ifndef TENSORBRAID_OPS_ARRAY_STRIDED_SLICE_H_
#define TENSORBRAID_OPS_ARRAY_STRIDED_SLICE_H_

#include <span>

#include "graph/model/node.h"
#include "tensorbraid/core/shape.h"

namespace tensorbraid {

struct StridedRegion {
  // For each dimension of the input: `size` elements starting at `begin`, `stride` apart. If the size of the input's
  // dimension is unknown, `size` is -1.
  absl::InlinedVector<int64_t, 6> begin, stride, size;
  // The shape of the result: without the dimensions of shrink_axis_mask, and with the dimensions of size 1 that
  // new_axis_mask adds.
  Shape shape;
};

// The region that the entries select, given the masks in the attributes of `node`. Returns InvalidArgument if there are
// too many entries, a stride is 0, or the index of a single element (shrink_axis_mask) is out of range.
StatusOr<StridedRegion> ResolveStridedSlice(const Node& node, const Shape& input, std::span<const int64_t> begin,
                                            std::span<const int64_t> end, std::span<const int64_t> strides);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_ARRAY_STRIDED_SLICE_H_
