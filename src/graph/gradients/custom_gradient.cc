#include "tensorbraid/graph/custom_gradient.h"

#include "core/text/strings.h"
#include "graph/gradients/gradient_overrides.h"
#include "graph/model/graph_impl.h"
#include "graph/model/mistakes.h"
#include "graph/model/user_lines.h"

namespace tensorbraid {

void SetGradient(const Operation& op, GradientFunction gradient) {
  if (!op.valid()) return;
  const GraphLock lock(*op.graph());
  ImplOf(*op.graph()).extension<GradientOverrides>().functions[NodeOf(op)] = std::move(gradient);
}

std::vector<Output> CustomGradient(const std::vector<Output>& inputs, const ForwardFunction& forward,
                                   const BackwardFunction& backward, const std::string& name,
                                   std::source_location loc) {
  Graph* graph = nullptr;
  for (const Output& input : inputs) {
    if (input.valid()) graph = input.graph(loc);
  }
  if (graph == nullptr) {
    LogMistake("CustomGradient", loc, inputs.empty() ? kEmptyList : "none of the inputs is valid");
    return {};
  }
  const ScopedLocation at(*graph, loc);
  const ScopeGuard scope = graph->NameScope(name);
  // Nodes of their own for the inputs, so that a gradient stops at the node below and not inside of `forward`.
  std::vector<Output> own;
  for (const Output& input : inputs) own.push_back(NodeBuilder(*graph, "Identity").Input(input).Output());
  std::vector<Output> results;
  {
    const ScopedUserCode user(*graph);
    results = forward(own);
  }
  if (!graph->status().ok()) return std::vector<Output>(results.size());
  // One node that takes the results and the inputs: gradients of the results arrive at it, and gradients of the inputs
  // leave it.
  std::vector<Output> all = results;
  all.insert(all.end(), own.begin(), own.end());
  const Operation node = NodeBuilder(*graph, "IdentityN").InputList(all).Finish();
  if (!node.valid()) return std::vector<Output>(results.size());
  const size_t n = results.size();
  std::vector<Output> outputs;
  for (size_t i = 0; i < n; ++i) outputs.push_back(node.output(static_cast<int>(i)));
  SetGradient(node, [own, backward, n](const Operation& op, const std::vector<Output>& grads) {
    Graph& g = *op.graph();
    std::vector<Output> of_results, values;
    for (size_t i = 0; i < n; ++i) {
      const Output value = op.output(static_cast<int>(i));
      values.push_back(value);
      of_results.push_back(grads[i].valid() ? grads[i] : NodeBuilder(g, "ZerosLike").Input(value).Output());
    }
    std::vector<Output> of_inputs = backward(own, values, of_results);
    if (of_inputs.size() != own.size()) {
      g.AddError(InvalidArgument("the gradient of '", op.name(),
                                 "' (CustomGradient) must return a gradient for each of its ", own.size(),
                                 " inputs, but returns ", of_inputs.size()));
      return std::vector<Output>(n + own.size());
    }
    of_inputs.insert(of_inputs.begin(), n, Output());
    return of_inputs;
  });
  return outputs;
}

}  // namespace tensorbraid
