// Finds the plugins that are installed, and counts the devices that they would have, without loading one.
#ifndef TENSORBRAID_PJRT_FIND_PLUGINS_H_
#define TENSORBRAID_PJRT_FIND_PLUGINS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid::pjrt {

// The environment variable that names plugins: a path, or several with the types of their devices,
// "GPU=/path/a.so,XLA_CPU=/path/b.so". A path without a type has devices of type XLA_CPU if its name contains "cpu",
// and GPU otherwise. A number after the type, "GPU:4=/path/cpu.so", says how many devices there are, for a plugin whose
// devices cannot be counted.
inline constexpr const char* kPluginVariable = "TENSORBRAID_ACCELERATOR_PLUGIN";
// Sets the variable, for the flag --accelerator_plugin, also for the programs that this process starts. REQUIRES: the
// process has no other threads yet.
void NamePlugins(const std::string& plugins);

// The types of devices that plugins have: "GPU", and "XLA_CPU" for plugins that compute on the CPU.
inline constexpr const char* kAcceleratorTypes[] = {"GPU", "XLA_CPU"};
bool IsAcceleratorType(std::string_view device_type);

// What this machine has. Tests replace it.
struct Machine {
  std::function<std::string(const char* name)> variable;  // of the environment; "" if it is not set
  // Where wheels of Python are installed, in the order of the search.
  std::vector<std::string> package_folders;
  std::string driver_folder = "/proc/driver/nvidia";
};
// This machine. The packages are those of the Python package that this library is a part of, of the virtual environment
// in use ($VIRTUAL_ENV), and of the system.
Machine ThisMachine();

struct FoundPlugin {
  std::string device_type;
  std::string path;       // of the plugin; "" if none was found
  std::string source;     // "the environment variable TENSORBRAID_ACCELERATOR_PLUGIN", "the packages in /usr/lib/..."
  bool is_named = false;  // the environment variable names it
  int devices = 0;        // that it would have
  bool is_open = false;   // it has as many as are wanted: it computes on the CPU, and nothing says how many it has
  std::string problem;    // if there are no devices: why, and what to do; one line
};

// The plugin for devices of this type. Reads the names of files; does not load anything.
FoundPlugin FindPlugin(const Machine& machine, std::string_view device_type);

// The numbers or names of the GPUs of NVIDIA that this process can use, as CUDA_VISIBLE_DEVICES has them. Without a
// driver, they are those of the variable. FailedPrecondition says why there are none, and what to do; one line.
StatusOr<std::vector<std::string>> VisibleGpus(const Machine& machine);

// "the driver of NVIDIA has version 535.129.03, but CUDA 13 needs 580 or later: install a newer one", if the plugin's
// path says for which CUDA it is. "" for a driver that is new enough, without a driver, and for other plugins.
std::string OldDriver(const Machine& machine, std::string_view plugin);

// Why a process that has `existing` devices of this type has no /device:TYPE:ID, and what to do; one line.
std::string WhyNoDevice(const Machine& machine, std::string_view device_type, int id, int existing);

// Whether the plugin's name says that it computes on the CPU.
bool ComputesOnCpu(std::string_view path);
// Whether the plugin's path says that it is for CUDA. A plugin for the CPU may be in an environment of that name.
bool IsForCuda(std::string_view path);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_FIND_PLUGINS_H_
