#include "executor/optimize.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/strings.h"
#include "core/tensor_bytes.h"
#include "executor/evaluate.h"
#include "graph/control_flow.h"
#include "graph/node.h"

namespace tensorbraid {
namespace {

// Of a folded tensor. A constant travels with the partition when it is registered; a large one, such as an initial
// value, is cheaper made where it is wanted.
constexpr int64_t kMaxFoldedBytes = 16 << 10;
// Of tensors in attributes that are compared.
constexpr size_t kMaxComparedBytes = 64 << 10;

bool SameTensor(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape() || !a.is_valid()) return false;
  if (a.num_bytes() > kMaxComparedBytes) return false;
  if (!IsPlain(a.dtype())) {
    return a.dtype() == kString && std::ranges::equal(a.data<std::string>(), b.data<std::string>());
  }
  return a.num_bytes() == 0 || std::memcmp(a.raw_data(), b.raw_data(), a.num_bytes()) == 0;
}

bool SameAttr(const AttrValue& a, const AttrValue& b) {
  if (a.value().index() != b.value().index()) return false;
  return std::visit(
      [&b]<typename T>(const T& left) {
        const T& right = *b.get<T>();
        if constexpr (std::is_same_v<T, Tensor>) {
          return SameTensor(left, right);
        } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
          return std::ranges::equal(left, right, SameTensor);
        } else {
          return left == right;
        }
      },
      a.value());
}

// Which attributes may differ between nodes that compute the same: those that only placement reads.
bool IsComputed(const std::string& attr) { return attr != "_class"; }

bool SameAttrs(const Node& a, const Node& b) {
  auto i = a.attrs().begin();
  auto j = b.attrs().begin();
  while (true) {
    while (i != a.attrs().end() && !IsComputed(i->first)) ++i;
    while (j != b.attrs().end() && !IsComputed(j->first)) ++j;
    if (i == a.attrs().end() || j == b.attrs().end()) return i == a.attrs().end() && j == b.attrs().end();
    if (i->first != j->first || !SameAttr(i->second, j->second)) return false;
    ++i;
    ++j;
  }
}

class Optimizer {
 public:
  Optimizer(const Graph& graph, const OptimizeOptions& options) : graph_(graph), options_(options) {}

  StatusOr<std::unique_ptr<Graph>> Run() {
    const auto& nodes = graph_.impl().nodes();
    outputs_.resize(nodes.size());
    copies_.assign(nodes.size(), nullptr);
    std::vector<bool> consumed(nodes.size(), false);
    steers_.assign(nodes.size(), false);
    conditional_.assign(nodes.size(), false);
    for (const auto& node : nodes) {
      bool conditional = FlowKindOf(*node) != FlowKind::kNone;
      for (const Output& in : node->inputs()) {
        consumed[in.node()->id()] = true;
        conditional = conditional || conditional_[in.node()->id()];
      }
      for (const Node* c : node->control_inputs()) {
        consumed[c->id()] = true;
        steers_[c->id()] = true;
        conditional = conditional || conditional_[c->id()];
      }
      conditional_[node->id()] = conditional;
    }
    for (const auto& node : nodes) TF_RETURN_IF_ERROR(Rewrite(*node));
    TF_RETURN_IF_ERROR(back_edges_.Close([this](const Output& o) { return Mapped(o); }));
    return Prune(consumed);
  }

 private:
  Output Mapped(const Output& o) const { return outputs_[o.node()->id()][o.index()]; }

