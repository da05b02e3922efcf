#include "executor/clusters/make.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>

#include "core/text/device_name.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "executor/clusters/convex.h"
#include "executor/clusters/on_host_kernel.h"
#include "executor/clusters/program_nodes.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node_status.h"
#include "graph/model/references.h"
#include "pjrt/whole_buffers.h"

namespace tensorbraid {
namespace {

using TensorKey = std::pair<int, int>;  // node id and output
TensorKey KeyOf(const Output& tensor) { return {NodeOf(tensor)->id(), tensor.index()}; }

// Whether the node stands for a tensor that comes or goes. It runs on any device.
bool IsTransfer(const Node& node) {
  for (const char* type : {"_Arg", "_Recv", "_Retval", "_Send"}) {
    if (node.type() == type) return true;
  }
  return false;
}

// Makes the copy of a graph that MakeClusters returns.
class ClusterMaker {
 public:
  ClusterMaker(std::shared_ptr<const Graph> graph, std::shared_ptr<ChangingValues> changing)
      : graph_(std::move(graph)),
        changing_(std::move(changing)),
        nodes_(ImplOf(*graph_).nodes()),
        programs_(*graph_, changing_ == nullptr ? ChangingValues::Set() : changing_->tensors()),
        references_(*graph_) {}

  StatusOr<std::unique_ptr<Graph>> Run() {
    ChooseSets();
    for (size_t set = 0; set < members_.size(); ++set) {
      if (!members_[set].empty()) bodies_[set] = BodyOf(members_[set]);
    }
    CollectResults();
    for (const int unit : Order()) {
      if (unit < num_nodes()) {
        TF_RETURN_IF_ERROR(CopyNode(*nodes_[unit]));
      } else {
        TF_RETURN_IF_ERROR(AddCluster(unit - num_nodes()));
      }
    }
    TF_RETURN_IF_ERROR(back_edges_.Close([this](const Output& o) { return Mapped(o); }));
    return std::move(out_);
  }

 private:
  int num_nodes() const { return static_cast<int>(nodes_.size()); }
  int SetOf(const Node& node) const { return set_of_[node.id()]; }
  // Whether the node is a constant of which a program has a copy of its own. It is in no set. What it waits for, the
  // program need not wait for, unless this decides whether and how often the constant is there.
  bool IsConstant(const Node& node) const { return node.type() == "Const" && programs_.Contains(node); }
  // Calls `wait_for` for all nodes outside of the set that a node of the set waits for by control edges, its own ones
  // and those of the constants that it uses.
  template <typename WaitFor>
  void ForControls(const Node& node, int set, const WaitFor& wait_for) const {
    for (const Node* control : node.control_inputs()) {
      if (SetOf(*control) == set) continue;
      if (!IsConstant(*control)) {
        wait_for(*control);
      } else if (programs_.IsConditional(*control)) {
        ForControls(*control, set, wait_for);
      }
    }
    for (const Output& in : node.inputs()) {
      const Node& from = *NodeOf(in);
      if (IsConstant(from) && programs_.IsConditional(from)) ForControls(from, set, wait_for);
    }
  }
  // The node, or the set that it belongs to.
  int UnitOf(const Node& node) const { return SetOf(node) < 0 ? node.id() : num_nodes() + SetOf(node); }

