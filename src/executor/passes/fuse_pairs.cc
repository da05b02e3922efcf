#include "executor/passes/fuse_pairs.h"

#include <utility>
#include <vector>

#include "graph/model/graph_impl.h"

namespace tensorbraid {

NodeSpec LikeNode(const Node& node, const std::string& op) {
  NodeSpec spec;
  spec.op = op;
  spec.inputs = node.inputs();
  spec.controls = node.control_inputs();
  const OpDef& def = *OpRegistry::Global().Find(op);
  for (const auto& [name, value] : node.attrs()) {
    if (name.starts_with("_") || def.FindAttr(name) != nullptr) spec.attrs.emplace(name, value);
  }
  return spec;
}

std::vector<int> NumbersOfUses(const Graph& graph) {
  const auto& nodes = ImplOf(graph).nodes();
  std::vector<int> uses(nodes.size(), 0);
  for (const auto& node : nodes) {
    for (const Output& in : node->inputs()) ++uses[NodeOf(in)->id()];
    for (const Node* c : node->control_inputs()) ++uses[c->id()];
  }
  return uses;
}

Status FusePairs(Graph* graph, PassContext& context,
                 absl::FunctionRef<std::optional<NodeSpec>(const Node& first, const Node& second)> fuse) {
  GraphImpl& impl = ImplOf(*graph);
  const size_t count = impl.nodes().size();
  const std::vector<int> uses = NumbersOfUses(*graph);
  std::vector<bool> removed(count, false);
  bool any = false;
  // Iterates by index, because Become changes the vector of nodes temporarily.
  for (size_t i = 0; i < count; ++i) {
    Node* const second = impl.nodes()[i].get();
    if (second->inputs().empty() || !second->control_inputs().empty() || !IsPure(*second)) continue;
    const Node& first = *NodeOf(second->inputs()[0]);
    if (uses[first.id()] != 1 || !IsPure(first) || second->output_type(0) != kFloat32) continue;
    if (first.device() != second->device() || context.DeviceType(*second) != "CPU") continue;
    std::optional<NodeSpec> fused = fuse(first, *second);
    if (!fused.has_value() || !impl.Become(second, *std::move(fused)).ok()) continue;
    removed[first.id()] = true;
    any = true;
  }
  if (any) impl.RemoveNodes(removed);
  return OkStatus();
}

}  // namespace tensorbraid
