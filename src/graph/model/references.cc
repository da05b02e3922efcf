#include "graph/model/references.h"

#include <algorithm>

#include "core/text/strings.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {
namespace {

// Whether output `output` of a node that forwards inputs is a forwarded input. Output 1 of a Merge is not: it is the
// number of the input that the Merge took.
bool IsForwarded(const Node& node, int output) { return FlowKindOf(node) != FlowKind::kMerge || output == 0; }

// Returns a key of the variable that the node creates. Two nodes that create the same variable have the same key.
std::string KeyOf(const Node& variable) {
  const auto text = [&variable](std::string_view name) {
    const AttrValue* attr = variable.FindAttr(name);
    const std::string* value = attr == nullptr ? nullptr : attr->get<std::string>();
    return value == nullptr ? std::string() : *value;
  };
  const std::string shared = text("shared_name");
  return StrCat(variable.device(), ";", text("container"), ";", shared.empty() ? variable.name() : shared);
}

// Whether the op belongs to those by which sessions wait for each other, such as the ops of queues and mutexes.
bool WaitsForOthers(std::string_view op) {
  return op.starts_with("Queue") || op.starts_with("Barrier") || op.ends_with("TakeGradient") ||
         op.find("Unstage") != op.npos || op == "MutexLock";
}

}  // namespace

bool ForwardsInput(const Node& node, int input) {
  switch (FlowKindOf(node)) {
    case FlowKind::kMerge:
      return true;
    case FlowKind::kSwitch:
    case FlowKind::kEnter:
    case FlowKind::kExit:
    case FlowKind::kNextIteration:
      return input == 0;
    default:
      break;
  }
  const std::string& op = node.type();
  if (op == "RefSelect") return input > 0;
  return op == "Identity" || op == "RefIdentity" || op == "StopGradient" || op == "PreventGradient";
}

ReferenceTensors::ReferenceTensors(const Graph& graph, Stays stays) {
  const auto& nodes = ImplOf(graph).nodes();
  variables_.resize(nodes.size());
  bool again = true;
  while (again) {  // twice only if a loop passes a reference from one iteration to the next
    again = false;
    for (const auto& node : nodes) {
      bool takes_references = false;
      for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i) {
        const Output& in = node->inputs()[i];
        const bool forwards = ForwardsInput(*node, i);
        const bool declared = IsRef(node->declared_input_type(i));
        if (!in.valid() || !Contains(in) || (!forwards && !declared)) continue;
        if (!declared && stays != nullptr && !stays(*node, i)) continue;
        // An op that changes variables returns the first of them.
        if (!forwards && (takes_references || node->num_outputs() == 0 || !IsRef(node->output_type(0)))) continue;
        takes_references = true;
        const bool grew = AddAll(*node, variables_[NodeOf(in)->id()]);
        again = again || (grew && FlowKindOf(*node) == FlowKind::kNextIteration);
      }
      if (takes_references || !variables_[node->id()].empty()) continue;
      if (node->num_outputs() > 0 && IsRef(node->output_type(0))) {
        const int number = numbers_.try_emplace(KeyOf(*node), num_variables()).first->second;
        variables_[node->id()] = {number};
      }
    }
  }
}

bool ReferenceTensors::AddAll(const Node& node, const std::vector<int>& variables) {
  std::vector<int>& all = variables_[node.id()];
  const size_t before = all.size();
  for (const int v : variables) {
    if (std::find(all.begin(), all.end(), v) == all.end()) all.push_back(v);
  }
  return all.size() > before;
}

bool ReferenceTensors::Contains(const Output& tensor) const { return !VariablesOf(tensor).empty(); }

const std::vector<int>& ReferenceTensors::VariablesOf(const Output& tensor) const {
  static const std::vector<int> kNone;
  const Node& node = *NodeOf(tensor);
  return IsRef(node.output_type(tensor.index())) || IsForwarded(node, tensor.index()) ? variables_[node.id()] : kNone;
}

void ReferenceReads::Index() {
  if (!consumers_.empty()) return;
  const auto& nodes = ImplOf(graph_).nodes();
  consumers_.resize(nodes.size());
  updates_.resize(references_.num_variables());
  // `waits`: nodes whose op waits for other sessions. `ordered`: nodes that a control edge orders behind such a node.
  std::vector<int> waits, ordered;
  for (const auto& node : nodes) {
    if (WaitsForOthers(node->type())) waits.push_back(node->id());
    for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i) {
      const Output& in = node->inputs()[i];
      consumers_[NodeOf(in)->id()].push_back(node->id());
      if (!IsRef(node->declared_input_type(i)) || ForwardsInput(*node, i)) continue;
      if (node->type() == "IsVariableInitialized") continue;
      for (const int v : references_.VariablesOf(in)) updates_[v].push_back(node->id());
    }
    for (const Node* c : node->control_inputs()) consumers_[c->id()].push_back(node->id());
  }
  const std::vector<bool> after_wait = Reach(waits);
  for (const auto& node : nodes) {
    const auto& controls = node->control_inputs();
    const auto follows = [&](const Node* c) { return after_wait[c->id()]; };
    if (std::any_of(controls.begin(), controls.end(), follows)) ordered.push_back(node->id());
  }
  follows_wait_ = Reach(ordered);
}

std::vector<bool> ReferenceReads::Reach(std::vector<int> next) const {
  std::vector<bool> reached(consumers_.size(), false);
  for (const int id : next) reached[id] = true;
  while (!next.empty()) {
    const int id = next.back();
    next.pop_back();
    for (const int consumer : consumers_[id]) {
      if (reached[consumer]) continue;
      reached[consumer] = true;
      next.push_back(consumer);
    }
  }
  return reached;
}

const std::vector<bool>& ReferenceReads::FollowsUpdate(int variable) {
  const auto [it, added] = follows_update_.try_emplace(variable);
  if (added) it->second = Reach(updates_[variable]);
  return it->second;
}

std::vector<Node*> ReferenceReads::After(const Node& reader, int input) {
  if (FlowKindOf(reader) == FlowKind::kMerge) return {};  // a Merge runs as soon as one of its inputs exists
  Index();
  const Node* const read = NodeOf(reader.inputs()[input]);
  const auto matters = [&](const Node& node, bool is_control) {
    // The reference itself comes from `read`, so it is always read after `read` has run.
    if (&node == read && !is_control) return false;
    if (follows_wait_[node.id()] || (is_control && WaitsForOthers(node.type()))) return true;
    const std::vector<int>& variables = references_.VariablesOf(reader.inputs()[input]);
    return std::any_of(variables.begin(), variables.end(), [&](int v) { return FollowsUpdate(v)[node.id()]; });
  };
  std::vector<Node*> after;
  for (const Output& in : reader.inputs()) {
    if (matters(*NodeOf(in), /*is_control=*/false)) after.push_back(NodeOf(in));
  }
  for (Node* c : reader.control_inputs()) {
    if (matters(*c, /*is_control=*/true)) after.push_back(c);
  }
  std::sort(after.begin(), after.end(), [](const Node* a, const Node* b) { return a->id() < b->id(); });
  after.erase(std::unique(after.begin(), after.end()), after.end());
  return after;
}

}  // namespace tensorbraid