  void ChooseSets() {
    std::vector<int> kind_of(nodes_.size(), -1);
    std::map<std::pair<std::string, int64_t>, int> kinds;  // keyed by device and mark
    int next = 0;
    for (const auto& node : nodes_) {
      if (!programs_.Contains(*node)) continue;
      const AttrValue* mark = node->FindAttr(kClusterMark);
      const int64_t* number = mark == nullptr ? nullptr : mark->get<int64_t>();
      // Without a mark the node is a kind of its own.
      kind_of[node->id()] =
          number == nullptr ? next++ : kinds.try_emplace({node->device(), *number}, next).first->second;
      next = std::max(next, kind_of[node->id()] + 1);
    }
    set_of_ = ConvexSets(*graph_, kind_of);
    for (const auto& node : nodes_) {
      if (SetOf(*node) < 0) continue;
      if (IsConstant(*node)) {
        set_of_[node->id()] = -1;
        continue;
      }
      members_.resize(std::max<size_t>(members_.size(), SetOf(*node) + 1));
      members_[SetOf(*node)].push_back(node.get());
    }
    // Whole buffers are moved without a program.
    for (auto& members : members_) {
      if (!std::all_of(members.begin(), members.end(), [&](const Node* n) { return programs_.MovesWholeBuffers(*n); }))
        continue;
      for (const Node* node : members) set_of_[node->id()] = -1;
      members.clear();
    }
    bodies_.resize(members_.size());
    results_.resize(members_.size());
    clusters_.assign(members_.size(), nullptr);
    copies_.assign(nodes_.size(), nullptr);
  }

  // The members in the order in which they take effect: after their inputs and control inputs, and before the nodes
  // that change a variable if no edge says otherwise.
  std::vector<const Node*> InOrder(const std::vector<const Node*>& members) const {
    std::map<int, std::vector<const Node*>> after;
    std::map<int, int> waits;
    const int set = SetOf(*members[0]);
    for (const Node* node : members) {
      int& count = waits[node->id()];
      const auto wait_for = [&](const Node& before) {
        if (SetOf(before) != set) return;
        after[before.id()].push_back(node);
        ++count;
      };
      for (const Output& in : node->inputs()) wait_for(*NodeOf(in));
      for (const Node* control : node->control_inputs()) wait_for(*control);
    }
    using Ready = std::pair<bool, int>;  // whether it changes a variable, and the id
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    const auto add = [&](const Node& node) { ready.emplace(ChangesVariable(node), node.id()); };
    for (const Node* node : members) {
      if (waits[node->id()] == 0) add(*node);
    }
    std::vector<const Node*> order;
    while (!ready.empty()) {
      const int id = ready.top().second;
      ready.pop();
      order.push_back(nodes_[id].get());
      for (const Node* node : after[id]) {
        if (--waits[node->id()] == 0) add(*node);
      }
    }
    return order;
  }

  ClusterBody BodyOf(const std::vector<const Node*>& members) const {
    ClusterBody body{.graph = graph_, .nodes = InOrder(members), .arguments = {}, .results = {}, .changing = changing_};
    const int set = SetOf(*members[0]);
    // The tensors whose values a program is compiled for.
    std::set<TensorKey> needed, from_host;
    std::set<int> needed_nodes;
    for (auto node = body.nodes.rbegin(); node != body.nodes.rend(); ++node) {
      const bool is_needed = needed_nodes.contains((*node)->id()) && !ProgramNodes::ReadsShapesOnly(**node);
      for (int i = 0; i < static_cast<int>((*node)->inputs().size()); ++i) {
        if (!is_needed && programs_.TakesFromHost(**node, i)) from_host.insert(KeyOf((*node)->inputs()[i]));
        if (!is_needed && (!IsStaticOperand(**node, i) || programs_.TakesFromHost(**node, i))) continue;
        needed.insert(KeyOf((*node)->inputs()[i]));
        needed_nodes.insert(NodeOf((*node)->inputs()[i])->id());
      }
    }
    std::set<TensorKey> added;
    std::vector<const Node*> constants;
    for (const Node* node : body.nodes) {
      for (const Output& in : node->inputs()) {
        if (SetOf(*NodeOf(in)) == set || !added.insert(KeyOf(in)).second) continue;
        if (IsConstant(*NodeOf(in))) {
          constants.push_back(NodeOf(in));
          continue;
        }
        // A reference that is declared as a value, because an Enter passes it on, is read when the program starts.
        const bool is_variable = BaseType(in.dtype()) == DType::kResource ||
                                 (IsRef(NodeOf(in)->output_type(in.index())) && references_.Contains(in) &&
                                  NodeOf(in)->device() == node->device());
        body.arguments.push_back({in, is_variable                     ? ClusterBody::Kind::kVariable
                                      : needed.contains(KeyOf(in))    ? ClusterBody::Kind::kStatic
                                      : from_host.contains(KeyOf(in)) ? ClusterBody::Kind::kFromHost
                                                                      : ClusterBody::Kind::kTensor});
      }
    }
    body.nodes.insert(body.nodes.begin(), constants.begin(), constants.end());
    return body;
  }

