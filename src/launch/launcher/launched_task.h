// A task as the launcher sees it: its output, and when it is started again.
#ifndef TENSORBRAID_LAUNCH_LAUNCHER_LAUNCHED_TASK_H_
#define TENSORBRAID_LAUNCH_LAUNCHER_LAUNCHED_TASK_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/system/fd.h"
#include "launch/engines/engine.h"
#include "launch/launcher/restart_policy.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Not thread-safe.
class LaunchedTask {
 public:
  using Clock = std::chrono::steady_clock;

  // `number` counts the tasks of the job; it chooses the colour of the task's name.
  LaunchedTask(std::string job, int index, size_t number);

  std::string name() const;  // "worker/0"
  const std::string& job() const { return job_; }
  int index() const { return index_; }

  // Appends the task's output to DIRECTORY/JOB-INDEX.log from now on.
  Status OpenLog(const std::string& directory);
  // Writes a line of the task's output to the log. The error of the first line that cannot be written, for example
  // because the disk is full; the log has no line from then on, and later calls return OK.
  Status Log(std::string_view line);
  // A line of the task's output as users see it: with the task's name before it, unless it begins with '{'.
  std::string Named(std::string_view line, bool in_color) const;

  // The launcher asks the engine to start the task. Writes a line with the time to the log; errors as from Log.
  Status OnStart();
  // The time at which the task is started again, if it waits for a restart.
  std::optional<Clock::time_point> restart_at = {};
  // It is started again as soon as the engine has a place for it.
  bool awaits_place = false;
  // It is not started again. No effect if it does not wait for a restart.
  void GiveUpRestart();
  // Sets `restart_at`, and returns the delay until then. REQUIRES: the policy allows a restart.
  std::chrono::milliseconds ScheduleRestart(const RestartPolicy& policy);
  int restarts() const { return restarts_; }
  // How long ago it was started, for the first time or again.
  Clock::duration age() const { return Clock::now() - started_; }

  // Of the runs that have ended: see TaskRuns.
  std::vector<std::string> reports = {};
  TaskEnd latest_end = {};  // ok() if none has ended yet
  std::string node = "";    // where the latest one ran (TaskEnd::node); "" if its TaskPlace says it

  bool has_started = false;  // at least once
  bool is_running = false;
  bool has_output = false;
  bool is_unfinished() const { return is_running || restart_at.has_value() || awaits_place; }

 private:
  const std::string job_;
  const int index_;
  const std::string color_;
  Fd log_;
  std::string log_path_;
  Clock::time_point started_;
  int restarts_ = 0;
  std::chrono::milliseconds delay_{0};  // before the latest restart
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_LAUNCHER_LAUNCHED_TASK_H_
