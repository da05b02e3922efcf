// Converts lists of tensors to tensors, and tensors to lists.
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/list/tensor_list.h"
#include "runtime/kernel/element_memory.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The shape without dimension 0.
Shape Without0(const Shape& s) { return Shape(s.dims().subspan(1)); }

// The common shape of the elements, merged with `wanted` and the list's element shape. With `leading`, elements may
// differ in the size of the first dimension, which is unknown in the result.
StatusOr<Shape> CommonShape(const std::vector<Tensor>& elements, const TensorListValue& list, const Shape& wanted,
                            bool leading) {
  TF_ASSIGN_OR_RETURN(Shape shape, Merged(wanted, list.element_shape));
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!elements[i].is_valid()) continue;
    Shape of_element = elements[i].shape();
    if (leading) {
      if (of_element.rank() == 0) {
        return InvalidArgument("Concat saw a scalar shape at index ", i, " but requires at least vectors");
      }
      if (shape.has_rank() && shape.rank() != of_element.rank()) {
        return Incompatible(shape.rank() > 0 ? Without0(shape) : shape, Without0(of_element));
      }
      of_element.set_dim(0, Shape::kUnknownDim);
      Shape rest = shape;
      if (rest.has_rank() && rest.rank() > 0) rest.set_dim(0, Shape::kUnknownDim);
      if (!rest.IsCompatibleWith(of_element)) return Incompatible(Without0(rest), Without0(of_element));
      TF_ASSIGN_OR_RETURN(shape, rest.MergeWith(of_element));
      continue;
    }
    TF_ASSIGN_OR_RETURN(shape, Merged(shape, of_element));
  }
  return shape;
}

// Copies tensors one after the other to a new tensor. Each unset tensor becomes zeros of shape `unset`.
StatusOr<Tensor> JoinElements(KernelContext& ctx, DType dtype, const Shape& shape, const std::vector<Tensor>& parts,
                              const Shape& unset) {
  if (ElementMemory* const memory = ctx.device().element_memory(); memory != nullptr) {
    if (parts.empty()) return memory->Zeros(dtype, shape);
    std::vector<Tensor> all = parts;
    for (Tensor& part : all) {
      if (part.is_valid()) continue;
      TF_ASSIGN_OR_RETURN(part, memory->Zeros(dtype, unset));
    }
    return memory->Join(all, shape);
  }
  TF_ASSIGN_OR_RETURN(Tensor out, Tensor::Create(dtype, shape));
  const int64_t zero_elements = unset.is_fully_defined() ? unset.num_elements() : 0;
  TF_RETURN_IF_ERROR(ForElementsOf(dtype, [&]<typename E>() {
    E* to = MutableElements<E>(out);
    for (const Tensor& t : parts) {
      if (t.is_valid()) {
        CopyElements(Elements<E>(t), t.num_elements(), to);
        to += t.num_elements();
      } else {
        std::fill_n(to, zero_elements, ZeroElement<E>());
        to += zero_elements;
      }
    }
    return OkStatus();
  }));
  return out;
}

// A copy of elements [begin, end) of a tensor.
StatusOr<Tensor> Part(const Tensor& t, int64_t begin, int64_t end, const Shape& shape) {
  TF_ASSIGN_OR_RETURN(Tensor out, Tensor::Create(t.dtype(), shape));
  TF_RETURN_IF_ERROR(ForElementsOf(t.dtype(), [&]<typename E>() {
    CopyElements(Elements<E>(t) + begin, end - begin, MutableElements<E>(out));
    return OkStatus();
  }));
  return out;
}

Shape Stacked(int64_t n, const Shape& element) {
  Shape s({n});
  for (int64_t d : element.dims()) s.AddDim(d);
  return s;
}

// Stacks the elements to one tensor. `gathers` chooses the text of errors.
StatusOr<Tensor> StackElements(KernelContext& ctx, const TensorListValue& list, const std::vector<Tensor>& elements,
                               const Shape& wanted, bool gathers) {
  TF_ASSIGN_OR_RETURN(const Shape shape, CommonShape(elements, list, wanted, /*leading=*/false));
  if (!shape.is_fully_defined()) {
    if (elements.empty()) {
      return InvalidArgument("Tried to stack elements of an empty list with non-fully-defined element_shape: ", shape);
    }
    return InvalidArgument("Tried to ",
                           gathers ? "gather uninitialized tensors from a list with"
                                   : "stack list which only contains uninitialized tensors and has a",
                           " non-fully-defined element_shape: ", shape);
  }
  return JoinElements(ctx, list.element_dtype, Stacked(static_cast<int64_t>(elements.size()), shape), elements, shape);
}

