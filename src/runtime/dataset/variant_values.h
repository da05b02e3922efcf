// Values of variant tensors other than datasets: lists of tensors, optional values and ragged tensors.
#ifndef TENSORBRAID_RUNTIME_DATASET_VARIANT_VALUES_H_
#define TENSORBRAID_RUNTIME_DATASET_VARIANT_VALUES_H_

#include <string>
#include <vector>

#include "core/text/strings.h"
#include "core/values/tensor_value.h"
#include "core/values/variant.h"

namespace tensorbraid {

// TensorFlow's TensorList. Elements that have not been set are invalid tensors.
class TensorListValue final : public VariantValue {
 public:
  static constexpr const char* kTypeName = "tensor list";
  TensorListValue(DType dtype, Shape shape) : element_dtype(dtype), element_shape(std::move(shape)) {}

  DType element_dtype;
  Shape element_shape;  // all elements are compatible with it
  int64_t max_elements = -1;
  std::vector<Tensor> elements;

  RefPtr<TensorListValue> Copy() const {
    auto copy = MakeRef<TensorListValue>(element_dtype, element_shape);
    copy->max_elements = max_elements;
    copy->elements = elements;
    return copy;
  }
  std::string DebugString() const override {
    return StrCat("a list of ", elements.size(), " tensors ", element_dtype, element_shape);
  }
};

// TensorFlow's Optional: the components of an element, or nothing.
class OptionalValue final : public VariantValue {
 public:
  static constexpr const char* kTypeName = "optional";
  OptionalValue() = default;
  explicit OptionalValue(std::vector<Tensor> values) : has_value(true), components(std::move(values)) {}

  const bool has_value = false;
  const std::vector<Tensor> components;

  std::string DebugString() const override {
    return has_value ? StrCat("an optional of ", components.size(), " tensors") : "an empty optional";
  }
};

// TensorFlow's RaggedTensorVariant.
class RaggedTensorValue final : public VariantValue {
 public:
  static constexpr const char* kTypeName = "ragged tensor";
  RaggedTensorValue(std::vector<Tensor> row_splits, Tensor all_values)
      : splits(std::move(row_splits)), values(std::move(all_values)) {}

  const std::vector<Tensor> splits;  // the row splits of each level, the outermost first
  const Tensor values;

  std::string DebugString() const override {
    return StrCat("a ragged tensor of ", values.dtype(), " with ", splits.size(), " levels");
  }
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_DATASET_VARIANT_VALUES_H_