  // Finds the outputs of sets that other nodes use.
  void CollectResults() {
    for (const auto& node : nodes_) {
      for (const Output& in : node->inputs()) {
        const int set = SetOf(*NodeOf(in));
        if (set < 0 || set == SetOf(*node) || IsRef(NodeOf(in)->output_type(in.index()))) continue;
        const auto [at, added] = results_[set].try_emplace(KeyOf(in), static_cast<int>(bodies_[set]->results.size()));
        if (added) bodies_[set]->results.push_back(in);
      }
    }
  }

  // The nodes and sets that are in the result, such that each comes after what it depends on.
  std::vector<int> Order() {
    const size_t units = nodes_.size() + members_.size();
    std::vector<std::set<int>> after(units);
    std::vector<int> waits(units, 0);
    std::vector<bool> exists(units, false);
    for (const auto& node : nodes_) {
      const int unit = UnitOf(*node);
      exists[unit] = exists[unit] || !IsDropped(*node);
      const auto wait_for = [&](const Node& before) {
        if (UnitOf(before) == unit || (SetOf(*node) >= 0 && IsConstant(before))) return;
        if (after[UnitOf(before)].insert(unit).second) ++waits[unit];
      };
      for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i) {
        if (!IsBackEdge(*node, i)) wait_for(*NodeOf(node->inputs()[i]));
      }
      if (SetOf(*node) >= 0) {
        ForControls(*node, SetOf(*node), wait_for);
      } else {
        for (const Node* control : node->control_inputs()) wait_for(*control);
      }
    }
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (size_t unit = 0; unit < units; ++unit) {
      const bool is_empty = unit >= nodes_.size() ? members_[unit - nodes_.size()].empty() : set_of_[unit] >= 0;
      if (!is_empty && waits[unit] == 0) ready.push(static_cast<int>(unit));
    }
    std::vector<int> order;
    while (!ready.empty()) {
      const int unit = ready.top();
      ready.pop();
      if (exists[unit]) order.push_back(unit);
      for (const int next : after[unit]) {
        if (--waits[next] == 0) ready.push(next);
      }
    }
    return order;
  }

  // Whether a constant of an accelerator is only used within sets, whose programs contain it.
  bool IsDropped(const Node& node) {
    if (!IsConstant(node)) return false;
    if (!has_other_uses_) {
      has_other_uses_.emplace(nodes_.size(), false);
      for (const auto& user : nodes_) {
        if (SetOf(*user) >= 0) continue;
        for (const Output& in : user->inputs()) (*has_other_uses_)[NodeOf(in)->id()] = true;
      }
    }
    return !(*has_other_uses_)[node.id()];
  }

  // A node of a set returns the reference that it has as its first input.
  Output BehindSets(Output tensor) const {
    while (SetOf(*NodeOf(tensor)) >= 0 && IsRef(NodeOf(tensor)->output_type(tensor.index()))) {
      tensor = NodeOf(tensor)->inputs()[0];
    }
    return tensor;
  }

  // Whether the input is a variable whose value is in memory of an accelerator, by handle or by reference.
  bool IsVariableOfDevice(const Node& node, int input) const {
    const Output& in = node.inputs()[input];
    if (!IsRef(node.declared_input_type(input)) && BaseType(in.dtype()) != DType::kResource) return false;
    Output tensor = BehindSets(in);
    while (FlowKindOf(*NodeOf(tensor)) != FlowKind::kNone) tensor = BehindSets(NodeOf(tensor)->inputs()[0]);
    const Node& from = *NodeOf(tensor);
    const auto device = DeviceName::Parse(from.device());
    const bool holds = from.type() == "VarHandleOp" || from.type() == "Variable" || from.type() == "VariableV2";
    return holds && device.ok() && RunsPrograms(device->type.value_or(""));
  }

