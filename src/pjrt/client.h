// The client of a plugin: its devices, and what they hold and run.
#ifndef TENSORBRAID_PJRT_CLIENT_H_
#define TENSORBRAID_PJRT_CLIENT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/memory/shared_memory.h"
#include "core/threads/mutex.h"
#include "pjrt/array.h"
#include "pjrt/c_api.h"
#include "pjrt/event.h"
#include "pjrt/plugin.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid::pjrt {

class Program;
struct CompileOptions;

// Options of the plugin, such as {"cpu_device_count", 2}. A wrong type is an
// error of Create, an unknown name only with some plugins.
using ClientOption = std::variant<std::string, int64_t, float, bool, std::vector<int64_t>>;
using ClientOptions = std::map<std::string, ClientOption>;

struct DeviceMemory {
  int64_t bytes_in_use = 0;
  int64_t peak_bytes_in_use = -1;  // -1: the plugin does not say, as below
  int64_t bytes_limit = -1;
};

// Owns the accelerators of a process, through its plugin. After a fork, the child cannot use it: calls return
// FailedPrecondition there. A client exists until the process ends, since the threads of a plugin do so, too.
// Thread-safe. Errors name the plugin.
class Client {
 public:
  // Blocks until the plugin has found its devices: 10 ms for a plugin that computes on the CPU, seconds for a GPU.
  // The client has those of the plugin's devices with the indices `devices`, in this order; empty: all of them.
  // NotFound if one does not exist.
  static StatusOr<Client*> Create(const Plugin& plugin, const ClientOptions& options,
                                  const std::vector<int>& devices = {});
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Plugin& plugin() const { return plugin_; }
  const std::string& platform() const { return platform_; }                  // "cpu", "cuda"
  const std::string& platform_version() const { return platform_version_; }  // in the words of the plugin

  // The devices of this process have the indices 0 to num_devices() - 1.
  int num_devices() const { return static_cast<int>(devices_.size()); }
  // The model, such as "NVIDIA H100 80GB HBM3". REQUIRES: the device exists.
  const std::string& device_kind(int device) const { return devices_[device].kind; }
  // "9.0" for a GPU of NVIDIA; "" if the plugin has no such attribute. REQUIRES: the device exists.
  const std::string& compute_capability(int device) const { return devices_[device].compute_capability; }
  // Unimplemented if the plugin does not know. REQUIRES: the device exists.
  StatusOr<DeviceMemory> MemoryOf(int device) const;

  // Copies a tensor, which is in host memory, to a device. The elements must not change until `*copied` has happened.
  // InvalidArgument if the plugin has no such dtype. Does not block for the copy. REQUIRES: the device exists.
  StatusOr<RefPtr<Array>> ToDevice(const Tensor& tensor, int device, Event* copied);

  // Pins a segment of host memory until it ends, so that the device copies to it and from it directly. Pins it once;
  // blocks for that, some milliseconds. Does nothing if the plugin cannot do it: copies are only slower then.
  void Pin(SharedSegment& segment);

  // Compiles StableHLO text. Blocks for as long as that takes: from 10 ms to minutes. The plugin's error, with the name
  // in the options, if the text is wrong. See program.h.
  StatusOr<std::shared_ptr<Program>> Compile(std::string_view text, CompileOptions options);
  // Loads what Program::Serialize has returned. The options must be those of Compile. The plugin's error if the bytes
  // are damaged or of another version of the plugin; it does not notice all damages, so the caller keeps a checksum.
  StatusOr<std::shared_ptr<Program>> LoadProgram(std::string_view serialized, CompileOptions options);

  // FailedPrecondition in a child of the process that has created the client.
  Status CheckUsable() const;
  bool usable() const;
  // As Plugin::Call, but FailedPrecondition in a child process, and errors name the plugin.
  template <typename Args>
  Status Call(c_api::Function<Args> c_api::Api::*function, Args& args) const {
    if (!usable()) [[unlikely]]
      return CheckUsable();
    Status status = plugin_.Call(function, args);
    if (!status.ok()) [[unlikely]]
      return Annotate(status, context_);
    return status;
  }
  c_api::Client* get() const { return client_; }
  // REQUIRES: the device exists.
  c_api::Device* device(int device) const { return devices_[device].device; }

 private:
  friend std::default_delete<Client>;
  struct DeviceEntry {
    c_api::Device* device;
    std::string kind;
    std::string compute_capability;
  };
  Client(const Plugin& plugin, c_api::Client* client);
  ~Client();
  Status Describe(const std::vector<int>& devices);

  const Plugin& plugin_;
  c_api::Client* const client_;
  const int process_;          // the process that has created the client; see fork_count.h
  const std::string context_;  // of errors
  std::string platform_;
  std::string platform_version_;
  std::vector<DeviceEntry> devices_;
  Mutex pin_mu_;
  std::set<uint64_t> pinned_ TB_GUARDED_BY(pin_mu_);  // the segments that Pin has seen and that exist
};

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_CLIENT_H_
