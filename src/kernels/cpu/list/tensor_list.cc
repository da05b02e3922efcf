// Kernels that access single elements of lists of tensors.
#include "kernels/cpu/list/tensor_list.h"

#include "core/text/op_type_name.h"
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "runtime/kernel/element_memory.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

Status CheckDType(const TensorListValue& list, DType dtype) {
  if (dtype == DType::kInvalid || list.element_dtype == dtype) return OkStatus();
  return InvalidArgument("Invalid data types; op elements ", OpTypeName(dtype), " but list elements ",
                         OpTypeName(list.element_dtype));
}

StatusOr<int64_t> ElementCount(const Tensor& t, const char* what) {
  TF_ASSIGN_OR_RETURN(const int64_t n, IntegerOf(t, what));
  if (n < 0) return InvalidArgument(what, " must not be negative, got ", n);
  if (n > kMaxListElements)
    return ResourceExhausted(what, " is ", n, "; a list can have at most ", kMaxListElements, " elements");
  return n;
}

Status EmptyList(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(Shape shape, ElementShapeFrom(ctx.input(0)));
  TF_ASSIGN_OR_RETURN(const int64_t max, IntegerOf(ctx.input(1), "max_num_elements"));
  auto list = MakeRef<TensorListValue>(ctx.node().attr<DType>("element_dtype"), std::move(shape));
  list->max_elements = max;
  ctx.set_output(0, MakeVariantTensor(std::move(list)));
  return OkStatus();
}

Status Reserve(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(Shape shape, ElementShapeFrom(ctx.input(0)));
  TF_ASSIGN_OR_RETURN(const int64_t n, ElementCount(ctx.input(1), "num_elements"));
  auto list = MakeRef<TensorListValue>(ctx.node().attr<DType>("element_dtype"), std::move(shape));
  list->elements.resize(static_cast<size_t>(n));
  ctx.set_output(0, MakeVariantTensor(std::move(list)));
  return OkStatus();
}

Status CheckElement(const TensorListValue& list, const Tensor& t) {
  if (list.element_shape.IsCompatibleWith(t.shape())) return OkStatus();
  return InvalidArgument("an element of the list got an incompatible shape: ", t.shape(), ", expected ",
                         list.element_shape);
}

Status PushBack(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(auto list, TakeList(ctx, 0, ctx.input(1).dtype()));
  TF_RETURN_IF_ERROR(CheckElement(*list, ctx.input(1)));
  const auto size = static_cast<int64_t>(list->elements.size());
  if (list->max_elements != -1 && size >= list->max_elements) {
    return InvalidArgument("Tried to push item into a full list: max_num_elements is ", size);
  }
  if (size >= kMaxListElements) return ResourceExhausted("a list can have at most ", kMaxListElements, " elements");
  list->elements.push_back(ctx.TakeInput(1));
  ctx.set_output(0, MakeVariantTensor(std::move(list)));
  return OkStatus();
}

// The element, or zeros if it is not set. The shape of the zeros follows from the op, the list or other elements.
StatusOr<Tensor> ElementOrZeros(KernelContext& ctx, const TensorListValue& list, const Tensor& element,
                                const Shape& wanted) {
  if (element.is_valid()) {
    if (wanted.IsCompatibleWith(element.shape())) return element;
    return Incompatible(wanted, element.shape());
  }
  TF_ASSIGN_OR_RETURN(Shape shape, Merged(wanted, list.element_shape));
  for (const Tensor& other : list.elements) {
    if (shape.is_fully_defined()) break;
    if (other.is_valid()) {
      TF_ASSIGN_OR_RETURN(shape, shape.MergeWith(other.shape()));
    }
  }
  if (!shape.is_fully_defined()) {
    return InvalidArgument("Trying to read an uninitialized tensor but element_shape is not fully defined: ", shape);
  }
  return Zeros(ctx, list.element_dtype, shape);
}

Status PopBack(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape wanted, ElementShapeFrom(ctx.input(1)));
  TF_ASSIGN_OR_RETURN(auto list, TakeList(ctx, 0, ctx.node().attr<DType>("element_dtype")));
  if (list->elements.empty()) return InvalidArgument("Trying to pop from an empty list: push an element first");
  TF_ASSIGN_OR_RETURN(Tensor element, ElementOrZeros(ctx, *list, list->elements.back(), wanted));
  list->elements.pop_back();
  ctx.set_output(0, MakeVariantTensor(std::move(list)));
  ctx.set_output(1, std::move(element));
  return OkStatus();
}

