#include "pjrt/find_plugins.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "core/text/strings.h"
#include "io/file.h"

namespace tensorbraid::pjrt {
namespace {

// The plugins in wheels, by the type of their devices. The last name of a pattern is the newest.
struct PluginWheel {
  const char* device_type;
  const char* pattern;  // within the folder of packages
};
constexpr PluginWheel kWheels[] = {
    {"GPU", "jax_plugins/xla_cuda*/xla_cuda_plugin.so"},
    {"XLA_CPU", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"},
    {"XLA_CPU", "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so"},
};

std::string InstallHint(std::string_view device_type) {
  return device_type == "GPU" ? "install one, for example with 'pip install jax-cuda13-pjrt'"
                              : "install one, for example with 'pip install xla-cpu-pjrt'";
}

// The plugin that the environment variable names for this type; "" if none.
std::string NamedPlugin(const Machine& machine, std::string_view device_type) {
  for (const std::string& entry : StrSplit(machine.variable(kPluginVariable), ',')) {
    if (entry.empty()) continue;
    const size_t equals = entry.find('=');
    const std::string path = equals == std::string::npos ? entry : entry.substr(equals + 1);
    const std::string type = equals != std::string::npos ? entry.substr(0, equals)
                             : ComputesOnCpu(path)       ? "XLA_CPU"
                                                         : "GPU";
    if (type == device_type) return path;
  }
  return "";
}

// Looks through the wheels. Sets path and source.
void FindInWheels(const Machine& machine, FoundPlugin* found) {
  for (const std::string& folder : machine.package_folders) {
    for (const PluginWheel& wheel : kWheels) {
      if (wheel.device_type != found->device_type) continue;
      const auto paths = MatchingPaths(JoinPath(folder, wheel.pattern));
      if (!paths.ok() || paths->empty()) continue;
      found->path = paths->back();
      found->source = StrCat("the packages in ", folder);
      return;
    }
  }
}

// The cards that the driver of NVIDIA shows to this process; -1 without a driver.
int CountCards(const Machine& machine) {
  if (!FileExists(machine.driver_folder)) return -1;
  const auto cards = MatchingPaths(JoinPath(machine.driver_folder, "gpus/*"));
  return cards.ok() ? static_cast<int>(cards->size()) : 0;
}

void CountGpus(const Machine& machine, FoundPlugin* found) {
  const int cards = CountCards(machine);
  if (cards < 0) {
    found->problem = StrCat("this machine has no driver of NVIDIA (", machine.driver_folder,
                            " does not exist): install it, or give the container access to the GPUs");
    return;
  }
  const std::string visible = machine.variable("CUDA_VISIBLE_DEVICES");
  found->devices = cards;
  if (!visible.empty()) {
    const std::vector<std::string> named = StrSplit(visible, ',');
    // As the driver reads it: the list ends before the first number that is no card.
    const auto end = std::find_if(named.begin(), named.end(), [&](const std::string& name) {
      return name.empty() || name[0] == '-' ||
             (name.find_first_not_of("0123456789") == std::string::npos && std::atoi(name.c_str()) >= cards);
    });
    found->devices = static_cast<int>(end - named.begin());
  }
  if (found->devices > 0) return;
  found->problem = cards == 0 ? "the driver of NVIDIA shows no GPU to this machine"
                              : StrCat("CUDA_VISIBLE_DEVICES is '", visible, "', which names none of the ", cards,
                                       " GPUs: unset it, or name one");
}

}  // namespace

bool IsAcceleratorType(std::string_view device_type) {
  return std::find(std::begin(kAcceleratorTypes), std::end(kAcceleratorTypes), device_type) !=
         std::end(kAcceleratorTypes);
}

bool ComputesOnCpu(std::string_view path) {
  return path.substr(path.rfind('/') + 1).find("cpu") != std::string_view::npos;
}

Machine ThisMachine() {
  Machine machine;
  machine.variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  std::vector<std::string>& folders = machine.package_folders;
  // In a wheel, the library is in site-packages/tensorbraid.
  Dl_info own;
  if (dladdr(reinterpret_cast<void*>(&ThisMachine), &own) != 0 && own.dli_fname != nullptr) {
    const std::string path = own.dli_fname;
    if (const size_t at = path.rfind("/tensorbraid/"); at != std::string::npos) folders.push_back(path.substr(0, at));
  }
  std::vector<std::string> patterns;
  if (const std::string venv = machine.variable("VIRTUAL_ENV"); !venv.empty()) {
    patterns.push_back(JoinPath(venv, "lib/python3*/site-packages"));
  }
  patterns.insert(patterns.end(), {"/usr/local/lib/python3*/dist-packages", "/usr/lib/python3/dist-packages"});
  for (const std::string& pattern : patterns) {
    if (const auto paths = MatchingPaths(pattern); paths.ok())
      folders.insert(folders.end(), paths->begin(), paths->end());
  }
  return machine;
}

FoundPlugin FindPlugin(const Machine& machine, std::string_view device_type) {
  FoundPlugin found{
      .device_type = std::string(device_type), .path = NamedPlugin(machine, device_type), .source = "", .problem = ""};
  if (!found.path.empty()) {
    found.is_named = true;
    found.source = StrCat("the environment variable ", kPluginVariable);
    if (!FileExists(found.path)) {
      found.problem =
          StrCat("there is no file '", found.path, "', which ", found.source, " names: correct the variable");
      return found;
    }
  } else {
    FindInWheels(machine, &found);
  }
  if (found.path.empty()) {
    const int cards = device_type == "GPU" ? CountCards(machine) : -1;
    found.problem =
        StrCat(cards > 0 ? StrCat("this machine has ", cards, cards == 1 ? " GPU, but" : " GPUs, but") : "there is",
               " no PJRT plugin",
               device_type == "GPU" ? (cards > 1    ? " for them"
                                       : cards == 1 ? " for it"
                                                    : "")
                                    : " that computes on the CPU",
               ": ", InstallHint(device_type), ", or name one in ", kPluginVariable);
    return found;
  }
  if (found.path.find("cuda") != std::string::npos) {
    CountGpus(machine, &found);
  } else {
    found.devices = 1;  // there is no way to count them
  }
  return found;
}

}  // namespace tensorbraid::pjrt
