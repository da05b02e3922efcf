// The plugin and the client behind the devices of one type.
#ifndef TENSORBRAID_PJRT_ACCELERATOR_H_
#define TENSORBRAID_PJRT_ACCELERATOR_H_

#include <functional>
#include <string>

#include "core/threads/mutex.h"
#include "pjrt/client.h"
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
  // Makes the client if there is none yet: blocks while the plugin is loaded and looks for its devices. Errors name the
  // type and say what to do; the next call tries again.
  StatusOr<Client*> GetClient() TB_EXCLUDES(mu_);
  // Null if there is none yet.
  Client* client_if_made() TB_EXCLUDES(mu_);

 private:
  const std::string device_type_;
  const std::function<StatusOr<std::string>()> find_;
  Mutex mu_;
  int expected_ TB_GUARDED_BY(mu_) = 1;
  Client* client_ TB_GUARDED_BY(mu_) = nullptr;
};

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_ACCELERATOR_H_
