#include "cluster/master/own_accelerators.h"

#include <algorithm>
#include <atomic>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "pjrt/accelerator.h"
#include "pjrt/find_plugins.h"

namespace tensorbraid {
namespace {

// The device without its type and number.
DeviceName TaskOf(DeviceName device) {
  device.type.reset();
  device.id.reset();
  return device;
}

bool Requests(const Graph& graph, std::string_view type, const DeviceName& self) {
  return std::ranges::any_of(ImplOf(graph).nodes(), [&](const auto& node) {
    if (node->device().empty()) return false;
    const auto device = DeviceName::Parse(node->device());
    return device.ok() && device->type == type && TaskOf(*device).Matches(self);
  });
}

}  // namespace

void RemoveDeadAccelerators(const Graph& graph, const std::string& self, std::vector<DeviceName>* devices) {
  const DeviceName own = *DeviceName::Parse(self);
  for (const char* type : pjrt::kAcceleratorTypes) {
    const auto is_own = [&](const DeviceName& d) { return d.type == type && TaskOf(d).ToString() == own.ToString(); };
    if (std::ranges::none_of(*devices, is_own) || !Requests(graph, type, own)) continue;
    pjrt::Accelerator& accelerator = pjrt::Accelerator::OfType(type);
    const auto warn = [](const std::string& dead, const Status& status) {
      TB_LOG(Warning, "placement") << "the CPU computes what is placed on " << dead
                                   << ", which cannot be used: " << status;
    };
    if (const auto client = accelerator.GetClient(); !client.ok()) {
      warn(StrCat("devices of type ", type), client.status());
      std::erase_if(*devices, is_own);
      continue;
    }
    std::erase_if(*devices, [&](const DeviceName& device) {
      if (!is_own(device)) return false;
      const auto client = accelerator.ClientWith(device.id.value_or(0));
      if (!client.ok()) warn(device.ToString(), client.status());
      return !client.ok();
    });
  }
}

bool CanPreferGpu(const DeviceName& device, const ClusterView& view) {
  const std::vector<ClusterDevice> devices = DevicesOf(view);
  const auto at = std::ranges::find_if(
      devices, [name = device.ToString()](const ClusterDevice& d) { return d.name.ToString() == name; });
  if (at == devices.end()) return false;
  if (!at->is_local) return at->incarnation != 0;
  const auto client = pjrt::Accelerator::OfType("GPU").ClientWith(device.id.value_or(0));
  if (client.ok()) return true;
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true)) {
    TB_LOG(Warning, "placement") << "the CPU computes what no device is requested for, since the GPUs cannot be used: "
                                 << client.status();
  }
  return false;
}

std::string WhyNoAccelerator(const DeviceName& requested, const std::string& self,
                             const std::vector<DeviceName>& devices) {
  if (!requested.type.has_value() || !pjrt::IsAcceleratorType(*requested.type)) return "";
  const DeviceName own = *DeviceName::Parse(self);
  if (!TaskOf(requested).Matches(own)) return "";
  const auto existing = std::ranges::count_if(
      devices, [&](const DeviceName& d) { return d.type == requested.type && TaskOf(d).ToString() == own.ToString(); });
  return pjrt::WhyNoDevice(pjrt::ThisMachine(), *requested.type, requested.id.value_or(0), static_cast<int>(existing));
}

}  // namespace tensorbraid
