#include "executor/clusters/host_values.h"

#include <algorithm>
#include <utility>

#include "executor/passes/pass.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"
#include "pjrt/whole_buffers.h"

namespace tensorbraid {
namespace {

// More elements are worth a program.
constexpr int64_t kMostElements = 64;

bool IsSmall(const Shape& shape) {
  if (shape.is_fully_defined()) return shape.num_elements() <= kMostElements;
  return !shape.has_rank() || shape.rank() <= 1;
}

bool IsSmallInteger(const Node& node, int output) {
  const DType dtype = BaseType(node.output_type(output));
  return (dtype == kInt32 || dtype == kInt64 || dtype == kBool) && IsSmall(node.output_shape(output));
}

bool IsList(const Node& node, int output) { return node.output_type(output) == DType::kVariant; }

// Whether a scalar may be the flow of a TensorArray, whose value has no meaning.
bool MayBeFlow(const Node& node) { return node.output_type(0) == kFloat32 && node.output_shape(0).is_scalar(); }

// The nodes of control flow that may pass on the flow of a TensorArray whose elements are on the host. A loop that
// writes to the array would copy the flow in each iteration if the loop passed it on in the memory of the device.
std::vector<bool> FlowsOfHostArrays(const Graph& graph, const std::vector<bool>& runs_on_host) {
  const auto& nodes = ImplOf(graph).nodes();
  std::vector<bool> is_flow(nodes.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& node : nodes) {
      const auto id = static_cast<size_t>(node->id());
      if (is_flow[id] || FlowKindOf(*node) == FlowKind::kNone || node->num_outputs() == 0 || !MayBeFlow(*node))
        continue;
      is_flow[id] = std::ranges::any_of(node->inputs(), [&](const Output& in) {
        const Node& from = *NodeOf(in);
        return is_flow[from.id()] || (runs_on_host[from.id()] && from.type().starts_with("TensorArray"));
      });
      changed = changed || is_flow[id];
    }
  }
  return is_flow;
}

// Whether the host may run the node if its inputs are there.
bool MayBeOnHost(const Node& node, bool is_flow) {
  if (node.num_outputs() == 0 || node.inputs().empty()) return false;
  switch (FlowKindOf(node)) {
    case FlowKind::kNone:
      break;
    case FlowKind::kControlTrigger:
      return false;
    default:
      return is_flow || IsSmallInteger(node, 0) || IsList(node, 0);
  }
  // The others of lists are on the host or not, by the dtype of their elements.
  if (node.type() == "TensorListLength" || node.type() == "TensorListElementShape" || node.type() == "TensorListResize")
    return true;
  // What only looks at shapes runs where the tensors are.
  for (const char* type : {"Rank", "Shape", "ShapeN", "Size"}) {
    if (node.type() == type) return false;
  }
  if (!IsPure(node)) return false;
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (!IsSmallInteger(node, i)) return false;
  }
  return true;
}

// A Switch decides on the host in any case.
size_t NumData(const Node& node) { return FlowKindOf(node) == FlowKind::kSwitch ? 1 : node.inputs().size(); }

}  // namespace

HostValues::HostValues(const Graph& graph, const std::vector<bool>& on_accelerator,
                       const std::vector<bool>& runs_on_host, ChangingValues::Set changing)
    : changing_(std::move(changing)), on_host_(on_accelerator.size(), false), varies_(on_accelerator.size(), false) {
  const auto& nodes = ImplOf(graph).nodes();
  const bool has_flow =
      std::ranges::any_of(nodes, [](const auto& node) { return FlowKindOf(*node) != FlowKind::kNone; });
  if (!has_flow && changing_.empty()) return;
  const std::vector<bool> conditional = ConditionalNodes(graph);
  const std::vector<bool> is_flow = FlowsOfHostArrays(graph, runs_on_host);
  std::vector<const Node*> candidates;
  for (const auto& node : nodes) {
    const auto id = static_cast<size_t>(node->id());
    const FlowKind kind = FlowKindOf(*node);
    for (size_t i = 0; i < node->inputs().size() && kind != FlowKind::kExit; ++i) {
      if (IsBackEdge(*node, static_cast<int>(i)) || Varies(node->inputs()[i])) varies_[id] = true;
    }
    const bool counts = conditional[id] || varies_[id];
    if (!on_accelerator[id] || !counts || runs_on_host[id] || !MayBeOnHost(*node, is_flow[id])) continue;
    on_host_[id] = true;
    candidates.push_back(node.get());
  }
  const auto is_on_host = [&](const Output& in) {
    const Node& from = *NodeOf(in);
    if (!on_accelerator[from.id()] || runs_on_host[from.id()] || on_host_[from.id()]) return true;
    if (from.type() == "Const") return IsSmall(from.output_shape(0));
    return pjrt::HasOutputsOnHost(from) || (FlowKindOf(from) == FlowKind::kMerge && in.index() == 1);
  };
  // A loop is a cycle, so all candidates are taken at first, and those that turn out to depend on a device are dropped.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Node* node : candidates) {
      if (!on_host_[node->id()]) continue;
      const auto& inputs = node->inputs();
      if (std::all_of(inputs.begin(), inputs.begin() + static_cast<ptrdiff_t>(NumData(*node)), is_on_host)) continue;
      on_host_[node->id()] = false;
      changed = true;
    }
  }
}

}  // namespace tensorbraid
