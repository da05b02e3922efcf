// Kernels of TensorArrays and stacks. The flow of a TensorArray is a scalar that is passed from op to op. It only
// orders the ops; its value is not used.
#include <atomic>

#include "core/text/op_type_name.h"
#include "core/text/strings.h"
#include "kernels/cpu/data_flow/add_tensors.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/numbers.h"
#include "runtime/kernel/element_memory.h"
#include "runtime/kernel/kernel.h"
#include "runtime/resources/tensor_array_resource.h"

namespace tensorbraid::cpu {
namespace {

using Array = TensorArrayResource;

// The most elements of an array that Concat accepts although they have been neither written nor read. Such elements
// take no memory in the array, but Concat reads each of them as a tensor of zeros.
constexpr int64_t kMaxUnwritten = 1 << 24;

Array::AddFn AddFor(DType dtype) {
  Array::AddFn add = nullptr;
  ForEachNumberType([&]<typename T>() {
    if (DTypeOf<T>::value == dtype) add = AddTensors<T>;
  });
  return add;
}

StatusOr<int32_t> ScalarOf(const Tensor& t, const char* what) {
  if (!t.shape().is_scalar()) return InvalidArgument(what, " must be a scalar, got shape ", t.shape());
  return t.scalar<int32_t>();
}

// The array of input 0, for a kernel that reads or writes elements in the memory of its device.
template <typename T>
StatusOr<RefPtr<T>> ArrayOf(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(auto array, ctx.LookupResource<T>(0));
  if (array->memory() == ctx.device().element_memory()) return array;
  return InvalidArgument(T::kTypeName, " '", array->name(), "' has its tensors in ",
                         array->memory() == nullptr ? "host memory" : "the memory of another device",
                         ", but is used on ", ctx.device().name(), "; place all nodes that use it on one device");
}

Status EmitArray(KernelContext& ctx, RefPtr<Array> array, Tensor flow) {
  const std::string name = array->name();
  ctx.set_output(0, MakeHandleTensor(std::move(array), ctx.node().device(), "", name));
  ctx.set_output(1, std::move(flow));
  return OkStatus();
}

class TensorArrayKernel final : public Kernel {
 public:
  explicit TensorArrayKernel(const KernelConstruction& c)
      : name_(c.attr<std::string>("tensor_array_name").empty() ? c.node().name()
                                                               : c.attr<std::string>("tensor_array_name")),
        options_{.dtype = c.attr<DType>("dtype"),
                 .element_shape = c.attr<Shape>("element_shape"),
                 .dynamic_size = c.attr<bool>("dynamic_size"),
                 .clear_after_read = c.attr<bool>("clear_after_read"),
                 .identical_element_shapes = c.attr<bool>("identical_element_shapes"),
                 .aggregates = false,
                 .add = AddFor(c.attr<DType>("dtype"))} {}
  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const int32_t size, ScalarOf(ctx.input(0), "size"));
    if (size < 0) return InvalidArgument("size must not be negative, got ", size);
    Array::Options options = options_;
    options.memory = ctx.device().element_memory();
    Tensor flow = Tensor::Scalar(0.0f);
    if (options.memory != nullptr) {
      TF_ASSIGN_OR_RETURN(flow, options.memory->Zeros(kFloat32, Shape()));
    }
    // In messages, a number distinguishes the arrays that one node makes.
    static std::atomic<uint64_t> arrays{0};
    return EmitArray(ctx, MakeRef<Array>(StrCat(name_, "_", arrays.fetch_add(1)), size, std::move(options)),
                     std::move(flow));
  }

 private:
  const std::string name_;
  const Array::Options options_;
};

Status GradientArray(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto array, ctx.LookupResource<Array>(0));
  Shape prefix;
  if (ctx.num_inputs() > 2) {
    TF_ASSIGN_OR_RETURN(const IntVector dims, IntegersOf(ctx.input(2), "shape_to_prepend"));
    for (const int64_t d : dims) {
      if (d < -1) return InvalidArgument("shape_to_prepend cannot have a size of ", d);
      prefix.AddDim(d);
    }
  }
  TF_ASSIGN_OR_RETURN(auto gradient, array->Gradient(ctx.node().attr<std::string>("source"), prefix));
  return EmitArray(ctx, std::move(gradient), ctx.TakeInput(1));
}

Status Write(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto array, ArrayOf<Array>(ctx));
  TF_ASSIGN_OR_RETURN(const int32_t index, ScalarOf(ctx.input(1), "index"));
  TF_RETURN_IF_ERROR(array->Write(index, ctx.TakeInput(2), ctx.pool()));
  ctx.set_output(0, ctx.TakeInput(3));
  return OkStatus();
}

