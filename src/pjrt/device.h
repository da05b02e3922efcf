// A device of a plugin, as the rest of the library sees it.
#ifndef TENSORBRAID_PJRT_DEVICE_H_
#define TENSORBRAID_PJRT_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "pjrt/accelerator.h"
#include "pjrt/client.h"
#include "pjrt/event.h"
#include "runtime/kernel/device.h"
#include "runtime/kernel/work_of_steps.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid::pjrt {

class DeviceElements;
class InFlight;
class Loss;
class MemoryCount;

// What a device has been given to do, such as the run of a program.
struct FollowedWork {
  // The step that ends only after it, and gets its error. Null: none does.
  const CancellationManager* step = nullptr;
  // If it is not null, an error makes the loss happen, and the error of the loss is passed on instead.
  std::shared_ptr<Loss> loss = nullptr;
  // Called when the work has ended, before the step ends. Must return soon.
  std::function<void()> ended = nullptr;
  // Makes of an error the one that is passed on. Must return soon.
  std::function<Status(const Status&)> explain = nullptr;
};

// Its stream is the plugin's: programs and copies begin when what they need is there. Its allocator makes buffers
// without a value (DeviceBuffer). The plugin is loaded when the device is first used, not when it is created.
class PjrtDevice final : public Device, public WorkOfSteps {
 public:
  PjrtDevice(std::string type, int id) : PjrtDevice(id, Accelerator::OfType(type)) {}
  // `accelerator` outlives the device.
  PjrtDevice(int id, Accelerator& accelerator);
  ~PjrtDevice() override;

  // The client of the device, made by the first call (Accelerator::GetClient). NotFound if the plugin has fewer
  // devices.
  StatusOr<Client*> client();
  // The number of this device in its client.
  int index() const { return id(); }
  // The device has been given work that ends with `done`. After Stop, this waits for it.
  void Follow(Event done, FollowedWork work = {});

  // 0 while the plugin is not loaded, and if it does not know.
  int64_t memory_limit() const override;
  Allocator& allocator() override;
  ElementMemory* element_memory() override;
  bool has_stream() const override { return true; }
  // Errors, besides those of the plugin: Internal if a tensor is in the memory of another device.
  void Copy(const Tensor& from, Tensor to, Done done) override;
  // Shares the array of `from`. If that has no value, `to` has none, and if it is lost, `to` is lost.
  void CopyInStream(const Tensor& from, Tensor to) override;
  // Passes errors of work that belongs to no step.
  void WhenIdle(Done done) override;
  void WhenStepIsDone(const CancellationManager* step, Done done) override;
  void Stop() override;

 private:
  class DeviceAllocator;
  Status ShareValue(const Tensor& from, const Tensor& to);
  void CopyToDevice(const Tensor& from, const Tensor& to, Done done);
  void CopyToHost(const Tensor& from, Tensor to, Done done);

  Accelerator& accelerator_;
  const std::unique_ptr<DeviceAllocator> allocator_;
  const std::shared_ptr<InFlight> in_flight_;  // shared with the callbacks of events
  const std::unique_ptr<DeviceElements> elements_;
  std::atomic<bool> stopped_{false};
};

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_DEVICE_H_
