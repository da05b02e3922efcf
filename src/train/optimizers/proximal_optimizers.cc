// Optimizers with regularisation in their update rules: proximal steps and dual averaging.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/optimizers/optimizer.h"
#include "tensorbraid/optimizers/rules.h"
#include "train/optimizers/update_node.h"

namespace tensorbraid {

void AdagradDAOptimizer::Prepare(Graph& graph) {
  step_ = {};
  if (!global_step_.valid() || NodeOf(global_step_.handle())->graph() != &graph) {
    return graph.AddError(
        InvalidArgument(name(), ": the global step is not valid or does not belong to the graph of the variables"));
  }
  if (global_step_.dtype() != kInt64) {
    return graph.AddError(InvalidArgument(name(), ": the global step must be int64, got ", global_step_.dtype()));
  }
  auto place = graph.ColocateWith(global_step_.handle().op());
  step_ = global_step_.value() + 1;  // as in TensorFlow
}

void AdagradDAOptimizer::CreateSlots(const Variable& variable) {
  const double initial = options_.initial_gradient_squared_accumulator_value;
  if (!IsInitialAccumulator(variable, name(), "initial_gradient_squared_accumulator_value", initial)) return;
  MakeSlot(variable, "gradient_accumulator", Zeros());
  MakeSlot(variable, "gradient_squared_accumulator", Constant(initial));
}

Operation AdagradDAOptimizer::Apply(const Gradient& grad, const Variable& variable) {
  NodeBuilder node = UpdateNode(variable, "ApplyAdagradDA", grad);
  node.Input(GetSlot(variable, "gradient_accumulator").handle())
      .Input(GetSlot(variable, "gradient_squared_accumulator").handle());
  return InputGradient(node, grad)
      .Input(LearningRate(learning_rate_, variable))
      .Input(Hyper(l1_, variable))
      .Input(Hyper(l2_, variable))
      .Input(step_)
      .Attr("use_locking", options_.use_locking)
      .Finish();
}

Operation ProximalGradientDescentOptimizer::Apply(const Gradient& grad, const Variable& variable) {
  NodeBuilder node = UpdateNode(variable, "ApplyProximalGradientDescent", grad);
  node.Input(LearningRate(learning_rate_, variable)).Input(Hyper(l1_, variable)).Input(Hyper(l2_, variable));
  return InputGradient(node, grad).Attr("use_locking", options_.use_locking).Finish();
}

void ProximalAdagradOptimizer::CreateSlots(const Variable& variable) {
  const double initial = options_.initial_accumulator_value;
  if (!IsInitialAccumulator(variable, name(), "initial_accumulator_value", initial)) return;
  MakeSlot(variable, "accumulator", Constant(initial));
}

Operation ProximalAdagradOptimizer::Apply(const Gradient& grad, const Variable& variable) {
  NodeBuilder node = UpdateNode(variable, "ApplyProximalAdagrad", grad);
  node.Input(GetSlot(variable, "accumulator").handle())
      .Input(LearningRate(learning_rate_, variable))
      .Input(Hyper(l1_, variable))
      .Input(Hyper(l2_, variable));
  return InputGradient(node, grad).Attr("use_locking", options_.use_locking).Finish();
}

}  // namespace tensorbraid
