#include "planner/model/profile.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "cluster/protobuf/config.pb.h"
#include "core/text/json.h"
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
  // `local`: the traces are of a session without a cluster, whose only task has the variables.
  explicit Traces(bool local) : local_(local) {}

  Status Add(const std::string& path) {
    TF_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
    proto::RunMetadata metadata;
    if (!metadata.ParseFromString(bytes)) return InvalidArgument("'", path, "' is not a RunMetadata message");
    std::map<std::string, double> of_step;
    std::vector<std::pair<double, double>> intervals;
    double sum = 0;
    for (const auto& device : metadata.step_stats().dev_stats()) {
      if (device.device().find("/stream:") != std::string::npos) continue;  // what an accelerator does for its nodes
      const bool on_server = device.device().find("/job:ps/") != std::string::npos;
      for (const auto& node : device.node_stats()) {
        AddOutputs(node);
        if (node.node_name() == "RecvTensor" || node.node_name().starts_with("_send_")) continue;
        const auto ns = static_cast<double>(node.op_end_rel_nanos() - node.op_start_rel_nanos());
        of_step[node.node_name()] += ns;
        if (on_server || local_) {
          updates_ = updates_ || node.timeline_label().find("Apply") != std::string::npos ||
                     node.timeline_label().find("Scatter") != std::string::npos;
        }
        if (on_server) continue;
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

  const bool local_;
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

// The file step-N.json.
struct Header {
  std::vector<TrainingGraph::Feed> feeds;
  std::vector<std::string> fetches, targets;
  int traces = 0;
  double interval_ms = 0, interval_sigma = 0, run_ms = 0;
  double cpu_ms = 0, server_cpu_ms = 0;  // without polling
  double polling_ms = 0, server_polling_ms = 0;
  std::vector<double> interval_parts_ms;
  bool local = false;
};

StatusOr<Header> ReadHeader(const std::string& path) {
  TF_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  try {
    const auto json = ParseJson(text);
    Header header;
    for (const auto& feed : json.at("feeds")) {
      header.feeds.push_back(
          {feed.at("tensor").get<std::string>(), Shape(feed.at("shape").get<std::vector<int64_t>>())});
    }
    json.at("fetches").get_to(header.fetches);
    json.at("targets").get_to(header.targets);
    json.at("traces").get_to(header.traces);
    json.at("interval_ms").get_to(header.interval_ms);
    json.at("interval_sigma").get_to(header.interval_sigma);
    json.at("run_ms").get_to(header.run_ms);
    // Older releases did not measure polling, the time of the servers, or parts of the intervals.
    header.interval_parts_ms = json.value("interval_parts_ms", std::vector<double>());
    header.local = json.value("local", false);
    header.polling_ms = json.value("polling_ms", 0.0);
    header.server_polling_ms = json.value("server_polling_ms", 0.0);
    header.cpu_ms = std::max(0.0, json.value("cpu_ms", 0.0) - header.polling_ms);
    header.server_cpu_ms = std::max(0.0, json.value("server_cpu_ms", 0.0) - header.server_polling_ms);
    return header;
  } catch (const nlohmann::json::exception& error) {
    return InvalidArgument("'", path, "' is not the profile of a step: ", error.what(), "; measure the program again");
  }
}

StatusOr<Signature> ReadSignature(const std::string& json_path, double cores) {
  TF_ASSIGN_OR_RETURN(Header header, ReadHeader(json_path));
  const std::string base = json_path.substr(0, json_path.size() - std::string(".json").size());
  Signature s;
  TF_ASSIGN_OR_RETURN(s.graph.graph_def, ReadFile(base + ".graph.pb"));
  s.graph.feeds = std::move(header.feeds);
  s.graph.fetches = std::move(header.fetches);
  s.graph.targets = std::move(header.targets);
  Traces traces(header.local);
  for (int i = 0; i < header.traces; ++i) TF_RETURN_IF_ERROR(traces.Add(StrCat(base, ".trace-", i, ".pb")));
  s.interval_ms = header.interval_ms;
  s.updates = traces.updates();
  MeasuredStep& m = s.graph.measured;
  m.node_ns = traces.NodeNs();
  m.tensor_bytes = traces.bytes();
  m.local = header.local;
  m.step_ns = s.interval_ms * 1e6;
  if (!header.interval_parts_ms.empty()) {
    const auto [shortest, longest] =
        std::minmax_element(header.interval_parts_ms.begin(), header.interval_parts_ms.end());
    m.shortest_ns = *shortest * 1e6;
    m.longest_ns = *longest * 1e6;
  }
  m.sigma = header.interval_sigma;
  m.cpu_ns = header.cpu_ms * 1e6;
  m.server_cpu_ns = header.server_cpu_ms * 1e6;
  m.polling_ns = header.polling_ms * 1e6;
  m.server_polling_ns = header.server_polling_ms * 1e6;
  m.between_steps_ns = std::max(0.0, (s.interval_ms - header.run_ms) * 1e6);
  // The time of the process beyond one thread, spread over the time in which kernels ran.
  if (traces.busy_ns() > 1e6) {
    m.threads = std::clamp((m.cpu_ns - m.between_steps_ns) / traces.busy_ns(), 1.0, std::max(1.0, cores));
  }
  return s;
}

}  // namespace

StatusOr<bool> IsLocalProfile(const std::string& directory) {
  TF_ASSIGN_OR_RETURN(const auto paths, MatchingPaths(JoinPath(directory, "step-*.json")));
  for (const std::string& path : paths) {
    TF_ASSIGN_OR_RETURN(const Header header, ReadHeader(path));
    if (!header.local) return false;
  }
  return !paths.empty();
}

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
