// The kernels of ZerosLike and AddN for variants: for lists, optionals and ragged tensors.
#include <algorithm>
#include <cstring>

#include "core/text/strings.h"
#include "kernels/cpu/array_math.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/list/tensor_list.h"
#include "kernels/cpu/numbers.h"

namespace tensorbraid::cpu {
namespace {

// The limit of the nesting of lists in lists, so that a graph cannot exhaust the call stack.
constexpr int kMaxNesting = 64;

StatusOr<Tensor> ZerosLikeTensor(const Tensor& t, int depth);

StatusOr<std::vector<Tensor>> ZerosLikeAll(const std::vector<Tensor>& tensors, int depth) {
  std::vector<Tensor> zeros;
  for (const Tensor& t : tensors) {
    if (!t.is_valid()) {
      zeros.emplace_back();
      continue;
    }
    TF_ASSIGN_OR_RETURN(Tensor z, ZerosLikeTensor(t, depth));
    zeros.push_back(std::move(z));
  }
  return zeros;
}

StatusOr<Tensor> ZerosLikeTensor(const Tensor& t, int depth) {
  if (t.dtype() != DType::kVariant) return Zeros(t.dtype(), t.shape());
  if (depth > kMaxNesting) return InvalidArgument("variants are nested too deeply");
  TF_ASSIGN_OR_RETURN(VariantValue * value, VariantOf(t));
  if (const auto* list = dynamic_cast<TensorListValue*>(value)) {
    auto zeros = MakeRef<TensorListValue>(list->element_dtype, list->element_shape);
    zeros->max_elements = list->max_elements;
    TF_ASSIGN_OR_RETURN(zeros->elements, ZerosLikeAll(list->elements, depth + 1));
    return MakeVariantTensor(std::move(zeros));
  }
  if (const auto* optional = dynamic_cast<OptionalValue*>(value)) {
    if (!optional->has_value) return MakeVariantTensor(MakeRef<OptionalValue>());
    TF_ASSIGN_OR_RETURN(auto zeros, ZerosLikeAll(optional->components, depth + 1));
    return MakeVariantTensor(MakeRef<OptionalValue>(std::move(zeros)));
  }
  if (const auto* ragged = dynamic_cast<RaggedTensorValue*>(value)) {
    TF_ASSIGN_OR_RETURN(Tensor zeros, ZerosLikeTensor(ragged->values, depth + 1));
    return MakeVariantTensor(MakeRef<RaggedTensorValue>(ragged->splits, std::move(zeros)));
  }
  return InvalidArgument("cannot make zeros like ", value->DebugString());
}

bool SameSplits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.raw_data(), b.raw_data(), a.num_bytes()) == 0;
}

StatusOr<Tensor> AddTensors(const Tensor& a, const Tensor& b, int depth);

StatusOr<std::vector<Tensor>> AddAll(const std::vector<Tensor>& a, const std::vector<Tensor>& b, int depth) {
  if (a.size() != b.size())
    return InvalidArgument("Trying to add two lists of tensors with different lengths: one has ", a.size(),
                           ", the other ", b.size());
  std::vector<Tensor> sums;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].is_valid() || !b[i].is_valid()) {
      sums.push_back(a[i].is_valid() ? a[i] : b[i]);
      continue;
    }
    TF_ASSIGN_OR_RETURN(Tensor sum, AddTensors(a[i], b[i], depth));
    sums.push_back(std::move(sum));
  }
  return sums;
}

StatusOr<Tensor> AddTensors(const Tensor& a, const Tensor& b, int depth) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) {
    return InvalidArgument("cannot add ", a.dtype(), a.shape(), " and ", b.dtype(), b.shape());
  }
  if (a.dtype() == DType::kVariant) {
    if (depth > kMaxNesting) return InvalidArgument("variants are nested too deeply");
    TF_ASSIGN_OR_RETURN(VariantValue * va, VariantOf(a));
    TF_ASSIGN_OR_RETURN(VariantValue * vb, VariantOf(b));
    const auto* la = dynamic_cast<TensorListValue*>(va);
    const auto* lb = dynamic_cast<TensorListValue*>(vb);
    if (la != nullptr && lb != nullptr) {
      if (!la->element_shape.IsCompatibleWith(lb->element_shape)) {
        return InvalidArgument("Trying to add two lists of tensors with incompatible element shapes, ",
                               la->element_shape, " and ", lb->element_shape);
      }
      TF_ASSIGN_OR_RETURN(Shape shape, la->element_shape.MergeWith(lb->element_shape));
      auto sum = MakeRef<TensorListValue>(la->element_dtype, std::move(shape));
      sum->max_elements = la->max_elements;
      TF_ASSIGN_OR_RETURN(sum->elements, AddAll(la->elements, lb->elements, depth + 1));
      return MakeVariantTensor(std::move(sum));
    }
    const auto* oa = dynamic_cast<OptionalValue*>(va);
    const auto* ob = dynamic_cast<OptionalValue*>(vb);
    if (oa != nullptr && ob != nullptr && oa->has_value == ob->has_value) {
      if (!oa->has_value) return MakeVariantTensor(MakeRef<OptionalValue>());
      TF_ASSIGN_OR_RETURN(auto sums, AddAll(oa->components, ob->components, depth + 1));
      return MakeVariantTensor(MakeRef<OptionalValue>(std::move(sums)));
    }
    const auto* ra = dynamic_cast<RaggedTensorValue*>(va);
    const auto* rb = dynamic_cast<RaggedTensorValue*>(vb);
    if (ra != nullptr && rb != nullptr) {
      if (!std::equal(ra->splits.begin(), ra->splits.end(), rb->splits.begin(), rb->splits.end(), SameSplits)) {
        return InvalidArgument("cannot add ragged tensors with different row splits");
      }
      TF_ASSIGN_OR_RETURN(Tensor sum, AddTensors(ra->values, rb->values, depth + 1));
      return MakeVariantTensor(MakeRef<RaggedTensorValue>(ra->splits, std::move(sum)));
    }
    return InvalidArgument("cannot add ", va->DebugString(), " and ", vb->DebugString());
  }
  TF_ASSIGN_OR_RETURN(Tensor sum, Tensor::Create(a.dtype(), a.shape()));
  bool found = false;
  ForEachNumberType([&]<typename T>() {
    if (DTypeOf<T>::value != a.dtype()) return;
    found = true;
    Combine(a.data<T>().data(), b.data<T>().data(), sum.inplace_data<T>().data(), a.num_elements(),
            [](const auto& x, const auto& y) { return x + y; });
  });
  if (!found) return InvalidArgument("cannot add tensors of ", a.dtype());
  return sum;
}

}  // namespace

Status VariantAddN(KernelContext& ctx) {
  Tensor sum = ctx.input(0);
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    TF_ASSIGN_OR_RETURN(sum, AddTensors(sum, ctx.input(i), /*depth=*/0));
  }
  ctx.set_output(0, std::move(sum));
  return OkStatus();
}

Status VariantZerosLike(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    TF_ASSIGN_OR_RETURN(const Tensor zeros,
                        ZerosLikeTensor(MakeVariantTensor(in.data<Variant>()[static_cast<size_t>(i)].value), 0));
    out->inplace_data<Variant>()[static_cast<size_t>(i)] = zeros.data<Variant>()[0];
  }
  return OkStatus();
}

}  // namespace tensorbraid::cpu
