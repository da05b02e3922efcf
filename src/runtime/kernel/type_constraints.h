// The dtypes that a kernel supports. These classes are constexpr, so that constraints can be constant data. With
// containers for each of about a thousand kernels, most of the registration code would build containers.
#ifndef TENSORBRAID_RUNTIME_KERNEL_TYPE_CONSTRAINTS_H_
#define TENSORBRAID_RUNTIME_KERNEL_TYPE_CONSTRAINTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "tensorbraid/core/dtype.h"

namespace tensorbraid {

// A set of dtypes, without reference dtypes.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(std::initializer_list<DType> types) {
    for (DType t : types) Insert(t);
  }
  constexpr void Insert(DType t) { bits_ |= uint32_t{1} << static_cast<int>(t); }
  constexpr bool Contains(DType t) const { return !IsRef(t) && (bits_ >> static_cast<int>(t) & 1) != 0; }
  constexpr friend DTypeSet operator|(DTypeSet a, DTypeSet b) {
    a.bits_ |= b.bits_;
    return a;
  }
  // Ordered by enum value.
  std::vector<DType> ToVector() const {
    std::vector<DType> types;
    for (int i = 0; i < 32; ++i) {
      if (Contains(DType(i))) types.push_back(DType(i));
    }
    return types;
  }

 private:
  uint32_t bits_ = 0;
};

struct TypeConstraint {
  std::string_view attr;  // a string literal
  DTypeSet types;
};

// The values of type attributes that a kernel supports: {{"T", {kFloat32}}}. Attributes that are not listed may have
// any value.
class TypeConstraints {
 public:
  constexpr TypeConstraints() = default;
  // REQUIRES: at most kMost constraints.
  constexpr TypeConstraints(std::initializer_list<TypeConstraint> list) {
    for (const TypeConstraint& c : list) constraints_[size_++] = c;
  }
  explicit TypeConstraints(const std::vector<TypeConstraint>& list) {
    for (const TypeConstraint& c : list) constraints_[size_++] = c;
  }
  constexpr const TypeConstraint* begin() const { return constraints_.data(); }
  constexpr const TypeConstraint* end() const { return begin() + size_; }

  static constexpr size_t kMost = 4;

 private:
  std::array<TypeConstraint, kMost> constraints_;
  size_t size_ = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_TYPE_CONSTRAINTS_H_
