// Devices: where nodes run, and which memory they use.
#ifndef TENSORBRAID_RUNTIME_KERNEL_DEVICE_H_
#define TENSORBRAID_RUNTIME_KERNEL_DEVICE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory/allocator.h"
#include "core/text/device_name.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

class ElementMemory;
class KernelRegistry;

// A device of this process. Thread-safe.
//
// A device may have a *stream*: a queue of work that it does later, in the order in which it was enqueued. Its kernels
// then enqueue their work and return. Other code may use the outputs by enqueuing more work, but may not read the
// elements until Copy has brought them to the host. Freeing a buffer is also ordered with this work, so work that was
// enqueued earlier still finds the buffer's elements.
class Device {
 public:
  Device(std::string type, int id) : type_(std::move(type)), id_(id) {}
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& type() const { return type_; }  // "CPU"
  int id() const { return id_; }
  std::string name() const;  // "/device:CPU:0", the same in every cluster that this process is a member of
  // The number of bytes that the list of devices shows to clients.
  virtual int64_t memory_limit() const = 0;

  // The memory in which kernels of this device find their inputs and leave their outputs, except for arguments that
  // KernelDef::host_memory names.
  virtual Allocator& allocator() = 0;
  bool uses_host_memory() { return allocator().space() == MemorySpace::kHost; }
  // How kernels of lists split and join tensors in this memory. Null if kernels access the elements themselves, or if
  // the device has no such kernels.
  virtual ElementMemory* element_memory() { return nullptr; }
  // Whether kernels may return before their work is done.
  virtual bool has_stream() const { return false; }

  using Done = std::function<void(const Status&)>;
  // Copies the elements of `from` to `to`, which has the same dtype and shape. Each of the two tensors is in host
  // memory or in memory of this device. The copy is ordered with the work of the stream. Calls `done` once, from any
  // thread and possibly before Copy returns, when the host may read `to` and overwrite `from`; `done` must return soon.
  // REQUIRES: the dtype is plain.
  virtual void Copy(const Tensor& from, Tensor to, Done done) = 0;
  // As Copy, but within the stream: when this returns, the copy is enqueued or done, and `from` need not live longer.
  // REQUIRES: both tensors are in memory of this device.
  virtual void CopyInStream(const Tensor& from, Tensor to) = 0;
  // Calls `done` when all work that was enqueued before has been done. Passes the first error of the work since the
  // last call of WhenIdle. `done` may be called before WhenIdle returns and must return soon.
  virtual void WhenIdle(Done done) { done(OkStatus()); }
  // Waits until all work that was enqueued has been done. From then on, work is done by the thread that enqueues it.
  // For the end of a task, whose last steps may still run. REQUIRES: called once at most.
  virtual void Stop() {}

 private:
  const std::string type_;
  const int id_;
};

// A device for nodes that run outside of any task (constant folding, tests). It has the memory of the host.
Device& HostDevice();

// A kind of device that tasks of this process can have.
struct DeviceType {
  std::string name;  // upper case: "CPU"
  std::function<StatusOr<std::unique_ptr<Device>>(int id)> create;
  void (*register_kernels)(KernelRegistry& r) = nullptr;  // called after the kernels of the CPU have been registered
  // How many devices a process gets that wants `wanted` of them, or says nothing. Null: as many as it wants, otherwise
  // none.
  int (*count)(std::optional<int> wanted) = nullptr;
};
// The types of accelerators (pjrt/accelerator_types.cc), which each process has.
std::vector<DeviceType> AcceleratorTypes();
// Adds a type besides "CPU" and those of accelerators. REQUIRES: no task or graph exists yet, and the name is new
// (checked).
void AddDeviceType(DeviceType type);
const std::vector<DeviceType>& DeviceTypes();
// Null if the type does not exist.
const DeviceType* FindDeviceType(std::string_view name);

// The devices of a process, which all its tasks share. Immutable.
class DeviceSet {
 public:
  // Creates the devices. `counts` is the number of devices of each type; there is always at least one CPU, and there
  // may be fewer accelerators (DeviceType::count). The CPUs come first. InvalidArgument for a type that does not exist
  // here and for counts out of range.
  static StatusOr<std::unique_ptr<DeviceSet>> Create(const std::map<std::string, int>& counts);

  // The device that the full name of a node's device refers to; null if it does not exist.
  Device* Find(const DeviceName& name) const;
  const std::vector<std::unique_ptr<Device>>& devices() const { return devices_; }

 private:
  DeviceSet() = default;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_DEVICE_H_
