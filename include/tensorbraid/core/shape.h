// The shape of a tensor, fully or partly known.
#ifndef TENSORBRAID_CORE_SHAPE_H_
#define TENSORBRAID_CORE_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Dimension sizes, outermost first. {} is a scalar. A size of -1 is unknown; in Shape::Unknown() even the number of
// dimensions is unknown. The shape of a Tensor is always fully known. Value type; reading from several threads is safe.
class Shape {
 public:
  static constexpr int64_t kUnknownDim = -1;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
  explicit Shape(std::span<const int64_t> dims) : dims_(dims.begin(), dims.end()) {}
  explicit Shape(const std::vector<int64_t>& dims) : dims_(dims.begin(), dims.end()) {}
  static Shape Unknown() {
    Shape s;
    s.rank_known_ = false;
    return s;
  }
  // A shape of known rank in which every size is unknown.
  static Shape UnknownOfRank(int rank) { return Shape(std::vector<int64_t>(rank, kUnknownDim)); }

  bool has_rank() const { return rank_known_; }
  // REQUIRES: has_rank().
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t dim(int i) const { return dims_[i]; }
  void set_dim(int i, int64_t size) { dims_[i] = size; }
  void AddDim(int64_t size) { dims_.push_back(size); }
  std::span<const int64_t> dims() const { return {dims_.data(), dims_.size()}; }
  bool is_fully_defined() const;
  bool is_scalar() const { return rank_known_ && dims_.empty(); }

  // The product of all sizes; -1 if the rank or a size is unknown. Also -1 if the product of all sizes other than 0
  // does not fit int64. So no product of some sizes of an existing tensor overflows, even if the tensor has no
  // elements.
  int64_t num_elements() const;

  // Whether this shape and `other` can be the shape of one tensor: unknown parts match anything.
  bool IsCompatibleWith(const Shape& other) const;
  // Combines what is known in either shape; InvalidArgument when they contradict each other.
  StatusOr<Shape> MergeWith(const Shape& other) const;

  // "[2,?]", "[]", "<unknown>".
  std::string ToString() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.rank_known_ == b.rank_known_ && a.dims_ == b.dims_;
  }

 private:
  absl::InlinedVector<int64_t, 4> dims_;
  bool rank_known_ = true;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SHAPE_H_
