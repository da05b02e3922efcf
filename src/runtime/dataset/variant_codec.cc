#include "runtime/dataset/variant_codec.h"

#include <cstring>
#include <vector>

#include "core/text/strings.h"
#include "core/values/bools.h"
#include "runtime/dataset/variant_values.h"

namespace tensorbraid {
namespace {

// Limit on the nesting of variants: more than any program needs, and low enough for the stack.
constexpr int kMaxNesting = 16;
enum Kind : uint8_t { kNothing, kList, kOptional, kTensor, kRagged };

// Numbers are written in native byte order. All tasks of a cluster must have the same byte order, which the elements of
// tensors require too.
class Writer {
 public:
  template <typename T>
  void Number(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void ShapeOf(const Shape& shape) {
    Number<int16_t>(shape.has_rank() ? static_cast<int16_t>(shape.rank()) : int16_t{-1});
    if (!shape.has_rank()) return;
    for (int64_t d : shape.dims()) Number(d);
  }
  Status Elements(const Tensor& t, int depth) {
    if (IsPlain(t.dtype())) {
      if (t.num_bytes() > 0) out_.append(static_cast<const char*>(t.raw_data()), t.num_bytes());
      return OkStatus();
    }
    if (t.dtype() == kString) {
      for (const std::string& s : t.data<std::string>()) {
        Number<uint64_t>(s.size());
        out_ += s;
      }
      return OkStatus();
    }
    if (t.dtype() != DType::kVariant)
      return InvalidArgument("a ", t.dtype(), " tensor cannot be sent to another task or saved");
    for (const Variant& v : t.data<Variant>()) TF_RETURN_IF_ERROR(Value(v.value.get(), depth));
    return OkStatus();
  }
  std::string Take() { return std::move(out_); }

 private:
  Status Value(const VariantValue* value, int depth) {
    if (depth > kMaxNesting) return InvalidArgument("variants are nested too deeply to be sent to another task");
    if (value == nullptr) {
      Number<uint8_t>(kNothing);
      return OkStatus();
    }
    if (const auto* list = dynamic_cast<const TensorListValue*>(value)) {
      Number<uint8_t>(kList);
      Number(static_cast<int32_t>(list->element_dtype));
      ShapeOf(list->element_shape);
      Number(list->max_elements);
      return Tensors(list->elements, depth);
    }
    if (const auto* optional = dynamic_cast<const OptionalValue*>(value)) {
      Number<uint8_t>(kOptional);
      Number<uint8_t>(optional->has_value);
      return Tensors(optional->components, depth);
    }
    if (const auto* tensor = dynamic_cast<const TensorValue*>(value)) {
      Number<uint8_t>(kTensor);
      return Tensors({tensor->tensor}, depth);
    }
    if (const auto* ragged = dynamic_cast<const RaggedTensorValue*>(value)) {
      Number<uint8_t>(kRagged);
      std::vector<Tensor> tensors = ragged->splits;
      tensors.push_back(ragged->values);
      return Tensors(tensors, depth);
    }
    return InvalidArgument(value->DebugString(), " cannot be sent to another task or saved");
  }
  Status Tensors(const std::vector<Tensor>& tensors, int depth) {
    Number<uint64_t>(tensors.size());
    for (const Tensor& t : tensors) {
      Number(static_cast<int32_t>(t.dtype()));
      if (!t.is_valid()) continue;
      ShapeOf(t.shape());
      TF_RETURN_IF_ERROR(Elements(t, depth + 1));
    }
    return OkStatus();
  }

  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool at_end() const { return bytes_.empty(); }

  StatusOr<Tensor> Elements(DType dtype, const Shape& shape, int depth) {
    // Every element takes at least one byte.
    const int64_t n = shape.is_fully_defined() ? shape.num_elements() : -1;
    if (n < 0 || static_cast<uint64_t>(n) > bytes_.size()) return Bad();
    if (!IsPlain(dtype) && dtype != kString && dtype != DType::kVariant) return Bad();
    if (IsPlain(dtype) && static_cast<uint64_t>(n) * DTypeSize(dtype) > bytes_.size()) return Bad();
    TF_ASSIGN_OR_RETURN(Tensor t, Tensor::Create(dtype, shape));
    if (IsPlain(dtype)) {
      if (t.num_bytes() > 0) std::memcpy(t.inplace_raw_data(), bytes_.data(), t.num_bytes());
      NormalizeBools(&t);
      bytes_.remove_prefix(t.num_bytes());
    } else if (dtype == kString) {
      for (std::string& s : t.inplace_data<std::string>()) {
        TF_ASSIGN_OR_RETURN(const auto size, Number<uint64_t>());
        if (size > bytes_.size()) return Bad();
        s.assign(bytes_.substr(0, size));
        bytes_.remove_prefix(size);
      }
    } else {
      for (Variant& v : t.inplace_data<Variant>()) {
        TF_ASSIGN_OR_RETURN(v.value, Value(depth));
      }
    }
    return t;
  }

 private:
  static Status Bad() { return InvalidArgument("the bytes do not encode a variant tensor"); }
  template <typename T>
  StatusOr<T> Number() {
    T value;
    if (bytes_.size() < sizeof value) return Bad();
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  StatusOr<Shape> ShapeOf() {
    TF_ASSIGN_OR_RETURN(const auto rank, Number<int16_t>());
    if (rank < 0) return Shape::Unknown();
    if (rank > 254) return Bad();  // TensorFlow's limit
    Shape shape;
    for (int i = 0; i < rank; ++i) {
      TF_ASSIGN_OR_RETURN(const auto d, Number<int64_t>());
      if (d < -1) return Bad();
      shape.AddDim(d);
    }
    return shape;
  }
  StatusOr<RefPtr<VariantValue>> Value(int depth) {
    if (depth > kMaxNesting) return Bad();
    TF_ASSIGN_OR_RETURN(const auto kind, Number<uint8_t>());
    if (kind == kNothing) return RefPtr<VariantValue>();
    if (kind == kList) {
      TF_ASSIGN_OR_RETURN(const auto dtype, Number<int32_t>());
      if (!IsKnownDType(dtype)) return Bad();
      TF_ASSIGN_OR_RETURN(Shape shape, ShapeOf());
      auto list = MakeRef<TensorListValue>(DType(dtype), std::move(shape));
      TF_ASSIGN_OR_RETURN(list->max_elements, Number<int64_t>());
      TF_ASSIGN_OR_RETURN(list->elements, Tensors(depth));
      return RefPtr<VariantValue>(std::move(list));
    }
    if (kind == kTensor) {
      TF_ASSIGN_OR_RETURN(auto one, Tensors(depth));
      if (one.size() != 1 || !one[0].is_valid()) return Bad();
      return RefPtr<VariantValue>(MakeRef<TensorValue>(std::move(one[0])));
    }
    if (kind == kRagged) {
      TF_ASSIGN_OR_RETURN(auto tensors, Tensors(depth));
      if (tensors.empty()) return Bad();
      for (const Tensor& t : tensors) {
        if (!t.is_valid()) return Bad();
      }
      Tensor values = std::move(tensors.back());
      tensors.pop_back();
      for (const Tensor& splits : tensors) {
        if (splits.shape().rank() != 1 || splits.num_elements() == 0) return Bad();
      }
      return RefPtr<VariantValue>(MakeRef<RaggedTensorValue>(std::move(tensors), std::move(values)));
    }
    if (kind != kOptional) return Bad();
    TF_ASSIGN_OR_RETURN(const auto has_value, Number<uint8_t>());
    TF_ASSIGN_OR_RETURN(auto components, Tensors(depth));
    if (has_value == 0) return RefPtr<VariantValue>(MakeRef<OptionalValue>());
    return RefPtr<VariantValue>(MakeRef<OptionalValue>(std::move(components)));
  }
  StatusOr<std::vector<Tensor>> Tensors(int depth) {
    TF_ASSIGN_OR_RETURN(const auto count, Number<uint64_t>());
    if (count > bytes_.size()) return Bad();
    std::vector<Tensor> tensors;
    for (uint64_t i = 0; i < count; ++i) {
      TF_ASSIGN_OR_RETURN(const auto dtype, Number<int32_t>());
      if (dtype == 0) {
        tensors.emplace_back();
        continue;
      }
      if (!IsKnownDType(dtype)) return Bad();
      TF_ASSIGN_OR_RETURN(const Shape shape, ShapeOf());
      TF_ASSIGN_OR_RETURN(Tensor t, Elements(DType(dtype), shape, depth + 1));
      tensors.push_back(std::move(t));
    }
    return tensors;
  }

  std::string_view bytes_;
};

}  // namespace

StatusOr<std::string> EncodeVariants(const Tensor& tensor) {
  Writer writer;
  TF_RETURN_IF_ERROR(writer.Elements(tensor, 0));
  return writer.Take();
}

StatusOr<Tensor> DecodeVariants(const Shape& shape, std::string_view bytes) {
  Reader reader(bytes);
  TF_ASSIGN_OR_RETURN(Tensor tensor, reader.Elements(DType::kVariant, shape, 0));
  if (!reader.at_end()) return InvalidArgument("a variant tensor has bytes left over");
  return tensor;
}

}  // namespace tensorbraid