  // Whether the node is a function of its inputs and nothing else.
  static bool IsPure(const Node& node) {
    if (node.op().is_stateful || node.type().starts_with('_') || FlowKindOf(node) != FlowKind::kNone) return false;
    // Files change, whatever the ops' definitions say of state.
    if (node.type() == "ReadFile" || node.type() == "MatchingFiles") return false;
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const DType type = node.input_type(static_cast<int>(i));
      if (IsRef(type) || BaseType(type) == DType::kResource) return false;
    }
    return std::none_of(node.output_types().begin(), node.output_types().end(),
                        [](DType t) { return IsRef(t) || BaseType(t) == DType::kResource; });
  }

  Status Rewrite(const Node& node) {
    if (node.type() == "Identity" && node.control_inputs().empty() && IsRef(node.input_type(0)) && IsSpare(node)) {
      // What a reference is read through ("v/read"). Its consumers then read when they start, after what they wait for:
      // TensorFlow's programs count on it, whose Identity passes the variable's own memory on.
      outputs_[node.id()] = {Mapped(node.inputs()[0])};
      copies_[node.id()] = outputs_[node.id()][0].node();
      return OkStatus();
    }
    if (IsPure(node) && node.control_inputs().empty()) {
      if (node.type() == "Identity" && IsSpare(node)) {
        outputs_[node.id()] = {Mapped(node.inputs()[0])};
        copies_[node.id()] = outputs_[node.id()][0].node();
        return OkStatus();
      }
      // A constant in its place would be there also when the node is dead, and outside of its loop.
      TF_ASSIGN_OR_RETURN(const bool folded, conditional_[node.id()] || !options_.fold_constants ? false : Fold(node));
      if (folded) return OkStatus();
    }
    std::vector<Output> inputs;
    std::vector<int> missing;  // back edges: rewritten later
    for (const Output& in : node.inputs()) {
      const bool is_missing = outputs_[in.node()->id()].empty();
      if (is_missing) missing.push_back(static_cast<int>(inputs.size()));
      inputs.push_back(is_missing ? Output() : Mapped(in));
    }
    std::vector<Node*> controls;
    for (const Node* c : node.control_inputs()) {
      Node* const copy = copies_[c->id()];
      if (std::find(controls.begin(), controls.end(), copy) == controls.end()) controls.push_back(copy);
    }
    Node* same = IsPure(node) && options_.merge_equal ? FindSame(node, inputs, controls) : nullptr;
    if (same == nullptr) {
      TF_ASSIGN_OR_RETURN(same, out_->impl().CopyNode(node, std::move(inputs), std::move(controls)));
      if (IsPure(node)) Remember(same);
      for (int i : missing) back_edges_.Add(same, i, node.inputs()[i]);
    }
    copies_[node.id()] = same;
    for (int i = 0; i < node.num_outputs(); ++i) outputs_[node.id()].emplace_back(same, i);
    return OkStatus();
  }

  // Whether an Identity only passes a value on. One that says which side of a Switch is taken, to what waits for it,
  // does more.
  bool IsSpare(const Node& identity) const {
    const Node& from = *Mapped(identity.inputs()[0]).node();
    return from.device() == identity.device() && !(steers_[identity.id()] && FlowKindOf(from) == FlowKind::kSwitch);
  }

  // Nodes that may be the same share a key; few do that are not.
  static std::string KeyOf(const Node& node, const std::vector<Output>& inputs) {
    std::string key = StrCat(node.type(), "@", node.device());
    for (const Output& in : inputs) key += StrCat(";", in.node()->id(), ":", in.index());
    if (inputs.empty()) {
      for (const auto& [name, value] : node.attrs()) key += StrCat(";", name, "=", value.ToString());
    }
    return key;
  }
  Node* FindSame(const Node& node, const std::vector<Output>& inputs, const std::vector<Node*>& controls) {
    const auto [begin, end] = seen_.equal_range(KeyOf(node, inputs));
    for (auto it = begin; it != end; ++it) {
      Node* const other = it->second;
      if (other->inputs() == inputs && other->control_inputs() == controls && SameAttrs(*other, node)) return other;
    }
    return nullptr;
  }
  void Remember(Node* node) { seen_.emplace(KeyOf(*node, node->inputs()), node); }

  // Replaces the node by constants if it can be computed now.
  StatusOr<bool> Fold(const Node& node) {
    if (node.type() == "Const") return false;
    for (DType t : node.output_types()) {
      if (BaseType(t) == DType::kVariant) return false;  // no constant can hold one
    }
    std::vector<Tensor> values;
    if (IsKnownShape(node)) {
      values = ShapeOf(node);
    } else {
      if (node.inputs().empty()) return false;
      for (const Output& in : node.inputs()) {
        if (Mapped(in).node()->type() != "Const") return false;
      }
      if (!IsSmall(node)) return false;
      auto computed = Compute(node);
      if (!computed.ok()) return false;
      values = *std::move(computed);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      // By the name of what it replaces, where that has one output.
      const std::string name = values.size() == 1 ? node.name() : StrCat(node.name(), "/_folded_", i);
      TF_ASSIGN_OR_RETURN(Node * constant,
                          out_->impl().AddNode({.name = name,
                                                .op = "Const",
                                                .inputs = {},
                                                .controls = {},
                                                .attrs = {{"dtype", values[i].dtype()}, {"value", values[i]}},
                                                .device = node.device(),
                                                .loc = {}}));
      Node* const same = FindSame(*constant, {}, {});
      if (same == nullptr) Remember(constant);
      outputs_[node.id()].emplace_back(same == nullptr ? constant : same, 0);
    }
    copies_[node.id()] = outputs_[node.id()][0].node();
    return true;
  }

  // By the shapes that are known; the results of these are as small as what they are made of.
  static bool IsSmall(const Node& node) {
    if (node.type() == "BroadcastGradientArgs") return true;
    int64_t room = kMaxFoldedBytes;
    for (int i = 0; i < node.num_outputs(); ++i) {
      const int64_t bytes = TensorBytes(node.output_shape(i), node.output_type(i));
      if (bytes < 0 || bytes > room) return false;
      room -= bytes;
    }
    return node.num_outputs() > 0;
  }

  bool IsKnownShape(const Node& node) const {
    // The rank of a variable is what TensorFlow's assert_variables_initialized asks for: it must still fail.
    if (node.type() == "Rank") {
      const Output of = Mapped(node.inputs()[0]);
      if (IsRef(of.node()->output_type(of.index()))) return false;
    }
    return (node.type() == "Shape" || node.type() == "Size" || node.type() == "Rank") &&
           node.inputs()[0].shape().is_fully_defined();
  }
  static std::vector<Tensor> ShapeOf(const Node& node) {
    const Shape& shape = node.inputs()[0].shape();
    std::vector<int64_t> numbers;
    if (node.type() == "Shape") {
      for (int i = 0; i < shape.rank(); ++i) numbers.push_back(shape.dim(i));
    } else {
      numbers = {node.type() == "Size" ? shape.num_elements() : shape.rank()};
    }
    Tensor value(node.output_type(0), node.output_shape(0));
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (value.dtype() == kInt32) {
        value.mutable_data<int32_t>()[i] = static_cast<int32_t>(numbers[i]);
      } else {
        value.mutable_data<int64_t>()[i] = numbers[i];
      }
    }
    return {value};
  }

  // In a graph of its own, with constants for inputs.
  StatusOr<std::vector<Tensor>> Compute(const Node& node) {
    Graph alone;
    std::vector<Output> inputs;
    for (const Output& in : node.inputs()) {
      TF_ASSIGN_OR_RETURN(Node * constant, alone.impl().CopyNode(*Mapped(in).node(), {}, {}));
      inputs.emplace_back(constant, 0);
    }
    TF_ASSIGN_OR_RETURN(Node * copy, alone.impl().CopyNode(node, std::move(inputs), {}));
    std::vector<Output> fetches;
    for (int i = 0; i < node.num_outputs(); ++i) fetches.emplace_back(copy, i);
    return Evaluate(fetches);
  }

  // Drops what nothing needs any more. What nobody took before was asked for.
  StatusOr<std::unique_ptr<Graph>> Prune(const std::vector<bool>& consumed) {
    const auto& nodes = out_->impl().nodes();
    std::vector<bool> needed(nodes.size(), false);
    for (const auto& node : nodes) needed[node->id()] = !IsPure(*node);
    for (const auto& node : graph_.impl().nodes()) {
      if (!consumed[node->id()] && copies_[node->id()] != nullptr) needed[copies_[node->id()]->id()] = true;
    }
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      if (!needed[(*it)->id()]) continue;
      for (const Output& in : (*it)->inputs()) needed[in.node()->id()] = true;
      for (const Node* c : (*it)->control_inputs()) needed[c->id()] = true;
    }
    auto pruned = std::make_unique<Graph>();
    BackEdges back_edges;
    std::vector<Node*> kept(nodes.size(), nullptr);
    for (const auto& node : nodes) {
      if (!needed[node->id()]) continue;
      std::vector<Output> inputs;
      for (const Output& in : node->inputs()) inputs.emplace_back(kept[in.node()->id()], in.index());
      std::vector<Node*> controls;
      for (const Node* c : node->control_inputs()) controls.push_back(kept[c->id()]);
      TF_ASSIGN_OR_RETURN(kept[node->id()], pruned->impl().CopyNode(*node, std::move(inputs), std::move(controls)));
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        const Output& in = node->inputs()[i];
        if (kept[in.node()->id()] == nullptr) back_edges.Add(kept[node->id()], static_cast<int>(i), in);
      }
    }
    TF_RETURN_IF_ERROR(back_edges.Close([&kept](const Output& o) { return Output(kept[o.node()->id()], o.index()); }));
    return pruned;
  }

  const Graph& graph_;
  const OptimizeOptions options_;
  std::unique_ptr<Graph> out_ = std::make_unique<Graph>();
  std::vector<std::vector<Output>> outputs_;  // by the original's id: what stands for each of its outputs
  std::vector<Node*> copies_;                 // by the original's id: what stands for it
  std::vector<bool> steers_;                  // by the original's id: a control edge leaves it
  std::vector<bool> conditional_;             // by the original's id: may be dead, or in a loop
  BackEdges back_edges_;
  std::multimap<std::string, Node*> seen_;  // pure nodes of `out_` by KeyOf
};

}  // namespace

StatusOr<std::unique_ptr<Graph>> Optimize(const Graph& graph, const OptimizeOptions& options) {
  return Optimizer(graph, options).Run();
}

}  // namespace tensorbraid
