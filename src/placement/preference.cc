#include "placement/preference.h"

#include <algorithm>

#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"
#include "pjrt/emitter.h"
#include "pjrt/whole_buffers.h"

namespace tensorbraid {
namespace {

bool IsOneOf(const Node& node, std::initializer_list<std::string_view> types) {
  return std::ranges::find(types, node.type()) != types.end();
}

bool IsScalarInteger(const Node& node) {
  if (node.num_outputs() == 0) return false;
  for (int i = 0; i < node.num_outputs(); ++i) {
    const DType dtype = BaseType(node.output_type(i));
    const bool is_integer = dtype == kInt32 || dtype == kInt64 || dtype == kBool;
    if (!is_integer || !node.output_shape(i).is_scalar()) return false;
  }
  return true;
}

// Whether input `i` of the node is what a variable is assigned.
bool IsAssigned(const Node& node, size_t i) { return i == 1 && IsOneOf(node, {"Assign", "AssignVariableOp"}); }

// What a node does with tensors.
enum class Role : uint8_t {
  kHost,      // only the host can run it, or should
  kPasses,    // it passes tensors on, or is a constant
  kComputes,  // a program can compute it
};

// Finds the roles of the nodes of a graph, and which of them stay on the host.
class Chooser {
 public:
  Chooser(const Graph& graph, std::vector<std::string>& why_not)
      : nodes_(ImplOf(graph).nodes()), why_not_(why_not), roles_(nodes_.size()), users_(nodes_.size()) {}

  void Run() {
    for (const auto& node : nodes_) {
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        users_[NodeOf(node->inputs()[i])->id()].push_back({node.get(), i});
      }
    }
    for (const auto& node : nodes_) roles_[node->id()] = RoleOf(*node);
    KeepInitialValues();
    for (bool changed = true; changed;) {
      changed = false;
      for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
        if (!OnHost(**node) && !GpuPreference::IsVariable(**node) && !HasReason(**node)) {
          why_not_[(*node)->id()] = "only nodes of the host use it";
          changed = true;
        }
      }
    }
  }

 private:
  struct Use {
    const Node* node;
    size_t input;
  };
  bool OnHost(const Node& node) const { return !why_not_[node.id()].empty(); }

  Role RoleOf(const Node& node) {
    std::string& why = why_not_[node.id()];
    if (GpuPreference::IsVariable(node)) {
      const AttrValue* const attr = node.FindAttr("dtype");
      const DType* const dtype = attr == nullptr ? nullptr : attr->get<DType>();
      if (dtype == nullptr || !(IsFloating(BaseType(*dtype)) || IsComplex(BaseType(*dtype)))) {
        why = "it is a variable of integers";
      }
      return Role::kPasses;
    }
    if (node.type().starts_with("_") || (node.inputs().empty() && node.num_outputs() == 0) || node.type() == "NoOp") {
      why = "it computes nothing";
      return Role::kHost;
    }
    for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
      const bool is_state = IsRef(node.declared_input_type(i)) || BaseType(node.input_type(i)) == DType::kResource;
      if (!is_state || NodeOf(node.inputs()[i]) == nullptr || !OnHost(*NodeOf(node.inputs()[i]))) continue;
      why = "what it uses is on the host";
      return Role::kHost;
    }
    if (FlowKindOf(node) != FlowKind::kNone || pjrt::MovesWholeBuffers(node)) return Role::kPasses;
    if (const auto emitter = pjrt::EmitterRegistry::Global().Find(node); !emitter.ok()) {
      why = std::string(emitter.status().message());
      return Role::kHost;
    }
    if (node.type() == "Const") return Role::kPasses;
    const auto on_host = [&](const Output& in) { return NodeOf(in)->type() == "Const" || OnHost(*NodeOf(in)); };
    if (IsScalarInteger(node) && std::ranges::all_of(node.inputs(), on_host)) {
      why = "it is a scalar integer";
      return Role::kHost;
    }
    return Role::kComputes;
  }

  // Finds what depends on constants and random numbers only, and is only assigned to variables.
  void KeepInitialValues() {
    std::vector<bool> from_nothing(nodes_.size()), is_initial(nodes_.size());
    for (const auto& node : nodes_) {
      const auto emitter = pjrt::EmitterRegistry::Global().Find(*node);
      const bool draws = emitter.ok() && (*emitter)->draws;
      from_nothing[node->id()] = (node->op().is_pure() || draws || node->type() == "Const") &&
                                 (!node->inputs().empty() || draws || node->type() == "Const") &&
                                 std::ranges::all_of(node->inputs(), [&](const Output& in) {
                                   return NodeOf(in)->id() < node->id() && from_nothing[NodeOf(in)->id()];
                                 });
    }
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      const int id = (*node)->id();
      is_initial[id] = from_nothing[id] && !users_[id].empty() && std::ranges::all_of(users_[id], [&](const Use& use) {
                         return is_initial[use.node->id()] || IsAssigned(*use.node, use.input);
                       });
      if (is_initial[id] && !OnHost(**node)) why_not_[id] = "it makes the initial value of a variable";
    }
  }

  // Whether something speaks for a GPU: a user there, that the result is fetched or an effect, or, for a node that only
  // passes a tensor on, that the tensor is there.
  bool HasReason(const Node& node) const {
    const auto& users = users_[node.id()];
    const bool computes = roles_[node.id()] == Role::kComputes;
    const bool has_user = std::ranges::any_of(users, [&](const Use& use) { return !OnHost(*use.node); });
    const bool is_fetched =
        users.empty() || std::ranges::any_of(users, [](const Use& use) { return use.node->type() == "_Retval"; });
    const bool has_input_there = std::ranges::any_of(
        node.inputs(), [&](const Output& in) { return NodeOf(in) != nullptr && !OnHost(*NodeOf(in)); });
    if (has_user) return true;
    if (!is_fetched) return false;
    return has_input_there || (computes && node.num_outputs() > 0);
  }

  const std::vector<std::shared_ptr<Node>>& nodes_;
  std::vector<std::string>& why_not_;
  std::vector<Role> roles_;
  std::vector<std::vector<Use>> users_;
};

}  // namespace

bool GpuPreference::IsVariable(const Node& node) { return IsOneOf(node, {"Variable", "VariableV2", "VarHandleOp"}); }

GpuPreference::GpuPreference(const Graph& graph) : why_not_(ImplOf(graph).nodes().size()) {
  Chooser(graph, why_not_).Run();
}

}  // namespace tensorbraid
