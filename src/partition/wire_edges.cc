#include "partition/wire_edges.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/wire_attrs.h"
#include "kernels/cpu/wire/codec.h"

namespace tensorbraid {
namespace {

template <size_t n>
bool IsOneOf(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The node that makes the variable, or other state, which `node` reads or updates through its first input. Looks
// through nodes that only pass a reference on. Null if the first input is neither a resource nor a reference.
const Node* StateOf(const Node& node) {
  const Node* at = &node;
  do {
    if (at->inputs().empty()) return nullptr;
    const Output& in = at->inputs()[0];
    if (!in.valid() || (!IsRef(NodeOf(in)->output_type(in.index())) && BaseType(in.dtype()) != DType::kResource)) {
      return nullptr;
    }
    at = NodeOf(in);
  } while (!at->inputs().empty() && IsRef(at->output_type(0)));
  return at;
}

// Returns the variable if the tensor is a variable's value or some of its rows; otherwise null.
const Node* VariableReadAs(const Output& tensor) {
  const Node* node = NodeOf(tensor);
  while (true) {
    if (IsRef(node->output_type(0))) return node->inputs().empty() ? node : StateOf(*node);
    constexpr std::array<std::string_view, 7> kReads = {"ReadVariableOp",   "ResourceGather",     "ResourceGatherNd",
                                                        "KvResourceGather", "KvResourceGatherV1", "Gather",
                                                        "GatherV2"};
    if (node->inputs().empty()) return nullptr;
    const bool is_read = IsOneOf(node->type(), kReads);
    if (is_read) {
      if (const Node* state = StateOf(*node); state != nullptr) return state;
    }
    if (!is_read && node->type() != "Identity") return nullptr;
    node = NodeOf(node->inputs()[0]);
  }
}

// Whether the consumer needs the unrounded value, as fetches and checkpoints do.
bool NeedsExactValues(const Node& consumer) {
  constexpr std::array<std::string_view, 5> kExact = {"_Retval", "Save", "SaveSlices", "SaveV2", "_SaveVariables"};
  return IsOneOf(consumer.type(), kExact);
}

// If `node` updates the state in its first input by a gradient, returns the number of the gradient's input, otherwise
// -1. Sets *is_sparse if the gradient has only some rows, which differ from step to step.
int GradientInput(const Node& node, bool* is_sparse) {
  constexpr std::array<std::string_view, 4> kAssigns = {"AssignAdd", "AssignSub", "AssignAddVariableOp",
                                                        "AssignSubVariableOp"};
  constexpr std::array<std::string_view, 4> kScatters = {"ScatterAdd", "ScatterSub", "ResourceScatterAdd",
                                                         "ResourceScatterSub"};
  const std::string_view type = node.type();
  const bool applies = type.find("Apply") != std::string_view::npos;
  const bool scatters = IsOneOf(type, kScatters), assigns = IsOneOf(type, kAssigns);
  if (!applies && !scatters && !assigns) return -1;
  *is_sparse = scatters || type.find("Sparse") != std::string_view::npos;
  const auto& arguments = node.op().inputs;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i].name;
    constexpr std::array<std::string_view, 4> kNames = {"grad", "delta", "gradient", "gradient_values"};
    const bool found = scatters ? name == "updates" : assigns ? name == "value" : IsOneOf(name, kNames);
    if (found) return node.InputRange(static_cast<int>(i)).first;
  }
  return -1;
}

// Whether each element of the op's result depends only on the same element of its float inputs. An encoded gradient may
// pass through such an op.
bool PassesGradient(const Node& node) {
  constexpr std::array<std::string_view, 11> kOps = {"Identity", "Switch", "Merge", "Neg",  "Add",    "AddV2",
                                                     "AddN",     "Sub",    "Mul",   "Cast", "RealDiv"};
  return IsOneOf(node.type(), kOps);
}

// Whether the tensor can be encoded, and is not so small that this gains nothing. A tensor of unknown size is encoded.
bool IsWorthwhile(const Output& tensor) {
  const int64_t n = tensor.shape().num_elements();
  return tensor.dtype() == kFloat32 && (n < 0 || n >= cpu::kMinWireElements);
}

}  // namespace

