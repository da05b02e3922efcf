#include "core/values/variant.h"

#include "core/text/strings.h"

namespace tensorbraid {

Tensor MakeVariantTensor(RefPtr<VariantValue> value) {
  Tensor t(DType::kVariant, {});
  t.inplace_data<Variant>()[0].value = std::move(value);
  return t;
}

StatusOr<VariantValue*> VariantOf(const Tensor& tensor) {
  if (tensor.dtype() != DType::kVariant || tensor.num_elements() != 1) {
    return InvalidArgument("expected a scalar variant, got ", tensor.dtype(), tensor.shape());
  }
  VariantValue* value = tensor.data<Variant>()[0].value.get();
  if (value == nullptr) return InvalidArgument("the variant is empty");
  return value;
}

Status WrongVariant(const VariantValue* have, const char* want) {
  return InvalidArgument("the variant is ", have->DebugString(), ", not a ", want);
}

}  // namespace tensorbraid
