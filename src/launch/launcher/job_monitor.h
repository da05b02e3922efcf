// What takes the output of a job, and gives it orders, in place of a terminal.
#ifndef TENSORBRAID_LAUNCH_LAUNCHER_JOB_MONITOR_H_
#define TENSORBRAID_LAUNCH_LAUNCHER_JOB_MONITOR_H_

#include <poll.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/engines/engine.h"

namespace tensorbraid {

// No function blocks. Not thread-safe.
class JobMonitor {
 public:
  virtual ~JobMonitor() = default;

  // A line of a task, as the task wrote it. `task` is a name such as "worker/0".
  virtual void OnTaskLine(const std::string& task, std::string_view line) = 0;
  // A line of the job as a terminal would show it: with the task's name before it and a newline at its end.
  virtual void OnOutput(OutputStream stream, std::string_view line) = 0;
  // Every task has been started once. Called at most once.
  virtual void OnAllStarted() = 0;

  // Appends what to wait for before Handle is called again.
  virtual void AddEvents(std::vector<pollfd>* events) = 0;
  // Handles the requests that have arrived. Calls `stop` for each request to end the job; it acts as SIGTERM does.
  virtual void Handle(const std::function<void()>& stop) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_LAUNCHER_JOB_MONITOR_H_
