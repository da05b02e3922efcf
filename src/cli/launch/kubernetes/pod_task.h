// A task of a job on Kubernetes, and what is known of its pod.
#ifndef TENSORBRAID_CLI_LAUNCH_KUBERNETES_POD_TASK_H_
#define TENSORBRAID_CLI_LAUNCH_KUBERNETES_POD_TASK_H_

#include <memory>
#include <optional>
#include <string>

#include "cli/launch/engine.h"
#include "cli/launch/kubernetes/kubectl.h"
#include "cli/launch/kubernetes/pod_log.h"
#include "core/system/clock.h"

namespace tensorbraid {

// Not thread-safe.
struct PodTask {
  std::string name;  // "worker/0"
  std::string pod;   // the name of its pod
  // kIdle -> kQueued (to be created) -> kCreating -> kStarting (the pod is there) -> kRunning -> kIdle
  enum class Phase { kIdle, kQueued, kCreating, kStarting, kRunning };
  Phase phase = Phase::kIdle;
  std::string manifest = "";
  bool had_pod = false;
  bool must_vanish = false;  // the pod of an earlier run, before this one is created
  // What is known of this run.
  int first_poll = 0;  // the first one that knows its pod
  int signal = 0;      // the last one that was sent
  std::string disruption = "";
  std::optional<MonotonicClock::time_point> deleted_since = {};
  std::optional<MonotonicClock::time_point> give_up_at = {};
  std::optional<TaskEnd> end = {};  // seen, and reported when the rest of the log has been read
  bool needs_rest = false;
  MonotonicClock::time_point report_at = {};
  bool has_output = false;
  bool log_follows = false;
  PodLog log_lines = {};
  std::unique_ptr<KubectlCall> log = nullptr;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_LAUNCH_KUBERNETES_POD_TASK_H_
