#include "pjrt/find_plugins.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "absl/strings/numbers.h"
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
  return device_type == "GPU" ? "install one, for example with \"pip install 'tensorbraid[cuda13]'\""
                              : "install one, for example with 'pip install xla-cpu-pjrt'";
}

// What the environment variable says about a type of devices.
struct NamedPlugin {
  std::string path;  // "": nothing
  int devices = 0;   // 0: it does not say
  std::string problem;
};
NamedPlugin FindNamed(const Machine& machine, std::string_view device_type) {
  for (const std::string& entry : StrSplit(machine.variable(kPluginVariable), ',')) {
    if (entry.empty()) continue;
    const size_t equals = entry.find('=');
    NamedPlugin named{.path = equals == std::string::npos ? entry : entry.substr(equals + 1), .problem = ""};
    std::string type = equals != std::string::npos ? entry.substr(0, equals)
                       : ComputesOnCpu(named.path) ? "XLA_CPU"
                                                   : "GPU";
    if (const size_t colon = type.find(':'); colon != std::string::npos) {
      if (!absl::SimpleAtoi(type.substr(colon + 1), &named.devices) || named.devices < 1 || named.devices > 1024) {
        named.problem = StrCat("'", entry, "' in ", kPluginVariable, ": the number of devices must be 1 to 1024");
      }
      type.resize(colon);
    }
    if (type == device_type) return named;
  }
  return {};
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

// The cards that the driver of NVIDIA shows to this machine; -1 without a driver.
int CountCards(const Machine& machine) {
  if (!FileExists(machine.driver_folder)) return -1;
  const auto cards = MatchingPaths(JoinPath(machine.driver_folder, "gpus/*"));
  return cards.ok() ? static_cast<int>(cards->size()) : 0;
}

std::string NoDriver(const Machine& machine) {
  return StrCat("this machine has no driver of NVIDIA (", machine.driver_folder,
                " does not exist): install it, or give the container access to the GPUs");
}

void CountGpus(const Machine& machine, FoundPlugin* found) {
  if (CountCards(machine) < 0) {
    found->problem = NoDriver(machine);
    return;
  }
  const auto gpus = VisibleGpus(machine);
  if (gpus.ok()) found->devices = static_cast<int>(gpus->size());
  if (!gpus.ok()) found->problem = std::string(gpus.status().message());
}

}  // namespace

bool IsAcceleratorType(std::string_view device_type) {
  return std::find(std::begin(kAcceleratorTypes), std::end(kAcceleratorTypes), device_type) !=
         std::end(kAcceleratorTypes);
}

bool ComputesOnCpu(std::string_view path) {
  return path.substr(path.rfind('/') + 1).find("cpu") != std::string_view::npos;
}

bool IsForCuda(std::string_view path) { return !ComputesOnCpu(path) && path.find("cuda") != std::string_view::npos; }

void NamePlugins(const std::string& plugins) { ::setenv(kPluginVariable, plugins.c_str(), 1); }

StatusOr<std::vector<std::string>> VisibleGpus(const Machine& machine) {
  const int cards = CountCards(machine);
  const std::string visible = machine.variable("CUDA_VISIBLE_DEVICES");
  std::vector<std::string> gpus;
  if (visible.empty()) {
    if (cards < 0) return FailedPrecondition(NoDriver(machine));
    for (int i = 0; i < cards; ++i) gpus.push_back(StrCat(i));
  } else {
    // As the driver reads it: the list ends before the first number that is no card.
    for (const std::string& name : StrSplit(visible, ',')) {
      int number = 0;
      const bool is_absent = cards >= 0 && absl::SimpleAtoi(name, &number) && number >= cards;
      if (name.empty() || name[0] == '-' || is_absent) break;
      gpus.push_back(name);
    }
  }
  if (!gpus.empty()) return gpus;
  if (cards == 0) return FailedPrecondition("the driver of NVIDIA shows no GPU to this machine");
  return FailedPrecondition("CUDA_VISIBLE_DEVICES is '", visible, "', which names none of the ",
                            cards < 0 ? "" : StrCat(cards, " "), "GPUs: unset it, or name one");
}

std::string OldDriver(const Machine& machine, std::string_view plugin) {
  // The first driver for each CUDA.
  static constexpr struct {
    std::string_view wheel;
    int cuda, driver;
  } kNeeded[] = {{"xla_cuda12", 12, 525}, {"xla_cuda13", 13, 580}};
  const auto needed =
      std::ranges::find_if(kNeeded, [&](const auto& n) { return plugin.find(n.wheel) != std::string_view::npos; });
  if (needed == std::end(kNeeded)) return "";
  const auto text = ReadFile(JoinPath(machine.driver_folder, "version"));
  if (!text.ok()) return "";
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023"
  for (const std::string& word : StrSplit(*text, ' ')) {
    int major = 0;
    const size_t dot = word.find('.');
    if (dot == std::string::npos || !absl::SimpleAtoi(word.substr(0, dot), &major)) continue;
    if (major >= needed->driver) return "";
    return StrCat("the driver of NVIDIA has version ", word, ", but CUDA ", needed->cuda, " needs ", needed->driver,
                  " or later: install a newer one");
  }
  return "";
}

std::string WhyNoDevice(const Machine& machine, std::string_view device_type, int id, int existing) {
  constexpr std::string_view kSoft = "; with allow_soft_placement, the CPU computes instead";
  const FoundPlugin found = FindPlugin(machine, device_type);
  if (!found.problem.empty()) return StrCat(found.problem, kSoft);
  if (existing == 0) {
    return StrCat("the plugin '", found.path, "' has devices of type ", device_type,
                  ", but this process has not asked for them: give device_count a number for ", device_type, kSoft);
  }
  return StrCat("this process has ", existing, existing == 1 ? " device" : " devices", " of type ", device_type,
                ", numbered from 0: use a smaller number than ", id,
                found.is_open ? ", or give device_count a larger one" : "", kSoft);
}

Machine ThisMachine() {
  Machine machine;
  machine.variable = [](const char* name) {
    const char* const value = std::getenv(name);
    // An empty list hides all GPUs, as an absent one does not.
    if (value != nullptr && *value == '\0' && name == std::string_view("CUDA_VISIBLE_DEVICES"))
      return std::string("-1");
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
  const NamedPlugin named = FindNamed(machine, device_type);
  FoundPlugin found{
      .device_type = std::string(device_type), .path = named.path, .source = "", .problem = named.problem};
  if (!found.path.empty()) {
    found.is_named = true;
    found.source = StrCat("the environment variable ", kPluginVariable);
    if (!found.problem.empty()) return found;
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
  if (IsForCuda(found.path)) {
    CountGpus(machine, &found);
  } else {
    // There is no way to count them.
    found.devices = std::max(named.devices, 1);
    found.is_open = named.devices == 0 && ComputesOnCpu(found.path);
  }
  return found;
}

}  // namespace tensorbraid::pjrt