Status CheckDType(const Array& array, DType wanted) {
  if (array.dtype() == wanted) return OkStatus();
  return InvalidArgument("TensorArray ", array.name(), ": TensorArray dtype is ", OpTypeName(array.dtype()),
                         " but Op requested dtype ", OpTypeName(wanted), ".");
}

Status Read(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto array, ArrayOf<Array>(ctx));
  TF_RETURN_IF_ERROR(CheckDType(*array, ctx.node().output_type(0)));
  TF_ASSIGN_OR_RETURN(const int32_t index, ScalarOf(ctx.input(1), "index"));
  TF_ASSIGN_OR_RETURN(Tensor value, array->Read(index));
  ctx.set_output(0, std::move(value));
  return OkStatus();
}

// Makes output 0 a tensor of this shape with the elements of all tensors, one tensor after the other. REQUIRES: there
// is a tensor, and all together have as many elements as the shape.
Status EmitJoined(KernelContext& ctx, const std::vector<Tensor>& tensors, const Shape& shape) {
  if (tensors.size() == 1) {
    TF_ASSIGN_OR_RETURN(Tensor only, tensors[0].Reshaped(shape));
    ctx.set_output(0, std::move(only));
    return OkStatus();
  }
  if (ElementMemory* const memory = ctx.device().element_memory(); memory != nullptr) {
    TF_ASSIGN_OR_RETURN(Tensor joined, memory->Join(tensors, shape));
    ctx.set_output(0, std::move(joined));
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    std::vector<int64_t> starts(tensors.size());
    int64_t at = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
      starts[i] = at;
      at += tensors[i].num_elements();
    }
    E* const to = MutableElements<E>(*out);
    const double cost = tensors.empty() ? 0 : 0.1 * sizeof(E) * static_cast<double>(at) / tensors.size();
    ctx.pool().ParallelFor(static_cast<int64_t>(tensors.size()), cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        CopyElements(Elements<E>(tensors[i]), tensors[i].num_elements(), to + starts[i]);
      }
    });
    return OkStatus();
  });
}

// The shape of the output if no element is gathered or concatenated: [0] followed by the sizes of `shape`, an attribute
// of the node. Returns `incomplete` if `shape` is not fully defined.
StatusOr<Shape> ShapeOfNone(const Shape& shape, const Status& incomplete) {
  if (!shape.is_fully_defined()) return incomplete;
  Shape all({0});
  for (const int64_t d : shape.dims()) all.AddDim(d);
  return all;
}

// Makes output 0 a tensor of this shape, which has no elements.
Status EmitNone(KernelContext& ctx, const Shape& shape) {
  ElementMemory* const memory = ctx.device().element_memory();
  if (memory == nullptr) return ctx.AllocateOutput(0, shape).status();
  TF_ASSIGN_OR_RETURN(Tensor none, memory->Zeros(ctx.node().output_type(0), shape));
  ctx.set_output(0, std::move(none));
  return OkStatus();
}

Status GatherArray(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto array, ArrayOf<Array>(ctx));
  TF_RETURN_IF_ERROR(CheckDType(*array, ctx.node().output_type(0)));
  const Tensor& indices = ctx.input(1);
  if (indices.shape().rank() != 1) return InvalidArgument("indices must be a vector, got shape ", indices.shape());
  const Shape& wanted = ctx.node().attr<Shape>("element_shape");
  if (indices.num_elements() == 0) {
    TF_ASSIGN_OR_RETURN(const Shape none,
                        ShapeOfNone(wanted, Unimplemented("TensorArray has size zero, but element shape ", wanted,
                                                          " is not fully defined. Currently only static shapes are "
                                                          "supported when packing zero-size TensorArrays.")));
    return EmitNone(ctx, none);
  }
  std::vector<Tensor> values;
  for (const int32_t i : indices.data<int32_t>()) {
    TF_ASSIGN_OR_RETURN(values.emplace_back(), array->Read(i));
    const Shape& shape = values.back().shape();
    if (!wanted.IsCompatibleWith(shape)) {
      return InvalidArgument("element ", i, " has shape ", shape, ", expected ", wanted);
    }
    if (shape != values[0].shape()) {
      return InvalidArgument("elements have different shapes: element ", indices.data<int32_t>()[0], " has ",
                             values[0].shape(), ", element ", i, " has ", shape);
    }
  }
  Shape all({indices.num_elements()});
  for (const int64_t d : values[0].shape().dims()) all.AddDim(d);
  return EmitJoined(ctx, values, all);
}

// Divides `value` along dimension 0 into tensors of these shapes.
StatusOr<std::vector<Tensor>> Divided(KernelContext& ctx, const Tensor& value, const std::vector<Shape>& shapes,
                                      const std::vector<int64_t>& lengths) {
  if (ElementMemory* const memory = ctx.device().element_memory(); memory != nullptr) {
    return memory->Split(value, shapes);
  }
  std::vector<Tensor> parts;
  int64_t at = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    TF_ASSIGN_OR_RETURN(parts.emplace_back(), value.Slice(at, at + lengths[i]).Reshaped(shapes[i]));
    at += lengths[i];
  }
  return parts;
}

