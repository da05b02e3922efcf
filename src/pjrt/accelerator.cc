#include "pjrt/accelerator.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "pjrt/find_plugins.h"
#include "pjrt/plugin.h"
#include "pjrt/start_error.h"

namespace tensorbraid::pjrt {
namespace {

// "2,0" as {2, 0}.
StatusOr<std::vector<int>> ParseDeviceList(const std::string& text) {
  std::vector<int> devices;
  if (text.empty()) return devices;
  for (const std::string& word : StrSplit(text, ',')) {
    int number = 0;
    if (!absl::SimpleAtoi(word, &number) || number < 0) {
      return InvalidArgument("gpu_options.visible_device_list is '", text, "', but '", word, "' is not a number");
    }
    if (std::find(devices.begin(), devices.end(), number) != devices.end()) {
      return InvalidArgument("gpu_options.visible_device_list is '", text, "', which names ", number, " twice");
    }
    devices.push_back(number);
  }
  return devices;
}

std::string TextOf(const GpuOptions& options) {
  return StrCat("per_process_gpu_memory_fraction: ", options.per_process_gpu_memory_fraction,
                ", allow_growth: ", options.allow_growth ? "true" : "false", ", visible_device_list: '",
                options.visible_device_list, "'");
}

// What the client of a plugin for GPUs of NVIDIA is told. By default it would take most of the memory at once.
ClientOptions CudaOptions(const GpuOptions& options, const std::vector<int>& visible) {
  const double fraction = options.per_process_gpu_memory_fraction;
  ClientOptions result = {{"preallocate", fraction > 0 && !options.allow_growth}};
  if (fraction > 0) result["memory_fraction"] = static_cast<float>(fraction);
  if (!visible.empty()) result["visible_devices"] = std::vector<int64_t>(visible.begin(), visible.end());
  return result;
}

// The place of each number among all of them, in increasing order: the order of the devices in a client that has these
// devices only.
std::vector<int> RanksOf(const std::vector<int>& numbers) {
  std::vector<int> ranks;
  for (const int number : numbers) {
    ranks.push_back(static_cast<int>(std::ranges::count_if(numbers, [number](int other) { return other < number; })));
  }
  return ranks;
}

}  // namespace

void Accelerator::Expect(int devices) {
  MutexLock lock(mu_);
  expected_ = std::max(expected_, devices);
}

Status Accelerator::Use(const GpuOptions& options) {
  if (options == GpuOptions()) return OkStatus();
  if (const double fraction = options.per_process_gpu_memory_fraction; !(fraction >= 0 && fraction <= 1)) {
    return InvalidArgument("gpu_options.per_process_gpu_memory_fraction must be 0 to 1, got ", fraction);
  }
  TF_ASSIGN_OR_RETURN(std::vector<int> visible, ParseDeviceList(options.visible_device_list));
  MutexLock lock(mu_);
  if (options == options_) return OkStatus();
  if (client_ != nullptr || options_ != GpuOptions()) {
    TB_LOG(Warning, "pjrt") << "gpu_options with " << TextOf(options) << " have no effect: this process uses its "
                            << device_type_ << " devices with " << TextOf(options_)
                            << " already; give these options to its first session";
    return OkStatus();
  }
  options_ = options;
  visible_ = std::move(visible);
  return OkStatus();
}

int Accelerator::num_visible() {
  MutexLock lock(mu_);
  return static_cast<int>(visible_.size());
}

StatusOr<Client*> Accelerator::GetClient() {
  MutexLock lock(mu_);
  if (client_ != nullptr) return client_;
  const auto make = [&]() TB_REQUIRES(mu_) -> StatusOr<Client*> {
    TF_ASSIGN_OR_RETURN(const std::string path, find_());
    TF_ASSIGN_OR_RETURN(const Plugin* plugin, Plugin::Load(path));
    const bool is_cuda = IsForCuda(path);
    ClientOptions options;
    if (is_cuda) {
      options = CudaOptions(options_, visible_);
    } else if (ComputesOnCpu(path)) {
      const int last = visible_.empty() ? 0 : *std::ranges::max_element(visible_);
      options["cpu_device_count"] = int64_t{std::max(expected_, last + 1)};
    }
    auto client = Client::Create(*plugin, options, is_cuda ? RanksOf(visible_) : visible_);
    if (!client.ok()) return StartError(client.status(), path, ThisMachine());
    return client;
  };
  auto client = make();
  if (!client.ok()) return Annotate(client.status(), StrCat("devices of type ", device_type_));
  client_ = *client;
  if (const std::string old = OldDriver(ThisMachine(), client_->plugin().path()); !old.empty()) {
    TB_LOG(Warning, "pjrt") << "programs may fail on " << device_type_ << " devices: " << old;
  }
  for (int i = 0; i < client_->num_devices(); ++i) {
    TB_LOG(Info, "pjrt") << device_type_ << ":" << i << " is " << client_->device_kind(i) << " of "
                         << client_->plugin().path();
  }
  return client_;
}

StatusOr<Client*> Accelerator::ClientWith(int id) {
  TF_ASSIGN_OR_RETURN(Client* const client, GetClient());
  const int devices = client->num_devices();
  if (id < devices) return client;
  const std::string& path = client->plugin().path();
  return NotFound("there is no /device:", device_type_, ":", id, ": the plugin '", path, "' has ", devices,
                  devices == 1 ? " device" : " devices", ", numbered from 0: use a smaller number",
                  ComputesOnCpu(path) ? "" : ", or see with 'nvidia-smi' which process has taken the other GPUs");
}

Client* Accelerator::client_if_made() {
  MutexLock lock(mu_);
  return client_;
}

AcceleratorDevice DescribeAccelerator(const std::string& device_type, int id, bool start) {
  Accelerator& accelerator = Accelerator::OfType(device_type);
  if (start) {
    if (const auto client = accelerator.GetClient(); !client.ok()) {
      TB_LOG(Warning, "pjrt") << "/device:" << device_type << ":" << id << " cannot be used: " << client.status();
    }
  }
  const Client* const client = accelerator.client_if_made();
  if (client == nullptr || id >= client->num_devices()) return {};
  AcceleratorDevice device{.physical = StrCat("device: ", id, ", name: ", client->device_kind(id))};
  if (const std::string& capability = client->compute_capability(id); !capability.empty()) {
    device.physical += StrCat(", compute capability: ", capability);
  }
  if (const auto memory = client->MemoryOf(id); memory.ok()) {
    device.memory_limit = std::max<int64_t>(memory->bytes_limit, 0);
  }
  return device;
}

}  // namespace tensorbraid::pjrt
