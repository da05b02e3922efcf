// Optimizers that scale the step of each element by what its gradients have been.
#include "graph/node.h"
#include "tensorbraid/math_ops.h"
#include "tensorbraid/optimizer.h"

namespace tensorbraid {

void AdagradOptimizer::CreateSlots(const Variable& variable) {
  MakeSlot(variable, "accumulator", Constant(options_.initial_accumulator_value));
}

Operation AdagradOptimizer::ApplyDense(const Output& grad, const Variable& variable) {
  return NodeBuilder(*variable.graph(), "ResourceApplyAdagrad")
      .Input(variable.handle())
      .Input(GetSlot(variable, "accumulator").handle())
      .Input(Hyper(learning_rate_, variable))
      .Input(grad)
      .Attr("use_locking", options_.use_locking)
      .Finish();
}

void AdamOptimizer::CreateSlots(const Variable& variable) {
  MakeShared(variable, "beta1_power", options_.beta1);
  MakeShared(variable, "beta2_power", options_.beta2);
  MakeSlot(variable, "m", Zeros());
  MakeSlot(variable, "v", Zeros());
}

Operation AdamOptimizer::ApplyDense(const Output& grad, const Variable& variable) {
  Graph& graph = *variable.graph();
  const auto power = [&](const Variable& beta_power) {
    const Output value = beta_power.value();
    if (value.dtype() == variable.dtype()) return value;
    return NodeBuilder(graph, "Cast").Input(value).Attr("DstT", variable.dtype()).Output();
  };
  return NodeBuilder(graph, "ResourceApplyAdam")
      .Input(variable.handle())
      .Input(GetSlot(variable, "m").handle())
      .Input(GetSlot(variable, "v").handle())
      .Input(power(GetShared("beta1_power")))
      .Input(power(GetShared("beta2_power")))
      .Input(Hyper(learning_rate_, variable))
      .Input(Hyper(beta1_, variable))
      .Input(Hyper(beta2_, variable))
      .Input(Hyper(epsilon_, variable))
      .Input(grad)
      .Attr("use_locking", options_.use_locking)
      .Finish();
}

std::vector<Operation> AdamOptimizer::Finish() {
  std::vector<Operation> operations;
  for (const auto& [power, beta] :
       {std::pair{GetShared("beta1_power"), &beta1_}, std::pair{GetShared("beta2_power"), &beta2_}}) {
    auto device = power.graph()->ColocateWith(power.handle().op());
    operations.push_back(power.Assign(power * Hyper(*beta, power)));
  }
  return operations;
}

void RMSPropOptimizer::CreateSlots(const Variable& variable) {
  MakeSlot(variable, "rms", Ones());
  if (options_.centered) MakeSlot(variable, "mg", Zeros());
  MakeSlot(variable, "momentum", Zeros());
}

Operation RMSPropOptimizer::ApplyDense(const Output& grad, const Variable& variable) {
  NodeBuilder apply(*variable.graph(), options_.centered ? "ResourceApplyCenteredRMSProp" : "ResourceApplyRMSProp");
  apply.Input(variable.handle());
  if (options_.centered) apply.Input(GetSlot(variable, "mg").handle());
  return apply.Input(GetSlot(variable, "rms").handle())
      .Input(GetSlot(variable, "momentum").handle())
      .Input(Hyper(learning_rate_, variable))
      .Input(Hyper(decay_, variable))
      .Input(Hyper(momentum_, variable))
      .Input(Hyper(epsilon_, variable))
      .Input(grad)
      .Attr("use_locking", options_.use_locking)
      .Finish();
}

void FtrlOptimizer::CreateSlots(const Variable& variable) {
  MakeSlot(variable, "accum", Constant(options_.initial_accumulator_value));
  MakeSlot(variable, "linear", Zeros());
}

Operation FtrlOptimizer::ApplyDense(const Output& grad, const Variable& variable) {
  const bool shrinks = options_.l2_shrinkage_regularization_strength > 0;
  NodeBuilder apply(*variable.graph(), shrinks ? "ResourceApplyFtrlV2" : "ResourceApplyFtrl");
  apply.Input(variable.handle())
      .Input(GetSlot(variable, "accum").handle())
      .Input(GetSlot(variable, "linear").handle())
      .Input(grad)
      .Input(Hyper(learning_rate_, variable))
      .Input(Hyper(l1_, variable))
      .Input(Hyper(l2_, variable));
  if (shrinks) apply.Input(Hyper(shrinkage_, variable));
  return apply.Input(Hyper(power_, variable)).Attr("use_locking", options_.use_locking).Finish();
}

}  // namespace tensorbraid
