#include "graph/model/fed_variables.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/node_status.h"
#include "graph/model/references.h"
#include "tensorbraid/graph/variable.h"

namespace tensorbraid {
namespace {

constexpr std::string_view kFedVariable = "_FedVariable";

// What a node does to a variable whose handle or reference it takes, for errors.
std::string_view UseOf(const Node& node) {
  const std::string& op = node.type();
  if (op == "VarIsInitializedOp" || op == "IsVariableInitialized") return "asks whether it is initialized";
  if (FlowKindOf(node) != FlowKind::kNone || op == "RefIdentity" || op == "RefSelect") return "passes it on";
  const bool is_update = op.starts_with("Assign") || op.starts_with("Resource") || op == "DestroyResourceOp" ||
                         (!node.inputs().empty() && IsRef(node.declared_input_type(0)));
  return is_update ? "updates it" : "takes the variable itself";
}

Status IsNotARead(std::string_view variable, const Node& node) {
  return AboutNode(InvalidArgument("the step feeds the variable '", variable, "', but ", node.Describe(), " ",
                                   UseOf(node), ": a variable that is fed can only be read"),
                   node);
}

// Replaces the _FedVariable nodes of a graph. Copies the nodes in order of ids.
class Replacer {
 public:
  explicit Replacer(const Graph& graph) : graph_(graph) {}

  StatusOr<std::unique_ptr<Graph>> Run() {
    const auto& nodes = ImplOf(graph_).nodes();
    copies_.assign(nodes.size(), nullptr);
    for (const auto& node : nodes) TF_RETURN_IF_ERROR(Copy(*node));
    TF_RETURN_IF_ERROR(back_edges_.Close([this](const Output& o) { return Map(o); }));
    return std::move(out_);
  }

 private:
  // The output of the new graph that takes the place of `original`.
  Output Map(const Output& original) const {
    const Node& node = *NodeOf(original);
    if (node.type() == kFedVariable) return Map(node.inputs()[0]);
    return OutputOf(copies_[node.id()], original.index());
  }

  // The name of the fed variable whose value takes the place of `original`, a handle; empty for all other tensors.
  const std::string& VariableOf(const Output& original) const {
    static const std::string kNone;
    const auto it = variables_.find({NodeOf(original)->id(), original.index()});
    return it == variables_.end() ? kNone : it->second;
  }

  // Notes that an output of `node` passes on the fed variable, if it is a handle.
  void NotePassed(const Node& node, int output, const std::string& variable) {
    if (node.output_type(output) == DType::kResource && !variable.empty()) variables_[{node.id(), output}] = variable;
  }

  Status Copy(const Node& node) {
    if (node.type() == kFedVariable) {
      variables_[{node.id(), 0}] = node.attr<std::string>("variable");
      copies_[node.id()] = NodeOf(Map(node.inputs()[0]));
      return OkStatus();
    }
    std::vector<Output> inputs;
    std::vector<int> back;
    const std::string* variable = nullptr;  // the fed variable that the node takes
    bool takes_others = false;              // it also takes a handle of another variable
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const Output& in = node.inputs()[i];
      if (copies_[NodeOf(in)->id()] == nullptr) {  // a back edge
        back.push_back(static_cast<int>(i));
        inputs.emplace_back();
        continue;
      }
      inputs.push_back(Map(in));
      if (!VariableOf(in).empty()) {
        variable = &VariableOf(in);
      } else if (in.dtype() == DType::kResource) {
        takes_others = true;
      }
    }
    std::vector<Node*> controls;
    for (const Node* c : node.control_inputs()) controls.push_back(copies_[c->id()]);
    if (variable == nullptr) {
      TF_ASSIGN_OR_RETURN(copies_[node.id()], ImplOf(*out_).CopyNode(node, std::move(inputs), std::move(controls)));
    } else if (node.type() == "IdentityN") {
      for (int i = 0; i < node.num_outputs(); ++i) NotePassed(node, i, VariableOf(node.inputs()[i]));
      TF_ASSIGN_OR_RETURN(copies_[node.id()], Forward(node, std::move(inputs), std::move(controls)));
    } else if (takes_others) {
      return IsNotARead(*variable, node);
    } else if (ForwardsInput(node, 0)) {
      for (int i = 0; i < node.num_outputs(); ++i) NotePassed(node, i, *variable);
      TF_ASSIGN_OR_RETURN(copies_[node.id()], Forward(node, std::move(inputs), std::move(controls)));
    } else {
      TF_ASSIGN_OR_RETURN(copies_[node.id()], Read(*variable, node, std::move(inputs), std::move(controls)));
    }
    for (const int i : back) back_edges_.Add(copies_[node.id()], i, node.inputs()[i]);
    return OkStatus();
  }

