// The options of `tensorbraid launch --on=kubernetes`.
#ifndef TENSORBRAID_CLI_LAUNCH_KUBERNETES_OPTIONS_H_
#define TENSORBRAID_CLI_LAUNCH_KUBERNETES_OPTIONS_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "launch/engines/engine.h"
#include "launch/engines/kubernetes/manifests.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct KubernetesOptions {
  std::string kubectl = "kubectl";  // the program and its first arguments, separated by blanks
  KubernetesJob job;                // as far as there are options for it
  std::vector<std::string> volumes;
};

// `options` outlives the parsing.
void AddKubernetesOptions(CLI::App* launch, KubernetesOptions* options);

// What the other options of `launch` say.
struct KubernetesLaunch {
  int gpus_per_worker = 0;
  std::string program;                      // after whose file the job is named if the user gives no name
  std::string directory;                    // of the tasks; "": that of the image
  bool tls = true;                          // make certificates and a token for the job
  std::chrono::milliseconds stop_grace{0};  // how long the tasks may take to save and leave
};
// Asks kubectl for its current namespace if none is given, and blocks until it answers; the cluster is not asked.
// NotFound if there is no kubectl. InvalidArgument names the wrong option.
StatusOr<std::unique_ptr<Engine>> NewKubernetesEngine(const KubernetesOptions& options, const KubernetesLaunch& launch);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_LAUNCH_KUBERNETES_OPTIONS_H_