Status SetItem(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const int64_t index, IntegerOf(ctx.input(1), "index"));
  TF_ASSIGN_OR_RETURN(auto list, TakeList(ctx, 0, ctx.input(2).dtype()));
  TF_RETURN_IF_ERROR(CheckElement(*list, ctx.input(2)));
  const auto size = static_cast<int64_t>(list->elements.size());
  const bool resize = ctx.node().attr<bool>("resize_if_index_out_of_bounds");
  if (index < 0 || (index >= size && !resize)) {
    return InvalidArgument("Trying to modify element ", index, " in a list with ", size, " elements.");
  }
  if (index >= kMaxListElements) return ResourceExhausted("a list can have at most ", kMaxListElements, " elements");
  if (index >= size) list->elements.resize(static_cast<size_t>(index) + 1);
  list->elements[static_cast<size_t>(index)] = ctx.TakeInput(2);
  ctx.set_output(0, MakeVariantTensor(std::move(list)));
  return OkStatus();
}

Status GetItem(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto* list, ListOf(ctx, 0, ctx.node().attr<DType>("element_dtype")));
  TF_ASSIGN_OR_RETURN(const int64_t index, IntegerOf(ctx.input(1), "index"));
  TF_ASSIGN_OR_RETURN(const Shape wanted, ElementShapeFrom(ctx.input(2)));
  const auto size = static_cast<int64_t>(list->elements.size());
  if (index < 0 || index >= size) {
    return InvalidArgument("Trying to access element ", index, " in a list with ", size, " elements.");
  }
  TF_ASSIGN_OR_RETURN(Tensor t, ElementOrZeros(ctx, *list, list->elements[static_cast<size_t>(index)], wanted));
  ctx.set_output(0, std::move(t));
  return OkStatus();
}

Status Length(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto* list, ListOf(ctx, 0, DType::kInvalid));
  ctx.set_output(0, Tensor::Scalar(static_cast<int32_t>(list->elements.size())));
  return OkStatus();
}

template <typename T>
Status ElementShape(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto* list, ListOf(ctx, 0, DType::kInvalid));
  if (!list->element_shape.has_rank()) {
    ctx.set_output(0, Tensor::Scalar(T{-1}));
    return OkStatus();
  }
  std::vector<T> sizes;
  for (int64_t d : list->element_shape.dims()) sizes.push_back(static_cast<T>(d));
  ctx.set_output(0, Tensor::Vector(sizes));
  return OkStatus();
}

Status Resize(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const int64_t wanted, IntegerOf(ctx.input(1), "size"));
  if (wanted < 0) return InvalidArgument("TensorListSlice expects size to be non-negative, got ", wanted);
  TF_ASSIGN_OR_RETURN(const int64_t n, ElementCount(ctx.input(1), "size"));
  TF_ASSIGN_OR_RETURN(auto list, TakeList(ctx, 0, DType::kInvalid));
  list->elements.resize(static_cast<size_t>(n));
  ctx.set_output(0, MakeVariantTensor(std::move(list)));
  return OkStatus();
}

// List i of a tensor of lists. Returns InvalidArgument if element i is not a list, or if the list has another dtype.
StatusOr<const TensorListValue*> ListAt(const Tensor& t, int64_t i, DType dtype) {
  const VariantValue* value = t.data<Variant>()[static_cast<size_t>(i)].value.get();
  const auto* list = dynamic_cast<const TensorListValue*>(value);
  if (list == nullptr) return WrongVariant(value, TensorListValue::kTypeName);
  TF_RETURN_IF_ERROR(CheckDType(*list, dtype));
  return list;
}

// Concatenates two lists, or the lists at the same positions of two tensors of lists.
Status ConcatLists(KernelContext& ctx) {
  const DType dtype = ctx.node().attr<DType>("element_dtype");
  const Tensor first = ctx.input(0), second = ctx.input(1);
  if (first.shape() != second.shape()) {
    return InvalidArgument("the tensors of lists must have the same shape, got ", first.shape(), " and ",
                           second.shape());
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, first.shape()));
  for (int64_t i = 0; i < first.num_elements(); ++i) {
    TF_ASSIGN_OR_RETURN(const auto* a, ListAt(first, i, dtype));
    TF_ASSIGN_OR_RETURN(const auto* b, ListAt(second, i, dtype));
    if (static_cast<int64_t>(a->elements.size() + b->elements.size()) > kMaxListElements) {
      return ResourceExhausted("a list can have at most ", kMaxListElements, " elements");
    }
    auto joined = a->Copy();
    TF_ASSIGN_OR_RETURN(joined->element_shape, a->element_shape.MergeWith(b->element_shape));
    joined->elements.insert(joined->elements.end(), b->elements.begin(), b->elements.end());
    out->inplace_data<Variant>()[static_cast<size_t>(i)].value = std::move(joined);
  }
  return OkStatus();
}

