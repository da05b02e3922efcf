// Kernels of Switch, Merge and related ops. The executor decides which nodes run and where their results go; the
// kernels only forward values.
#include "core/text/strings.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

Status PassFirst(KernelContext& ctx) {
  ctx.ForwardInput(0, 0);
  return OkStatus();
}

Status Switch(KernelContext& ctx) {
  const Tensor& pred = ctx.input(1);
  if (!pred.shape().is_scalar()) return InvalidArgument("pred must be a scalar, got shape ", pred.shape());
  ctx.ForwardInput(0, pred.scalar<bool>() ? 1 : 0);
  return OkStatus();
}

Status SwitchN(KernelContext& ctx) {
  const Tensor& index = ctx.input(1);
  if (!index.shape().is_scalar()) return InvalidArgument("output_index must be a scalar, got shape ", index.shape());
  const int32_t i = index.scalar<int32_t>();
  // An index out of range selects the last output, like the last branch of a Case.
  ctx.ForwardInput(0, i < 0 || i >= ctx.num_outputs() ? ctx.num_outputs() - 1 : i);
  return OkStatus();
}

Status Merge(KernelContext& ctx) {
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    if (!ctx.has_input(i)) continue;
    ctx.ForwardInput(i, 0);
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
  ctx.ForwardInput(i + 1, 0);
  return OkStatus();
}

Status Nothing(KernelContext&) { return OkStatus(); }

// Ends the step with an error. TensorFlow's Abort ends the process, but a server also serves other clients.
Status Abort(KernelContext& ctx) {
  if (ctx.node().attr<bool>("exit_without_error")) return Aborted("the graph ended the step with an Abort op");
  return Aborted(ctx.node().attr<std::string>("error_msg"));
}

}  // namespace

void RegisterControlFlowKernels(KernelRegistry& r) {
  for (const std::string prefix : {"", "Ref"}) {
    r.Add(prefix + "Switch", {}, Switch, kNoCost);
    r.Add(prefix + "Merge", {}, Merge, kNoCost);
    for (const char* op : {"Enter", "Exit", "NextIteration"}) r.Add(prefix + op, {}, PassFirst, kNoCost);
  }
  r.Add("_SwitchN", {}, SwitchN, kNoCost);
  r.Add("LoopCond", {}, PassFirst, kNoCost);
  r.Add("ControlTrigger", {}, Nothing, kNoCost);
  r.Add("Abort", {}, Abort);
  r.Add("RefSelect", {}, RefSelect, kNoCost);
  r.Add("RefIdentity", {}, PassFirst, kNoCost);
}

}  // namespace tensorbraid::cpu
