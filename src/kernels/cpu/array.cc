#include "core/strings.h"
#include "kernels/cpu/array_families.h"
#include "kernels/cpu/register.h"

namespace tensorbraid {
namespace {

// Runs only when nobody fed it: fed placeholders are not part of the plan.
Status Placeholder(KernelContext& ctx) {
  const Node& node = ctx.node();
  return InvalidArgument("placeholder '", node.name(), "' (", node.attr<DType>("dtype"), node.attr<Shape>("shape"),
                         ") must be fed a value");
}

class ConstKernel final : public Kernel {
 public:
  explicit ConstKernel(const KernelConstruction& c) : value_(c.attr<Tensor>("value")) {}
  Status Compute(KernelContext& ctx) override {
    ctx.set_output(0, value_);
    return OkStatus();
  }

 private:
  const Tensor value_;
};

Status PassOn(KernelContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, ctx.TakeInput(i));
  return OkStatus();
}

Status NoOp(KernelContext&) { return OkStatus(); }

}  // namespace

void RegisterArrayKernels(KernelRegistry& r) {
  r.Add("Placeholder", {}, Placeholder);
  r.Add("PlaceholderV2", {}, Placeholder);
  r.Add("PlaceholderWithDefault", {}, PassOn);
  r.Add<ConstKernel>("Const");
  r.Add("Identity", {}, PassOn);
  r.Add("IdentityN", {}, PassOn);
  r.Add("StopGradient", {}, PassOn);
  r.Add("PreventGradient", {}, PassOn);
  r.Add("NoOp", {}, NoOp);
  RegisterGatherKernels(r);
  RegisterShapeKernels(r);
  RegisterJoinKernels(r);
  RegisterSliceKernels(r);
  RegisterRearrangeKernels(r);
  RegisterPassKernels(r);
  RegisterSearchKernels(r);
  RegisterArrayScatterKernels(r);
  RegisterBlockKernels(r);
}

}  // namespace tensorbraid