// Appends row i of a tensor to list i.
Status PushBackBatch(KernelContext& ctx) {
  const Tensor lists = ctx.input(0), rows = ctx.input(1);
  if (lists.shape().rank() != 1 || rows.shape().rank() < 1 || rows.shape().dim(0) != lists.shape().dim(0)) {
    return InvalidArgument("input_handles must be a vector, and tensor must have one row per list, got shapes ",
                           lists.shape(), " and ", rows.shape());
  }
  const Shape of_row(rows.shape().dims().subspan(1));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, lists.shape()));
  TF_ASSIGN_OR_RETURN(std::vector<Tensor> all, ListRows(ctx, rows));
  for (int64_t i = 0; i < lists.num_elements(); ++i) {
    TF_ASSIGN_OR_RETURN(const auto* list, ListAt(lists, i, rows.dtype()));
    if (!list->element_shape.IsCompatibleWith(of_row)) {
      return InvalidArgument("rows of shape ", of_row, " have an incompatible shape to a list at index ", i,
                             ", whose elements have shape ", list->element_shape);
    }
    // Like TensorFlow, ignores max_num_elements.
    if (static_cast<int64_t>(list->elements.size()) >= kMaxListElements)
      return ResourceExhausted("a list can have at most ", kMaxListElements, " elements");
    auto longer = list->Copy();
    longer->elements.push_back(std::move(all[static_cast<size_t>(i)]));
    out->inplace_data<Variant>()[static_cast<size_t>(i)].value = std::move(longer);
  }
  return OkStatus();
}

}  // namespace

Status Incompatible(const Shape& a, const Shape& b) {
  if (a.has_rank() && b.has_rank() && a.rank() != b.rank()) {
    return InvalidArgument("Incompatible ranks during merge: ", a.rank(), " vs. ", b.rank(), " (shapes ", a, " and ", b,
                           ")");
  }
  return InvalidArgument("Incompatible shapes during merge: ", a, " vs. ", b);
}

StatusOr<Shape> Merged(const Shape& a, const Shape& b) {
  if (!a.IsCompatibleWith(b)) return Incompatible(a, b);
  return a.MergeWith(b);
}

StatusOr<Shape> ElementShapeFrom(const Tensor& t) {
  TF_ASSIGN_OR_RETURN(const IntVector sizes, IntegersOf(t, "element_shape"));
  if (t.shape().rank() == 0) {
    if (sizes[0] == -1) return Shape::Unknown();
    return InvalidArgument("element_shape must be a vector, or the scalar -1, got the scalar ", sizes[0]);
  }
  for (int64_t d : sizes) {
    if (d < -1) return InvalidArgument("element_shape cannot have a size of ", d);
  }
  return Shape(std::span<const int64_t>(sizes.data(), sizes.size()));
}

StatusOr<TensorListValue*> ListOf(KernelContext& ctx, int i, DType dtype) {
  TF_ASSIGN_OR_RETURN(auto* list, VariantAs<TensorListValue>(ctx.input(i)));
  TF_RETURN_IF_ERROR(CheckDType(*list, dtype));
  return list;
}

StatusOr<RefPtr<TensorListValue>> TakeList(KernelContext& ctx, int i, DType dtype) {
  TF_ASSIGN_OR_RETURN(auto* list, ListOf(ctx, i, dtype));
  auto held = RefPtr<TensorListValue>::Share(list);
  Tensor input = ctx.TakeInput(i);
  if (input.IsWritable()) {
    // Release the tensor, and with it its reference to the list.
    input = Tensor();
    if (held->IsUnique()) return held;
  }
  return held->Copy();
}

StatusOr<Tensor> Zeros(DType dtype, const Shape& shape) {
  TF_ASSIGN_OR_RETURN(Tensor t, Tensor::Create(dtype, shape));
  if (IsPlain(dtype) && t.num_bytes() > 0) std::memset(t.inplace_raw_data(), 0, t.num_bytes());
  return t;
}

StatusOr<Tensor> Zeros(KernelContext& ctx, DType dtype, const Shape& shape) {
  ElementMemory* const memory = ctx.device().element_memory();
  return memory != nullptr ? memory->Zeros(dtype, shape) : Zeros(dtype, shape);
}

void RegisterListTensorListKernels(KernelRegistry& r) {
  r.Add("EmptyTensorList", {}, EmptyList);
  r.Add("TensorListReserve", {}, Reserve);
  r.Add("TensorListPushBack", {}, PushBack, kNoCost);
  r.Add("TensorListPopBack", {}, PopBack, kNoCost);
  r.Add("TensorListSetItem", {}, SetItem, kNoCost);
  r.Add("TensorListGetItem", {}, GetItem, kNoCost);
  r.Add("TensorListLength", {}, Length, kNoCost);
  r.Add("TensorListElementShape", {{"shape_type", {kInt32}}}, ElementShape<int32_t>);
  r.Add("TensorListElementShape", {{"shape_type", {kInt64}}}, ElementShape<int64_t>);
  r.Add("TensorListResize", {}, Resize);
  r.Add("TensorListConcatLists", {}, ConcatLists);
  r.Add("TensorListPushBackBatch", {}, PushBackBatch);
}

}  // namespace tensorbraid::cpu