  // The tensor in the new graph.
  Output Mapped(const Output& tensor) const {
    const Output from = BehindSets(tensor);
    const int set = SetOf(*NodeOf(from));
    if (set < 0) return OutputOf(copies_[NodeOf(from)->id()], from.index());
    return OutputOf(clusters_[set], results_[set].at(KeyOf(from)));
  }

  // The node in the new graph that stands for `node`; null if it is dropped.
  Node* Mapped(const Node& node) const { return SetOf(node) < 0 ? copies_[node.id()] : clusters_[SetOf(node)]; }

  static void AddTo(std::vector<Node*>* list, Node* node) {
    if (node != nullptr && std::find(list->begin(), list->end(), node) == list->end()) list->push_back(node);
  }

  // Whether the node uses tensor `in` in the memory of its accelerator.
  bool UsesOnDevice(const Node& node, const Output& in) const {
    const int set = SetOf(node);
    if (set < 0) return programs_.MovesWholeBuffers(node) && (IsFloating(in.dtype()) || node.type() == "Stage");
    const auto& arguments = bodies_[set]->arguments;
    return std::ranges::any_of(arguments, [&](const ClusterBody::Argument& argument) {
      return KeyOf(argument.tensor) == KeyOf(in) && argument.kind == ClusterBody::Kind::kTensor;
    });
  }

  // Moves a node that takes an element to the accelerator that uses most of its outputs. Returns whether there is one.
  bool MoveToUsers(const Node& node, Node* copy) {
    std::map<std::string, std::set<int64_t>> used;  // outputs, by device
    for (const auto& user : nodes_) {
      for (const Output& in : user->inputs()) {
        if (NodeOf(in) == &node && UsesOnDevice(*user, in)) used[user->device()].insert(in.index());
      }
    }
    if (used.empty()) return false;
    const auto& [device, outputs] =
        *std::ranges::max_element(used, {}, [](const auto& entry) { return entry.second.size(); });
    std::vector<int64_t> on_host;
    for (int i = 0; i < node.num_outputs(); ++i) {
      if (!outputs.contains(i)) on_host.push_back(i);
    }
    copy->set_device(device);
    ImplOf(*out_).SetAttr(copy, kOutputsOnHost, on_host);
    return true;
  }