Status Scatter(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto array, ArrayOf<Array>(ctx));
  const Tensor& indices = ctx.input(1);
  const Tensor& value = ctx.input(2);
  if (indices.shape().rank() != 1) return InvalidArgument("indices must be a vector, got shape ", indices.shape());
  if (value.shape().rank() < 1 || value.shape().dim(0) != indices.num_elements()) {
    return InvalidArgument("there are ", indices.num_elements(), " indices, but the value has shape ", value.shape());
  }
  const auto n = static_cast<size_t>(indices.num_elements());
  const std::vector<Shape> shapes(n, Shape(value.shape().dims().subspan(1)));
  TF_ASSIGN_OR_RETURN(std::vector<Tensor> rows, Divided(ctx, value, shapes, std::vector<int64_t>(n, 1)));
  for (size_t i = 0; i < n; ++i) {
    TF_RETURN_IF_ERROR(array->Write(indices.data<int32_t>()[i], std::move(rows[i]), ctx.pool()));
  }
  ctx.set_output(0, ctx.TakeInput(3));
  return OkStatus();
}

Status ConcatArray(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto array, ArrayOf<Array>(ctx));
  TF_RETURN_IF_ERROR(CheckDType(*array, ctx.node().output_type(0)));
  const Shape& wanted = ctx.node().attr<Shape>("element_shape_except0");
  TF_ASSIGN_OR_RETURN(const int32_t n, array->SizeToConcat());
  if (n == 0) {
    TF_ASSIGN_OR_RETURN(
        const Shape none,
        ShapeOfNone(wanted, Unimplemented("cannot concatenate an empty TensorArray: element_shape_except0 ", wanted,
                                          " is not fully defined")));
    TF_RETURN_IF_ERROR(EmitNone(ctx, none));
    return ctx.AllocateOutput(1, Shape({0})).status();
  }
  if (n - static_cast<int64_t>(array->num_touched()) > kMaxUnwritten) {
    return ResourceExhausted("TensorArray '", array->name(), "' has ", n, " elements, of which ", array->num_touched(),
                             " have been written or read; at most ", kMaxUnwritten, " others can be concatenated");
  }
  std::vector<Tensor> values;
  int64_t rows = 0;
  for (int32_t i = 0; i < n; ++i) {
    TF_ASSIGN_OR_RETURN(values.emplace_back(), array->Read(i));
    const Shape& shape = values.back().shape();
    if (shape.rank() < 1) {
      return InvalidArgument("Concat saw a scalar shape at index ", i, " but requires at least vectors");
    }
    const Shape rest(shape.dims().subspan(1));
    if (!wanted.IsCompatibleWith(rest) || rest != Shape(values[0].shape().dims().subspan(1))) {
      return InvalidArgument("element ", i, " has shape ", shape, ", but element 0 has ", values[0].shape(),
                             "; all elements must have the same shape after the first dimension, compatible with ",
                             wanted);
    }
    rows += shape.dim(0);
  }
  Shape all = values[0].shape();
  all.set_dim(0, rows);
  TF_ASSIGN_OR_RETURN(Tensor * lengths, ctx.AllocateOutput(1, Shape({n})));
  for (int32_t i = 0; i < n; ++i) lengths->inplace_data<int64_t>()[i] = values[i].shape().dim(0);
  return EmitJoined(ctx, values, all);
}

Status SplitArray(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto array, ArrayOf<Array>(ctx));
  const Tensor& value = ctx.input(1);
  const Tensor& lengths = ctx.input(2);
  if (lengths.shape().rank() != 1) {
    return InvalidArgument("Expected lengths to be a vector, received shape: ", lengths.shape());
  }
  if (value.shape().rank() < 1) {
    return InvalidArgument("Expected value to be at least a vector, but received shape: ", value.shape());
  }
  const int64_t rows = value.shape().dim(0);
  int64_t sum = 0;
  for (const int64_t length : lengths.data<int64_t>()) {
    if (length < 0) return InvalidArgument("a part cannot have the length ", length);
    if (length > rows - sum) {
      return InvalidArgument("a part of length ", length, " exceeds the ", rows - sum, " rows that are left of the ",
                             rows, " rows of value");
    }
    sum += length;
  }
  if (sum != rows) {
    return InvalidArgument("Expected sum of lengths to be equal to values.shape[0], but sum of lengths is ", sum,
                           " and value's shape is: ", value.shape());
  }
  const int64_t n = lengths.num_elements();
  if (n > INT32_MAX) return InvalidArgument("a TensorArray cannot have ", n, " elements");
  TF_ASSIGN_OR_RETURN(const int32_t size, array->StartSplit(static_cast<int32_t>(n)));
  if (size != n) {
    if (array->has_dynamic_size())
      return InvalidArgument("a TensorArray of ", size, " elements cannot take ", n, " parts");
    return InvalidArgument("TensorArray's size is not equal to the size of lengths (", size, " vs. ", n,
                           "), and the TensorArray is not marked as dynamically resizeable");
  }
  const std::vector<int64_t> rows_of(lengths.data<int64_t>().begin(), lengths.data<int64_t>().end());
  std::vector<Shape> shapes;
  for (const int64_t length : rows_of) shapes.emplace_back(value.shape()).set_dim(0, length);
  TF_ASSIGN_OR_RETURN(std::vector<Tensor> parts, Divided(ctx, value, shapes, rows_of));
  for (int64_t i = 0; i < n; ++i) {
    TF_RETURN_IF_ERROR(array->Write(static_cast<int32_t>(i), std::move(parts[i]), ctx.pool()));
  }
  ctx.set_output(0, ctx.TakeInput(3));
  return OkStatus();
}

