#include "executor/passes/pass.h"

#include <algorithm>
#include <utility>

#include "core/text/device_name.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {

PassContext::PassContext(const Graph& graph, StillWanted still_wanted) : still_wanted_(std::move(still_wanted)) {
  const auto& nodes = ImplOf(graph).nodes();
  std::vector<bool> consumed(nodes.size(), false);
  for (const auto& node : nodes) {
    for (const Output& in : node->inputs()) consumed[NodeOf(in)->id()] = true;
    for (const Node* c : node->control_inputs()) consumed[c->id()] = true;
  }
  for (const auto& node : nodes) {
    if (!consumed[node->id()]) targets_.push_back(node.get());
  }
}

void PassContext::ReplaceTarget(const Node* node, Node* by) {
  for (Node*& target : targets_) {
    if (target == node) target = by;
  }
}

const std::string& PassContext::DeviceType(const Node& node) {
  const auto [it, added] = device_types_.try_emplace(node.device());
  if (added) {
    const auto device = DeviceName::Parse(node.device());
    it->second = device.ok() ? device->type.value_or("CPU") : "CPU";
  }
  return it->second;
}

Replacements::Replacements(Graph* graph, PassContext& context) : graph_(graph), context_(context) {
  const auto& nodes = ImplOf(*graph).nodes();
  nodes_.reserve(nodes.size());
  for (const auto& node : nodes) nodes_.push_back(node.get());
  by_.resize(nodes.size());
}

void Replacements::Update(Node* node) const {
  if (!any_) return;
  for (size_t i = 0; i < node->inputs().size(); ++i) {
    const Output in = node->inputs()[i];
    if (const Replacement* by = Find(*NodeOf(in))) {
      ImplOf(*graph_).SetInput(node, static_cast<int>(i), by->outputs[in.index()]);
    }
  }
  const auto& controls = node->control_inputs();
  if (std::none_of(controls.begin(), controls.end(), [this](const Node* c) { return Find(*c) != nullptr; })) return;
  std::vector<Node*> now;
  for (Node* c : controls) {
    const Replacement* by = Find(*c);
    Node* const wait_for = by != nullptr ? by->node : c;
    if (std::find(now.begin(), now.end(), wait_for) == now.end()) now.push_back(wait_for);
  }
  ImplOf(*graph_).SetControlInputs(node, std::move(now));
}

void Replacements::Replace(Node* node, std::vector<Output> outputs) {
  Node* const by = NodeOf(outputs[0]);
  context_.ReplaceTarget(node, by);
  by_[node->id()] = {by, std::move(outputs)};
  any_ = true;
}

void Replacements::Replace(Node* node, Node* same) {
  context_.ReplaceTarget(node, same);
  by_[node->id()] = {same, {}};
  for (int i = 0; i < node->num_outputs(); ++i) by_[node->id()].outputs.push_back(OutputOf(same, i));
  any_ = true;
}

Status Replacements::Finish() {
  if (!any_) return OkStatus();
  std::vector<bool> removed(nodes_.size());
  for (Node* node : nodes_) {
    if (FlowKindOf(*node) == FlowKind::kMerge) Update(node);
    removed[node->id()] = Find(*node) != nullptr;
  }
  ImplOf(*graph_).RemoveNodes(removed);
  return OkStatus();
}

bool IsPure(const Node& node) {
  if (!node.op().is_pure() || FlowKindOf(node) != FlowKind::kNone) return false;
  const auto is_value = [](DType type) { return !IsRef(type) && BaseType(type) != DType::kResource; };
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    if (!is_value(node.input_type(static_cast<int>(i)))) return false;
  }
  return std::all_of(node.output_types().begin(), node.output_types().end(), is_value);
}

std::vector<bool> ConditionalNodes(const Graph& graph) {
  const auto& nodes = ImplOf(graph).nodes();
  std::vector<bool> conditional(nodes.size(), false);
  for (const auto& node : nodes) {
    bool is = FlowKindOf(*node) != FlowKind::kNone;
    for (const Output& in : node->inputs()) is = is || conditional[NodeOf(in)->id()];
    for (const Node* c : node->control_inputs()) is = is || conditional[c->id()];
    conditional[node->id()] = is;
  }
  return conditional;
}

}  // namespace tensorbraid
