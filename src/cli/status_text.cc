#include "cli/status_text.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <vector>

#include "cluster/protobuf/report.pb.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

__attribute__((format(printf, 1, 2))) std::string Formatted(const char* format, ...) {
  char text[64];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return text;
}

std::string SizeText(double bytes) {
  const char* unit = "B";
  for (const char* next : {"kB", "MB", "GB", "TB"}) {
    if (bytes < 1000) break;
    bytes /= 1000;
    unit = next;
  }
  return Formatted(bytes < 10 && unit[0] != 'B' ? "%.1f %s" : "%.0f %s", bytes, unit);
}

std::string RateText(double rate) { return Formatted(rate < 100 ? "%.1f" : "%.0f", rate); }

std::string AgeText(double seconds) {
  if (seconds < 120) return Formatted(seconds < 10 ? "%.1f s" : "%.0f s", seconds);
  return seconds < 7200 ? Formatted("%.0f min", seconds / 60) : Formatted("%.1f h", seconds / 3600);
}

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
    return rate < 0 ? "" : Formatted("%.0f %%", 100 * rate);
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

using Row = std::vector<std::string>;

std::string TableText(const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    // The last cell of a short row may be long: it is the problem of a task.
    const size_t cells = row.size() < rows[0].size() ? row.size() - 1 : row.size();
    for (size_t i = 0; i < cells; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - std::min(widths[i], row[i].size()) + 2, ' ');
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    text += line + "\n";
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

// A line about the cluster, which begins with `begin` and ends with `end`; the table of its tasks; and the steps that
// have run for long.
std::string OneClusterText(const proto::ClusterReport& before, const proto::ClusterReport& report,
                           const std::string& begin, const std::string& end) {
  const Rates rates(before);
  const auto bytes_per_second = [](double rate) { return rate < 0 ? std::string() : SizeText(rate) + "/s"; };
  std::vector<Row> rows = {{"task", "address", "state", "steps", "steps/s", "busy", "CPU", "memory", "variables",
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
  text += StrCat(up, " of ", report.tasks_size(), " tasks answer", end, "\n\n", TableText(rows));
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
