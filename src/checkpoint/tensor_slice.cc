#include "checkpoint/tensor_slice.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "checkpoint/coding.h"
#include "checkpoint/tensor_bundle.pb.h"
#include "core/text/strings.h"

namespace tensorbraid {

StatusOr<TensorSlice> TensorSlice::Parse(std::string_view text) {
  std::vector<Extent> extents;
  for (const std::string& part : StrSplit(text, ':')) {
    Extent extent;
    if (part != "-") {
      const std::vector<std::string> numbers = StrSplit(part, ',');
      if (numbers.size() != 2 || !absl::SimpleAtoi(numbers[0], &extent.start) ||
          !absl::SimpleAtoi(numbers[1], &extent.length)) {
        return InvalidArgument("expected 'start,length' or '-' for each dimension of a slice, got '", part, "' in '",
                               text, "'");
      }
      if (extent.start < 0 || extent.length <= 0) {
        return InvalidArgument("a slice must have a start of at least 0 and a positive length, got '", part, "' in '",
                               text, "'");
      }
    }
    extents.push_back(extent);
  }
  return TensorSlice(std::move(extents));
}

StatusOr<TensorSlice> TensorSlice::FromProto(const proto::TensorSliceProto& proto) {
  std::vector<Extent> extents;
  for (const auto& e : proto.extent()) {
    const bool all = e.has_length_case() == proto::TensorSliceProto::Extent::HAS_LENGTH_NOT_SET;
    if (e.start() < 0 || (all ? e.start() != 0 : e.length() < 0)) {
      return DataLoss("a slice cannot begin at ", e.start(), " and have ", e.length(), " elements");
    }
    extents.push_back({e.start(), all ? kAll : e.length()});
  }
  return TensorSlice(std::move(extents));
}

void TensorSlice::ToProto(proto::TensorSliceProto* proto) const {
  for (const Extent& e : extents_) {
    auto* extent = proto->add_extent();
    if (e.length == kAll) continue;
    extent->set_start(e.start);
    extent->set_length(e.length);
  }
}

StatusOr<Shape> TensorSlice::ShapeWithin(const Shape& full) const {
  if (full.rank() != rank()) {
    return Internal("the slice ", ToString(), " has ", rank(), " dimensions, but the shape ", full, " has ",
                    full.rank());
  }
  Shape shape = full;
  for (int i = 0; i < rank(); ++i) {
    const Extent& e = extents_[i];
    if (e.length == kAll) continue;
    if (e.start > full.dim(i) || e.length > full.dim(i) - e.start) {
      return Internal("the slice ", ToString(), " goes beyond dimension ", i, " of the shape ", full);
    }
    shape.set_dim(i, e.length);
  }
  return shape;
}

TensorSlice TensorSlice::Resolved(const Shape& full) const {
  TensorSlice resolved = *this;
  for (int i = 0; i < rank(); ++i) {
    if (extents_[i].length == kAll) resolved.extents_[i] = {0, full.dim(i)};
  }
  return resolved;
}

std::string TensorSlice::ToString() const {
  std::string text;
  for (const Extent& e : extents_) {
    if (!text.empty()) text += ':';
    text += e.length == kAll ? "-" : StrCat(e.start, ",", e.length);
  }
  return text;
}

bool Overlap(const TensorSlice& a, const TensorSlice& b) {
  for (int i = 0; i < a.rank(); ++i) {
    const TensorSlice::Extent& x = a.extent(i);
    const TensorSlice::Extent& y = b.extent(i);
    if (std::max(x.start, y.start) >= std::min(x.start + x.length, y.start + y.length)) return false;
  }
  return true;
}

bool Intersect(const TensorSlice& a, const TensorSlice& b, TensorSlice* both) {
  if (!Overlap(a, b)) return false;
  std::vector<TensorSlice::Extent> extents;
  for (int i = 0; i < a.rank(); ++i) {
    const TensorSlice::Extent& x = a.extent(i);
    const TensorSlice::Extent& y = b.extent(i);
    const int64_t start = std::max(x.start, y.start);
    extents.push_back({start, std::min(x.start + x.length, y.start + y.length) - start});
  }
  *both = TensorSlice(std::move(extents));
  return true;
}

std::string SliceKey(std::string_view name, const TensorSlice& slice) {
  std::string key;
  // Sorts before the names of all tensors, none of which begins with a byte 0.
  PutOrdered(uint64_t{0}, &key);
  PutOrdered(name, &key);
  PutOrdered(static_cast<uint64_t>(slice.rank()), &key);
  for (int i = 0; i < slice.rank(); ++i) {
    PutOrderedSigned(slice.extent(i).start, &key);
    PutOrderedSigned(slice.extent(i).length, &key);
  }
  return key;
}

StatusOr<ShapeAndSlice> ParseShapeAndSlice(const std::string& text) {
  const std::vector<std::string> parts = StrSplit(text, ' ');
  if (parts.size() < 2) return InvalidArgument("expected a shape and a slice such as '4 2 0,2:-', got '", text, "'");
  ShapeAndSlice parsed;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    int64_t size;
    if (!absl::SimpleAtoi(parts[i], &size) || size < 0) {
      return InvalidArgument("'", parts[i], "' is not the size of a dimension, in the shape and slice '", text, "'");
    }
    parsed.shape.AddDim(size);
  }
  if (parsed.shape.num_elements() < 0) return InvalidArgument("the shape of '", text, "' has too many elements");
  TF_ASSIGN_OR_RETURN(parsed.slice, TensorSlice::Parse(parts.back()));
  TF_ASSIGN_OR_RETURN(parsed.slice_shape, parsed.slice.ShapeWithin(parsed.shape));
  return parsed;
}

}  // namespace tensorbraid
