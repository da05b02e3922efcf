// Whether and when a task that fails is started again.
#ifndef TENSORBRAID_LAUNCH_LAUNCHER_RESTART_POLICY_H_
#define TENSORBRAID_LAUNCH_LAUNCHER_RESTART_POLICY_H_

#include <chrono>
#include <string>

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

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_LAUNCHER_RESTART_POLICY_H_
