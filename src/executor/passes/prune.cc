// Drops pure nodes that nothing needs any more.
#include "executor/passes/pass.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {

Status Prune(Graph* graph, PassContext& context) {
  const auto& nodes = ImplOf(*graph).nodes();
  std::vector<bool> unneeded(nodes.size());
  for (const auto& node : nodes) unneeded[node->id()] = IsPure(*node);
  for (const Node* target : context.targets()) unneeded[target->id()] = false;
  bool any = false;
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    if (unneeded[(*it)->id()]) {
      any = true;
      continue;
    }
    for (const Output& in : (*it)->inputs()) unneeded[NodeOf(in)->id()] = false;
    for (const Node* c : (*it)->control_inputs()) unneeded[c->id()] = false;
  }
  if (any) ImplOf(*graph).RemoveNodes(unneeded);
  return OkStatus();
}

}  // namespace tensorbraid
