// The element type of tensors of dtype variant.
#ifndef TENSORBRAID_CORE_VALUES_VARIANT_H_
#define TENSORBRAID_CORE_VALUES_VARIANT_H_

#include <string>

#include "tensorbraid/core/buffer.h"
#include "tensorbraid/core/dtype.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Base of the values that variants hold: lists of tensors, optional values, datasets. Like a tensor, a value is
// immutable while it is shared: it may be changed only through its single reference. A derived class has a `static
// constexpr const char* kTypeName`, which messages use.
class VariantValue : public RefCounted {
 public:
  // Short text for messages: "list of 3 float32[2]".
  virtual std::string DebugString() const = 0;
};

struct Variant {
  RefPtr<VariantValue> value;  // null if the variant is empty, as in a new tensor
};

template <>
struct DTypeOf<Variant> {
  static constexpr DType value = DType::kVariant;
};

// Returns a scalar variant tensor that holds `value`.
Tensor MakeVariantTensor(RefPtr<VariantValue> value);
// Returns the value of a scalar variant tensor. InvalidArgument if `tensor` is not a scalar variant or its variant is
// empty.
StatusOr<VariantValue*> VariantOf(const Tensor& tensor);
// The error for a variant of another type: "the variant is [have], not a [want]".
Status WrongVariant(const VariantValue* have, const char* want);

// Like VariantOf, but returns the value as a T. InvalidArgument if it has another type.
template <typename T>
StatusOr<T*> VariantAs(const Tensor& tensor) {
  TF_ASSIGN_OR_RETURN(VariantValue * value, VariantOf(tensor));
  T* t = dynamic_cast<T*>(value);
  if (t == nullptr) return WrongVariant(value, T::kTypeName);
  return t;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_VALUES_VARIANT_H_
