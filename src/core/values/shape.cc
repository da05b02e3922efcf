#include "tensorbraid/core/shape.h"

#include <algorithm>

#include "core/text/strings.h"

namespace tensorbraid {

bool Shape::is_fully_defined() const {
  return rank_known_ && std::all_of(dims_.begin(), dims_.end(), [](int64_t d) { return d >= 0; });
}

int64_t Shape::num_elements() const {
  if (!rank_known_) return -1;
  int64_t n = 1;
  bool empty = false;
  for (int64_t d : dims_) {
    if (d == 0) {
      empty = true;
    } else if (d < 0 || __builtin_mul_overflow(n, d, &n)) {
      return -1;
    }
  }
  return empty ? 0 : n;
}

bool Shape::IsCompatibleWith(const Shape& other) const {
  if (!rank_known_ || !other.rank_known_) return true;
  if (dims_.size() != other.dims_.size()) return false;
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i] >= 0 && other.dims_[i] >= 0 && dims_[i] != other.dims_[i]) return false;
  }
  return true;
}

StatusOr<Shape> Shape::MergeWith(const Shape& other) const {
  if (!rank_known_) return other;
  if (!other.rank_known_) return *this;
  if (!IsCompatibleWith(other)) return InvalidArgument("shapes ", *this, " and ", other, " are not compatible");
  Shape merged = *this;
  for (int i = 0; i < rank(); ++i) {
    if (merged.dim(i) < 0) merged.set_dim(i, other.dim(i));
  }
  return merged;
}

std::string Shape::ToString() const {
  if (!rank_known_) return "<unknown>";
  std::string s = "[";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i > 0) s += ',';
    s += dims_[i] < 0 ? "?" : std::to_string(dims_[i]);
  }
  return s + "]";
}

}  // namespace tensorbraid
