// Whether and when a task that fails is started again.
#ifndef TENSORBRAID_LAUNCH_LAUNCHER_RESTART_POLICY_H_
#define TENSORBRAID_LAUNCH_LAUNCHER_RESTART_POLICY_H_

#include <chrono>
#include <optional>
#include <string>

#include "launch/engines/engine.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct RestartPolicy {
  int max_restarts = 0;  // of each task; -1: without limit
  // The wait before a task's first restart. It doubles with each restart, up to max_delay, and is first_delay again
  // after the task has run for at least max_delay.
  std::chrono::milliseconds first_delay{500};
  std::chrono::milliseconds max_delay{30000};
};
// "no", "on-failure" or "on-failure:N", with N restarts of each task at most. InvalidArgument for other text.
StatusOr<RestartPolicy> ParseRestartPolicy(const std::string& text);

// The end of a task that has failed, and what a restart of it depends on.
struct TaskFailure {
  std::string job;                    // "ps", "worker", ... (job_names.h)
  TaskEnd end;                        // not ok()
  int restarts = 0;                   // of the task so far
  bool any_worker_unfinished = true;  // runs, or will be started again
  std::string ended_server = "";  // the first parameter server that has ended with 0, such as "ps/0"; "" if none has
};
// Why a task that has failed is not started again; "" if the user asked for no restarts. std::nullopt if it is started
// again.
std::optional<std::string> ObstacleToRestart(const RestartPolicy& policy, const TaskFailure& failure);

// Why no task of the cluster is started again once this parameter server has ended with 0.
std::string JobIsOver(const std::string& ended_server);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_LAUNCHER_RESTART_POLICY_H_
