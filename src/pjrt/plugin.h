// A plugin: the shared library that compiles and runs programs on one kind of accelerator.
#ifndef TENSORBRAID_PJRT_PLUGIN_H_
#define TENSORBRAID_PJRT_PLUGIN_H_

#include <cstddef>
#include <exception>
#include <map>
#include <string>
#include <utility>

#include "pjrt/c_api.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::pjrt {

// A loaded plugin. It stays loaded until the process ends, because plugins start threads that never end. Loading one
// takes some 0.1 s and 80 MB; it asks no accelerator for anything. Plugins log to standard error; the environment
// variable TF_CPP_MIN_LOG_LEVEL, which they read when they are loaded, makes them quiet. Thread-safe.
class Plugin {
 public:
  // Loads the file, unless this process has done so before. Errors name the path: NotFound if there is no file,
  // InvalidArgument if it is no plugin or cannot be loaded (with the reason of the system), FailedPrecondition if its
  // version does not fit, and the plugin's own error if it does not start. After an error the call may be repeated.
  static StatusOr<const Plugin*> Load(const std::string& path);

  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  const std::string& path() const { return path_; }  // as it was given to the first call of Load
  int major_version() const { return api_.version.major; }
  int minor_version() const { return api_.version.minor; }
  // What the plugin says about itself: "xla_version", "stablehlo_current_version", ...
  const std::map<std::string, std::string>& attributes() const { return attributes_; }
  const c_api::Api& api() const { return api_; }

  // Calls a function of the table: plugin.Call(&c_api::Api::Event_Await, args). Returns the plugin's error, whose code
  // is the same as in Status. Unimplemented if the plugin does not have the function, Internal if it throws an
  // exception. Blocks for as long as the function.
  template <typename Args>
  Status Call(c_api::Function<Args> c_api::Api::*function, Args& args) const {
    const size_t end = reinterpret_cast<const char*>(&(api_.*function) + 1) - reinterpret_cast<const char*>(&api_);
    if (end > api_.struct_size || api_.*function == nullptr) [[unlikely]]
      return Missing(end);
    try {
      c_api::Error* const error = (api_.*function)(&args);
      if (error == nullptr) [[likely]]
        return OkStatus();
      return TakeError(error);
    } catch (const std::exception& e) {
      return Threw(e);
    }
  }
  // Makes a Status of an error (OK for null) and destroys the error.
  Status TakeError(c_api::Error* error) const;

 private:
  Plugin(std::string path, const c_api::Api& api) : path_(std::move(path)), api_(api) {}
  Status Start();
  Status Missing(size_t end) const;
  static Status Threw(const std::exception& e);

  const std::string path_;
  const c_api::Api& api_;
  std::map<std::string, std::string> attributes_;
};

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_PLUGIN_H_
