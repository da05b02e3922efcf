#include "graph/model/graph_impl.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/text/device_name.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "graph/control_flow/control_flow.h"
#include "graph/functions/function.h"
#include "graph/model/node_checks.h"

namespace tensorbraid {
size_t GraphImpl::num_nodes() const {
  const GraphLock lock(*this);
  return nodes_.size();
}

void GraphImpl::AddVariable(Variable variable) {
  const GraphLock lock(*this);
  variables_.push_back(std::move(variable));
}

Node* GraphImpl::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

const OpDef* GraphImpl::FindOp(std::string_view op) const {
  if (const OpDef* def = OpRegistry::Global().Find(op)) return def;
  const Function* function = functions_->Find(op);
  return function == nullptr ? nullptr : &function->signature();
}

void GraphImpl::set_functions(std::shared_ptr<const FunctionLibrary> functions) { functions_ = std::move(functions); }

Status GraphImpl::CheckMayChange() const {
  MutexLock lock(mu_);
  return finalized_by_.empty() ? OkStatus() : FailedPrecondition("the graph can no longer change: ", finalized_by_);
}

StatusOr<Node*> GraphImpl::AddNode(NodeSpec spec) {
  TF_ASSIGN_OR_RETURN(auto node, MakeNode(std::move(spec)));
  return Publish(std::move(node));
}

StatusOr<Node*> GraphImpl::Publish(std::shared_ptr<Node> node) {
  Node* raw = node.get();
  raw->id_ = static_cast<int>(nodes_.size());
  if (!by_name_.emplace(raw->name_, raw).second) {
    return AlreadyExists(raw->Describe(), ": the graph already has a node of that name");
  }
  nodes_.push_back(std::move(node));
  return raw;
}

StatusOr<std::shared_ptr<Node>> GraphImpl::MakeNode(NodeSpec spec) {
  auto node = std::shared_ptr<Node>(new Node);
  node->graph_ = this;
  node->name_ = spec.name.empty() ? spec.op : std::move(spec.name);
  node->line_ = spec.line;
  node->flow_context_ = spec.flow_context;
  const std::string where = node->location();
  const auto annotate = [&](const Status& s) {
    std::vector<std::string> inputs;
    for (const Output& o : spec.inputs) {
      inputs.push_back(StrCat(o.name(), " ", o.dtype(), o.shape()));
    }
    return Annotate(s, StrCat(spec.op, " '", node->name_, "'", where.empty() ? "" : StrCat(" (", where, ")"),
                              inputs.empty() ? "" : StrCat(" of ", StrJoin(inputs, ", "))));
  };
  if (const Status may_change = CheckMayChange(); !may_change.ok()) return annotate(may_change);
  node->op_ = FindOp(spec.op);
  if (node->op_ == nullptr) {
    const std::string nearest = NearestWord(spec.op, OpRegistry::Global().names());
    return annotate(NotFound("op '", spec.op, "' does not exist",
                             nearest.empty() ? "" : StrCat("; did you mean '", nearest, "'?")));
  }
  if (!IsValidNodeName(node->name_)) return annotate(InvalidArgument("'", node->name_, "' is not a valid node name"));
  if (by_name_.contains(node->name_)) return annotate(AlreadyExists("the graph already has a node of that name"));
  const Status typed =
      CheckTypes(*node->op_, spec.inputs, &spec.attrs, &node->declared_input_types_, &node->output_types_);
  if (!typed.ok()) return annotate(typed);
  if (node->type() == "Const") {
    // Many places read the value of a constant before any kernel could check it.
    const DType dtype = *spec.attrs.at("dtype").get<DType>();
    const Tensor& value = *spec.attrs.at("value").get<Tensor>();
    if (value.dtype() != dtype) return annotate(InvalidArgument("the value is ", value.dtype(), ", not ", dtype));
  }
  node->inputs_ = std::move(spec.inputs);
  spec.inputs = node->inputs_;  // kept for messages
  for (Node* c : spec.controls) {
    if (std::find(node->control_inputs_.begin(), node->control_inputs_.end(), c) == node->control_inputs_.end()) {
      node->control_inputs_.push_back(c);
    }
  }
  for (auto& [key, value] : spec.attrs) node->attrs_.emplace(key, std::move(value));
  node->device_ = std::move(spec.device);
  if (!node->device_.empty()) {
    const auto parsed = DeviceName::Parse(node->device_);
    if (!parsed.ok()) return annotate(parsed.status());
  }
  node->output_shapes_.assign(node->output_types_.size(), Shape::Unknown());
  if (node->op_->shape_fn != nullptr) {
    ShapeContext context(*node, &node->output_shapes_);
    const Status shaped = node->op_->shape_fn(context);
    if (!shaped.ok()) {
      if (!spec.defer_shape_errors) return annotate(shaped);
      std::fill(node->output_shapes_.begin(), node->output_shapes_.end(), Shape::Unknown());
    }
  }
  return node;
}

StatusOr<Node*> GraphImpl::CopyNode(const Node& node, std::vector<Output> inputs, std::vector<Node*> controls) {
  // The checks of the original hold for the copy too; only the producers of the inputs differ.
  if (by_name_.contains(node.name())) return AlreadyExists("two nodes named '", node.name(), "'");
  if (functions_->empty()) functions_ = node.graph_->functions_;
  auto copy = std::make_shared<Node>(node);
  copy->graph_ = this;
  copy->flow_context_ = nullptr;  // the contexts belong to the other graph
  copy->inputs_ = std::move(inputs);
  copy->control_inputs_ = std::move(controls);
  copy->id_ = static_cast<int>(nodes_.size());
  Node* raw = copy.get();
  by_name_.emplace(raw->name_, raw);
  nodes_.push_back(std::move(copy));
  return raw;
}

void GraphImpl::End() {
  const GraphLock lock(*this);
  for (const auto& node : nodes_) Release(*node);
  self_ = nullptr;
}

void GraphImpl::Release(Node& node) const {
  if (functions_->Find(node.type()) != nullptr) node.kept_functions_ = functions_;
  node.graph_ = nullptr;
  // In a loop, nodes own each other through their inputs.
  node.inputs_.clear();
  node.control_inputs_.clear();
}

Status GraphImpl::CheckOwns(const Operation& op) const {
  const Node& node = *NodeOf(op);
  if (node.graph_ == this) return OkStatus();
  TF_RETURN_IF_ERROR(node.CheckGraphExists());
  return InvalidArgument("'", node.name(),
                         "' belongs to another graph; an operation and its inputs must be of one graph");
}

void GraphImpl::RefineShape(Node* node, int output, const Shape& shape) {
  const GraphLock lock(*this);
  auto merged = node->output_shape(output).MergeWith(shape);
  TB_CHECK_OK(merged.status());
  if (*merged == node->output_shape(output)) return;
  auto refined = std::make_shared<Node::RefinedShapes>();
  for (int i = 0; i < node->num_outputs(); ++i) refined->shapes.push_back(node->output_shape(i));
  refined->shapes[output] = *std::move(merged);
  refined->earlier = node->refined_.all;
  node->refined_.all = refined;
  node->refined_.now.store(&refined->shapes, std::memory_order_release);
}

Status GraphImpl::CloseLoop(Node* merge, int input, Output from) {
  if (FlowKindOf(*merge) != FlowKind::kMerge || !from.valid() || NodeOf(from)->graph_ != this ||
      FlowKindOf(*NodeOf(from)) != FlowKind::kNextIteration) {
    return InvalidArgument("input ", input, " of ", merge->Describe(), " must come from a NextIteration");
  }
  const DType want = merge->declared_input_types_[input];
  const DType have = NodeOf(from)->output_type(from.index());
  if (BaseType(have) != BaseType(want) || (IsRef(want) && !IsRef(have))) {
    return InvalidArgument("input ", input, " of ", merge->Describe(), " must be ", want, ", got ", have, " from '",
                           from.name(), "'");
  }
  merge->inputs_[input] = from;
  return OkStatus();
}

Status GraphImpl::Become(Node* node, NodeSpec spec) {
  spec.name = node->name_;
  spec.device = node->device_;
  by_name_.erase(node->name_);
  auto added = AddNode(std::move(spec));
  by_name_[node->name_] = node;
  TF_RETURN_IF_ERROR(added.status());
  const std::shared_ptr<Node> made = std::move(nodes_.back());
  nodes_.pop_back();
  if (made->output_types_ != node->output_types_) {
    return Internal(node->Describe(), " cannot become a ", made->type(), " with other output types");
  }
  made->id_ = node->id_;
  made->line_ = node->line_;
  *node = std::move(*made);
  return OkStatus();
}

void GraphImpl::RemoveNodes(const std::vector<bool>& removed) {
  std::vector<std::shared_ptr<Node>> kept;
  kept.reserve(nodes_.size());
  for (auto& node : nodes_) {
    if (static_cast<size_t>(node->id_) < removed.size() && removed[node->id_]) {
      by_name_.erase(node->name_);
      Release(*node);
    } else {
      kept.push_back(std::move(node));
    }
  }
  nodes_ = std::move(kept);
  bool sorted = true;
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i]->id_ = static_cast<int>(i);
  for (const auto& node : nodes_) {
    for (size_t i = 0; i < node->inputs_.size() && sorted; ++i) {
      sorted = NodeOf(node->inputs_[i])->id_ < node->id_ || IsBackEdge(*node, static_cast<int>(i));
    }
    for (const Node* c : node->control_inputs_) sorted = sorted && c->id_ < node->id_;
  }
  if (!sorted) Sort();
}

