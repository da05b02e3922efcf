// Kernels of constants, placeholders, and ops that only pass their inputs on.
#include "core/text/strings.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Runs only if the placeholder was not fed, because a fed placeholder is cut out of the graph before it runs.
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

Status PassAllOn(KernelContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.ForwardInput(i, i);
  return OkStatus();
}

// Runs only if no value was fed. Passes the default on.
Status PlaceholderWithDefault(KernelContext& ctx) {
  const Shape& declared = ctx.node().attr<Shape>("shape");
  if (!declared.IsCompatibleWith(ctx.input(0).shape())) {
    return InvalidArgument("the default of shape ", ctx.input(0).shape(), " does not fit the declared shape ",
                           declared);
  }
  return PassAllOn(ctx);
}

Status NoOp(KernelContext&) { return OkStatus(); }

}  // namespace

void RegisterArrayKernels(KernelRegistry& r) {
  r.Add("Placeholder", {}, Placeholder, kNoCost);
  r.Add("PlaceholderV2", {}, Placeholder, kNoCost);
  r.Add("PlaceholderWithDefault", {}, PlaceholderWithDefault, kNoCost);
  r.Add<ConstKernel>("Const", {}, kNoCost);
  r.Add("Identity", {}, PassAllOn, kNoCost);
  r.Add("IdentityN", {}, PassAllOn, kNoCost);
  r.Add("StopGradient", {}, PassAllOn, kNoCost);
  r.Add("PreventGradient", {}, PassAllOn, kNoCost);
  r.Add("NoOp", {}, NoOp, kNoCost);
}

}  // namespace tensorbraid::cpu
