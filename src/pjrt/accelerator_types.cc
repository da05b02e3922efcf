// The types of devices that plugins have.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "pjrt/accelerator.h"
#include "pjrt/device.h"
#include "pjrt/find_plugins.h"
#include "pjrt/whole_buffers.h"
#include "runtime/kernel/device.h"

namespace tensorbraid {
namespace pjrt {
namespace {

StatusOr<std::string> PathOfPlugin(const std::string& device_type) {
  const FoundPlugin found = FindPlugin(ThisMachine(), device_type);
  if (!found.problem.empty()) return NotFound(found.problem);
  return found.path;
}

// A process has the devices that it asks for. Without being asked, it has those of a plugin that the environment
// variable names.
int CountDevices(const char* device_type, std::optional<int> wanted) {
  if (wanted == 0) return 0;
  if (!wanted && ThisMachine().variable(kPluginVariable).empty()) return 0;
  const FoundPlugin found = FindPlugin(ThisMachine(), device_type);
  if (!wanted && !found.is_named) return 0;
  if (!found.problem.empty()) {
    TB_LOG(Warning, "pjrt") << "no devices of type " << device_type << ": " << found.problem;
    return 0;
  }
  if (ComputesOnCpu(found.path)) return wanted.value_or(found.devices);  // such a plugin makes as many as it is told
  return std::min(wanted.value_or(found.devices), found.devices);
}

template <int i>
DeviceType TypeNumber() {
  return {.name = kAcceleratorTypes[i],
          .create = [](int id) -> StatusOr<std::unique_ptr<Device>> {
            return std::unique_ptr<Device>(std::make_unique<PjrtDevice>(kAcceleratorTypes[i], id));
          },
          .register_kernels = [](KernelRegistry& r) { AddWholeBufferKernels(r, kAcceleratorTypes[i]); },
          .count = [](std::optional<int> wanted) { return CountDevices(kAcceleratorTypes[i], wanted); }};
}

}  // namespace

Accelerator& Accelerator::OfType(const std::string& device_type) {
  static auto* const all = [] {
    auto* map = new std::map<std::string, std::unique_ptr<Accelerator>>;
    for (const char* type : kAcceleratorTypes) {
      (*map)[type] = std::make_unique<Accelerator>(type, [type] { return PathOfPlugin(type); });
    }
    return map;
  }();
  const auto it = all->find(device_type);
  TB_CHECK(it != all->end());
  return *it->second;
}

}  // namespace pjrt

std::vector<DeviceType> AcceleratorTypes() { return {pjrt::TypeNumber<0>(), pjrt::TypeNumber<1>()}; }

}  // namespace tensorbraid
