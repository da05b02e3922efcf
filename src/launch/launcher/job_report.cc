#include "launch/launcher/job_report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "cluster/protobuf/report.pb.h"
#include "cluster/status/report_text.h"
#include "core/text/json.h"
#include "core/text/strings.h"
#include "core/text/text_table.h"

namespace tensorbraid {

std::optional<TaskSummary::Shares> TaskSummary::shares() const {
  if (!has_report) return std::nullopt;
  if (steps == 0) {
    if (up_s <= 0 || working_s <= 0) return std::nullopt;
    const double working = std::min(1.0, working_s / up_s);
    return Shares{.working = working, .waiting = 1 - working, .outside = 0};
  }
  if (step_s <= 0 || stepping_s <= 0) return std::nullopt;
  const double within = std::min(1.0, step_s / stepping_s);
  const double working = std::min(within, working_s / stepping_s);
  return Shares{.working = working, .waiting = within - working, .outside = 1 - within};
}

bool JobReport::any() const {
  return std::any_of(tasks.begin(), tasks.end(), [](const TaskSummary& task) { return task.steps > 0; });
}

namespace {

// A number of a report. Any program can write the file, so it may be anything.
double Amount(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

}  // namespace

JobReport SummarizeJob(const std::vector<TaskRuns>& tasks, double seconds) {
  JobReport job{.tasks = {}, .seconds = seconds};
  std::map<std::string, double> sent;
  for (const TaskRuns& runs : tasks) {
    TaskSummary& task = job.tasks.emplace_back();
    task.name = runs.name;
    task.machine = runs.machine;
    task.end = runs.end;
    task.restarts = runs.restarts;
    for (const std::string& text : runs.reports) {
      const auto read = ReportFromText(text);
      if (!read.ok() || read->state() != "up") continue;
      const proto::TaskReport& report = *read;
      task.has_report = true;
      task.up_s += Amount(report.up_seconds());
      task.cpu_s += Amount(report.cpu_seconds());
      task.cores = Amount(report.cores());
      task.working_s += Amount(report.working_seconds());
      task.steps += Amount(report.steps());
      task.stepping_s += Amount(report.stepping_seconds());
      task.step_s += Amount(report.step_seconds());
      for (const auto& traffic : report.received()) {
        task.received_bytes += Amount(traffic.tensor_bytes());
        sent[traffic.from()] += Amount(traffic.tensor_bytes());  // a task does not count what it sends
      }
    }
  }
  for (TaskSummary& task : job.tasks) task.sent_bytes = sent[task.name];
  return job;
}

std::optional<double> SecondsSinceAWorkerJoined(const std::string& report) {
  const auto read = ReportFromText(report);
  if (!read.ok() || !read->has_joined_seconds()) return std::nullopt;
  return Amount(read->joined_seconds());
}

std::string ToText(const JobReport& report) {
  const auto any = [&report](std::string TaskSummary::*text) {
    return std::any_of(report.tasks.begin(), report.tasks.end(), [&](const auto& task) { return task.*text != ""; });
  };
  const bool machines = any(&TaskSummary::machine);
  const bool ends = any(&TaskSummary::end);
  TextRow head = {"task",    "machine", "steps",    "steps/s",  "computing", "waiting",
                  "outside", "sent",    "received", "restarts", "end"};
  std::vector<TextRow> rows = {head};
  for (const TaskSummary& task : report.tasks) {
    const auto shares = task.shares();
    const auto number = [&task](double value, const std::string& text) {
      return task.has_report && value > 0 ? text : std::string();
    };
    const bool has_steps = task.steps > 0;
    rows.push_back({task.name, task.machine, number(task.steps, Formatted("%.0f", task.steps)),
                    number(task.steps, RateText(task.steps_per_s())),
                    shares.has_value() ? PercentText(shares->working) : "",
                    shares.has_value() && has_steps ? PercentText(shares->waiting) : "",
                    shares.has_value() && has_steps ? PercentText(shares->outside) : "",
                    task.has_report ? SizeText(task.sent_bytes) : "",
                    task.has_report ? SizeText(task.received_bytes) : "", StrCat(task.restarts), task.end});
  }
  for (TextRow& row : rows) {
    if (!ends) row.pop_back();
    if (!machines) row.erase(row.begin() + 1);
  }
  std::string text = TableText(rows);
  if (const std::string advice = AdviceFor(report); !advice.empty()) text += "advice: " + advice + "\n";
  return text;
}

std::string ToJson(const JobReport& report, const std::string& failure, int exit_code) {
  using Json = nlohmann::ordered_json;
  Json tasks = Json::array();
  for (const TaskSummary& task : report.tasks) {
    Json json = {{"task", task.name},
                 {"machine", task.machine},
                 {"restarts", task.restarts},
                 {"end", task.end},
                 {"has_report", task.has_report}};
    if (task.has_report) {
      json["up_s"] = task.up_s;
      json["cpu_s"] = task.cpu_s;
      json["steps"] = task.steps;
      json["steps_per_s"] = task.steps_per_s();
      json["sent_bytes"] = task.sent_bytes;
      json["received_bytes"] = task.received_bytes;
      if (const auto shares = task.shares(); shares.has_value()) {
        json["computing_share"] = shares->working;
        json["waiting_share"] = shares->waiting;
        json["outside_share"] = shares->outside;
      }
    }
    tasks.push_back(std::move(json));
  }
  const Json json = {{"seconds", report.seconds},
                     {"exit_code", exit_code},
                     {"failure", failure},
                     {"tasks", std::move(tasks)},
                     {"advice", AdviceFor(report)}};
  return JsonText(json, 2) + "\n";
}

}  // namespace tensorbraid