Status Stack(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto* list, ListOf(ctx, 0, ctx.node().attr<DType>("element_dtype")));
  TF_ASSIGN_OR_RETURN(const Shape wanted, ElementShapeFrom(ctx.input(1)));
  const int64_t n = ctx.node().attr<int64_t>("num_elements");
  if (n != -1 && n != static_cast<int64_t>(list->elements.size())) {
    return InvalidArgument("expected a list of ", n, " elements, got ", list->elements.size());
  }
  TF_ASSIGN_OR_RETURN(Tensor out, StackElements(ctx, *list, list->elements, wanted, /*gathers=*/false));
  ctx.set_output(0, std::move(out));
  return OkStatus();
}

Status Gather(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto* list, ListOf(ctx, 0, ctx.node().attr<DType>("element_dtype")));
  TF_ASSIGN_OR_RETURN(const Shape wanted, ElementShapeFrom(ctx.input(2)));
  std::vector<Tensor> elements;
  for (int32_t i : ctx.input(1).data<int32_t>()) {
    if (i < 0 || static_cast<size_t>(i) >= list->elements.size()) {
      return InvalidArgument("tried to gather element ", i, " of a list of ", list->elements.size(), " elements");
    }
    elements.push_back(list->elements[static_cast<size_t>(i)]);
  }
  TF_ASSIGN_OR_RETURN(Tensor out, StackElements(ctx, *list, elements, wanted, /*gathers=*/true));
  ctx.set_output(0, std::move(out));
  return OkStatus();
}

// The size of the first dimension of all elements that are set. Unknown if the sizes differ or no element is set.
int64_t CommonLength(const std::vector<Tensor>& elements) {
  int64_t common = Shape::kUnknownDim;
  for (const Tensor& t : elements) {
    if (!t.is_valid()) continue;
    const int64_t length = t.shape().dim(0);
    if (common != Shape::kUnknownDim && common != length) return Shape::kUnknownDim;
    common = length;
  }
  return common;
}

// The error if the sizes after the first dimension are not known.
Status UnknownRest(const TensorListValue& list, const Shape& shape) {
  if (list.elements.empty()) {
    return InvalidArgument(
        "All except the first dimension must be fully defined when concating an empty tensor list, "
        "element_shape is ",
        shape);
  }
  return InvalidArgument("Trying to concat list with only uninitialized tensors but ",
                         "element_shape_except_first_dim_ is not fully defined: ", shape);
}

// Concatenates the elements. The first dimension of unset elements comes from the element shape if it is known there,
// else from leading_dims, else from the other elements.
Status ConcatTo(KernelContext& ctx, const Shape& wanted, const IntVector& leading_dims) {
  TF_ASSIGN_OR_RETURN(const auto* list, ListOf(ctx, 0, ctx.node().attr<DType>("element_dtype")));
  TF_ASSIGN_OR_RETURN(Shape shape, CommonShape(list->elements, *list, wanted, /*leading=*/true));
  if (!shape.has_rank()) return UnknownRest(*list, shape);
  if (shape.rank() == 0) {
    return InvalidArgument("Concat requires elements to be at least vectors, found scalars instead");
  }
  TF_ASSIGN_OR_RETURN(const Shape known, wanted.MergeWith(list->element_shape));
  const int64_t known_length = known.has_rank() ? known.dim(0) : Shape::kUnknownDim;
  const int64_t common_length = CommonLength(list->elements);
  const Shape rest = Without0(shape);
  if (!rest.is_fully_defined()) return UnknownRest(*list, shape);
  std::vector<int64_t> lengths;
  std::vector<Tensor> parts;
  int64_t total = 0;
  for (size_t i = 0; i < list->elements.size(); ++i) {
    Tensor t = list->elements[i];
    int64_t length = known_length;
    if (t.is_valid()) {
      length = t.shape().dim(0);
      if (known_length >= 0 && length != known_length) {
        return InvalidArgument("element ", i, " has shape ", t.shape(), ", expected ", known);
      }
    } else {
      if (length < 0) length = i < leading_dims.size() ? leading_dims[i] : common_length;
      if (length < 0) {
        return InvalidArgument("List contains uninitialized tensor at index ", i, " but leading_dims has only ",
                               leading_dims.size(), " elements.");
      }
      TF_ASSIGN_OR_RETURN(t, Zeros(ctx, list->element_dtype, Stacked(length, rest)));
    }
    lengths.push_back(length);
    parts.push_back(std::move(t));
    if (__builtin_add_overflow(total, length, &total))
      return InvalidArgument("the concatenated elements have too many rows");
  }
  // All parts are set.
  TF_ASSIGN_OR_RETURN(Tensor out, JoinElements(ctx, list->element_dtype, Stacked(total, rest), parts, Shape({0})));
  ctx.set_output(0, std::move(out));
  ctx.set_output(1, Tensor::Vector(lengths));
  return OkStatus();
}

