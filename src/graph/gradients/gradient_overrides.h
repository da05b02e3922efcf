// The gradient functions that a program has given to single nodes of a graph (SetGradient).
#ifndef TENSORBRAID_GRAPH_GRADIENTS_GRADIENT_OVERRIDES_H_
#define TENSORBRAID_GRAPH_GRADIENTS_GRADIENT_OVERRIDES_H_

#include <map>

#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "tensorbraid/graph/custom_gradient.h"

namespace tensorbraid {

// An extension of GraphImpl.
struct GradientOverrides {
  std::map<const Node*, GradientFunction> functions;
};

// Returns the node's own gradient function; null if it has none.
inline const GradientFunction* GradientOverrideOf(GraphImpl& graph, const Node& node) {
  const auto& functions = graph.extension<GradientOverrides>().functions;
  const auto it = functions.find(&node);
  return it == functions.end() ? nullptr : &it->second;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_GRADIENTS_GRADIENT_OVERRIDES_H_
