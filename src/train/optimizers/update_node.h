// What the optimizers share: the nodes of their update rules, and checks of their options.
#ifndef TENSORBRAID_TRAIN_OPTIMIZERS_UPDATE_NODE_H_
#define TENSORBRAID_TRAIN_OPTIMIZERS_UPDATE_NODE_H_

#include <string>

#include "core/text/strings.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"

namespace tensorbraid {

// Starts the node of the rule "Apply..." that updates `variable`, the node's first input, with `grad`: for whole
// variables ("ResourceApplyAdagrad") or, if `grad` is slices, for rows ("ResourceSparseApplyAdagrad"). The caller adds
// the gradient with InputGradient at its place among the inputs.
inline NodeBuilder UpdateNode(const Variable& variable, const std::string& rule, const Gradient& grad) {
  NodeBuilder node(*variable.graph(), (grad.is_sparse() ? "ResourceSparse" : "Resource") + rule);
  node.Input(variable.handle());
  return node;
}

// Adds the gradient, or its values and its indices.
inline NodeBuilder& InputGradient(NodeBuilder& node, const Gradient& grad) {
  if (!grad.is_sparse()) return node.Input(grad.dense());
  return node.Input(grad.slices().values).Input(grad.slices().indices);
}

// Whether a slot of sums of squared gradients may start at `value`, which the option of this name gives. If not, adds
// an error to the graph. From 0, an element whose first gradient is 0 would become 0 / sqrt(0), which is not a number.
inline bool IsInitialAccumulator(const Variable& variable, const std::string& optimizer, const char* option,
                                 double value) {
  if (value > 0) return true;
  variable.graph()->AddError(InvalidArgument(optimizer, ": ", option, " must be positive, got ", value));
  return false;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_OPTIMIZERS_UPDATE_NODE_H_
