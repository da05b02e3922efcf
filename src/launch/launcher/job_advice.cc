// The advice at the end of a job. A rule speaks only if the numbers of the job show what it says.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "core/text/strings.h"
#include "core/text/text_table.h"
#include "launch/launcher/job_report.h"

namespace tensorbraid {
namespace {

// Fewer steps or a shorter time say little: the first steps make connections and variables.
constexpr double kEnoughSteps = 50;
constexpr double kEnoughSeconds = 3;
// The other limits are meant to be clear of noise.
constexpr double kSlower = 1.4;           // a worker needs so much longer than the others
constexpr double kMachineInUse = 0.9;     // share of a machine's cores
constexpr double kMostly = 0.5;           // share of the time that workers lose
constexpr double kServerAtWork = 0.7;     // share of the time
constexpr double kManyBytes = 100 * 1e3;  // per step of a worker, so that latency does not decide

using Tasks = std::vector<const TaskSummary*>;

double MedianOf(const Tasks& tasks, const std::function<double(const TaskSummary&)>& value) {
  std::vector<double> values;
  for (const TaskSummary* task : tasks) values.push_back(value(*task));
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

double WorkPerStep(const TaskSummary& task) { return task.working_s / task.steps; }

// A worker that is slower than the others. The first one may be: it also saves checkpoints, and often evaluates.
std::string StragglerAdvice(const Tasks& workers) {
  if (workers.size() < 2) return "";
  const TaskSummary& slow = **std::max_element(
      workers.begin(), workers.end(), [](const auto* a, const auto* b) { return WorkPerStep(*a) < WorkPerStep(*b); });
  const bool has_chief = std::ranges::any_of(workers, [](const auto* worker) { return worker->name == "chief/0"; });
  if (slow.name == (has_chief ? "chief/0" : "worker/0")) return "";
  Tasks others;
  for (const TaskSummary* task : workers) {
    if (task != &slow) others.push_back(task);
  }
  const double work = MedianOf(others, WorkPerStep);
  const double rate = MedianOf(others, &TaskSummary::steps_per_s);
  const double waiting = MedianOf(others, [](const TaskSummary& task) { return task.shares()->waiting; });
  if (work <= 0 || WorkPerStep(slow) < kSlower * work) return "";
  const std::string longer = Formatted("%.0f %%", 100 * (WorkPerStep(slow) / work - 1));
  if (rate < kSlower * slow.steps_per_s() && waiting > 0.2) {
    return StrCat(slow.name, " computes ", longer, " longer for a step than the other workers, and these wait ",
                  PercentText(waiting), " of their time: in synchronous training a spare worker hides it ",
                  "(replicas_to_aggregate below the number of workers)");
  }
  if (rate < kSlower * slow.steps_per_s()) return "";
  return StrCat(slow.name, " makes ", Formatted("%.0f %%", 100 * (1 - slow.steps_per_s() / rate)),
                " fewer steps in a second than the other workers, because it computes ", longer,
                " longer for each: see what else runs on its machine");
}

// A machine whose cores are all in use by the job.
std::string MachineAdvice(const JobReport& job) {
  std::map<std::string, Tasks> by_machine;
  for (const TaskSummary& task : job.tasks) {
    if (task.has_report && task.restarts == 0) by_machine[task.machine].push_back(&task);
  }
  for (const auto& [machine, tasks] : by_machine) {
    double used = 0;
    for (const TaskSummary* task : tasks) used += task->up_s > 0 ? task->cpu_s / task->up_s : 0;
    const double cores = tasks[0]->cores;
    if (tasks.size() < 2 || cores <= 0 || used < kMachineInUse * cores) continue;
    return StrCat("the ", tasks.size(), " tasks on ", machine.empty() ? "this machine" : machine, " use ",
                  PercentText(std::min(1.0, used / cores)), " of its ", Formatted("%.0f", cores),
                  cores > 1 ? " cores" : " core", ": more workers need more machines");
  }
  return "";
}

// Parameter servers that cannot give the workers more, because of their cores or of their links.
std::string ServerAdvice(const JobReport& job, const Tasks& workers, double waiting) {
  std::set<std::string> machines;
  const TaskSummary* busiest = nullptr;
  int servers = 0;
  double seconds = 0, steps = 0;
  for (const TaskSummary* worker : workers) {
    seconds = std::max(seconds, worker->stepping_s);
    steps += worker->steps;
  }
  for (const TaskSummary& task : job.tasks) {
    machines.insert(task.machine);
    if (!task.name.starts_with("ps/")) continue;
    ++servers;
    if (task.has_report &&
        (busiest == nullptr || task.sent_bytes + task.received_bytes > busiest->sent_bytes + busiest->received_bytes)) {
      busiest = &task;
    }
  }
  if (busiest == nullptr) return "";
  const double working = std::min(1.0, busiest->working_s / seconds);
  const std::string waits = StrCat("the workers wait ", PercentText(waiting), " of their time, and ", busiest->name);
  if (working >= kServerAtWork) {
    return StrCat(waits, " works ", PercentText(working), " of it: try --ps=", servers + 1);
  }
  const double bytes = busiest->sent_bytes + busiest->received_bytes;
  if (machines.size() < 2 || bytes < kManyBytes * steps || working >= kMostly) return "";
  return StrCat(waits, " works ", PercentText(working), " of it, but moves ", SizeText(bytes / seconds),
                "/s: its link is probably full; try --ps=", servers + 1,
                " on more machines, or the program's --wire=ps:bfloat16");
}

}  // namespace

std::string AdviceFor(const JobReport& job) {
  Tasks workers;
  for (const TaskSummary& task : job.tasks) {
    if (task.is_worker() && task.steps >= kEnoughSteps && task.stepping_s >= kEnoughSeconds && task.shares()) {
      workers.push_back(&task);
    }
  }
  if (workers.empty()) return "";
  if (std::string advice = StragglerAdvice(workers); !advice.empty()) return advice;
  if (std::string advice = MachineAdvice(job); !advice.empty()) return advice;
  const double outside = MedianOf(workers, [](const TaskSummary& task) { return task.shares()->outside; });
  if (outside >= kMostly) {
    return StrCat("the workers spend ", PercentText(outside), " of their time between steps, in the program itself: ",
                  "prepare the input ahead, by a queue or a dataset");
  }
  const double waiting = MedianOf(workers, [](const TaskSummary& task) { return task.shares()->waiting; });
  return waiting >= kMostly ? ServerAdvice(job, workers, waiting) : "";
}

}  // namespace tensorbraid
