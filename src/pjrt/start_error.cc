#include "pjrt/start_error.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/text/strings.h"

namespace tensorbraid::pjrt {
namespace {

// What plugins for CUDA say, and what to do. The first row whose words occur in the error counts. Names such as
// CUDA_ERROR_OUT_OF_MEMORY come from NVIDIA's driver, the other texts from OpenXLA.
struct Cure {
  std::vector<std::string_view> words;
  std::string_view cure;
};
const std::vector<Cure>& Cures() {
  static const auto* const cures = new std::vector<Cure>{
      {{"driver version is insufficient", "UNSUPPORTED_PTX_VERSION", "unsupported toolchain", "COMPAT_NOT_SUPPORTED"},
       "the driver of NVIDIA is too old for this plugin: install a newer driver, or a plugin for an older CUDA"},
      {{"DRIVER_MISMATCH", "does not match DSO"},
       "the driver's library and kernel module have different versions: restart the machine after an update of the "
       "driver, and start a container with the driver of its machine"},
      {{"DEVICE_UNAVAILABLE", "busy or unavailable"},
       "another process has the GPU for itself: end it, allow several with 'nvidia-smi -c DEFAULT', or choose another "
       "GPU by CUDA_VISIBLE_DEVICES"},
      {{"RESOURCE_EXHAUSTED", "OUT_OF_MEMORY", "ut of memory", "ailed to allocate"},
       "the memory of the GPU is taken: end another process (nvidia-smi shows them), choose another GPU by "
       "CUDA_VISIBLE_DEVICES, or lower per_process_gpu_memory_fraction of all that share it"},
      {{"No visible GPU devices"},
       "the driver of NVIDIA does not start or has no GPU for this process; standard error has its reason: see whether "
       "'nvidia-smi' shows the GPUs to the same user and container, and restart the machine or the driver if not"},
      {{"no supported devices found"},
       "no GPU could be opened; standard error has the driver's reason, mostly that other processes have taken the "
       "memory or a GPU for themselves: end them (nvidia-smi shows them), or choose another GPU by "
       "CUDA_VISIBLE_DEVICES"},
      {{"and no device"},
       "gpu_options.visible_device_list names a device that is not there or could not be opened: correct it, or see "
       "with 'nvidia-smi' which process has taken the GPU"},
  };
  return *cures;
}

std::string_view CureOf(const std::string& said) {
  for (const Cure& cure : Cures()) {
    const bool fits =
        std::ranges::any_of(cure.words, [&](std::string_view words) { return said.find(words) != std::string::npos; });
    if (fits) return cure.cure;
  }
  return "";
}

}  // namespace

Status StartError(const Status& error, std::string_view plugin, const Machine& machine) {
  std::string line(error.message());
  std::ranges::replace(line, '\n', ' ');
  while (line.ends_with(' ') || line.ends_with('.')) line.pop_back();
  std::string cure = OldDriver(machine, plugin);
  if (cure.empty() && !ComputesOnCpu(plugin)) cure = CureOf(ToString(error));
  return {error.code(), cure.empty() ? line : StrCat(line, ": ", cure)};
}

}  // namespace tensorbraid::pjrt