  // Adds a node of the same name, device and line as `node`, with another op and the attributes `attrs`.
  StatusOr<Node*> Add(const Node& node, std::string op, std::vector<Output> inputs, std::vector<Node*> controls,
                      std::map<std::string, AttrValue> attrs = {}) {
    for (const auto& [name, value] : node.attrs()) {
      if (name.starts_with("_")) attrs.emplace(name, value);
    }
    return ImplOf(*out_).AddNode({.name = node.name(),
                                  .op = std::move(op),
                                  .inputs = std::move(inputs),
                                  .controls = std::move(controls),
                                  .attrs = std::move(attrs),
                                  .device = node.device(),
                                  .line = node.line(),
                                  .defer_shape_errors = true});
  }

  // Adds the same op for the value.
  StatusOr<Node*> Forward(const Node& node, std::vector<Output> inputs, std::vector<Node*> controls) {
    std::map<std::string, AttrValue> attrs(node.attrs().begin(), node.attrs().end());
    if (node.type() == "IdentityN") {
      std::vector<DType> types;
      for (const Output& in : inputs) types.push_back(in.dtype());
      attrs["T"] = std::move(types);
    } else {
      attrs.erase("T");  // it follows from the inputs
    }
    return Add(node, node.type(), std::move(inputs), std::move(controls), std::move(attrs));
  }

  // Adds the op that computes from the value, which is inputs[0], what `node` computes from the variable.
  StatusOr<Node*> Read(const std::string& variable, const Node& node, std::vector<Output> inputs,
                       std::vector<Node*> controls) {
    const std::string& op = node.type();
    if (op == "ReadVariableOp") return Add(node, "Identity", std::move(inputs), std::move(controls));
    if (op == "VariableShape") {
      return Add(node, "Shape", std::move(inputs), std::move(controls), {{"out_type", node.attr<DType>("out_type")}});
    }
    if (op == "ResourceGatherNd") return Add(node, "GatherNd", std::move(inputs), std::move(controls));
    if (op != "ResourceGather") return IsNotARead(variable, node);
    const auto batch_dims = node.attr<int64_t>("batch_dims");
    // The axis is computed where the value is: in the same branch or loop.
    TF_ASSIGN_OR_RETURN(Node * axis,
                        ImplOf(*out_).AddNode({.name = StrCat(node.name(), "/_axis"),
                                               .op = "Const",
                                               .inputs = {},
                                               .controls = {NodeOf(inputs[0])},
                                               .attrs = {{"dtype", kInt64}, {"value", Tensor::Scalar(batch_dims)}},
                                               .device = node.device()}));
    inputs.push_back(OutputOf(axis, 0));
    return Add(node, "GatherV2", std::move(inputs), std::move(controls), {{"batch_dims", batch_dims}});
  }

  const Graph& graph_;
  std::unique_ptr<Graph> out_ = std::make_unique<Graph>();
  std::vector<Node*> copies_;  // indexed by the original's id; of a _FedVariable: the producer of its value
  // Keyed by the original's id and output: the name of the fed variable whose handle this tensor is.
  std::map<std::pair<int, int>, std::string> variables_;
  BackEdges back_edges_;
};

}  // namespace

Output FedTensorOf(const Output& tensor) {
  const Node& node = *NodeOf(tensor);
  if (node.type() != "ReadVariableOp" || node.graph() == nullptr) return tensor;
  for (const Variable& variable : node.graph()->variables()) {
    if (variable.shared_read() == tensor) return variable.handle();
  }
  return tensor;
}

TensorSpec FedSpecOf(const Output& tensor) {
  const Node& node = *NodeOf(tensor);
  if (node.type() != "VarHandleOp") return {tensor.dtype(), tensor.shape()};
  return {node.attr<DType>("dtype"), node.attr<Shape>("shape")};
}

StatusOr<Output> AddFedVariable(const Output& handle, const Output& value, Graph* graph) {
  const TensorSpec spec = FedSpecOf(handle);
  TF_ASSIGN_OR_RETURN(
      Node * node, ImplOf(*graph).AddNode(
                       {.name = StrCat(NodeOf(handle)->name(), "/_fed"),
                        .op = std::string(kFedVariable),
                        .inputs = {value},
                        .controls = {},
                        .attrs = {{"dtype", spec.dtype}, {"shape", spec.shape}, {"variable", NodeOf(handle)->name()}},
                        .device = ""}));
  return OutputOf(node, 0);
}

StatusOr<std::unique_ptr<Graph>> ReplaceFedVariables(const Graph& graph) {
  for (const auto& node : ImplOf(graph).nodes()) {
    if (node->type() == kFedVariable) return Replacer(graph).Run();
  }
  return std::unique_ptr<Graph>();
}

Status FedReferenceIsNeeded(const Output& fed, const Node& node) {
  const Node& from = *NodeOf(fed);
  return IsNotARead(from.inputs().empty() ? from.name() : fed.name(), node);
}

}  // namespace tensorbraid
