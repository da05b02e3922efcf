// The errors of elements: indices, labels and numbers that an op refuses. The emitters of programs return the same
// ones.
#ifndef TENSORBRAID_KERNELS_CPU_ELEMENT_ERRORS_H_
#define TENSORBRAID_KERNELS_CPU_ELEMENT_ERRORS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "kernels/cpu/array/position.h"
#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::cpu {

// Element `element` of indices of shape `indices` is `value`, which is no index along `axis` of `params`.
inline Status IndexOutOfRange(const Shape& indices, int64_t element, int64_t value, const Shape& params, int axis) {
  return InvalidArgument("indices", Position(indices, element), " = ", value, " is not in [0, ", params.dim(axis),
                         "), dimension ", axis, " of ", params);
}

// Row `row` of indices of shape `indices` holds `coordinates`, which are outside of `shape`.
inline Status SliceOutOfRange(const Shape& indices, int64_t row, std::span<const int64_t> coordinates,
                              const std::string& what, const Shape& shape) {
  const Shape rows(indices.dims().first(indices.rank() - 1));
  std::vector<std::string> numbers;
  for (const int64_t coordinate : coordinates) numbers.push_back(StrCat(coordinate));
  return InvalidArgument("indices", Position(rows, row), " = [", StrJoin(numbers, ", "), "] does not index into ", what,
                         " ", shape);
}

// Element `element` of the flat indices is `row`, which is no row of `what`.
inline Status RowOutOfRange(int64_t element, int64_t row, int64_t num_rows, const std::string& what) {
  return InvalidArgument("indices[", element, "] = ", row, " is not in [0, ", num_rows, ") of ", what);
}

// A part of `length` elements of sequences of `size`.
inline Status LengthOutOfRange(int64_t length, int64_t size) {
  return InvalidArgument("a length of ", length, " is out of range for sequences of ", size);
}

inline Status CannotDivideRows() { return InvalidArgument("integers cannot be divided by 0"); }

inline Status CannotCount(int64_t value) {
  return InvalidArgument("the values to count must not be negative, got ", value);
}

// Whether row `row` of the indices of a sparse tensor of shape `shape`, `at`, is within the shape and behind the row
// `before`, which is empty if the order does not matter.
inline Status CheckSparseIndex(int64_t row, std::span<const int64_t> before, std::span<const int64_t> at,
                               const Shape& shape) {
  const auto refuse = [&](const auto&... why) {
    std::vector<std::string> numbers;
    for (const int64_t coordinate : at) numbers.push_back(StrCat(coordinate));
    return InvalidArgument("indices[", row, "] = [", StrJoin(numbers, ","), "] is ", why...);
  };
  for (size_t d = 0; d < at.size(); ++d) {
    if (at[d] >= 0 && at[d] < shape.dim(static_cast<int>(d))) continue;
    return refuse("out of bounds: need 0 <= index < ", shape);
  }
  for (size_t d = 0; d < before.size(); ++d) {
    if (before[d] < at[d]) return OkStatus();
    if (before[d] > at[d]) return refuse("out of order: indices must be in lexicographic order");
  }
  return before.empty() ? OkStatus() : refuse("repeated");
}

inline Status LabelOutOfRange(int64_t row, int64_t label, int64_t classes) {
  return InvalidArgument("Received a label value of ", label, " in row ", row, ", but there are only classes 0 to ",
                         classes - 1);
}

// Element `element` of segment ids of shape `ids` is `id`.
inline Status SegmentOutOfRange(const Shape& ids, int64_t element, int64_t id, int64_t segments) {
  return InvalidArgument("segment_ids", Position(ids, element), " = ", id, " is out of range [0, ", segments, ")");
}

// The last of sorted segment ids is `id`, which is not below the given number of segments.
inline Status LastSegmentOutOfRange(int64_t id, int64_t segments) {
  return InvalidArgument("segment ids must be < num_segments, got ", id, " for ", segments);
}
// Row `row` of sorted segment ids is `id`, which is out of range or less than `last`, the id of the row before.
inline Status SegmentNotSorted(int64_t row, int64_t id, int64_t last, int64_t segments) {
  if (id < 0 || id >= segments) {
    return InvalidArgument("Segment id ", id, " out of range [0, ", segments,
                           "), possibly because 'segment_ids' input is not sorted. Row: ", row);
  }
  return InvalidArgument("segment ids are not increasing: row ", row, " has ", id, " after ", last);
}

// A tensor has numbers that are not finite. If `signs`, the message tells infinities apart.
inline Status NotFinite(const std::string& message, bool signs, bool negative, bool positive, bool nan) {
  std::vector<std::string> found;
  if (signs && negative) found.emplace_back("-Inf");
  if (signs && positive) found.emplace_back("+Inf");
  if (!signs && (negative || positive)) found.emplace_back("Inf");
  if (nan) found.emplace_back("NaN");
  return InvalidArgument(message, " : Tensor had ", StrJoin(found, " and "), " values");
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_ELEMENT_ERRORS_H_
