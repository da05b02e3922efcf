#include "placement/placer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "executor/clusters/program_nodes.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/node_status.h"
#include "placement/preference.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {
namespace {

// Sets of nodes that must share a device, with the device that each set requests so far. Implemented as union-find: the
// id of one member, Find(i), stands for the set.
class Groups {
 public:
  explicit Groups(size_t nodes) : parent_(nodes), requested_(nodes), requester_(nodes, nullptr) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int Find(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Join(int a, int b) { parent_[Find(b)] = Find(a); }

  // Adds the device that a node requests to the request of its group. If the two conflict, drops the node's request
  // when `yields` is true, and returns InvalidArgument otherwise.
  // REQUIRES: all joins are done.
  Status AddRequest(const Node& node, bool yields) {
    if (node.device().empty()) return OkStatus();
    TF_ASSIGN_OR_RETURN(const DeviceName device, DeviceName::Parse(node.device()));
    const int g = Find(node.id());
    const DeviceName merged = requested_[g].MergedOver(device);
    if (!device.Matches(merged)) {
      if (yields) {
        TB_LOG(Debug, "placement") << node.Describe() << " requests " << node.device() << ", but is placed with "
                                   << requester_[g]->Describe() << " on " << requested_[g].ToString();
        return OkStatus();
      }
      return AboutNode(
          InvalidArgument(node.Describe(), " requests ", node.device(), " but must be on the same device as ",
                          requester_[g]->Describe(), ", which requests ", requested_[g].ToString()),
          node);
    }
    requested_[g] = merged;
    if (requester_[g] == nullptr) requester_[g] = &node;
    return OkStatus();
  }
  const DeviceName& requested(int g) const { return requested_[g]; }

 private:
  std::vector<int> parent_;
  std::vector<DeviceName> requested_;
  std::vector<const Node*> requester_;
};

// Whether the op is one of the runtime's own, whose names begin with "_". Such a node may be placed on any device.
bool IsExecutorNode(const Node& node) { return node.type().starts_with("_"); }

// A device that runs programs takes every node. The nodes that cannot be in a program run on the host (0034), so that a
// node without an emitter does not draw a variable to the CPU in one step and not in another.
bool HasKernel(const Node& node, const DeviceName& device) {
  const std::string type = RunsPrograms(*device.type) ? "CPU" : *device.type;
  return IsExecutorNode(node) || KernelRegistry::Global().Find(node, type).ok();
}

std::string Names(const std::vector<DeviceName>& devices) {
  std::vector<std::string> names;
  for (const DeviceName& d : devices) names.push_back(d.ToString());
  return StrJoin(names, ", ");
}

// Chooses GPUs for nodes that leave the type of their device open.
class GpuChooser {
 public:
  GpuChooser(const Graph& graph, const PlacerOptions& options) : options_(options) {
    const auto is_gpu = [](const DeviceName& d) { return d.type == "GPU"; };
    if (std::ranges::any_of(options.devices, is_gpu)) preference_.emplace(graph);
  }

  // The GPU on which nodes run that share a device, which would be `device` otherwise. Null if there is none, or if
  // they prefer `device`; `why` then says why they do.
  const DeviceName* Choose(const std::vector<const Node*>& nodes, const DeviceName& requested, const DeviceName& device,
                           std::string* why) {
    if (!preference_.has_value() || requested.type.has_value()) return nullptr;
    const auto gpu = std::ranges::find_if(options_.devices, [&](const DeviceName& d) {
      return d.type == "GPU" && requested.Matches(d) && d.job == device.job && d.replica == device.replica &&
             d.task == device.task;
    });
    if (gpu == options_.devices.end()) return nullptr;
    const auto variable = std::ranges::find_if(nodes, [](const Node* n) { return GpuPreference::IsVariable(*n); });
    const auto chosen = variable != nodes.end()
                            ? variable
                            : std::ranges::find_if(nodes, [&](const Node* n) { return preference_->Prefers(*n); });
    if (chosen == nodes.end() || !preference_->Prefers(**chosen)) {
      *why = preference_->WhyNot(chosen == nodes.end() ? *nodes[0] : **chosen);
      return nullptr;
    }
    if (!CanBeUsed(*gpu)) return nullptr;
    return &*gpu;
  }

 private:
  bool CanBeUsed(const DeviceName& gpu) {
    if (options_.can_be_used == nullptr) return true;
    const auto [at, added] = can_be_used_.try_emplace(gpu.ToString(), false);
    if (added) at->second = options_.can_be_used(gpu);
    return at->second;
  }

