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

// Builds one family of metrics after the other, because Prometheus requires the samples of a family to be together.
class Families {
 public:
  void Begin(std::string name, std::string help, prometheus::MetricType type) {
    families_.push_back({.name = std::move(name), .help = std::move(help), .type = type, .metric = {}});
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
      {"task_uptime_seconds", "Time since the task's process created its server.", Gauge,
       [](const Task& t) { return t.up_seconds(); }},
      {"steps_total", "Steps of the task's clients that have ended.", Counter, [](const Task& t) { return t.steps(); }},
      {"steps_per_second", "Rate of these steps over the last ten seconds.", Gauge,
       [](const Task& t) { return t.steps_per_second(); }},
      {"straggler", "1 if the worker makes less than half as many steps as the other workers.", Gauge,
       [](const Task& t) { return t.straggler() ? 1 : 0; }},
      {"memory_bytes", "Resident memory of the process.", Gauge, [](const Task& t) { return t.memory_bytes(); }},
      {"memory_peak_bytes", "Highest resident memory of the process so far.", Gauge,
       [](const Task& t) { return t.peak_memory_bytes(); }},
      {"cpu_seconds_total", "Processor time of the process.", Counter, [](const Task& t) { return t.cpu_seconds(); }},
      {"polling_seconds_total", "The part of the processor time in which threads polled for messages; estimated.",
       Counter, [](const Task& t) { return t.polling_seconds(); }},
      {"busy_seconds_total", "Time that threads worked on steps which span several tasks.", Counter,
       [](const Task& t) { return t.busy_seconds(); }},
      {"variables", "Variables on the task.", Gauge, [](const Task& t) { return t.variables(); }},
      {"variable_bytes", "Size of these variables.", Gauge, [](const Task& t) { return t.variable_bytes(); }},
      {"programs_total", "Programs for accelerators that the task has compiled.", Counter,
       [](const Task& t) { return t.programs(); }},
      {"compile_seconds_total", "Time that compiling them took, of all together.", Counter,
       [](const Task& t) { return t.compile_seconds(); }},
      {"host_runs_total", "Runs by the host in place of a program of an accelerator.", Counter,
       [](const Task& t) { return t.host_runs(); }},
      {"compiling", "Programs that are being compiled; steps may wait for them.", Gauge,
       [](const Task& t) { return t.compiling_size(); }},
      {"parts_total", "Parts of other tasks' steps that have ended here.", Counter,
       [](const Task& t) { return t.staleness().parts(); }},
      {"parts_overtaken_total", "How many other parts ended while these parts ran, summed up.", Counter,
       [](const Task& t) { return t.staleness().overtaken_sum(); }},
      {"gradient_age_updates_total", "Ages of the accepted gradients, summed up (with a StalenessPolicy).", Counter,
       [](const Task& t) { return t.staleness().age_sum(); }},
      {"gradient_age_max_updates", "Highest age of an accepted gradient (with a StalenessPolicy).", Gauge,
       [](const Task& t) { return t.staleness().age_max(); }},
  };
  return metrics;
}

// Writes the metrics of clusters, each name with a prefix and each sample with the labels of its cluster.
class ClusterMetrics {
 public:
  struct Cluster {
    const proto::ClusterReport& report;
    Labels labels;
  };
  // The help text of each metric begins with `help_prefix`.
  ClusterMetrics(std::string prefix, std::string help_prefix, std::vector<Cluster> clusters, Families* families)
      : prefix_(std::move(prefix)),
        help_prefix_(std::move(help_prefix)),
        clusters_(std::move(clusters)),
        families_(families) {}

  void Write() {
    WriteState();
    for (const TaskMetric& metric : TaskMetrics()) {
      Begin(metric.name, metric.help, metric.type);
      ForEachTask([&](const Cluster& cluster, const proto::TaskReport& task) {
        if (IsUp(task)) Add(cluster, {{"task", task.task()}}, metric.value(task));
      });
    }
    Begin("gradients_total", "Gradients of asynchronous replicas (with a StalenessPolicy).", kCounter);
    ForEachTask([&](const Cluster& cluster, const proto::TaskReport& task) {
      if (!IsUp(task)) return;
      Add(cluster, {{"task", task.task()}, {"outcome", "accepted"}}, task.staleness().accepted());
      Add(cluster, {{"task", task.task()}, {"outcome", "dropped"}}, task.staleness().dropped());
    });
    AddMemory("accelerator_tensor_bytes", "Size of the tensors on an accelerator.",
              &proto::AcceleratorReport::tensor_bytes);
    AddMemory("accelerator_memory_bytes", "Memory of an accelerator that its plugin uses; 0: it does not say.",
              &proto::AcceleratorReport::memory_bytes);
    AddMemory("accelerator_memory_limit_bytes", "Memory that the plugin may use there; 0: it does not say.",
              &proto::AcceleratorReport::memory_limit);
    WriteTables();
    Begin("received_bytes_total", "Bytes of tensors that the task has received.", kCounter);
    AddTraffic(&proto::TrafficReport::tensor_bytes);
    Begin("received_messages_total", "Messages that the task has received.", kCounter);
    AddTraffic(&proto::TrafficReport::messages);
    WriteBlocked();
  }

 private:
  static constexpr auto kCounter = prometheus::MetricType::Counter;
  static constexpr auto kGauge = prometheus::MetricType::Gauge;

