// What the tasks of a job did, for the table at the end of `tensorbraid launch`.
#ifndef TENSORBRAID_LAUNCH_LAUNCHER_JOB_REPORT_H_
#define TENSORBRAID_LAUNCH_LAUNCHER_JOB_REPORT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/launcher/job_names.h"

namespace tensorbraid {

// A task as the launcher saw it.
struct TaskRuns {
  std::string name;     // "worker/0"
  std::string machine;  // as the user calls it; "" for this one
  std::string end;      // how the last run ended, such as "exited with 3"; "" if it was well
  // Of each run that has ended: TaskEnd::report.
  std::vector<std::string> reports;
  int restarts = 0;
};

// All runs of a task together. Counts of a run that left no report are missing.
struct TaskSummary {
  std::string name;
  std::string machine;
  std::string end;
  int restarts = 0;
  bool has_report = false;  // the following are 0 without one
  double up_s = 0;
  double cpu_s = 0;
  double cores = 0;  // of its machine
  double sent_bytes = 0;
  double received_bytes = 0;
  double working_s = 0;  // in which at least one thread worked on steps
  // Of the steps of the task's own clients. A parameter server usually has none.
  double steps = 0;
  double stepping_s = 0;  // from the first step to the last
  double step_s = 0;      // how much of it was within steps; 0 if that is not known, for steps within one task

  bool is_worker() const { return Trains(std::string_view(name).substr(0, name.find('/'))); }
  double steps_per_s() const { return stepping_s > 0 ? steps / stepping_s : 0; }
  // Shares of the time. For a task with steps, they are of the time from the first step to the last, and their sum
  // is 1.
  struct Shares {
    double working = 0;
    double waiting = 0;  // within steps: for tensors of other tasks, for queues
    double outside = 0;  // between steps: in the program itself
  };
  std::optional<Shares> shares() const;
};

// From the report of a parameter server at its end: how long ago a worker connected with it for the last time.
// std::nullopt if the text does not say so.
std::optional<double> SecondsSinceAWorkerJoined(const std::string& report);

struct JobReport {
  std::vector<TaskSummary> tasks;
  double seconds = 0;  // that the job took

  // Whether a task has made a step, so that there is something to show.
  bool any() const;
};

JobReport SummarizeJob(const std::vector<TaskRuns>& tasks, double seconds);
// The sentence that says what would make the job faster, if the numbers show it; otherwise "".
std::string AdviceFor(const JobReport& report);
// The table, and the advice below it.
std::string ToText(const JobReport& report);
// The same as an object of JSON. `failure` and `exit_code` are the launcher's.
std::string ToJson(const JobReport& report, const std::string& failure, int exit_code);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_LAUNCHER_JOB_REPORT_H_
