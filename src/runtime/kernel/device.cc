#include "runtime/kernel/device.h"

#include <algorithm>
#include <cstring>

#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// The memory limit that TensorFlow reports for every CPU device.
constexpr int64_t kCpuMemoryLimit = 256 << 20;

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(int id) : Device("CPU", id) {}
  int64_t memory_limit() const override { return kCpuMemoryLimit; }
  Allocator& allocator() override { return HostAllocator(); }
  void Copy(const Tensor& from, Tensor to, Done done) override {
    CopyInStream(from, std::move(to));
    done(OkStatus());
  }
  void CopyInStream(const Tensor& from, Tensor to) override {
    if (from.num_bytes() > 0) std::memcpy(to.inplace_raw_data(), from.raw_data(), from.num_bytes());
  }
};

std::vector<DeviceType>& MutableDeviceTypes() {
  static auto* const types = [] {
    auto* all = new std::vector<DeviceType>{{.name = "CPU", .create = [](int id) -> StatusOr<std::unique_ptr<Device>> {
                                               return std::unique_ptr<Device>(std::make_unique<CpuDevice>(id));
                                             }}};
    for (DeviceType& type : AcceleratorTypes()) all->push_back(std::move(type));
    return all;
  }();
  return *types;
}

}  // namespace

std::string Device::name() const { return StrCat("/device:", type_, ":", id_); }

Device& HostDevice() {
  static auto* device = new CpuDevice(0);
  return *device;
}

void AddDeviceType(DeviceType type) {
  TB_CHECK(FindDeviceType(type.name) == nullptr);
  MutableDeviceTypes().push_back(std::move(type));
}

const std::vector<DeviceType>& DeviceTypes() { return MutableDeviceTypes(); }

const DeviceType* FindDeviceType(std::string_view name) {
  const auto& types = DeviceTypes();
  const auto it = std::find_if(types.begin(), types.end(), [&](const DeviceType& t) { return t.name == name; });
  return it == types.end() ? nullptr : &*it;
}

StatusOr<std::unique_ptr<DeviceSet>> DeviceSet::Create(const std::map<std::string, int>& counts) {
  for (const auto& [type, count] : counts) {
    if (FindDeviceType(type) == nullptr && count > 0) {
      std::vector<std::string> names;
      for (const DeviceType& t : DeviceTypes()) names.push_back(StrCat("'", t.name, "'"));
      return InvalidArgument("device_count: there are no devices of type '", type, "', only ", StrJoin(names, ", "));
    }
    if (count < 0 || count > 1024) {
      return InvalidArgument("device_count: the number of '", type, "' devices must be 0 to 1024, got ", count);
    }
  }
  auto set = std::unique_ptr<DeviceSet>(new DeviceSet);
  for (const DeviceType& type : DeviceTypes()) {
    const auto it = counts.find(type.name);
    int count = it == counts.end() ? 0 : it->second;
    if (type.name == "CPU") count = std::max(1, count);
    if (type.count != nullptr) count = type.count(it == counts.end() ? std::nullopt : std::optional<int>(it->second));
    for (int id = 0; id < count; ++id) {
      auto device = type.create(id);
      if (!device.ok()) return Annotate(device.status(), StrCat("device '/device:", type.name, ":", id, "'"));
      set->devices_.push_back(*std::move(device));
    }
  }
  return set;
}

Device* DeviceSet::Find(const DeviceName& name) const {
  for (const auto& device : devices_) {
    if (name.type == device->type() && name.id == device->id()) return device.get();
  }
  return nullptr;
}

}  // namespace tensorbraid
