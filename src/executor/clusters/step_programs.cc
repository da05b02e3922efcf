#include "executor/clusters/step_programs.h"

#include <map>
#include <utility>

#include "core/text/strings.h"
#include "executor/clusters/compute_on_host.h"
#include "executor/clusters/make.h"
#include "executor/clusters/program_nodes.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {
namespace {

// The node that has the variable of a handle or of a reference.
const Node& VariableNode(const Output& tensor) {
  const Node* node = NodeOf(tensor);
  // A node that returns a reference passes on the reference of its first input.
  while (!node->inputs().empty() && (IsRef(node->output_type(0)) || node->output_type(0) == DType::kResource)) {
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

// As ArgumentsOf of a run: the values are those that the graph promises.
StatusOr<std::vector<pjrt::ProgramArgument>> ArgumentsOf(const ClusterBody& body) {
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

StatusOr<pjrt::ProgramText> TextOf(const ClusterBody& body) {
  TF_ASSIGN_OR_RETURN(const auto arguments, ArgumentsOf(body));
  return pjrt::EmitProgram(body.nodes, arguments, body.results, ComputeOnHost);
}

}  // namespace

StatusOr<StepPrograms> ProgramsOf(std::shared_ptr<const Graph> graph) {
  StepPrograms step;
  const ProgramNodes programs(*graph);
  for (const auto& node : ImplOf(*graph).nodes()) {
    const std::string& why_not = programs.WhyNot(*node);
    if (why_not.empty() || programs.MovesWholeBuffers(*node) || node->type().starts_with("_")) continue;
    step.on_host.push_back(StrCat(node->Describe(), ": ", why_not));
  }
  TF_ASSIGN_OR_RETURN(const auto made, MakeClusters(std::move(graph)));
  for (const auto& node : ImplOf(*made).nodes()) {
    if (node->type() != "_Cluster") continue;
    const ClusterBody& body = *ImplOf(*made).extension<ClusterBodies>().at(node->attr<int64_t>("body"));
    step.programs.push_back({.name = NameOf(body),
                             .last_node = body.nodes.back()->name(),
                             .device = node->device(),
                             .num_nodes = static_cast<int>(body.nodes.size()),
                             .text = TextOf(body)});
  }
  return step;
}

}  // namespace tensorbraid
