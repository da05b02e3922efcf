// Removes Identity nodes that only pass a tensor on: they have no control inputs, and are on the device of their input.
#include "executor/passes/pass.h"
#include "graph/control_flow/control_flow.h"

namespace tensorbraid {
namespace {

Status Remove(Graph* graph, PassContext& context, bool of_references) {
  Replacements r(graph, context);
  std::vector<bool> has_control_edges(r.nodes().size(), false);
  for (const Node* node : r.nodes()) {
    for (const Node* c : node->control_inputs()) has_control_edges[c->id()] = true;
  }
  for (Node* node : r.nodes()) {
    r.Update(node);
    if (node->type() != "Identity" || !node->control_inputs().empty()) continue;
    if (IsRef(node->input_type(0)) != of_references || (!of_references && !IsPure(*node))) continue;
    const Node& from = *NodeOf(node->inputs()[0]);
    if (from.device() != node->device()) continue;
    // An Identity with outgoing control edges does more than pass a value on if its input is an output of a Switch: the
    // nodes that wait for the Identity run only if that side of the Switch is taken.
    if (has_control_edges[node->id()] && FlowKindOf(from) == FlowKind::kSwitch) continue;
    r.Replace(node, {node->inputs()[0]});
  }
  return r.Finish();
}

}  // namespace

Status RemoveIdentities(Graph* graph, PassContext& context) { return Remove(graph, context, /*of_references=*/false); }

// An Identity of a reference ("v/read") forwards it (graph/model/references.h), so its consumers may as well have the
// reference itself. An Identity with control inputs stays, since it also says when the consumers run.
Status RemoveReferenceIdentities(Graph* graph, PassContext& context) {
  return Remove(graph, context, /*of_references=*/true);
}

}  // namespace tensorbraid
