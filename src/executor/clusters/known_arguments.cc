#include "executor/clusters/known_arguments.h"

#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "core/text/strings.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {
namespace {

// The node that has the variable of a handle or of a reference.
const Node& VariableNode(const Output& tensor) {
  const Node* node = NodeOf(tensor);
  // A node that returns a reference passes on the reference of its first input. Only a loop leads back to a node.
  while (!node->inputs().empty() && !IsBackEdge(*node, 0) &&
         (IsRef(node->output_type(0)) || node->output_type(0) == DType::kResource)) {
    node = NodeOf(node->inputs()[0]);
  }
  return *node;
}

template <typename T>
const T* AttrOf(const Node& node, std::string_view name) {
  const AttrValue* const attr = node.FindAttr(name);
  return attr == nullptr ? nullptr : attr->get<T>();
}

Status CheckShape(const Node& node, const Shape& shape) {
  if (shape.is_fully_defined()) return OkStatus();
  return FailedPrecondition("the shape of ", node.Describe(), " is not known before the step runs: it is ", shape);
}

// Whether a node that uses a variable fails if the variable has no value.
bool NeedsValue(const Node& node) {
  for (const char* type : {"Assign", "AssignVariableOp", "IsVariableInitialized", "VarIsInitializedOp"}) {
    if (node.type() == type) return false;
  }
  return true;
}

}  // namespace

StatusOr<std::vector<pjrt::ProgramArgument>> KnownArgumentsOf(const ClusterBody& body) {
  std::vector<pjrt::ProgramArgument> arguments(body.arguments.size());
  std::map<const Node*, size_t> first;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& [tensor, kind] = body.arguments[i];
    pjrt::ProgramArgument& argument = arguments[i];
    const Node* node = NodeOf(tensor);
    if (kind == ClusterBody::Kind::kVariable) {
      node = &VariableNode(tensor);
      const size_t at = first.try_emplace(node, i).first->second;
      arguments[at].tensors.push_back(tensor);
      if (at != i) continue;
      const auto* shape = AttrOf<Shape>(*node, "shape");
      const auto* dtype = AttrOf<DType>(*node, "dtype");
      if (shape == nullptr || dtype == nullptr) {
        return FailedPrecondition("the variable of ", node->Describe(), " is not known before the step runs");
      }
      argument.is_variable = true;
      argument.dtype = *dtype;
      argument.shape = *shape;
    } else {
      argument.tensors.push_back(tensor);
      argument.dtype = BaseType(tensor.dtype());
      argument.shape = tensor.shape();
    }
    TF_RETURN_IF_ERROR(CheckShape(*node, argument.shape));
    argument.is_on_host = kind == ClusterBody::Kind::kFromHost;
    if (kind != ClusterBody::Kind::kStatic) continue;
    const auto* value = node->type() == "Const" ? AttrOf<Tensor>(*node, "value") : nullptr;
    if (value == nullptr) {
      return FailedPrecondition("the program depends on the value of ", node->Describe(),
                                ", which is not known before the step runs");
    }
    argument.constant = std::make_shared<const Tensor>(*value);
  }
  return arguments;
}

bool DependsOnInitialization(const ClusterBody& body) {
  std::set<std::pair<const Node*, int>> unused;  // variables that no node so far uses
  for (const auto& [tensor, kind] : body.arguments) {
    if (kind == ClusterBody::Kind::kVariable) unused.insert({NodeOf(tensor), tensor.index()});
  }
  for (const Node* node : body.nodes) {
    for (const Output& in : node->inputs()) {
      if (unused.erase({NodeOf(in), in.index()}) > 0 && !NeedsValue(*node)) return true;
    }
  }
  return false;
}

}  // namespace tensorbraid
