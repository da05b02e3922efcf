// Segment ids: the segment that each row belongs to. Ids are non-decreasing, so the rows of a segment are adjacent.
#ifndef TENSORBRAID_KERNELS_CPU_REDUCTION_SEGMENT_IDS_H_
#define TENSORBRAID_KERNELS_CPU_REDUCTION_SEGMENT_IDS_H_

#include <limits>

#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid::cpu {

// Element i of a tensor of int16, int32 or int64.
inline int64_t IdAt(const Tensor& t, int64_t i) {
  if (t.dtype() == kInt64) return t.data<int64_t>()[i];
  return t.dtype() == kInt16 ? t.data<int16_t>()[i] : t.data<int32_t>()[i];
}

// The number of segments according to the last id; 0 if there are no ids. Returns InvalidArgument if the last id is
// negative or too large.
inline StatusOr<int64_t> SegmentsOf(const Tensor& ids) {
  const int64_t n = ids.num_elements();
  const int64_t last = n == 0 ? -1 : IdAt(ids, n - 1);
  if (last == std::numeric_limits<int64_t>::max()) return InvalidArgument("segment id ", last, " is too large");
  if (n > 0 && last < 0) return InvalidArgument("segment ids must be >= 0, got ", last);
  return last + 1;
}

// Returns InvalidArgument unless the ids are non-decreasing and in [0, segments). `limited` is true if the op has an
// input for the number of segments, and false if `segments` comes from the last id.
inline Status CheckSegmentIds(const Tensor& ids, int64_t segments, bool limited) {
  const int64_t n = ids.num_elements();
  if (limited && n > 0 && IdAt(ids, n - 1) >= segments) return LastSegmentOutOfRange(IdAt(ids, n - 1), segments);
  for (int64_t i = 0, last = 0; i < n; ++i) {
    const int64_t id = IdAt(ids, i);
    if (id < last || id >= segments) return SegmentNotSorted(i, id, last, segments);
    last = id;
  }
  return OkStatus();
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_REDUCTION_SEGMENT_IDS_H_
