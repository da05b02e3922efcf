#include "ops/array/strided_slice.h"

#include <algorithm>
#include <bit>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// Adds the range begin:end:stride, as in NumPy, of a dimension with `size` elements. A masked bound stands for the
// first or last element in the direction of the stride.
Status AddRange(int64_t size, int64_t begin, bool begin_masked, int64_t end, bool end_masked, int64_t stride,
                StridedRegion* region) {
  if (size < 0) {
    region->stride.push_back(stride);
    region->begin.push_back(0);
    region->size.push_back(Shape::kUnknownDim);
    region->shape.AddDim(Shape::kUnknownDim);
    return OkStatus();
  }
  const int64_t lowest = stride > 0 ? 0 : -1;
  const int64_t highest = stride > 0 ? size : size - 1;
  const auto clamp = [&](int64_t x) { return std::clamp(x < 0 ? x + size : x, lowest, highest); };
  const int64_t from = begin_masked ? (stride > 0 ? lowest : highest) : clamp(begin);
  const int64_t to = end_masked ? (stride > 0 ? highest : lowest) : clamp(end);
  const int64_t distance = to - from;
  const bool empty = distance == 0 || (distance < 0) != (stride < 0);
  const int64_t count = empty ? 0 : distance / stride + (distance % stride != 0 ? 1 : 0);
  region->stride.push_back(count > 1 ? stride : 1);  // a stride that is never taken may be too large to multiply
  region->begin.push_back(from);
  region->size.push_back(count);
  region->shape.AddDim(count);
  return OkStatus();
}

// Adds a single element. The shape of the result does not get a dimension for it.
Status AddElement(int64_t size, int64_t index, int64_t stride, int dim, StridedRegion* region) {
  if (stride <= 0)
    return InvalidArgument("the stride of a single element (shrink_axis_mask) must be positive, got ", stride);
  const int64_t at = index < 0 && size >= 0 ? index + size : index;
  if (size >= 0 && (at < 0 || at >= size)) {
    return InvalidArgument("index ", index, " is out of range for dimension ", dim, " of size ", size);
  }
  region->begin.push_back(at);
  region->stride.push_back(1);
  region->size.push_back(1);
  return OkStatus();
}

}  // namespace

StatusOr<StridedRegion> ResolveStridedSlice(const Node& node, const Shape& input, std::span<const int64_t> begin,
                                            std::span<const int64_t> end, std::span<const int64_t> strides) {
  const auto mask = [&](const char* name) { return static_cast<uint64_t>(node.attr<int64_t>(name)); };
  const uint64_t begin_mask = mask("begin_mask");
  const uint64_t end_mask = mask("end_mask");
  const uint64_t ellipsis_mask = mask("ellipsis_mask");
  const uint64_t new_axis_mask = mask("new_axis_mask") & ~ellipsis_mask;
  const uint64_t shrink_mask = mask("shrink_axis_mask") & ~ellipsis_mask & ~new_axis_mask;
  if (begin.size() != end.size() || begin.size() != strides.size()) {
    return InvalidArgument("begin, end and strides must have the same length, got ", begin.size(), ", ", end.size(),
                           " and ", strides.size());
  }
  if (std::popcount(ellipsis_mask) > 1) return InvalidArgument("only one ellipsis is allowed");
  const int n = static_cast<int>(begin.size());
  if (n > 32) return InvalidArgument("at most 32 entries are supported, got ", n);
  // Counts the entries that index one dimension of the input. An ellipsis stands for all remaining dimensions.
  int named = 0;
  for (int i = 0; i < n; ++i) named += ((ellipsis_mask | new_axis_mask) >> i & 1) == 0 ? 1 : 0;
  const int rank = input.rank();
  if (named > rank)
    return InvalidArgument("index ", rank, " out of range: ", named, " entries index the ", rank, " dimensions of ",
                           input);
  StridedRegion region;
  int dim = 0;
  // Adds the next `count` dimensions as a whole.
  const auto whole = [&](int count) -> Status {
    for (; count > 0; --count, ++dim)
      TF_RETURN_IF_ERROR(AddRange(input.dim(dim), /*begin=*/0, /*begin_masked=*/true, /*end=*/0, /*end_masked=*/true,
                                  /*stride=*/1, &region));
    return OkStatus();
  };
  for (int i = 0; i < n; ++i) {
    const auto bit = [i](uint64_t m) { return (m >> i & 1) != 0; };
    if (bit(ellipsis_mask)) {
      TF_RETURN_IF_ERROR(whole(rank - named));
    } else if (bit(new_axis_mask)) {
      region.shape.AddDim(1);
    } else if (strides[i] == 0) {
      return InvalidArgument("stride ", i, " must not be 0");
    } else if (bit(shrink_mask)) {
      TF_RETURN_IF_ERROR(AddElement(input.dim(dim), begin[i], strides[i], dim, &region));
      ++dim;
    } else {
      TF_RETURN_IF_ERROR(
          AddRange(input.dim(dim), begin[i], bit(begin_mask), end[i], bit(end_mask), strides[i], &region));
      ++dim;
    }
  }
  TF_RETURN_IF_ERROR(whole(rank - dim));
  return region;
}

}  // namespace tensorbraid
