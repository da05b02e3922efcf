// Parts of tensors, as partitioned variables are saved in.
#ifndef TENSORBRAID_CHECKPOINT_TENSOR_SLICE_H_
#define TENSORBRAID_CHECKPOINT_TENSOR_SLICE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/shape.h"

namespace tensorbraid {

namespace proto {
class TensorSliceProto;
}  // namespace proto

// A box in a tensor: in each dimension `length` elements from `start` on, or all of it. Value type.
class TensorSlice {
 public:
  static constexpr int64_t kAll = -1;
  struct Extent {
    int64_t start = 0;
    int64_t length = kAll;
    friend bool operator==(const Extent&, const Extent&) = default;
  };

  TensorSlice() = default;
  // All of a tensor of this rank.
  explicit TensorSlice(int rank) : extents_(static_cast<size_t>(rank)) {}
  explicit TensorSlice(std::vector<Extent> extents) : extents_(std::move(extents)) {}
  // "0,10:-:5,3". InvalidArgument for what is none.
  static StatusOr<TensorSlice> Parse(std::string_view text);
  // DataLoss for negative starts or lengths.
  static StatusOr<TensorSlice> FromProto(const proto::TensorSliceProto& proto);
  void ToProto(proto::TensorSliceProto* proto) const;

  int rank() const { return static_cast<int>(extents_.size()); }
  const Extent& extent(int i) const { return extents_[i]; }
  // The shape of this part of a tensor of that shape. Internal when it does not lie within.
  StatusOr<Shape> ShapeWithin(const Shape& full) const;
  // With the lengths that "all" stands for in a tensor of that shape. REQUIRES: ShapeWithin is OK.
  TensorSlice Resolved(const Shape& full) const;
  std::string ToString() const;

 private:
  std::vector<Extent> extents_;
};

// Whether two resolved slices have an element in common. REQUIRES: the same rank.
bool Overlap(const TensorSlice& a, const TensorSlice& b);
// What both resolved slices cover; false when that is nothing. REQUIRES: the same rank.
bool Intersect(const TensorSlice& a, const TensorSlice& b, TensorSlice* both);

// The key under which the bytes of one slice of `name` lie.
std::string SliceKey(std::string_view name, const TensorSlice& slice);

// "4 2 0,2:-": the shape of a whole tensor, and which part of it is meant.
struct ShapeAndSlice {
  Shape shape;
  TensorSlice slice;
  Shape slice_shape;
};
// InvalidArgument for what is none; Internal when the slice does not lie in the shape.
StatusOr<ShapeAndSlice> ParseShapeAndSlice(const std::string& text);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_TENSOR_SLICE_H_
