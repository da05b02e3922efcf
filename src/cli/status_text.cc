#include "cli/status_text.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "cluster/protobuf/report.pb.h"
#include "core/text/strings.h"
#include "core/text/text_table.h"

namespace tensorbraid {
namespace {

// The rates of one interval. The text of an unknown rate is empty, for example after a restart of the task.
class Rates {
 public:
  explicit Rates(const proto::ClusterReport& before) : before_(before) {}

  // The growth of a count per second of the task's own clock; -1 if it is unknown.
  double PerSecond(const proto::TaskReport& task, const std::function<double(const proto::TaskReport&)>& count) const {
    for (const proto::TaskReport& before : before_.tasks()) {
      const double seconds = task.up_seconds() - before.up_seconds();
      if (before.task() != task.task() || before.state() != "up" || seconds <= 0) continue;
      const double grown = count(task) - count(before);
      return grown < 0 ? -1 : grown / seconds;
    }
    return -1;
  }
  std::string Share(const proto::TaskReport& task, double (proto::TaskReport::*count)() const) const {
    const double rate = PerSecond(task, [count](const proto::TaskReport& t) { return (t.*count)(); });
    return rate < 0 ? "" : PercentText(rate);
  }

 private:
  const proto::ClusterReport& before_;
};

// Tensor bytes that `task` has received, from `from` or, if that is "", from all.
double ReceivedBytes(const proto::TaskReport& task, const std::string& from) {
  double bytes = 0;
  for (const auto& traffic : task.received()) {
    if (from.empty() || traffic.from() == from) bytes += traffic.tensor_bytes();
  }
  return bytes;
}

// The text of the column "gradient age", which the help of `tensorbraid status` explains.
std::string StalenessText(const proto::TaskReport& task) {
  const proto::StalenessReport& s = task.staleness();
  std::string text;
  if (s.accepted() > 0) {
    text = StrCat(RateText(s.age_sum() / s.accepted()), " (at most ", Formatted("%.0f", s.age_max()), ")");
    if (s.dropped() > 0) text += Formatted(", %.0f dropped", s.dropped());
  } else if (s.parts() > 0 && task.variables() > 0) {
    text = "~" + RateText(s.overtaken_sum() / s.parts());
  }
  return text;
}

std::string BlockedText(const proto::BlockedStepReport& step) {
  std::string text =
      StrCat("  ", step.master(), " step ", Formatted("%.0f", step.number()), " has run for ", AgeText(step.seconds()),
             "; unfinished on ", StrJoin({step.unfinished_tasks().begin(), step.unfinished_tasks().end()}, ", "), "\n");
  if (!step.cause().empty()) text += StrCat("    cause: ", step.cause(), "\n");
  for (const auto& wait : step.waits()) {
    text += StrCat("    ", wait.task(), " has waited ", AgeText(wait.seconds()), " for ", wait.text(), "\n");
  }
  return text;
}

// What the accelerators of the cluster have and do; "" if there are none.
std::string AcceleratorsText(const proto::ClusterReport& report) {
  std::vector<TextRow> rows = {
      {"task", "accelerator", "tensors", "in use", "limit", "programs", "compiled in", "runs on the host"}};
  std::string compiling;
  const auto size = [](double bytes) { return bytes > 0 ? SizeText(bytes) : std::string(); };
  for (const proto::TaskReport& task : report.tasks()) {
    for (const auto& accelerator : task.accelerators()) {
      const bool is_first = &accelerator == &task.accelerators(0);  // the programs are those of all
      rows.push_back(
          {task.task(), accelerator.device(), SizeText(accelerator.tensor_bytes()), size(accelerator.memory_bytes()),
           size(accelerator.memory_limit()), is_first ? Formatted("%.0f", task.programs()) : "",
           is_first ? AgeText(task.compile_seconds()) : "", is_first ? Formatted("%.0f", task.host_runs()) : ""});
    }
    for (const auto& compile : task.compiling()) {
      compiling +=
          StrCat("  ", task.task(), " has compiled ", compile.program(), " for ", AgeText(compile.seconds()), "\n");
    }
  }
  if (rows.size() == 1 && compiling.empty()) return "";
  return StrCat("\n", rows.size() > 1 ? TableText(rows) : "",
                compiling.empty() ? "" : "programs that are being compiled:\n", compiling);
}

// The growing tables of the cluster, a line for each table or part of one; "" if there are none.
std::string TablesText(const proto::ClusterReport& report) {
  std::vector<TextRow> lines = {{"task", "table", "rows", "memory", "grown in a minute", "rows made", "rows evicted",
                                 "lookups with a row", "keys that wait"}};
  for (const proto::TaskReport& task : report.tasks()) {
    for (const auto& table : task.tables()) {
      lines.push_back({task.task(), table.table(), Formatted("%.0f", table.rows()), SizeText(table.bytes()),
                       Formatted("%.0f", table.growth_per_minute()), Formatted("%.0f", table.admissions()),
                       table.evictions() > 0 ? Formatted("%.0f", table.evictions()) : "",
                       table.lookups() > 0 ? PercentText(table.hits() / table.lookups()) : "",
                       table.waiting() > 0 ? Formatted("%.0f", table.waiting()) : ""});
    }
  }
  return lines.size() == 1 ? "" : StrCat("\n", TableText(lines));
}

// A line about the cluster, which begins with `begin` and ends with `end`; the table of its tasks; and the steps that
// have run for long.
std::string OneClusterText(const proto::ClusterReport& before, const proto::ClusterReport& report,
                           const std::string& begin, const std::string& end) {
  const Rates rates(before);
  const auto bytes_per_second = [](double rate) { return rate < 0 ? std::string() : SizeText(rate) + "/s"; };
  std::vector<TextRow> rows = {{"task", "address", "state", "steps", "steps/s", "busy", "CPU", "memory", "variables",
                                "received", "sent", "gradient age", "up"}};
  int up = 0;
  for (const proto::TaskReport& task : report.tasks()) {
    if (task.state() != "up") {
      rows.push_back({task.task(), task.address(), task.state(), task.problem()});
      continue;
    }
    ++up;
    double sent = -1;
    for (const proto::TaskReport& other : report.tasks()) {
      if (other.task() == task.task() || other.state() != "up") continue;
      const double rate =
          rates.PerSecond(other, [&](const proto::TaskReport& t) { return ReceivedBytes(t, task.task()); });
      if (rate >= 0) sent = std::max(sent, 0.0) + rate;
    }
    const bool steps = task.steps() > 0;
    rows.push_back(
        {task.task(), task.address(), task.straggler() ? "up, straggler" : "up",
         steps ? Formatted("%.0f", task.steps()) : "", steps ? RateText(task.steps_per_second()) : "",
         rates.Share(task, &proto::TaskReport::busy_seconds), rates.Share(task, &proto::TaskReport::cpu_seconds),
         SizeText(task.memory_bytes()),
         task.variables() > 0 ? StrCat(Formatted("%.0f", task.variables()), " (", SizeText(task.variable_bytes()), ")")
                              : "",
         bytes_per_second(rates.PerSecond(task, [](const proto::TaskReport& t) { return ReceivedBytes(t, ""); })),
         bytes_per_second(sent), StalenessText(task), AgeText(task.up_seconds())});
  }
  std::string text = begin;
  if (report.has_global_step()) text += Formatted("global step %.0f, ", report.global_step());
  text += StrCat(up, " of ", report.tasks_size(), " tasks answer", end, "\n\n", TableText(rows), TablesText(report),
                 AcceleratorsText(report));
  if (report.blocked_size() == 0) return text;
  text += "\nsteps that have run for more than a second:\n";
  for (const auto& step : report.blocked()) text += BlockedText(step);
  return text;
}

// The report of the cluster with this number in `report`; an empty one if it does not exist.
const proto::ClusterReport& SessionClusterIn(const proto::ClusterReport& report, const std::string& number) {
  for (const auto& cluster : report.session_clusters()) {
    if (cluster.cluster() == number) return cluster;
  }
  return proto::ClusterReport::default_instance();
}

std::string AddressOfMaster(const proto::ClusterReport& cluster) {
  for (const auto& task : cluster.tasks()) {
    if (task.task() == cluster.master()) return task.address();
  }
  return "";
}

}  // namespace

bool EveryTaskAnswers(const proto::ClusterReport& report) {
  const bool in_session = !report.cluster().empty();
  for (const proto::TaskReport& task : report.tasks()) {
    if (in_session && task.state() == "not connected") continue;
    if (task.state() != "up" && task.state() != "left") return false;
  }
  return std::all_of(report.session_clusters().begin(), report.session_clusters().end(), EveryTaskAnswers);
}

std::string StatusText(const proto::ClusterReport& before, const proto::ClusterReport& report) {
  std::string text = OneClusterText(before, report, "", ", asked by " + report.asked());
  for (const auto& cluster : report.session_clusters()) {
    const std::string begin = StrCat("\ncluster ", cluster.cluster(), " of a session, whose master is ",
                                     cluster.master(), " (", AddressOfMaster(cluster), "): ");
    text += OneClusterText(SessionClusterIn(before, cluster.cluster()), cluster, begin, "");
  }
  return text;
}

}  // namespace tensorbraid
