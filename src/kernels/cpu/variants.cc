// Optional values, sums and zeros of variants, and the odd ends of v2 control flow.
#include <cstdlib>
#include <limits>

#include "core/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/register.h"
#include "kernels/cpu/tensor_list.h"

namespace tensorbraid {
namespace {

// Lists hold lists; a graph that nests them without end must not exhaust the stack.
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
  return InvalidArgument("there are no zeros like ", value->DebugString());
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
    return InvalidArgument("cannot add ", va->DebugString(), " and ", vb->DebugString());
  }
  TF_ASSIGN_OR_RETURN(Tensor sum, Tensor::Create(a.dtype(), a.shape()));
  bool found = false;
  ForEachNumberType([&]<typename T>() {
    if (DTypeOf<T>::value != a.dtype()) return;
    found = true;
    Combine(a.data<T>().data(), b.data<T>().data(), sum.mutable_data<T>().data(), a.num_elements(),
            [](const auto& x, const auto& y) { return x + y; });
  });
  if (!found) return InvalidArgument("cannot add tensors of ", a.dtype());
  return sum;
}

Status VariantAddN(KernelContext& ctx) {
  Tensor sum = ctx.input(0);
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    TF_ASSIGN_OR_RETURN(sum, AddTensors(sum, ctx.input(i), 0));
  }
  ctx.set_output(0, std::move(sum));
  return OkStatus();
}

Status OptionalFromValue(KernelContext& ctx) {
  std::vector<Tensor> components;
  for (int i = 0; i < ctx.num_inputs(); ++i) components.push_back(ctx.TakeInput(i));
  ctx.set_output(0, MakeVariantTensor(MakeRef<OptionalValue>(std::move(components))));
  return OkStatus();
}

Status OptionalNone(KernelContext& ctx) {
  ctx.set_output(0, MakeVariantTensor(MakeRef<OptionalValue>()));
  return OkStatus();
}

Status OptionalHasValue(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto* optional, VariantAs<OptionalValue>(ctx.input(0)));
  ctx.set_output(0, Tensor::Scalar(optional->has_value));
  return OkStatus();
}

Status OptionalGetValue(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto* optional, VariantAs<OptionalValue>(ctx.input(0)));
  if (!optional->has_value) return InvalidArgument("the optional is empty: there is no value to take");
  const auto& shapes = ctx.node().attr<std::vector<Shape>>("output_shapes");
  if (static_cast<int>(optional->components.size()) != ctx.num_outputs()) {
    return InvalidArgument("the optional has ", optional->components.size(), " components, ", ctx.num_outputs(),
                           " are wanted");
  }
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    const Tensor& t = optional->components[static_cast<size_t>(i)];
    const Shape& shape = shapes[static_cast<size_t>(i)];
    if (t.dtype() != ctx.node().output_type(i) || !shape.IsCompatibleWith(t.shape())) {
      return InvalidArgument("component ", i, " of the optional is ", t.dtype(), t.shape(), ", ",
                             ctx.node().output_type(i), shape, " is wanted");
    }
    ctx.set_output(i, t);
  }
  return OkStatus();
}

// Whether a value counts as true, as in Python: a number that is not 0, a string or a tensor that is not empty.
Status ToBool(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (in.shape().rank() > 0) {
    ctx.set_output(0, Tensor::Scalar(in.num_elements() > 0));
    return OkStatus();
  }
  bool truth = false;
  if (in.dtype() == kString) {
    truth = !in.data<std::string>()[0].empty();
  } else if (in.dtype() == kBool) {
    truth = in.data<bool>()[0];
  } else {
    bool found = false;
    ForEachNumberType([&]<typename T>() {
      if (DTypeOf<T>::value != in.dtype()) return;
      found = true;
      truth = !(in.data<T>()[0] == T());
    });
    if (!found) return InvalidArgument("a ", in.dtype(), " is neither true nor false");
  }
  ctx.set_output(0, Tensor::Scalar(truth));
  return OkStatus();
}

// Stands for a value that the branch which runs does not have; nobody looks at it.
Status FakeParam(KernelContext& ctx) {
  Shape shape = ctx.node().attr<Shape>("shape");
  if (!shape.has_rank()) shape = Shape();
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim(i) < 0) shape.set_dim(i, 0);
  }
  TF_ASSIGN_OR_RETURN(Tensor t, Zeros(ctx.node().output_type(0), shape));
  ctx.set_output(0, std::move(t));
  return OkStatus();
}

// How often the body of a For runs.
Status ForTurns(KernelContext& ctx) {
  for (int i = 0; i < 3; ++i) {
    if (!ctx.input(i).shape().is_scalar()) {
      return InvalidArgument(i == 0   ? "start"
                             : i == 1 ? "limit"
                                      : "delta",
                             " must be a scalar, got shape ", ctx.input(i).shape());
    }
  }
  const int64_t start = ctx.input(0).scalar<int32_t>(), limit = ctx.input(1).scalar<int32_t>();
  const int64_t delta = ctx.input(2).scalar<int32_t>();
  const int64_t way = limit - start;
  if (way != 0 && (delta == 0 || (delta > 0) != (way > 0))) {
    return InvalidArgument("Invalid start/limit/delta: from ", start, " no steps of ", delta, " lead to ", limit);
  }
  const int64_t step = std::abs(delta);
  const int64_t turns = way == 0 ? 0 : (std::abs(way) + step - 1) / step;
  if (turns > std::numeric_limits<int32_t>::max()) return ResourceExhausted("a For of ", turns, " turns is too long");
  ctx.set_output(0, Tensor::Scalar(static_cast<int32_t>(turns)));
  return OkStatus();
}

}  // namespace

Status VariantZerosLike(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    TF_ASSIGN_OR_RETURN(const Tensor zeros,
                        ZerosLikeTensor(MakeVariantTensor(in.data<Variant>()[static_cast<size_t>(i)].value), 0));
    out->mutable_data<Variant>()[static_cast<size_t>(i)] = zeros.data<Variant>()[0];
  }
  return OkStatus();
}

void RegisterVariantKernels(KernelRegistry& r) {
  RegisterTensorListKernels(r);
  RegisterTensorListBulkKernels(r);
  r.Add("AddN", {{"T", {DType::kVariant}}}, VariantAddN);
  r.Add("OptionalFromValue", {}, OptionalFromValue);
  r.Add("OptionalNone", {}, OptionalNone);
  r.Add("OptionalHasValue", {}, OptionalHasValue);
  r.Add("OptionalGetValue", {}, OptionalGetValue);
  r.Add("ToBool", {}, ToBool);
  r.Add("FakeParam", {}, FakeParam);
  r.Add("_ForTurns", {}, ForTurns);
}

}  // namespace tensorbraid
