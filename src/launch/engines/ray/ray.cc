#include "launch/engines/ray/ray.h"

#include <csignal>
#include <filesystem>

#include "core/text/strings.h"

namespace tensorbraid {

Status AddGpus(int gpus_per_worker, RayOptions* options) {
  if (gpus_per_worker == 0) return OkStatus();
  for (const std::string& resource : StrSplit(options->resources, ',')) {
    if (resource.starts_with("GPU=")) {
      return InvalidArgument("--resources=", options->resources,
                             " and --gpus_per_worker both say how many GPUs a task ", "needs: give one of them");
    }
  }
  if (options->resources.empty()) options->resources = "CPU=1";
  if (options->ps_resources.empty()) options->ps_resources = options->resources;
  options->resources += StrCat(",GPU=", gpus_per_worker);
  return OkStatus();
}

StatusOr<SharedChannel> RayChannel(const RayOptions& options) {
  const int tasks = options.ps + options.workers + options.evaluator;
  if (options.python.empty()) return InvalidArgument("--python is empty; it names a Python that has the package ray");
  SharedChannel channel{.engine = "Ray",
                        .command = {options.python, "-m", "tensorbraid.ray", StrCat("--ps=", options.ps),
                                    StrCat("--workers=", options.workers), "--placement=" + options.placement,
                                    StrCat("--wait_s=", options.wait_s), "--program=" + options.agent_program},
                        .speaker = "Ray",
                        .agents = tasks,
                        .request = StrCat("room for ", tasks, tasks == 1 ? " task" : " tasks"),
                        .slots = {1},
                        .alive = std::chrono::seconds(10)};  // Ray, which knows more, notices a loss first
  const auto add = [&channel](const char* flag, const std::string& value) {
    if (!value.empty()) channel.command.push_back(StrCat(flag, "=", value));
  };
  if (options.chief) channel.command.push_back("--chief");
  if (options.evaluator) channel.command.push_back("--evaluator");
  add("--address", options.address);
  add("--resources", options.resources);
  add("--ps_resources", options.ps_resources);
  if (options.sync.size() > 1) return InvalidArgument("Ray brings one directory to its nodes: give one --sync");
  if (!options.sync.empty()) {
    std::error_code error;
    if (!std::filesystem::is_directory(options.sync[0], error)) {
      return InvalidArgument("--sync=", options.sync[0], ": there is no such directory");
    }
    add("--sync", std::filesystem::absolute(options.sync[0], error));
  }
  channel.error_hints = {
      {"No module named",
       "it needs the packages ray (pip install ray) and tensorbraid; --python names a Python that has them"},
  };
  return channel;
}

}  // namespace tensorbraid
