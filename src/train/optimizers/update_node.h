// What the optimizers share: the nodes of their update rules, and checks of their options.
#ifndef TENSORBRAID_TRAIN_OPTIMIZERS_UPDATE_NODE_H_
#define TENSORBRAID_TRAIN_OPTIMIZERS_UPDATE_NODE_H_

#include <string>
#include <vector>

#include "core/text/strings.h"
#include "graph/model/op_registry.h"
#include "graph/model/variable_ops.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "train/optimizers/key_counts.h"

namespace tensorbraid {

// Starts the node that updates `variable` with `grad` by an update rule such as "ApplyAdagrad". A dense gradient
// updates the whole variable (the op "ResourceApplyAdagrad"), and slices update rows (the op
// "ResourceSparseApplyAdagrad", or "KvResourceSparseApplyAdagrad" for a growing table). The node has the variable as
// its first input. The caller adds the other inputs, among them the gradient (InputGradient) and, last, the step of a
// table (InputStepOfTable) and the counts of its keys (InputCountsOfTable).
inline NodeBuilder UpdateNode(const Variable& variable, const std::string& rule, const Gradient& grad) {
  std::string op = OpOnVariable(variable, (grad.is_sparse() ? "ResourceSparse" : "Resource") + rule);
  if (variable.table() != nullptr) {  // the gradient consists of rows
    op = "KvResourceSparse" + rule + (CountsKeys(variable) ? "WithCounts" : "");
  }
  if (OpRegistry::Global().Find(op) == nullptr) op = "_" + op;  // neither TensorFlow nor DeepRec has such an op
  NodeBuilder node(*variable.graph(), op);
  node.Input(variable.handle());
  return node;
}

// Adds the gradient, or its values and its indices.
inline NodeBuilder& InputGradient(NodeBuilder& node, const Gradient& grad) {
  if (!grad.is_sparse()) return node.Input(grad.dense());
  return node.Input(grad.slices().values).Input(grad.slices().indices);
}

// For a growing table, adds the global step, which its rows remember as their last update. Without a global step in the
// graph it is 0. The step does not wait for what the update waits for, so all tables use one read of it.
inline NodeBuilder& InputStepOfTable(NodeBuilder& node, const Variable& variable) {
  if (variable.table() == nullptr) return node;
  const auto at_once = variable.graph()->ControlDependencies(std::vector<Operation>());
  const Variable step = GetGlobalStep(*variable.graph());
  return node.Input(step.valid() ? step.value() : Operand(int64_t{0}).ToOutput(*variable.graph(), kInt64));
}

// For a growing table with a filter, adds how often each key of the gradient has occurred in the batch. The worker
// counts the keys without waiting for the server.
inline NodeBuilder& InputCountsOfTable(NodeBuilder& node, const Gradient& grad, const Variable& variable) {
  if (!CountsKeys(variable)) return node;
  const auto at_once = variable.graph()->ControlDependencies(std::vector<Operation>());
  return node.Input(CountsOfKeys(grad.slices().indices, variable.handle()));
}

// Both of them, for most rules.
inline NodeBuilder& InputStepAndCounts(NodeBuilder& node, const Gradient& grad, const Variable& variable) {
  return InputCountsOfTable(InputStepOfTable(node, variable), grad, variable);
}

// Returns whether `value`, the value of the option named `option`, is a valid start for a slot that sums squared
// gradients. If not, adds an error to the graph. From 0, an element whose first gradient is 0 would become 0 / sqrt(0),
// which is not a number.
inline bool IsInitialAccumulator(const Variable& variable, const std::string& optimizer, const char* option,
                                 double value) {
  if (value > 0) return true;
  variable.graph()->AddError(InvalidArgument(optimizer, ": ", option, " must be positive, got ", value));
  return false;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_OPTIMIZERS_UPDATE_NODE_H_
