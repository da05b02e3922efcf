#include "core/text/strings.h"
#include "graph/model/node.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/optimizers/recommender_rules.h"
#include "train/optimizers/update_node.h"

namespace tensorbraid {

void AdamAsyncOptimizer::CreateSlots(const Variable& variable) {
  MakeSlot(variable, "m", Zeros());
  MakeSlot(variable, "v", Zeros());
  MakeSlot(variable, "beta1_power", Constant(options_.beta1), {.shape = Shape()});
  MakeSlot(variable, "beta2_power", Constant(options_.beta2), {.shape = Shape()});
}

Operation AdamAsyncOptimizer::Apply(const Gradient& grad, const Variable& variable) {
  const Variable power1 = GetSlot(variable, "beta1_power"), power2 = GetSlot(variable, "beta2_power");
  NodeBuilder node = UpdateNode(variable, grad.is_sparse() ? "ApplyAdamAsync" : "ApplyAdam", grad);
  node.Input(GetSlot(variable, "m").handle()).Input(GetSlot(variable, "v").handle());
  if (grad.is_sparse()) {
    node.Input(power1.handle()).Input(power2.handle());
  } else {
    node.Input(power1.value()).Input(power2.value());
  }
  node.Input(LearningRate(learning_rate_, variable))
      .Input(Hyper(beta1_, variable))
      .Input(Hyper(beta2_, variable))
      .Input(Hyper(epsilon_, variable));
  InputGradient(node, grad);
  InputStepAndCounts(node, grad, variable).Attr("use_locking", options_.use_locking);
  if (grad.is_sparse()) return node.Attr("apply_sparse_rmsprop", options_.apply_sparse_rmsprop).Finish();
  // A dense update is Adam's op, which accelerators compile. The powers are multiplied after it.
  Graph& graph = *variable.graph();
  const auto after = graph.ControlDependencies({node.Finish()});
  return Group(graph, {power1.Assign(power1.Read() * Hyper(beta1_, variable)),
                       power2.Assign(power2.Read() * Hyper(beta2_, variable))});
}

void AdagradDecayOptimizer::Prepare(Graph& graph) {
  step_ = {};
  if (!global_step_.valid() || NodeOf(global_step_.handle())->graph() != &graph) {
    return graph.AddError(
        InvalidArgument(name(), ": the global step is not valid or does not belong to the graph of the variables"));
  }
  if (global_step_.dtype() != kInt64) {
    return graph.AddError(InvalidArgument(name(), ": the global step must be int64, got ", global_step_.dtype()));
  }
  if (options_.accumulator_decay_step < 1) {
    return graph.AddError(
        InvalidArgument(name(), ": accumulator_decay_step must be positive, got ", options_.accumulator_decay_step));
  }
  step_ = global_step_.value();
  steps_ = Operand(options_.accumulator_decay_step).ToOutput(graph, kInt64);
}

void AdagradDecayOptimizer::CreateSlots(const Variable& variable) {
  const double initial = options_.initial_accumulator_value;
  if (!IsInitialAccumulator(variable, name(), "initial_accumulator_value", initial)) return;
  MakeSlot(variable, "accumulator", Constant(initial));
  MakeSlot(variable, "accumulator_decay_power", Zeros());
}

Operation AdagradDecayOptimizer::Apply(const Gradient& grad, const Variable& variable) {
  if (!step_.valid()) return {};  // Prepare has recorded the error
  NodeBuilder node = UpdateNode(variable, "ApplyAdagradDecay", grad);
  node.Input(GetSlot(variable, "accumulator").handle())
      .Input(GetSlot(variable, "accumulator_decay_power").handle())
      .Input(LearningRate(learning_rate_, variable))
      .Input(steps_)
      .Input(Hyper(rate_, variable))
      .Input(Hyper(baseline_, variable))
      .Input(step_);
  InputGradient(node, grad);
  return InputCountsOfTable(node, grad, variable).Attr("use_locking", options_.use_locking).Finish();
}

void RowwiseAdagradOptimizer::CreateSlots(const Variable& variable) {
  const double initial = options_.initial_accumulator_value;
  if (!IsInitialAccumulator(variable, name(), "initial_accumulator_value", initial)) return;
  const int64_t rows = variable.shape().rank() == 0 ? 1 : variable.shape().dim(0);
  MakeSlot(variable, "accumulator", Constant(initial), {.shape = Shape({rows, 1})});
}

Operation RowwiseAdagradOptimizer::Apply(const Gradient& grad, const Variable& variable) {
  NodeBuilder node = UpdateNode(variable, "ApplyRowwiseAdagrad", grad);
  node.Input(GetSlot(variable, "accumulator").handle()).Input(LearningRate(learning_rate_, variable));
  InputGradient(node, grad);
  return InputStepAndCounts(node, grad, variable).Attr("use_locking", options_.use_locking).Finish();
}

}  // namespace tensorbraid
