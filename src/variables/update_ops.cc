#include "variables/update_ops.h"

#include <set>

#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// Name of a collection in which each recorded update is three entries: the operation, the variable's handle and the
// tensor from which the update is computed.
constexpr char kRecordedUpdates[] = "recorded_update_ops";

}  // namespace

void AddUpdateOp(const Operation& update, const Variable& variable, const Output& of) {
  if (!update.valid() || !of.valid()) return;
  Graph& graph = *update.graph();
  graph.AddToCollection("update_ops", OutputOf(NodeOf(update), 0));
  graph.AddToCollection(kRecordedUpdates, OutputOf(NodeOf(update), 0));
  graph.AddToCollection(kRecordedUpdates, variable.handle());
  graph.AddToCollection(kRecordedUpdates, of);
}

std::vector<Operation> UpdateOpsOf(const Graph& graph, const std::vector<Gradient>& grads) {
  const std::vector<Output> recorded = graph.GetCollection(kRecordedUpdates);
  if (recorded.empty()) return {};
  std::set<const Node*> needed;  // the gradients and everything from which they are computed
  std::vector<const Node*> next;
  for (const Gradient& grad : grads) {
    if (!grad.valid()) continue;
    next.push_back(grad.is_sparse() ? NodeOf(grad.slices().values) : NodeOf(grad.dense()));
  }
  while (!next.empty()) {
    const Node* node = next.back();
    next.pop_back();
    if (!needed.insert(node).second) continue;
    for (const Output& in : node->inputs()) {
      if (in.valid()) next.push_back(NodeOf(in));
    }
    for (const Node* control : node->control_inputs()) next.push_back(control);
  }
  std::vector<Operation> updates;
  std::set<const Node*> updated;  // handles of variables
  for (size_t i = 0; i + 2 < recorded.size(); i += 3) {
    if (needed.contains(NodeOf(recorded[i + 2])) && updated.insert(NodeOf(recorded[i + 1])).second) {
      updates.push_back(recorded[i].op());
    }
  }
  return updates;
}

}  // namespace tensorbraid
