// The types of devices that plugins have.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "io/file.h"
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

// Logs each problem once, though every session meets it.
void WarnOnce(const std::string& problem) {
  static auto* const mu = new Mutex;
  static auto* const told = new std::set<std::string>;
  MutexLock lock(*mu);
  if (told->insert(problem).second) {
    TB_LOG(Warning, "pjrt") << problem;
  }
}

// Whether a process that says nothing may have devices of this type: those of a plugin that the environment variable
// names, and the GPUs of the driver. Must be fast where there is neither.
bool MayHave(const Machine& machine, const char* device_type) {
  return !machine.variable(kPluginVariable).empty() ||
         (device_type == std::string_view("GPU") && FileExists(machine.driver_folder));
}

// A process has at most as many devices as it asks for. Without being asked, it has all GPUs, and the devices of a
// plugin that the environment variable names.
int CountDevices(const char* device_type, std::optional<int> wanted) {
  if (wanted == 0) return 0;
  const Machine machine = ThisMachine();
  if (!wanted && !MayHave(machine, device_type)) return 0;
  const FoundPlugin found = FindPlugin(machine, device_type);
  if (!wanted && !found.is_named && device_type != std::string_view("GPU")) return 0;
  if (!found.problem.empty()) {
    if (wanted || found.is_named) WarnOnce(StrCat("no devices of type ", device_type, ": ", found.problem));
    return 0;
  }
  int devices = found.is_open ? wanted.value_or(found.devices) : found.devices;
  if (const int visible = Accelerator::OfType(device_type).num_visible(); visible > 0) {
    devices = found.is_open ? visible : std::min(devices, visible);
  }
  return std::min(devices, wanted.value_or(devices));
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

Status UseGpuOptions(const GpuOptions& options) {
  if (options == GpuOptions()) return OkStatus();
  const FoundPlugin found = FindPlugin(ThisMachine(), "GPU");
  if (!found.problem.empty()) return OkStatus();
  if (!found.is_open) {
    for (const std::string& word : StrSplit(options.visible_device_list, ',')) {
      if (int number = 0; absl::SimpleAtoi(word, &number) && number >= found.devices) {
        return InvalidArgument("gpu_options.visible_device_list is '", options.visible_device_list, "', but there ",
                               found.devices == 1 ? "is 1 GPU" : StrCat("are ", found.devices, " GPUs"),
                               ", numbered from 0");
      }
    }
  }
  return Accelerator::OfType("GPU").Use(options);
}

}  // namespace pjrt

std::vector<DeviceType> AcceleratorTypes() { return {pjrt::TypeNumber<0>(), pjrt::TypeNumber<1>()}; }

}  // namespace tensorbraid
