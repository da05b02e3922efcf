// Kernels that make and read optionals: variants that hold tensors or nothing.
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "runtime/dataset/variant_values.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

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
  if (!optional->has_value) return InvalidArgument("the optional is empty and has no value");
  const auto& shapes = ctx.node().attr<std::vector<Shape>>("output_shapes");
  if (static_cast<int>(optional->components.size()) != ctx.num_outputs()) {
    return InvalidArgument("the optional has ", optional->components.size(), " components, but the op has ",
                           ctx.num_outputs(), " outputs");
  }
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    const Tensor& t = optional->components[static_cast<size_t>(i)];
    const Shape& shape = shapes[static_cast<size_t>(i)];
    if (t.dtype() != ctx.node().output_type(i) || !shape.IsCompatibleWith(t.shape())) {
      return InvalidArgument("component ", i, " of the optional is ", t.dtype(), t.shape(), ", expected ",
                             ctx.node().output_type(i), shape);
    }
    ctx.set_output(i, t);
  }
  return OkStatus();
}

}  // namespace

void RegisterListOptionalKernels(KernelRegistry& r) {
  r.Add("OptionalFromValue", {}, OptionalFromValue, kNoCost);
  r.Add("OptionalNone", {}, OptionalNone);
  r.Add("OptionalHasValue", {}, OptionalHasValue);
  r.Add("OptionalGetValue", {}, OptionalGetValue, kNoCost);
}

}  // namespace tensorbraid::cpu
