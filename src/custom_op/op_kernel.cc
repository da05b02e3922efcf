#include "tensorbraid/custom_op/op_kernel.h"

#include <cstring>
#include <stdexcept>

#include "core/text/strings.h"
#include "custom_op/custom_ops.h"
#include "graph/model/node.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {
namespace {

// An object that kernels of custom ops keep in the task's memory.
class CustomResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "object of a custom op";
  CustomResource(std::shared_ptr<void> object, const std::type_info& type)
      : object_(std::move(object)), type_(type.name()) {}
  std::string DebugString() const override { return StrCat("custom op's object of type ", type_); }

  // Two libraries that define the same type may have different type_infos for it, but these have the same name.
  StatusOr<std::shared_ptr<void>> object(const std::type_info& type) const {
    if (type_ == type.name()) return object_;
    return InvalidArgument("the object has the type ", type_, ", not ", std::string_view(type.name()));
  }

 private:
  const std::shared_ptr<void> object_;
  const std::string type_;
};

StatusOr<RefPtr<CustomResource>> FindOrCreateResource(ResourceManager& resources, const std::string& container,
                                                      const std::string& name, const std::type_info& type,
                                                      const std::function<std::shared_ptr<void>()>& create) {
  auto found = resources.Lookup<CustomResource>(container, name);
  if (found.ok()) return found;
  // Created outside of the manager's lock: `create` may take long.
  std::shared_ptr<void> object = create ? create() : nullptr;
  if (object == nullptr) return Internal("the object '", name, "' could not be created");
  return resources.LookupOrCreate<CustomResource>(container, name,
                                                  [&] { return MakeRef<CustomResource>(std::move(object), type); });
}

[[noreturn]] void ThrowNo(const char* what, int i) {
  throw std::logic_error(StrCat("the node has no ", std::string_view(what), " ", i));
}

}  // namespace

namespace internal {

void ThrowWrongAttr(const Node& node, std::string_view name) {
  if (node.FindAttr(name) == nullptr) throw std::logic_error(StrCat("the op has no attribute '", name, "'"));
  throw std::logic_error(StrCat("the attribute '", name, "' has another type"));
}

const AttrValue* FindAttrOf(const Node& node, std::string_view name) { return node.FindAttr(name); }

}  // namespace internal

const std::string& OpKernelConstruction::node_name() const { return node_.name(); }
int OpKernelConstruction::num_inputs() const { return static_cast<int>(node_.inputs().size()); }
int OpKernelConstruction::num_outputs() const { return node_.num_outputs(); }
DType OpKernelConstruction::input_dtype(int i) const {
  if (i < 0 || i >= num_inputs()) ThrowNo("input", i);
  return BaseType(node_.input_type(i));
}
DType OpKernelConstruction::output_dtype(int i) const {
  if (i < 0 || i >= num_outputs()) ThrowNo("output", i);
  return node_.output_type(i);
}

OpKernel::OpKernel() = default;
OpKernel::~OpKernel() = default;

const Node& OpKernelContext::node() const { return context_.node(); }
const std::string& OpKernelContext::node_name() const { return node().name(); }
int OpKernelContext::num_inputs() const { return context_.num_inputs(); }
int OpKernelContext::num_outputs() const { return context_.num_outputs(); }
const Tensor& OpKernelContext::input(int i) const {
  if (i < 0 || i >= num_inputs()) ThrowNo("input", i);
  return context_.input(i);
}
DType OpKernelContext::output_dtype(int i) const {
  CheckOutput(i);
  return node().output_type(i);
}
void OpKernelContext::CheckOutput(int i) const {
  if (i < 0 || i >= num_outputs()) ThrowNo("output", i);
}

namespace {

// Lets the kernel write to the tensor with Tensor::mutable_data as long as it runs, although an input may share its
// buffer.
StatusOr<Tensor*> ForKernel(StatusOr<Tensor*> output) {
  if (output.ok() && (*output)->buffer()) (*output)->buffer()->set_is_being_computed(true);
  return output;
}

}  // namespace

StatusOr<Tensor*> OpKernelContext::AllocateOutput(int i, const Shape& shape) {
  CheckOutput(i);
  return ForKernel(context_.AllocateOutput(i, shape));
}

