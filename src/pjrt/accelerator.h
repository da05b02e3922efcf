// The plugin and the client behind the devices of one type.
#ifndef TENSORBRAID_PJRT_ACCELERATOR_H_
#define TENSORBRAID_PJRT_ACCELERATOR_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/threads/mutex.h"
#include "pjrt/client.h"
#include "tensorbraid/core/gpu_options.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::pjrt {

// Makes the client when it is first needed, since loading a plugin takes time and memory. Thread-safe.
class Accelerator {
 public:
  // `find` returns the path of the plugin.
  Accelerator(std::string device_type, std::function<StatusOr<std::string>()> find)
      : device_type_(std::move(device_type)), find_(std::move(find)) {}
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;

  // The one of this process for a type of AcceleratorTypes(). REQUIRES: the type is one of them (checked).
  static Accelerator& OfType(const std::string& device_type);

  const std::string& device_type() const { return device_type_; }
  // A plugin that computes on the CPU gets as many devices as are expected when the client is made, at least.
  void Expect(int devices) TB_EXCLUDES(mu_);
  // The options of the first call hold, if it comes before the client is made. Later, options that differ have no
  // effect, and a warning says so; default options ask for nothing. InvalidArgument if the share of memory is out of
  // range, or if the list of devices is none.
  Status Use(const GpuOptions& options) TB_EXCLUDES(mu_);
  // How many devices the options name; 0: they leave all.
  int num_visible() TB_EXCLUDES(mu_);
  // Makes the client if there is none yet: blocks while the plugin is loaded and looks for its devices. Errors name the
  // type and say what to do; the next call tries again.
  StatusOr<Client*> GetClient() TB_EXCLUDES(mu_);
  // The client, if it has device `id`. NotFound otherwise: the plugin has found fewer devices than were expected, for
  // example because another process has taken a card.
  StatusOr<Client*> ClientWith(int id) TB_EXCLUDES(mu_);
  // Null if there is none yet.
  Client* client_if_made() TB_EXCLUDES(mu_);

 private:
  const std::string device_type_;
  const std::function<StatusOr<std::string>()> find_;
  Mutex mu_;
  int expected_ TB_GUARDED_BY(mu_) = 1;
  GpuOptions options_ TB_GUARDED_BY(mu_);
  std::vector<int> visible_ TB_GUARDED_BY(mu_);  // options_.visible_device_list
  Client* client_ TB_GUARDED_BY(mu_) = nullptr;
};

// Accelerator::Use for the GPUs of this process; without GPUs, OK. InvalidArgument also if the list of devices has a
// number that is too large.
Status UseGpuOptions(const GpuOptions& options);

// An accelerator as lists of devices show it.
struct AcceleratorDevice {
  int64_t memory_limit = 0;  // 0: not known
  std::string physical;      // "device: 0, name: NVIDIA H100 80GB HBM3, compute capability: 9.0"; "" if not known
};
// Of a type of this process. Knows nothing before the type's client is made. `start`: makes it, and logs a warning if
// that is not possible. REQUIRES: as OfType.
AcceleratorDevice DescribeAccelerator(const std::string& device_type, int id, bool start);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_ACCELERATOR_H_