  Status CopyNode(const Node& node) {
    const bool has_no_program = !programs_.WhyNot(node).empty() || IsConstant(node);
    const bool runs_on_host = has_no_program && !programs_.MovesWholeBuffers(node) && !IsTransfer(node);
    bool uses_variable = false;
    std::vector<Output> inputs;
    std::vector<Node*> controls;
    for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
      const Output& in = node.inputs()[i];
      if (IsBackEdge(node, i)) {
        inputs.emplace_back();
        continue;
      }
      inputs.push_back(Mapped(in));
      if (SetOf(*NodeOf(in)) >= 0 && IsRef(NodeOf(in)->output_type(in.index()))) AddTo(&controls, Mapped(*NodeOf(in)));
      uses_variable = uses_variable || IsVariableOfDevice(node, i);
    }
    for (const Node* control : node.control_inputs()) AddTo(&controls, Mapped(*control));
    TF_ASSIGN_OR_RETURN(Node * copy, ImplOf(*out_).CopyNode(node, inputs, std::move(controls)));
    copies_[node.id()] = copy;
    for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
      if (IsBackEdge(node, i)) back_edges_.Add(copy, i, node.inputs()[i]);
    }
    if (pjrt::TakesElement(node)) {
      if (MoveToUsers(node, copy) || !programs_.MovesWholeBuffers(node)) return OkStatus();
    } else if (!runs_on_host) {
      return OkStatus();
    }
    if (!IsConstant(node)) {
      TB_LOG(Debug, "accelerators") << node.Describe() << " runs on the host, not on " << node.device() << ": "
                                    << programs_.WhyNot(node);
    }
    if (uses_variable) {
      ImplOf(*out_).SetAttr(copy, kOnHost, true);
    } else {
      TF_ASSIGN_OR_RETURN(DeviceName device, DeviceName::Parse(node.device()));
      device.type = "CPU";
      device.id = 0;
      copy->set_device(device.ToString());
    }
    return OkStatus();
  }

  Status AddCluster(int set) {
    auto body = std::make_shared<const ClusterBody>(*std::move(bodies_[set]));
    NodeSpec spec;
    spec.name = StrCat("_cluster_", set);
    spec.op = "_Cluster";
    spec.device = body->nodes.back()->device();
    std::vector<DType> types, result_types;
    std::vector<int64_t> on_host;
    for (const ClusterBody::Argument& argument : body->arguments) {
      const DType type = BaseType(argument.tensor.dtype());
      const bool is_reference = argument.kind == ClusterBody::Kind::kVariable && type != DType::kResource;
      types.push_back(is_reference ? RefType(type) : type);
      if (ClusterBody::IsOnHost(argument.kind) || type == DType::kResource)
        on_host.push_back(static_cast<int64_t>(types.size()) - 1);
      spec.inputs.push_back(Mapped(argument.tensor));
      const Node& from = *NodeOf(argument.tensor);
      if (SetOf(from) >= 0 && is_reference) AddTo(&spec.controls, Mapped(from));
    }
    for (const Output& result : body->results) result_types.push_back(BaseType(result.dtype()));
    for (const Node* node : body->nodes) {
      if (!IsConstant(*node)) {
        ForControls(*node, set, [&](const Node& control) { AddTo(&spec.controls, Mapped(control)); });
      }
      if (!spec.line) spec.line = node->line();
    }
    auto& bodies = ImplOf(*out_).extension<ClusterBodies>();
    spec.attrs = {{"Tin", types},
                  {"Tout", result_types},
                  {"body", static_cast<int64_t>(bodies.size())},
                  {"host_inputs", on_host}};
    TF_ASSIGN_OR_RETURN(clusters_[set], ImplOf(*out_).AddNode(std::move(spec)));
    for (int i = 0; i < clusters_[set]->num_outputs(); ++i) {
      const Output& result = body->results[i];
      ImplOf(*out_).RefineShape(clusters_[set], i, NodeOf(result)->output_shape(result.index()));
    }
    bodies.push_back(std::move(body));
    return OkStatus();
  }

  const std::shared_ptr<const Graph> graph_;
  const std::shared_ptr<ChangingValues> changing_;  // may be null
  const std::vector<std::shared_ptr<Node>>& nodes_;
  const ProgramNodes programs_;
  const ReferenceTensors references_;
  std::vector<int> set_of_;                          // by node id; -1: none
  std::vector<std::vector<const Node*>> members_;    // by set; empty: the set was dissolved
  std::vector<std::optional<ClusterBody>> bodies_;   // by set
  std::vector<std::map<TensorKey, int>> results_;    // by set: the numbers of its outputs
  std::optional<std::vector<bool>> has_other_uses_;  // by node id: whether a node outside all sets uses its output
  std::unique_ptr<Graph> out_ = std::make_unique<Graph>();
  std::vector<Node*> copies_;    // by node id
  std::vector<Node*> clusters_;  // by set
  BackEdges back_edges_;
};

}  // namespace

std::string NameOf(const ClusterBody& body) {
  return StrCat("a program of ", body.nodes.size(), " nodes that ends with '", body.nodes.back()->name(), "'");
}

StatusOr<std::unique_ptr<Graph>> MakeClusters(std::shared_ptr<const Graph> graph,
                                              std::shared_ptr<ChangingValues> changing) {
  return ClusterMaker(std::move(graph), std::move(changing)).Run();
}

std::string NameOfProgram(const Node& cluster) {
  const auto& bodies = ImplOf(*cluster.graph()).extension<ClusterBodies>();
  return NameOf(*bodies.at(cluster.attr<int64_t>("body")));
}

}  // namespace tensorbraid