Status Concat(KernelContext& ctx) { return ConcatTo(ctx, ctx.node().attr<Shape>("element_shape"), {}); }

Status ConcatV2(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape wanted, ElementShapeFrom(ctx.input(1)));
  TF_ASSIGN_OR_RETURN(const IntVector leading, IntegersOf(ctx.input(2), "leading_dims"));
  return ConcatTo(ctx, wanted, leading);
}

Status CheckRows(const Tensor& t, const Shape& element_shape) {
  if (t.shape().rank() < 1) return InvalidArgument("Tensor must be at least a vector, but saw shape: ", t.shape());
  if (!element_shape.IsCompatibleWith(Without0(t.shape()))) {
    return InvalidArgument("rows of a tensor of shape ", t.shape(), " cannot be elements of shape ", element_shape);
  }
  return OkStatus();
}

Status FromTensor(KernelContext& ctx) {
  const Tensor& t = ctx.input(0);
  TF_ASSIGN_OR_RETURN(const Shape shape, ElementShapeFrom(ctx.input(1)));
  TF_RETURN_IF_ERROR(CheckRows(t, shape));
  auto list = MakeRef<TensorListValue>(t.dtype(), shape);
  TF_ASSIGN_OR_RETURN(list->elements, ListRows(ctx, t));
  ctx.set_output(0, MakeVariantTensor(std::move(list)));
  return OkStatus();
}

Status Split(KernelContext& ctx) {
  const Tensor& t = ctx.input(0);
  TF_ASSIGN_OR_RETURN(const Shape shape, ElementShapeFrom(ctx.input(1)));
  if (ctx.input(2).shape().rank() != 1) {
    return InvalidArgument("Expected lengths to be a vector, received shape: ", ctx.input(2).shape());
  }
  TF_ASSIGN_OR_RETURN(const IntVector lengths, IntegersOf(ctx.input(2), "lengths"));
  if (t.shape().rank() < 1) return InvalidArgument("Tensor must be at least a vector, but saw shape: ", t.shape());
  const Shape rest = Without0(t.shape());
  if (shape.has_rank() && shape.rank() == 0) {
    return InvalidArgument("TensorListSplit requires element_shape to be at least of rank 1, but saw: ", shape);
  }
  if (shape.has_rank() && !Without0(shape).IsCompatibleWith(rest)) {
    return InvalidArgument("cannot be split: tensor shape ", t.shape(), " is not compatible with element_shape ",
                           shape);
  }
  std::vector<Shape> shapes;
  int64_t at = 0;
  for (int64_t length : lengths) {
    if (length < 0) return InvalidArgument("Invalid value in lengths: ", length);
    if (length > t.shape().dim(0) - at) {
      return InvalidArgument("Attempting to slice [", at, ", ", length, "] from tensor with length ", t.shape().dim(0));
    }
    const Shape of_element = Stacked(length, rest);
    if (!shape.IsCompatibleWith(of_element)) {
      return InvalidArgument("a part of shape ", of_element, " is not compatible with element_shape ", shape);
    }
    shapes.push_back(of_element);
    at += length;
  }
  if (at != t.shape().dim(0)) {
    return InvalidArgument("Unused values in tensor. Length of tensor: ", t.shape().dim(0), " Values used: ", at);
  }
  auto list = MakeRef<TensorListValue>(t.dtype(), shape);
  TF_ASSIGN_OR_RETURN(list->elements, Divided(ctx, t, shapes));
  ctx.set_output(0, MakeVariantTensor(std::move(list)));
  return OkStatus();
}

