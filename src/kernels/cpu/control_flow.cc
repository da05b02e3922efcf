// Switch, Merge and their kin. The executor decides who runs and where results go; kernels only hand values on.
#include "core/strings.h"
#include "kernels/cpu/register.h"

namespace tensorbraid {
namespace {

// Input `from` becomes output `to`: the reference itself where the op is declared to take one.
void Pass(KernelContext& ctx, int from, int to) {
  if (IsRef(ctx.node().declared_input_type(from))) {
    ctx.set_output_ref(to, RefPtr<VariableResource>::Share(&ctx.ref_input(from)));
  } else {
    ctx.set_output(to, ctx.TakeInput(from));
  }
}

Status PassFirst(KernelContext& ctx) {
  Pass(ctx, 0, 0);
  return OkStatus();
}

Status Switch(KernelContext& ctx) {
  const Tensor& pred = ctx.input(1);
  if (!pred.shape().is_scalar()) return InvalidArgument("pred must be a scalar, got shape ", pred.shape());
  Pass(ctx, 0, pred.scalar<bool>() ? 1 : 0);
  return OkStatus();
}

Status SwitchN(KernelContext& ctx) {
  const Tensor& index = ctx.input(1);
  if (!index.shape().is_scalar()) return InvalidArgument("output_index must be a scalar, got shape ", index.shape());
  const int32_t i = index.scalar<int32_t>();
  // As the last branch of a case, the last output takes what no other does.
  Pass(ctx, 0, i < 0 || i >= ctx.num_outputs() ? ctx.num_outputs() - 1 : i);
  return OkStatus();
}

Status Merge(KernelContext& ctx) {
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    if (!ctx.has_input(i)) continue;
    Pass(ctx, i, 0);
    ctx.set_output(1, Tensor::Scalar(static_cast<int32_t>(i)));
    return OkStatus();
  }
  return Internal("has no live input");
}

Status RefSelect(KernelContext& ctx) {
  const Tensor& index = ctx.input(0);
  if (!index.shape().is_scalar()) return InvalidArgument("index must be a scalar, got shape ", index.shape());
  const int32_t i = index.scalar<int32_t>();
  if (i < 0 || i + 1 >= ctx.num_inputs()) {
    return InvalidArgument("index must be in [0, ", ctx.num_inputs() - 1, "), got ", i);
  }
  Pass(ctx, i + 1, 0);
  return OkStatus();
}

Status Nothing(KernelContext&) { return OkStatus(); }

// TensorFlow ends the process here. A server serves others too, so this ends the step.
Status Abort(KernelContext& ctx) {
  if (ctx.node().attr<bool>("exit_without_error")) return Aborted("the graph asked for an end");
  return Aborted(ctx.node().attr<std::string>("error_msg"));
}

}  // namespace

void RegisterControlFlowKernels(KernelRegistry& r) {
  for (const std::string prefix : {"", "Ref"}) {
    r.Add(prefix + "Switch", {}, Switch);
    r.Add(prefix + "Merge", {}, Merge);
    for (const char* op : {"Enter", "Exit", "NextIteration"}) r.Add(prefix + op, {}, PassFirst);
  }
  r.Add("_SwitchN", {}, SwitchN);
  r.Add("LoopCond", {}, PassFirst);
  r.Add("ControlTrigger", {}, Nothing);
  r.Add("Abort", {}, Abort);
  r.Add("RefSelect", {}, RefSelect);
  r.Add("RefIdentity", {}, PassFirst);
}

}  // namespace tensorbraid