void GraphImpl::Sort() {
  // Depth first in the order of ids, so that nodes move only if they must. Uses an explicit stack, because a graph may
  // be too deep for recursion.
  std::vector<std::shared_ptr<Node>> ordered;
  ordered.reserve(nodes_.size());
  std::vector<bool> seen(nodes_.size(), false);
  std::vector<std::pair<Node*, bool>> stack;
  for (size_t first = 0; first < seen.size(); ++first) {
    if (!seen[first]) stack.emplace_back(nodes_[first].get(), false);
    while (!stack.empty()) {
      const auto [node, inputs_done] = stack.back();
      stack.pop_back();
      if (inputs_done) {
        ordered.push_back(std::move(nodes_[node->id_]));
        continue;
      }
      if (seen[node->id_]) continue;
      seen[node->id_] = true;
      stack.emplace_back(node, true);
      for (size_t i = 0; i < node->inputs_.size(); ++i) {
        Node* const from = NodeOf(node->inputs_[i]);
        if (!seen[from->id_] && !IsBackEdge(*node, static_cast<int>(i))) stack.emplace_back(from, false);
      }
      for (Node* c : node->control_inputs_) {
        if (!seen[c->id_]) stack.emplace_back(c, false);
      }
    }
  }
  nodes_ = std::move(ordered);
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i]->id_ = static_cast<int>(i);
}

void GraphImpl::AddControlEdge(Node* from, Node* to) {
  auto& controls = to->control_inputs_;
  if (std::find(controls.begin(), controls.end(), from) == controls.end()) controls.push_back(from);
}

}  // namespace tensorbraid
