#include "executor/clusters/program_nodes.h"

#include <algorithm>

#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "executor/clusters/host_values.h"
#include "executor/passes/pass.h"
#include "graph/model/graph_impl.h"
#include "pjrt/emitter.h"
#include "pjrt/find_plugins.h"
#include "pjrt/whole_buffers.h"

namespace tensorbraid {
namespace {

bool IsOneOf(const Node& node, std::initializer_list<std::string_view> types) {
  return std::find(types.begin(), types.end(), node.type()) != types.end();
}

// Whether a program may be compiled for the value of a tensor in host memory: it is a size, an index, or a list of
// these.
bool MayBeInSignature(const Output& tensor) {
  const DType dtype = BaseType(tensor.dtype());
  return (dtype == kInt32 || dtype == kInt64) && (!tensor.shape().has_rank() || tensor.shape().rank() <= 1);
}

// The static operands that need not be known if the host has them.
std::vector<int> InputsOnHost(const Node& node) {
  const auto def = pjrt::EmitterRegistry::Global().Find(node);
  return (*def)->inputs_on_host == nullptr ? std::vector<int>() : (*def)->inputs_on_host(node);
}

}  // namespace

bool RunsPrograms(std::string_view device_type) {
  return std::ranges::find(pjrt::kAcceleratorTypes, device_type) != std::end(pjrt::kAcceleratorTypes);
}

bool RunPrograms(const DeviceSet& devices) {
  return std::ranges::any_of(devices.devices(), [](const auto& device) { return RunsPrograms(device->type()); });
}

bool ProgramNodes::ReadsShapesOnly(const Node& node) { return IsOneOf(node, {"Rank", "Shape", "ShapeN", "Size"}); }

bool IsStaticOperand(const Node& node, int input) {
  const auto def = pjrt::EmitterRegistry::Global().Find(node);
  if (!def.ok()) return false;
  const std::vector<int> known = pjrt::StaticInputs(**def, node);
  return std::find(known.begin(), known.end(), input) != known.end();
}

ProgramNodes::ProgramNodes(const Graph& graph, const ChangingValues::Set& changing)
    : places_(ImplOf(graph).nodes().size()) {
  const auto& nodes = ImplOf(graph).nodes();
  const std::vector<bool> conditional = ConditionalNodes(graph);
  std::vector<bool> on_accelerator(nodes.size()), runs_on_host(nodes.size());
  for (const auto& node : nodes) {
    Place& place = places_[node->id()];
    const auto device = DeviceName::Parse(node->device());
    on_accelerator[node->id()] = place.on_accelerator = device.ok() && RunsPrograms(device->type.value_or(""));
    place.is_conditional = conditional[node->id()];
    if (!place.on_accelerator) continue;
    place.moves_whole_buffers = pjrt::MovesWholeBuffers(*node);
    if (const auto emitter = pjrt::EmitterRegistry::Global().Find(*node); !emitter.ok()) {
      place.why_not = std::string(emitter.status().message());
      runs_on_host[node->id()] = !place.moves_whole_buffers;
    }
  }
  const HostValues host_values(graph, on_accelerator, runs_on_host, changing);
  for (const auto& node : nodes) {
    Place& place = places_[node->id()];
    if (!place.on_accelerator) continue;
    if (host_values.Contains(*node)) {
      place.moves_whole_buffers = false;
      place.why_not = "it is a small integer that often changes, one of control flow, or a list on the host";
    }
    if (!place.why_not.empty()) continue;
    const auto is_static = [&](const Output& in) {
      const Place& from = places_[NodeOf(in)->id()];
      if (!from.on_accelerator || host_values.Contains(*NodeOf(in))) {
        return MayBeInSignature(in) && !host_values.Varies(in);
      }
      return from.is_static && !changing.contains(ChangingValues::KeyOf(in)) &&
             (NodeOf(in)->device() == node->device() || NodeOf(in)->type() == "Const");
    };
    const auto is_on_host = [&](const Output& in) {
      return MayBeInSignature(in) && (!places_[NodeOf(in)->id()].on_accelerator || host_values.Contains(*NodeOf(in)));
    };
    const auto& inputs = node->inputs();
    const std::vector<int> may_be_on_host = InputsOnHost(*node);
    for (size_t i = 0; i < inputs.size() && place.why_not.empty(); ++i) {
      if (!IsStaticOperand(*node, static_cast<int>(i)) || is_static(inputs[i])) continue;
      if (std::ranges::find(may_be_on_host, static_cast<int>(i)) != may_be_on_host.end() && is_on_host(inputs[i])) {
        place.from_host.push_back(static_cast<int>(i));
        continue;
      }
      place.why_not = StrCat("input ", i, ", which must be known when the program is compiled, ",
                             changing.contains(ChangingValues::KeyOf(inputs[i]))
                                 ? std::string("has had too many values")
                                 : StrCat("is computed by '", NodeOf(inputs[i])->name(), "'"));
    }
    place.in_program = place.why_not.empty();
    place.is_static = place.in_program && (ReadsShapesOnly(*node) ||
                                           (IsPure(*node) && std::all_of(inputs.begin(), inputs.end(), is_static)));
  }
}

}  // namespace tensorbraid