StatusOr<Tensor*> OpKernelContext::ForwardOrAllocateOutput(std::initializer_list<int> inputs, int i,
                                                           const Shape& shape) {
  CheckOutput(i);
  for (const int from : inputs) {
    if (from < 0 || from >= num_inputs()) ThrowNo("input", from);
  }
  if (!shape.is_fully_defined()) return AllocateOutput(i, shape);
  return ForKernel(context_.ForwardOrAllocateOutput(inputs, i, shape));
}

void OpKernelContext::set_output(int i, Tensor value) {
  CheckOutput(i);
  if (value.dtype() != node().output_type(i)) {
    throw std::logic_error(StrCat("output ", i, " is ", node().output_type(i), ", but the kernel has set it to ",
                                  value.is_valid() ? DTypeName(value.dtype()) : "no tensor"));
  }
  context_.set_output(i, std::move(value));
}

StatusOr<Tensor> OpKernelContext::AllocateTemp(DType dtype, const Shape& shape) {
  return context_.AllocateTemp(dtype, shape);
}

void OpKernelContext::ParallelFor(int64_t total, double cost_ns, const std::function<void(int64_t, int64_t)>& body) {
  context_.pool().ParallelFor(total, cost_ns, body);
}

Status OpKernelContext::CheckNotCancelled() const {
  const CancellationManager* cancellation = context_.env().cancellation;
  return cancellation == nullptr ? OkStatus() : cancellation->status();
}

StatusOr<std::shared_ptr<void>> OpKernelContext::FindOrCreateAny(const std::string& container, const std::string& name,
                                                                 const std::type_info& type,
                                                                 const std::function<AnyObject()>& create) {
  TF_ASSIGN_OR_RETURN(const RefPtr<CustomResource> resource,
                      FindOrCreateResource(context_.resources(), container, name, type, create));
  return resource->object(type);
}

Status OpKernelContext::FindOrCreateAnyHandle(int i, const std::string& container, const std::string& name,
                                              const std::type_info& type, const std::function<AnyObject()>& create) {
  TF_ASSIGN_OR_RETURN(const RefPtr<CustomResource> resource,
                      FindOrCreateResource(context_.resources(), container, name, type, create));
  TF_RETURN_IF_ERROR(resource->object(type).status());
  set_output(i, MakeHandleTensor(resource, device_, container, name));
  return OkStatus();
}

StatusOr<std::shared_ptr<void>> OpKernelContext::AnyObjectOf(int i, const std::type_info& type) const {
  TF_ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleOf(input(i)));
  const auto* resource = dynamic_cast<const CustomResource*>(handle->resource.get());
  if (resource == nullptr) {
    return InvalidArgument("the handle of input ", i, " names '", handle->name, "', which is no object of a custom op");
  }
  return resource->object(type);
}

// Runs a kernel of a custom op.
class CustomKernel final : public Kernel {
 public:
  CustomKernel(std::unique_ptr<OpKernel> kernel, std::string device)
      : kernel_(std::move(kernel)), device_(std::move(device)) {}

  Status Compute(KernelContext& ctx) override {
    const Status computed = WithoutExceptions("the kernel", [&] {
      OpKernelContext context(ctx, device_);
      return kernel_->Compute(context);
    });
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      const auto& buffer = ctx.output(i).buffer();
      if (buffer && buffer->is_being_computed()) buffer->set_is_being_computed(false);
    }
    TF_RETURN_IF_ERROR(computed);
    // What comes next relies on the outputs.
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      const Tensor& output = ctx.output(i);
      if (!output.is_valid()) return Internal("the kernel has not set output ", i);
      if (!ctx.node().output_shape(i).IsCompatibleWith(output.shape())) {
        return Internal("output ", i, " has the shape ", output.shape(), ", but the op's shape rule says ",
                        ctx.node().output_shape(i));
      }
    }
    return OkStatus();
  }

 private:
  const std::unique_ptr<OpKernel> kernel_;
  const std::string device_;
};

StatusOr<std::unique_ptr<Kernel>> MakeCustomKernel(const OpKernelFactory& create, const KernelConstruction& c) {
  TF_ASSIGN_OR_RETURN(std::unique_ptr<OpKernel> kernel,
                      WithoutExceptions("the kernel's factory", [&]() -> StatusOr<std::unique_ptr<OpKernel>> {
                        return create(OpKernelConstruction(c.node()));
                      }));
  if (kernel == nullptr) return Internal("the kernel's factory has made no kernel");
  return std::unique_ptr<Kernel>(std::make_unique<CustomKernel>(std::move(kernel), c.device()));
}

}  // namespace tensorbraid
