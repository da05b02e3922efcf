// What an element of a tensor of dtype variant is.
#ifndef TENSORBRAID_CORE_VARIANT_H_
#define TENSORBRAID_CORE_VARIANT_H_

#include <string>

#include "tensorbraid/buffer.h"
#include "tensorbraid/dtype.h"
#include "tensorbraid/status.h"
#include "tensorbraid/tensor.h"

namespace tensorbraid {

// Base of the values that variants hold: lists of tensors, optional values, datasets. Immutable while shared, as a
// tensor is: only the holder of the single reference may change one. Derived classes have
// `static constexpr const char* kTypeName` for messages.
class VariantValue : public RefCounted {
 public:
  // Short text for messages: "list of 3 float32[2]".
  virtual std::string DebugString() const = 0;
};

struct Variant {
  RefPtr<VariantValue> value;  // null: nothing, as in a new tensor
};

template <>
struct DTypeOf<Variant> {
  static constexpr DType value = DType::kVariant;
};

// A scalar variant tensor.
Tensor MakeVariantTensor(RefPtr<VariantValue> value);
// The value of a scalar variant tensor. InvalidArgument when it is none or empty.
StatusOr<VariantValue*> VariantOf(const Tensor& tensor);
// "there is nothing where a TYPE is wanted".
Status WrongVariant(const VariantValue* have, const char* want);

// The value as a T. InvalidArgument when it is something else.
template <typename T>
StatusOr<T*> VariantAs(const Tensor& tensor) {
  TF_ASSIGN_OR_RETURN(VariantValue * value, VariantOf(tensor));
  T* t = dynamic_cast<T*>(value);
  if (t == nullptr) return WrongVariant(value, T::kTypeName);
  return t;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_VARIANT_H_
