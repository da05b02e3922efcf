#include "planner/profile.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cluster/protobuf/config.pb.h"
#include "core/text/strings.h"
#include "io/file.h"

namespace tensorbraid::planner {
namespace {

double Middle(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// The length of the union of intervals.
double UnionNs(std::vector<std::pair<double, double>> intervals) {
  std::sort(intervals.begin(), intervals.end());
  double sum = 0, covered = 0;
  for (const auto& [start, end] : intervals) {
    sum += std::max(0.0, end - std::max(start, covered));
    covered = std::max(covered, end);
  }
  return sum;
}

// What the traces of a step say.
class Traces {
 public:
  Status Add(const std::string& path) {
    TF_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
    proto::RunMetadata metadata;
    if (!metadata.ParseFromString(bytes)) return InvalidArgument("'", path, "' is not a RunMetadata message");
    std::map<std::string, double> of_step;
    std::vector<std::pair<double, double>> intervals;
    double sum = 0;
    for (const auto& device : metadata.step_stats().dev_stats()) {
      const bool on_server = device.device().find("/job:ps/") != std::string::npos;
      for (const auto& node : device.node_stats()) {
        AddOutputs(node);
        if (node.node_name() == "RecvTensor" || node.node_name().starts_with("_send_")) continue;
        const auto ns = static_cast<double>(node.op_end_rel_nanos() - node.op_start_rel_nanos());
        of_step[node.node_name()] += ns;
        if (on_server) {
          updates_ = updates_ || node.timeline_label().find("Apply") != std::string::npos;
          continue;
        }
        const auto start = static_cast<double>(node.all_start_nanos());
        intervals.emplace_back(start, start + ns);
        sum += ns;
        on_worker_.insert_or_assign(node.node_name(), true);
      }
    }
    for (const auto& [node, ns] : of_step) times_[node].push_back(ns);
    const double busy = UnionNs(std::move(intervals));
    busy_.push_back(busy);
    overlap_.push_back(sum > 0 ? busy / sum : 1);
    return OkStatus();
  }

  // The time of each node; those of a worker's nodes that ran at the same time are shortened, so that their sum is the
  // time in which the worker computed.
  std::map<std::string, double> NodeNs() const {
    const double overlap = overlap_.empty() ? 1 : Middle(overlap_);
    std::map<std::string, double> result;
    for (const auto& [node, times] : times_) result[node] = Middle(times) * (on_worker_.contains(node) ? overlap : 1);
    return result;
  }
  const std::map<std::string, double>& bytes() const { return bytes_; }
  double busy_ns() const { return busy_.empty() ? 0 : Middle(busy_); }
  bool updates() const { return updates_; }

 private:
  void AddOutputs(const proto::NodeExecStats& node) {
    for (const auto& output : node.output()) {
      bytes_[StrCat(node.node_name(), ":", output.slot())] =
          static_cast<double>(output.tensor_description().allocation_description().requested_bytes());
    }
  }

  std::map<std::string, std::vector<double>> times_;
  std::map<std::string, double> bytes_;
  std::map<std::string, bool> on_worker_;
  std::vector<double> busy_, overlap_;
  bool updates_ = false;
};

struct Signature {
  TrainingGraph graph;
  double interval_ms = 0;
  bool updates = false;
};

StatusOr<Signature> ReadSignature(const std::string& json_path, double cores) {
  TF_ASSIGN_OR_RETURN(const std::string text, ReadFile(json_path));
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return InvalidArgument("'", json_path, "' is not JSON");
  const std::string base = json_path.substr(0, json_path.size() - std::string(".json").size());
  Signature s;
  TF_ASSIGN_OR_RETURN(s.graph.graph_def, ReadFile(base + ".graph.pb"));
  for (const auto& feed : json.value("feeds", nlohmann::json::array())) {
    s.graph.feeds.push_back({feed.value("tensor", ""), Shape(feed.value("shape", std::vector<int64_t>()))});
  }
  s.graph.fetches = json.value("fetches", std::vector<std::string>());
  s.graph.targets = json.value("targets", std::vector<std::string>());
  Traces traces;
  for (int i = 0; i < json.value("traces", 0); ++i) TF_RETURN_IF_ERROR(traces.Add(StrCat(base, ".trace-", i, ".pb")));
  s.interval_ms = json.value("interval_ms", 0.0);
  s.updates = traces.updates();
  MeasuredStep& m = s.graph.measured;
  m.node_ns = traces.NodeNs();
  m.tensor_bytes = traces.bytes();
  m.step_ns = s.interval_ms * 1e6;
  m.sigma = json.value("interval_sigma", 0.0);
  m.cpu_ns = json.value("cpu_ms", 0.0) * 1e6;
  m.between_steps_ns = std::max(0.0, (s.interval_ms - json.value("run_ms", 0.0)) * 1e6);
  // The time of the process beyond one thread, spread over the time in which kernels ran.
  if (traces.busy_ns() > 1e6) {
    m.threads = std::clamp((m.cpu_ns - m.between_steps_ns) / traces.busy_ns(), 1.0, std::max(1.0, cores));
  }
  return s;
}

}  // namespace

bool HasProfile(const std::string& directory) {
  const auto paths = MatchingPaths(JoinPath(directory, "step-*.json"));
  return paths.ok() && !paths->empty();
}

StatusOr<TrainingGraph> ReadProfile(const std::string& directory, double cores) {
  TF_ASSIGN_OR_RETURN(const auto paths, MatchingPaths(JoinPath(directory, "step-*.json")));
  Signature best;
  for (const std::string& path : paths) {
    TF_ASSIGN_OR_RETURN(Signature s, ReadSignature(path, cores));
    if (std::pair(s.updates, s.interval_ms) > std::pair(best.updates, best.interval_ms)) best = std::move(s);
  }
  if (best.graph.graph_def.empty()) return NotFound("'", directory, "' has no profile of a step");
  return std::move(best.graph);
}

}  // namespace tensorbraid::planner
