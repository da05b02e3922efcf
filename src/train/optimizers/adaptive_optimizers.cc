// Optimizers that scale the step of each element by its past gradients.
#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/optimizers/optimizer.h"
#include "tensorbraid/optimizers/rules.h"
#include "train/optimizers/update_node.h"

namespace tensorbraid {

void AdagradOptimizer::CreateSlots(const Variable& variable) {
  const double initial = options_.initial_accumulator_value;
  if (!IsInitialAccumulator(variable, name(), "initial_accumulator_value", initial)) return;
  MakeSlot(variable, "accumulator", Constant(initial));
}

Operation AdagradOptimizer::Apply(const Gradient& grad, const Variable& variable) {
  NodeBuilder node = UpdateNode(variable, "ApplyAdagrad", grad);
  node.Input(GetSlot(variable, "accumulator").handle()).Input(LearningRate(learning_rate_, variable));
  InputGradient(node, grad);
  return InputStepAndCounts(node, grad, variable).Attr("use_locking", options_.use_locking).Finish();
}

void AdamOptimizer::CreateSlots(const Variable& variable) {
  MakeShared(variable, "beta1_power", options_.beta1);
  MakeShared(variable, "beta2_power", options_.beta2);
  MakeSlot(variable, "m", Zeros());
  MakeSlot(variable, "v", Zeros());
}

Operation AdamOptimizer::Apply(const Gradient& grad, const Variable& variable) {
  if (grad.is_sparse() && variable.table() == nullptr) return ApplyToRows(grad.slices(), variable);
  NodeBuilder node = ApplyNode(grad, variable, "ApplyAdam");
  return InputCountsOfTable(node, grad, variable).Finish();
}

Output AdamOptimizer::Power(const char* shared, const Variable& variable) {
  const Output value = GetShared(shared).value();
  if (value.dtype() == variable.dtype()) return value;
  return NodeBuilder(*variable.graph(), "Cast").Input(value).Attr("DstT", variable.dtype()).Output();
}

NodeBuilder AdamOptimizer::ApplyNode(const Gradient& grad, const Variable& variable, const std::string& rule) {
  NodeBuilder node = UpdateNode(variable, rule, grad);
  node.Input(GetSlot(variable, "m").handle())
      .Input(GetSlot(variable, "v").handle())
      .Input(Power("beta1_power", variable))
      .Input(Power("beta2_power", variable))
      .Input(LearningRate(learning_rate_, variable))
      .Input(Hyper(beta1_, variable))
      .Input(Hyper(beta2_, variable))
      .Input(Hyper(epsilon_, variable));
  InputGradient(node, grad);
  InputStepOfTable(node, variable).Attr("use_locking", options_.use_locking);
  return node;
}

// There is no op that applies Adam's rule to some rows of a variable only. As in TensorFlow 1, m and v decay in all
// rows, and all rows of the variable change.
Operation AdamOptimizer::ApplyToRows(const IndexedSlices& grad, const Variable& variable) {
  Graph& graph = *variable.graph();
  const Output beta1_power = Power("beta1_power", variable), beta2_power = Power("beta2_power", variable);
  const Output beta1 = Hyper(beta1_, variable);
  const Output beta2 = Hyper(beta2_, variable);
  // Multiplies the whole slot by `decay`, then adds `rows` to its rows grad.indices. Returns the new value of the slot.
  const auto update = [&](const Variable& slot, const Output& decay, const Output& rows) {
    const Operation decayed = slot.Assign(slot.Read() * decay);
    Operation added;
    {
      auto after = graph.ControlDependencies({decayed});
      added = NodeBuilder(graph, OpOnVariable(slot, "ResourceScatterAdd"))
                  .Input(slot.handle())
                  .Input(grad.indices)
                  .Input(rows)
                  .Finish();
    }
    auto after = graph.ControlDependencies({added});
    return slot.Read();
  };
  const Output rate = LearningRate(learning_rate_, variable) * Sqrt(1.0 - beta2_power) / (1.0 - beta1_power);
  const Output m = update(GetSlot(variable, "m"), beta1, grad.values * (1.0 - beta1));
  // TensorFlow's graph optimizer multiplies in this order, which affects the last bit of the result.
  const Output v = update(GetSlot(variable, "v"), beta2, grad.values * (grad.values * (1.0 - beta2)));
  return variable.AssignSub(rate * m / (Sqrt(v) + Hyper(epsilon_, variable)));
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

Operation AdamWOptimizer::Apply(const Gradient& grad, const Variable& variable) {
  if (!decay_variables_.empty() && std::ranges::count(decay_variables_, variable) == 0) {
    return AdamOptimizer::Apply(grad, variable);
  }
  if (variable.table() != nullptr) {
    NodeBuilder node = ApplyNode(grad, variable, "ApplyAdamW");
    return InputCountsOfTable(node.Input(Hyper(weight_decay_, variable)), grad, variable).Finish();
  }
  const Operation decayed = Decay(grad, variable);
  if (!decayed.valid()) return {};
  const auto after = variable.graph()->ControlDependencies({decayed});
  return AdamOptimizer::Apply(grad, variable);
}

Operation AdamWOptimizer::Decay(const Gradient& grad, const Variable& variable) {
  const Output decay = Hyper(weight_decay_, variable);
  if (!grad.is_sparse()) return variable.AssignSub(variable.Read() * decay);
  const Output& rows = grad.slices().indices;
  return NodeBuilder(*variable.graph(), OpOnVariable(variable, "ResourceScatterSub"))
      .Input(variable.handle())
      .Input(rows)
      .Input(variable.SparseRead(rows) * decay)
      .Finish();
}

void RMSPropOptimizer::CreateSlots(const Variable& variable) {
  MakeSlot(variable, "rms", Ones());
  if (options_.centered) MakeSlot(variable, "mg", Zeros());
  MakeSlot(variable, "momentum", Zeros());
}

Operation RMSPropOptimizer::Apply(const Gradient& grad, const Variable& variable) {
  NodeBuilder node = UpdateNode(variable, options_.centered ? "ApplyCenteredRMSProp" : "ApplyRMSProp", grad);
  if (options_.centered) node.Input(GetSlot(variable, "mg").handle());
  node.Input(GetSlot(variable, "rms").handle())
      .Input(GetSlot(variable, "momentum").handle())
      .Input(LearningRate(learning_rate_, variable))
      .Input(Hyper(decay_, variable))
      .Input(Hyper(momentum_, variable))
      .Input(Hyper(epsilon_, variable));
  InputGradient(node, grad);
  return InputStepAndCounts(node, grad, variable).Attr("use_locking", options_.use_locking).Finish();
}

void FtrlOptimizer::CreateSlots(const Variable& variable) {
  if (!(options_.initial_accumulator_value >= 0)) {
    return variable.graph()->AddError(InvalidArgument(name(), ": initial_accumulator_value must not be negative, got ",
                                                      options_.initial_accumulator_value));
  }
  MakeSlot(variable, "accum", Constant(options_.initial_accumulator_value));
  MakeSlot(variable, "linear", Zeros());
}

Operation FtrlOptimizer::Apply(const Gradient& grad, const Variable& variable) {
  const bool shrinks = options_.l2_shrinkage_regularization_strength > 0;
  NodeBuilder node = UpdateNode(variable, shrinks ? "ApplyFtrlV2" : "ApplyFtrl", grad);
  node.Input(GetSlot(variable, "accum").handle()).Input(GetSlot(variable, "linear").handle());
  InputGradient(node, grad)
      .Input(LearningRate(learning_rate_, variable))
      .Input(Hyper(l1_, variable))
      .Input(Hyper(l2_, variable));
  if (shrinks) node.Input(Hyper(shrinkage_, variable));
  node.Input(Hyper(power_, variable));
  return InputStepAndCounts(node, grad, variable).Attr("use_locking", options_.use_locking).Finish();
}

}  // namespace tensorbraid