Status TensorArraySize(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto array, ctx.LookupResource<Array>(0));
  TF_ASSIGN_OR_RETURN(const int32_t size, array->size());
  ctx.set_output(0, Tensor::Scalar(size));
  return OkStatus();
}

Status TensorArrayClose(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto array, ctx.LookupResource<Array>(0));
  array->Close();
  return OkStatus();
}

// Creates a new stack each time the op runs.
Status MakeStack(KernelContext& ctx) {
  int64_t max_size = -1;
  if (ctx.num_inputs() > 0) {
    TF_ASSIGN_OR_RETURN(max_size, ScalarOf(ctx.input(0), "max_size"));
  }
  const auto& given = ctx.node().attr<std::string>("stack_name");
  std::string name = given.empty() ? ctx.node().name() : given;
  auto stack =
      MakeRef<StackResource>(name, ctx.node().attr<DType>("elem_type"), max_size, ctx.device().element_memory());
  if (!IsRef(ctx.node().output_type(0))) {
    ctx.set_output(0, MakeHandleTensor(stack, ctx.node().device(), "", std::move(name)));
    return OkStatus();
  }
  // A reference contains the stack's name, which must therefore be unique in the step.
  static std::atomic<uint64_t> stacks{0};
  name += StrCat("_", stacks.fetch_add(1));
  const std::string& container = ctx.env().step_resources->container();
  TF_RETURN_IF_ERROR(ctx.resources().LookupOrCreate<StackResource>(container, name, [&] { return stack; }).status());
  ctx.set_output_ref(0, MakeReferenceHandle(stack, container, name));
  return OkStatus();
}

Status Push(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto stack, ArrayOf<StackResource>(ctx));
  TF_RETURN_IF_ERROR(stack->Push(ctx.input(1)));
  ctx.set_output(0, ctx.TakeInput(1));
  return OkStatus();
}

Status Pop(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto stack, ArrayOf<StackResource>(ctx));
  TF_ASSIGN_OR_RETURN(Tensor value, stack->Pop());
  if (value.dtype() != ctx.node().output_type(0)) {
    return Internal("the popped element has type ", value.dtype(), ", but the op expects ", ctx.node().output_type(0));
  }
  ctx.set_output(0, std::move(value));
  return OkStatus();
}

Status CloseStack(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto stack, ctx.LookupResource<StackResource>(0));
  stack->Close();
  return OkStatus();
}

}  // namespace

void RegisterDataFlowTensorArrayKernels(KernelRegistry& r) {
  r.Add<TensorArrayKernel>("TensorArrayV3");
  r.Add("TensorArrayGradV3", {}, GradientArray);
  r.Add("TensorArrayGradWithShape", {}, GradientArray);
  r.Add("TensorArrayWriteV3", {}, Write, kNoCost);
  r.Add("TensorArrayReadV3", {}, Read, kNoCost);
  r.Add("TensorArrayGatherV3", {}, GatherArray);
  r.Add("TensorArrayScatterV3", {}, Scatter);
  r.Add("TensorArrayConcatV3", {}, ConcatArray);
  r.Add("TensorArraySplitV3", {}, SplitArray);
  r.Add("TensorArraySizeV3", {}, TensorArraySize, kNoCost);
  r.Add("TensorArrayCloseV3", {}, TensorArrayClose);
  for (const std::string version : {"", "V2"}) {
    r.Add("Stack" + version, {}, MakeStack);
    r.Add("StackPush" + version, {}, Push, kNoCost);
    r.Add("StackPop" + version, {}, Pop, kNoCost);
    r.Add("StackClose" + version, {}, CloseStack);
  }
}

}  // namespace tensorbraid::cpu