StatusOr<WireEdges> WireEdges::Find(const Graph& graph, const std::vector<std::string>& tasks,
                                    const JobWireTypes& jobs) {
  WireEdges result;
  const auto& nodes = ImplOf(graph).nodes();
  // The types of nodes that have state; empty for graphs without wire types, which is the usual case.
  std::map<const Node*, WireTypes> types;
  for (const auto& node : nodes) {
    if (node->num_outputs() == 0) continue;
    const DType type = node->output_type(0);
    if (!node->inputs().empty() || (!IsRef(type) && type != DType::kResource)) continue;
    TF_ASSIGN_OR_RETURN(WireTypes of_node, WireTypesOf(*node));
    if (!jobs.empty()) {
      TF_ASSIGN_OR_RETURN(const DeviceName task, DeviceName::Parse(tasks[node->id()]));
      if (const auto of_job = jobs.find(task.job.value_or("")); of_job != jobs.end()) {
        if (of_node.parameters == Wire::kDefault) of_node.parameters = of_job->second.parameters;
        if (of_node.gradients == Wire::kDefault) of_node.gradients = of_job->second.gradients;
      }
    }
    const auto is_set = [](Wire wire) { return wire != Wire::kDefault && wire != Wire::kFloat32; };
    if (is_set(of_node.parameters) || is_set(of_node.gradients)) types[node.get()] = of_node;
  }
  if (types.empty()) return result;
  const auto find = [&](const Node* state) { return state == nullptr ? types.end() : types.find(state); };

  for (const auto& node : nodes) {
    // Reads.
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      const Output& in = node->inputs()[i];
      if (!in.valid() || tasks[NodeOf(in)->id()] == tasks[node->id()]) continue;
      if (NeedsExactValues(*node) || BaseType(in.dtype()) != kFloat32) continue;
      const auto state = find(VariableReadAs(in));
      if (state == types.end()) continue;
      const Wire wire = state->second.parameters;
      const int64_t n = in.shape().num_elements();
      if (wire == Wire::kDefault || wire == Wire::kFloat32 || (n >= 0 && n < cpu::kMinWireElements)) continue;
      result.edges_[{node->id(), static_cast<int>(i)}] = {.wire = wire, .residual = ""};
    }
    // Updates.
    bool is_sparse = false;
    const int input = GradientInput(*node, &is_sparse);
    if (input < 0) continue;
    const Node* variable = StateOf(*node);
    const auto state = find(variable);
    if (state == types.end()) continue;
    const Wire wire = state->second.gradients;
    if (wire == Wire::kDefault || wire == Wire::kFloat32) continue;
    // What the encoding of a dense gradient loses is added to the next gradient. A sparse gradient has other rows each
    // time, so this is not possible, and without it kOneBit and kTopK lose too much.
    if (is_sparse && (wire == Wire::kOneBit || wire == Wire::kTopK)) continue;
    // Goes back through the nodes between the edge and the update, which are in the task of the variable.
    const Shape shape = node->inputs()[input].shape();
    const std::string& task = tasks[node->id()];
    std::set<const Node*> seen;
    std::vector<std::pair<const Node*, int>> next = {{node.get(), input}};
    while (!next.empty()) {
      const auto [consumer, number] = next.back();
      next.pop_back();
      const Output& in = consumer->inputs()[number];
      if (!in.valid()) continue;
      const Node* from = NodeOf(in);
      if (tasks[from->id()] != task) {
        if (!IsWorthwhile(in) || find(VariableReadAs(in)) != types.end()) continue;
        const bool keeps = cpu::HasErrorFeedback(wire) && !is_sparse;
        result.edges_[{consumer->id(), number}] = {
            .wire = wire, .residual = keeps ? StrCat(variable->name(), " ", task, " ", in.name()) : ""};
        continue;
      }
      if (!PassesGradient(*from) || !seen.insert(from).second) continue;
      for (size_t i = 0; i < from->inputs().size(); ++i) {
        const Output& operand = from->inputs()[i];
        // Skips the factors of a gradient, such as a learning rate.
        if (operand.valid() && IsFloating(operand.dtype()) && operand.shape().IsCompatibleWith(shape)) {
          next.emplace_back(from, static_cast<int>(i));
        }
      }
    }
  }
  return result;
}

const WireEdge* WireEdges::At(const Node& node, int input) const {
  const auto it = edges_.find({node.id(), input});
  return it == edges_.end() ? nullptr : &it->second;
}

}  // namespace tensorbraid
