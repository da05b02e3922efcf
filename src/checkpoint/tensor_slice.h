// Slices of tensors. Checkpoints store partitioned variables as slices.
#ifndef TENSORBRAID_CHECKPOINT_TENSOR_SLICE_H_
#define TENSORBRAID_CHECKPOINT_TENSOR_SLICE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/core/shape.h"

namespace tensorbraid {

namespace proto {
class TensorSliceProto;
}  // namespace proto

// A box-shaped part of a tensor: in each dimension, `length` elements from `start` on, or all elements. Value type.
class TensorSlice {
 public:
  static constexpr int64_t kAll = -1;
  struct Extent {
    int64_t start = 0;
    int64_t length = kAll;
    friend bool operator==(const Extent&, const Extent&) = default;
  };

  TensorSlice() = default;
  // The whole of a tensor of this rank.
  explicit TensorSlice(int rank) : extents_(static_cast<size_t>(rank)) {}
  explicit TensorSlice(std::vector<Extent> extents) : extents_(std::move(extents)) {}
  // Parses text such as "0,10:-:5,3", with "start,length" or "-" (all) for each dimension. InvalidArgument if the text
  // does not have this form.
  static StatusOr<TensorSlice> Parse(std::string_view text);
  // DataLoss for negative starts or lengths, or a start without a length.
  static StatusOr<TensorSlice> FromProto(const proto::TensorSliceProto& proto);
  void ToProto(proto::TensorSliceProto* proto) const;

  int rank() const { return static_cast<int>(extents_.size()); }
  const Extent& extent(int i) const { return extents_[i]; }
  // The shape of this slice of a tensor of shape `full`. Internal if the slice is not within that shape.
  StatusOr<Shape> ShapeWithin(const Shape& full) const;
  // The same slice with each kAll replaced by the dimension in `full`.
  // REQUIRES: ShapeWithin is OK.
  TensorSlice Resolved(const Shape& full) const;
  std::string ToString() const;

 private:
  std::vector<Extent> extents_;
};

// Whether two resolved slices have an element in common. REQUIRES: the same rank.
bool Overlap(const TensorSlice& a, const TensorSlice& b);
// Sets `*both` to the intersection of two resolved slices; returns false if it is empty. REQUIRES: the same rank.
bool Intersect(const TensorSlice& a, const TensorSlice& b, TensorSlice* both);

// The key under which the bytes of one slice of `name` are stored.
std::string SliceKey(std::string_view name, const TensorSlice& slice);

// The shape of a whole tensor and one slice of it, such as "4 2 0,2:-" in text.
struct ShapeAndSlice {
  Shape shape;
  TensorSlice slice;
  Shape slice_shape;
};
// InvalidArgument if `text` is not of that form; Internal if the slice is not within the shape.
StatusOr<ShapeAndSlice> ParseShapeAndSlice(const std::string& text);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_TENSOR_SLICE_H_
