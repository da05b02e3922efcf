// A tensor as an element of a variant tensor.
#ifndef TENSORBRAID_CORE_VALUES_TENSOR_VALUE_H_
#define TENSORBRAID_CORE_VALUES_TENSOR_VALUE_H_

#include <string>
#include <utility>

#include "core/text/strings.h"
#include "core/values/variant.h"

namespace tensorbraid {

// Holds a tensor as the value of a variant, for example a component of a sparse tensor in a dataset.
class TensorValue final : public VariantValue {
 public:
  static constexpr const char* kTypeName = "tensor";
  explicit TensorValue(Tensor t) : tensor(std::move(t)) {}

  const Tensor tensor;

  std::string DebugString() const override { return StrCat("a tensor ", tensor.dtype(), tensor.shape()); }
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_VALUES_TENSOR_VALUE_H_