  static bool IsUp(const proto::TaskReport& task) { return task.state() == "up"; }
  void Begin(const std::string& name, const std::string& help, prometheus::MetricType type) {
    families_->Begin(prefix_ + name, help_prefix_ + help, type);
  }
  void Add(const Cluster& cluster, Labels labels, double value) {
    labels.insert(labels.begin(), cluster.labels.begin(), cluster.labels.end());
    families_->Add(std::move(labels), value);
  }
  template <typename F>
  void ForEachTask(const F& f) {
    for (const Cluster& cluster : clusters_) {
      for (const auto& task : cluster.report.tasks()) f(cluster, task);
    }
  }

  void WriteState() {
    Begin("task_up", "1 if the task has answered.", kGauge);
    ForEachTask([&](const Cluster& cluster, const proto::TaskReport& task) {
      Labels labels = {{"task", task.task()}};
      // The name of a task in a session's cluster does not say which process the task is.
      if (!cluster.report.cluster().empty()) labels.push_back({"address", task.address()});
      Add(cluster, std::move(labels), IsUp(task) ? 1 : 0);
    });
    Begin("global_step", "The value of the variable global_step.", kGauge);
    for (const Cluster& cluster : clusters_) {
      if (cluster.report.has_global_step()) Add(cluster, {}, cluster.report.global_step());
    }
  }

  void AddTraffic(double (proto::TrafficReport::*value)() const) {
    ForEachTask([&](const Cluster& cluster, const proto::TaskReport& task) {
      for (const auto& traffic : task.received()) {
        Add(cluster, {{"task", task.task()}, {"from", traffic.from()}}, (traffic.*value)());
      }
    });
  }

  // Adds a family with a sample for each accelerator.
  void AddMemory(const std::string& name, const std::string& help, double (proto::AcceleratorReport::*value)() const) {
    Begin(name, help, kGauge);
    ForEachTask([&](const Cluster& cluster, const proto::TaskReport& task) {
      if (!IsUp(task)) return;
      for (const auto& accelerator : task.accelerators()) {
        Add(cluster, {{"task", task.task()}, {"device", accelerator.device()}}, (accelerator.*value)());
      }
    });
  }

  // A family for each number of growing tables, with a sample for each table or part.
  void WriteTables() {
    using Table = proto::TableReport;
    const auto add = [this](const char* name, const char* help, prometheus::MetricType type,
                            double (Table::*value)() const) {
      Begin(name, help, type);
      ForEachTask([&](const Cluster& cluster, const proto::TaskReport& task) {
        if (!IsUp(task)) return;
        for (const Table& table : task.tables()) {
          Add(cluster, {{"task", task.task()}, {"table", table.table()}}, (table.*value)());
        }
      });
    };
    add("table_rows", "Rows of a growing table.", kGauge, &Table::rows);
    add("table_bytes", "Memory of its rows, indices and lists.", kGauge, &Table::bytes);
    add("table_growth_per_minute", "By how many rows it has grown in the last minute.", kGauge,
        &Table::growth_per_minute);
    add("table_admissions_total", "Rows that updates have made.", kCounter, &Table::admissions);
    add("table_evictions_total", "Rows that were evicted.", kCounter, &Table::evictions);
    add("table_lookups_total", "Keys that were looked up.", kCounter, &Table::lookups);
    add("table_hits_total", "Keys that were looked up and had a row.", kCounter, &Table::hits);
    add("table_waiting_keys", "Keys that have not occurred often enough for a row.", kGauge, &Table::waiting);
  }

  void WriteBlocked() {
    using Steps = std::pair<double, double>;  // number, longest time
    std::vector<std::map<std::string, Steps>> blocked;
    for (const Cluster& cluster : clusters_) {
      auto& by_master = blocked.emplace_back();
      for (const auto& task : cluster.report.tasks()) {
        if (IsUp(task)) by_master[task.task()] = {0, 0};
      }
      for (const auto& step : cluster.report.blocked()) {
        auto& [number, longest] = by_master[step.master()];
        ++number;
        longest = std::max(longest, step.seconds());
      }
    }
    const auto add_all = [&](double Steps::*value) {
      for (size_t i = 0; i < clusters_.size(); ++i) {
        for (const auto& [task, steps] : blocked[i]) Add(clusters_[i], {{"task", task}}, steps.*value);
      }
    };
    Begin("blocked_steps", "Steps of the task's clients that have run for more than a second.", kGauge);
    add_all(&Steps::first);
    Begin("blocked_seconds", "How long the longest of these steps has run.", kGauge);
    add_all(&Steps::second);
  }

  const std::string prefix_;
  const std::string help_prefix_;
  const std::vector<Cluster> clusters_;
  Families* const families_;
};

}  // namespace

std::string MetricsText(const proto::ClusterReport& report) {
  using Cluster = ClusterMetrics::Cluster;
  Families families;
  ClusterMetrics("tensorbraid_", "", {Cluster{report, {}}}, &families).Write();
  // The metrics of session clusters have other names, because a sum over all tasks would otherwise count some values
  // twice.
  std::vector<Cluster> clusters;
  for (const auto& cluster : report.session_clusters()) clusters.push_back({cluster, {{"cluster", cluster.cluster()}}});
  ClusterMetrics("tensorbraid_session_", "In clusters that sessions brought: ", std::move(clusters), &families).Write();
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
