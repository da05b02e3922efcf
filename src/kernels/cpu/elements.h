// Helpers for kernels that only move data. Such a kernel needs one instance for each size of an element, not for each
// dtype. Also reads shapes, axes and lists of integers from tensors.
#ifndef TENSORBRAID_KERNELS_CPU_ELEMENTS_H_
#define TENSORBRAID_KERNELS_CPU_ELEMENTS_H_

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/container/inlined_vector.h"
#include "core/text/strings.h"
#include "core/values/resource_handle.h"
#include "core/values/variant.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// An element of N bytes. It may stand for an element of any type, so it has the attribute may_alias.
template <int N>
struct __attribute__((may_alias)) Bits {
  alignas(N) char bytes[N];
};

// Calls f.template operator()<E>() with an element type of the size of `dtype`: Bits<...>, std::string, ResourceHandle
// or Variant.
template <typename F>
Status ForElementsOf(DType dtype, const F& f) {
  if (dtype == DType::kString) return f.template operator()<std::string>();
  if (dtype == DType::kResource) return f.template operator()<ResourceHandle>();
  if (dtype == DType::kVariant) return f.template operator()<Variant>();
  if (IsPlain(dtype)) {
    switch (DTypeSize(dtype)) {
      case 1:
        return f.template operator()<Bits<1>>();
      case 2:
        return f.template operator()<Bits<2>>();
      case 4:
        return f.template operator()<Bits<4>>();
      case 8:
        return f.template operator()<Bits<8>>();
      case 16:
        return f.template operator()<Bits<16>>();
    }
  }
  return Unimplemented("cannot copy elements of type ", dtype);
}

template <typename E>
const E* Elements(const Tensor& t) {
  return static_cast<const E*>(t.raw_data());
}
template <typename E>
E* MutableElements(Tensor& t) {
  return static_cast<E*>(t.inplace_raw_data());
}

template <typename E>
void CopyElements(const E* from, int64_t n, E* to) {
  if constexpr (std::is_trivially_copyable_v<E>) {
    if (n > 0) std::memcpy(to, from, static_cast<size_t>(n) * sizeof(E));
  } else {
    std::copy_n(from, n, to);
  }
}

// Writes `element` n times. The compiler vectorises a loop of memcpy, but not std::fill_n: for it, elements are
// structs, and might change with each store.
template <typename E>
void RepeatElement(const E& element, int64_t n, E* to) {
  if constexpr (std::is_trivially_copyable_v<E>) {
    const E copy = element;
    for (int64_t i = 0; i < n; ++i) std::memcpy(to + i, &copy, sizeof(E));
  } else {
    std::fill_n(to, n, element);
  }
}

// Zero, false, the empty string, or a handle or variant that is empty.
template <typename E>
E ZeroElement() {
  return E{};
}

using IntVector = absl::InlinedVector<int64_t, 6>;

// The integers of a scalar or vector. Returns InvalidArgument, with `what` as the name of the tensor, for other ranks
// and dtypes.
inline StatusOr<IntVector> IntegersOf(const Tensor& t, const char* what) {
  if (t.shape().rank() > 1) return InvalidArgument(what, " must be a vector, got shape ", t.shape());
  const auto widen = [](const auto& v) { return IntVector(v.begin(), v.end()); };
  switch (t.dtype()) {
    case DType::kInt32:
      return widen(t.data<int32_t>());
    case DType::kInt64:
      return widen(t.data<int64_t>());
    case DType::kInt16:
      return widen(t.data<int16_t>());
    case DType::kInt8:
      return widen(t.data<int8_t>());
    default:
      return InvalidArgument(what, " must be integers, got ", t.dtype());
  }
}

// The integer of a scalar, or of a vector of one element.
inline StatusOr<int64_t> IntegerOf(const Tensor& t, const char* what) {
  TF_ASSIGN_OR_RETURN(const IntVector v, IntegersOf(t, what));
  if (v.size() != 1) return InvalidArgument(what, " must be one integer, got shape ", t.shape());
  return v[0];
}

// The shape that a vector of sizes describes; negative sizes are errors.
inline StatusOr<Shape> ShapeFrom(const Tensor& t, const char* what) {
  TF_ASSIGN_OR_RETURN(const IntVector sizes, IntegersOf(t, what));
  for (int64_t size : sizes) {
    if (size < 0) return InvalidArgument(what, " must not be negative, got ", t.ToString());
  }
  Shape shape{std::span<const int64_t>(sizes.data(), sizes.size())};
  if (shape.num_elements() < 0) return InvalidArgument(what, " ", shape, " has too many elements");
  return shape;
}

// The dimension that `axis` names; a negative axis counts from the end.
inline StatusOr<int> AxisOf(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return InvalidArgument("axis ", axis, " is out of range for ", rank, " dimensions");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

// The product of sizes [begin, end).
inline int64_t SizeOf(const Shape& s, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) n *= s.dim(i);
  return n;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_ELEMENTS_H_
