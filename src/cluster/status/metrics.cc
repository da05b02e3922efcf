#include "cluster/status/metrics.h"

#include <google/protobuf/util/json_util.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "cluster/protobuf/report.pb.h"

namespace tensorbraid {
namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;

// Builds the families of one type of metric after the other. Prometheus wants the samples of a family together.
class Families {
 public:
  void Begin(const char* name, const char* help, prometheus::MetricType type) {
    families_.push_back({.name = name, .help = help, .type = type, .metric = {}});
  }
  // Adds a sample to the family that was begun last.
  void Add(Labels labels, double value) {
    prometheus::ClientMetric& metric = families_.back().metric.emplace_back();
    metric.label = std::move(labels);
    if (families_.back().type == prometheus::MetricType::Counter) {
      metric.counter.value = value;
    } else {
      metric.gauge.value = value;
    }
  }
  std::string Text() {
    std::erase_if(families_, [](const auto& family) { return family.metric.empty(); });
    return prometheus::TextSerializer().Serialize(families_);
  }

 private:
  std::vector<prometheus::MetricFamily> families_;
};

struct TaskMetric {
  const char* name;
  const char* help;
  prometheus::MetricType type;
  std::function<double(const proto::TaskReport&)> value;
};

const std::vector<TaskMetric>& TaskMetrics() {
  using enum prometheus::MetricType;
  using Task = proto::TaskReport;
  static const auto& metrics = *new std::vector<TaskMetric>{
      {"tensorbraid_task_uptime_seconds", "Time since the task's process created its server.", Gauge,
       [](const Task& t) { return t.up_seconds(); }},
      {"tensorbraid_steps_total", "Steps of the task's clients that have ended.", Counter,
       [](const Task& t) { return t.steps(); }},
      {"tensorbraid_steps_per_second", "Rate of these steps over the last ten seconds.", Gauge,
       [](const Task& t) { return t.steps_per_second(); }},
      {"tensorbraid_straggler", "1 if the worker makes less than half as many steps as the other workers.", Gauge,
       [](const Task& t) { return t.straggler() ? 1 : 0; }},
      {"tensorbraid_memory_bytes", "Resident memory of the process.", Gauge,
       [](const Task& t) { return t.memory_bytes(); }},
      {"tensorbraid_memory_peak_bytes", "Highest resident memory of the process so far.", Gauge,
       [](const Task& t) { return t.peak_memory_bytes(); }},
      {"tensorbraid_cpu_seconds_total", "Processor time of the process.", Counter,
       [](const Task& t) { return t.cpu_seconds(); }},
      {"tensorbraid_busy_seconds_total", "Time that threads worked on steps which span several tasks.", Counter,
       [](const Task& t) { return t.busy_seconds(); }},
      {"tensorbraid_variables", "Variables on the task.", Gauge, [](const Task& t) { return t.variables(); }},
      {"tensorbraid_variable_bytes", "Size of these variables.", Gauge,
       [](const Task& t) { return t.variable_bytes(); }},
      {"tensorbraid_parts_total", "Parts of other tasks' steps that have ended here.", Counter,
       [](const Task& t) { return t.staleness().parts(); }},
      {"tensorbraid_parts_overtaken_total", "How many other parts ended while these parts ran, summed up.", Counter,
       [](const Task& t) { return t.staleness().overtaken_sum(); }},
      {"tensorbraid_gradient_age_updates_total", "Ages of the accepted gradients, summed up (with a StalenessPolicy).",
       Counter, [](const Task& t) { return t.staleness().age_sum(); }},
      {"tensorbraid_gradient_age_max_updates", "Highest age of an accepted gradient (with a StalenessPolicy).", Gauge,
       [](const Task& t) { return t.staleness().age_max(); }},
  };
  return metrics;
}

Labels OfTask(const std::string& task) { return {{"task", task}}; }

}  // namespace

std::string MetricsText(const proto::ClusterReport& report) {
  using enum prometheus::MetricType;
  const auto is_up = [](const proto::TaskReport& task) { return task.state() == "up"; };
  Families families;
  families.Begin("tensorbraid_task_up", "1 if the task has answered.", Gauge);
  for (const auto& task : report.tasks()) families.Add(OfTask(task.task()), is_up(task) ? 1 : 0);
  families.Begin("tensorbraid_global_step", "The value of the variable global_step.", Gauge);
  if (report.has_global_step()) families.Add({}, report.global_step());
  for (const TaskMetric& metric : TaskMetrics()) {
    families.Begin(metric.name, metric.help, metric.type);
    for (const auto& task : report.tasks()) {
      if (is_up(task)) families.Add(OfTask(task.task()), metric.value(task));
    }
  }
  families.Begin("tensorbraid_gradients_total", "Gradients of asynchronous replicas (with a StalenessPolicy).",
                 Counter);
  for (const auto& task : report.tasks()) {
    if (!is_up(task)) continue;
    families.Add({{"task", task.task()}, {"outcome", "accepted"}}, task.staleness().accepted());
    families.Add({{"task", task.task()}, {"outcome", "dropped"}}, task.staleness().dropped());
  }
  const auto add_traffic = [&](double (proto::TrafficReport::*value)() const) {
    for (const auto& task : report.tasks()) {
      for (const auto& traffic : task.received()) {
        families.Add({{"task", task.task()}, {"from", traffic.from()}}, (traffic.*value)());
      }
    }
  };
  families.Begin("tensorbraid_received_bytes_total", "Bytes of tensors that the task has received.", Counter);
  add_traffic(&proto::TrafficReport::tensor_bytes);
  families.Begin("tensorbraid_received_messages_total", "Messages that the task has received.", Counter);
  add_traffic(&proto::TrafficReport::messages);
  std::map<std::string, std::pair<double, double>> blocked;  // by master: number, longest time
  for (const auto& task : report.tasks()) {
    if (is_up(task)) blocked[task.task()] = {0, 0};
  }
  for (const auto& step : report.blocked()) {
    auto& [number, longest] = blocked[step.master()];
    ++number;
    longest = std::max(longest, step.seconds());
  }
  families.Begin("tensorbraid_blocked_steps", "Steps of the task's clients that have run for more than a second.",
                 Gauge);
  for (const auto& [task, steps] : blocked) families.Add(OfTask(task), steps.first);
  families.Begin("tensorbraid_blocked_seconds", "How long the longest of these steps has run.", Gauge);
  for (const auto& [task, steps] : blocked) families.Add(OfTask(task), steps.second);
  return families.Text();
}

std::string ReportJson(const proto::ClusterReport& report) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  // Fails only for strings that are not UTF-8: names of nodes that a client has chosen.
  if (!google::protobuf::util::MessageToJsonString(report, &json, options).ok()) return "{}";
  return json;
}

}  // namespace tensorbraid