Status ScatterInto(KernelContext& ctx, const Tensor& t, const Tensor& indices, TensorListValue* list) {
  const auto at = indices.data<int32_t>();
  if (t.shape().rank() < 1 || static_cast<int64_t>(at.size()) != t.shape().dim(0)) {
    return InvalidArgument("Invalid number of rows in input tensor. Expected: ", at.size(),
                           " Actual: ", t.shape().rank() < 1 ? 0 : t.shape().dim(0));
  }
  TF_RETURN_IF_ERROR(CheckRows(t, list->element_shape));
  int32_t highest = -1;
  for (int32_t i : at) {
    if (i < 0) return InvalidArgument("Indices in TensorListScatter must all be non-negative: ", i, " is not");
    if (i >= kMaxListElements) return ResourceExhausted("a list can have at most ", kMaxListElements, " elements");
    highest = std::max(highest, i);
  }
  const size_t size = at.empty() ? 0 : static_cast<size_t>(highest) + 1;
  if (size > list->elements.size()) list->elements.resize(size);
  TF_ASSIGN_OR_RETURN(std::vector<Tensor> rows, ListRows(ctx, t));
  for (size_t row = 0; row < at.size(); ++row) list->elements[static_cast<size_t>(at[row])] = std::move(rows[row]);
  return OkStatus();
}

template <bool kHasCount>
Status Scatter(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape shape, ElementShapeFrom(ctx.input(2)));
  auto list = MakeRef<TensorListValue>(ctx.input(0).dtype(), shape);
  if (kHasCount) {
    TF_ASSIGN_OR_RETURN(const int64_t n, IntegerOf(ctx.input(3), "num_elements"));
    if (n < -1) return InvalidArgument("TensorListScatter expects num_elements >= -1, found: ", n);
    if (n > kMaxListElements) {
      return ResourceExhausted("num_elements is ", n, "; a list can have at most ", kMaxListElements, " elements");
    }
    if (n > 0) list->elements.resize(static_cast<size_t>(n));
    for (int32_t i : ctx.input(1).data<int32_t>()) {
      if (n != -1 && i >= n) {
        return InvalidArgument("TensorListScatter: Trying to scatter at index ", i, " in list with size ", n);
      }
    }
  }
  TF_RETURN_IF_ERROR(ScatterInto(ctx, ctx.input(0), ctx.input(1), list.get()));
  ctx.set_output(0, MakeVariantTensor(std::move(list)));
  return OkStatus();
}

Status ScatterIntoExisting(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(auto list, TakeList(ctx, 0, ctx.input(1).dtype()));
  TF_RETURN_IF_ERROR(ScatterInto(ctx, ctx.input(1), ctx.input(2), list.get()));
  ctx.set_output(0, MakeVariantTensor(std::move(list)));
  return OkStatus();
}

}  // namespace

StatusOr<std::vector<Tensor>> Divided(KernelContext& ctx, const Tensor& t, const std::vector<Shape>& shapes) {
  if (ElementMemory* const memory = ctx.device().element_memory(); memory != nullptr) return memory->Split(t, shapes);
  std::vector<Tensor> parts;
  int64_t at = 0;
  for (const Shape& shape : shapes) {
    TF_ASSIGN_OR_RETURN(parts.emplace_back(), Part(t, at, at + shape.num_elements(), shape));
    at += shape.num_elements();
  }
  return parts;
}

StatusOr<std::vector<Tensor>> ListRows(KernelContext& ctx, const Tensor& t) {
  return Divided(ctx, t, std::vector<Shape>(static_cast<size_t>(t.shape().dim(0)), Without0(t.shape())));
}

void RegisterListTensorListBulkKernels(KernelRegistry& r) {
  r.Add("TensorListStack", {}, Stack);
  r.Add("TensorListGather", {}, Gather);
  r.Add("TensorListConcat", {}, Concat);
  r.Add("TensorListConcatV2", {}, ConcatV2);
  r.Add("TensorListFromTensor", {}, FromTensor);
  r.Add("TensorListSplit", {}, Split);
  r.Add("TensorListScatter", {}, Scatter</*kHasCount=*/false>);
  r.Add("TensorListScatterV2", {}, Scatter</*kHasCount=*/true>);
  r.Add("TensorListScatterIntoExistingList", {}, ScatterIntoExisting);
}

}  // namespace tensorbraid::cpu