  const PlacerOptions& options_;
  std::optional<GpuPreference> preference_;  // none if there is no GPU
  std::map<std::string, bool> can_be_used_;  // by name of the device
};

}  // namespace

Status NoSuchDevice(const Node& node, const DeviceName& requested, const std::vector<DeviceName>& devices,
                    const std::string& why) {
  return AboutNode(
      InvalidArgument(node.Describe(), " requests device ", requested.ToString(),
                      ", which does not exist; the devices are ", Names(devices), why.empty() ? "" : ": ", why),
      node);
}

Status PlaceNodes(Graph* graph, const PlacerOptions& options) {
  TB_CHECK(!options.devices.empty());
  const auto& nodes = ImplOf(*graph).nodes();
  Groups groups(nodes.size());
  std::vector<bool> uses_state(nodes.size(), false);
  for (const auto& node : nodes) {
    for (const std::string& with : node->colocated_with()) {
      const Node* other = ImplOf(*graph).Find(with);
      if (other != nullptr) groups.Join(other->id(), node->id());
    }
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      const bool shares_variable = IsRef(node->declared_input_type(static_cast<int>(i)));
      const bool uses_resource = BaseType(node->input_type(static_cast<int>(i))) == DType::kResource;
      if (shares_variable || uses_resource) {
        groups.Join(NodeOf(node->inputs()[i])->id(), node->id());
        uses_state[node->id()] = true;
      }
    }
  }
  // A node that uses a variable or resource is placed with it, whatever device the node requests. The requests of the
  // nodes that use it only fill in what the request of the variable or resource leaves open.
  for (const bool users : {false, true}) {
    for (const auto& node : nodes) {
      if (uses_state[node->id()] == users) {
        TF_RETURN_IF_ERROR(groups.AddRequest(*node, users || options.allow_soft_placement));
      }
    }
  }

  GpuChooser gpus(*graph, options);
  std::vector<std::vector<const Node*>> members(nodes.size());
  for (const auto& node : nodes) members[groups.Find(node->id())].push_back(node.get());
  for (size_t g = 0; g < members.size(); ++g) {
    if (members[g].empty()) continue;
    const DeviceName& requested = groups.requested(static_cast<int>(g));
    const auto suits = [&](const DeviceName& request, const DeviceName& device) {
      return request.Matches(device) &&
             std::all_of(members[g].begin(), members[g].end(), [&](const Node* n) { return HasKernel(*n, device); });
    };
    const auto find = [&](const DeviceName& request) {
      return std::find_if(options.devices.begin(), options.devices.end(),
                          [&](const DeviceName& d) { return suits(request, d); });
    };
    auto device = find(requested);
    if (device == options.devices.end() && options.allow_soft_placement) {
      DeviceName task = requested;
      task.type.reset();
      task.id.reset();
      device = find(task);
      if (device == options.devices.end()) device = find(DeviceName());
    }
    if (device == options.devices.end()) {
      const bool exists = std::any_of(options.devices.begin(), options.devices.end(),
                                      [&](const DeviceName& d) { return requested.Matches(d); });
      if (!exists) {
        const auto requester =
            std::find_if(members[g].begin(), members[g].end(), [](const Node* n) { return !n->device().empty(); });
        return NoSuchDevice(**requester, requested, options.devices,
                            options.why_missing == nullptr ? "" : options.why_missing(requested));
      }
      for (const Node* n : members[g]) {
        for (const DeviceName& d : options.devices) {
          if (requested.Matches(d) && !HasKernel(*n, d)) {
            // The registry returns NotFound. Clients get InvalidArgument, because the graph cannot be run.
            const Status none = KernelRegistry::Global().Find(*n, *d.type).status();
            return AboutNode(InvalidArgument("device ", d.ToString(), ": ", none.message()), *n);
          }
        }
      }
      return InvalidArgument("no device has kernels for all ops colocated with ", members[g][0]->Describe());
    }
    std::string why;
    const DeviceName* const gpu = gpus.Choose(members[g], requested, *device, &why);
    if (gpu != nullptr) why = "no device is requested, and it can be in a program";
    const std::string name = (gpu != nullptr ? *gpu : *device).ToString();
    for (const Node* n : members[g]) {
      nodes[n->id()]->set_device(name);
      if (options.log_placement) {
        TB_LOG(Info, "placement") << n->name() << " (" << n->type() << "): " << name
                                  << (why.empty() ? "" : StrCat(", since ", why));
      }
    }
  }
  return OkStatus();
}

}  // namespace tensorbraid
