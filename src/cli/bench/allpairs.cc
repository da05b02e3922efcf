// Measures the network between the tasks of a cluster. For each pair of tasks, one task reads and sums a tensor that
// the other task holds. At the end, all pairs do so at the same time.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "cli/bench/bench.h"
#include "cli/bench/cluster.h"
#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kWarmUpSums = 2;

int SumsFor(const BenchOptions& options) {
  if (options.steps > 0) return options.steps;
  if (options.smoke) return 3;
  const double mb = static_cast<double>(options.variable_bytes()) / 1e6;
  return mb < 0.1 ? 1000 : mb < 50 ? 100 : 20;
}

// The tasks of a running cluster, such as "/job:ps/replica:0/task:0".
StatusOr<std::vector<std::string>> TasksOf(const SessionOptions& cluster) {
  Graph empty;
  TF_ASSIGN_OR_RETURN(const auto session, Session::Create(empty, cluster));
  std::set<std::string> tasks;
  for (const std::string& device : session->ListDevices()) {
    TF_ASSIGN_OR_RETURN(const DeviceName name, DeviceName::Parse(device));
    tasks.insert(name.TaskString());
  }
  return std::vector<std::string>(tasks.begin(), tasks.end());
}

class AllPairs {
 public:
  AllPairs(std::vector<std::string> tasks, int64_t elements) : tasks_(std::move(tasks)), elements_(elements) {
    for (const std::string& task : tasks_) {
      auto device = graph_.Device(task);
      held_.emplace_back(graph_, Shape{elements_}, Ones(), VariableOptions{.name = "held"});
    }
    for (size_t from = 0; from < tasks_.size(); ++from) {
      for (size_t to = 0; to < tasks_.size(); ++to) {
        if (from == to) continue;
        auto device = graph_.Device(tasks_[to]);
        pairs_.push_back({tasks_[from], tasks_[to], ReduceSum(held_[from].value())});
      }
    }
  }

  StatusOr<BenchResults> Measure(SessionOptions cluster, int steps, const std::string& protocol) {
    // The variables belong to the session and are deleted with it, so the cluster keeps nothing.
    cluster.isolate_session_state = true;
    TF_ASSIGN_OR_RETURN(session_, Session::Create(graph_, cluster));
    for (const Variable& held : held_) TF_RETURN_IF_ERROR(session_->Run({held.initializer()}).status());
    const double mb = static_cast<double>(elements_) * 4 / 1e6;
    BenchResults results;
    std::vector<Fetch> all;
    const auto add = [&](const std::string& from, const std::string& to, const std::vector<Fetch>& sums) -> Status {
      TF_ASSIGN_OR_RETURN(const std::vector<double> ms, Run(sums, steps));
      const double moved = mb * static_cast<double>(sums.size());
      results.push_back(ordered_json{{"bench", "allpairs"},
                                     {"from", from},
                                     {"to", to},
                                     {"mb", moved},
                                     {"protocol", protocol},
                                     {"median_ms", MedianOf(ms)},
                                     {"min_ms", Minimum(ms)},
                                     {"gb_s", moved / MedianOf(ms)}});
      return OkStatus();
    };
    for (const Pair& pair : pairs_) {
      TF_RETURN_IF_ERROR(add(ShortTaskName(pair.from), ShortTaskName(pair.to), {pair.sum}));
      all.emplace_back(pair.sum);
    }
    TF_RETURN_IF_ERROR(add("all", "all", all));
    return results;
  }

 private:
  struct Pair {
    std::string from, to;
    Output sum;
  };

  // The times of steps that compute the sums, in ms.
  StatusOr<std::vector<double>> Run(const std::vector<Fetch>& sums, int steps) {
    TF_ASSIGN_OR_RETURN(const Session::Prepared run, session_->Prepare(sums));
    std::vector<double> ms;
    for (int i = -kWarmUpSums; i < steps; ++i) {
      const auto start = Clock::now();
      TF_ASSIGN_OR_RETURN(const auto values, run.Run());
      const double time = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
      if (i >= 0) ms.push_back(time);
      for (const Tensor& sum : values) {
        const auto want = static_cast<double>(elements_);
        if (std::abs(sum.scalar<float>() - want) > want * 1e-4) {
          return Internal("the sum of ", elements_, " ones is ", sum.scalar<float>());
        }
      }
    }
    return ms;
  }

  const std::vector<std::string> tasks_;
  const int64_t elements_;
  Graph graph_;
  std::vector<Variable> held_;
  std::vector<Pair> pairs_;
  std::unique_ptr<Session> session_;
};

}  // namespace

StatusOr<BenchResults> BenchAllPairs(const BenchOptions& options) {
  const int64_t elements = std::max<int64_t>(options.variable_bytes() / 4, 1);
  if (!options.target.empty()) {
    const SessionOptions running = {
        .target = options.target, .tls = options.tls, .token_file = options.token_file, .insecure = options.insecure};
    TF_ASSIGN_OR_RETURN(const auto tasks, TasksOf(running));
    if (tasks.size() < 2) return InvalidArgument("the cluster at ", options.target, " has ", tasks.size(), " task");
    return AllPairs(tasks, elements).Measure(running, SumsFor(options), "of the running cluster");
  }
  const int count = std::max(options.ps, 2);
  TF_ASSIGN_OR_RETURN(const auto cluster,
                      BenchCluster::Start(count, 0, {{"bench", "allpairs"}, {"protocol", options.protocol}}));
  std::vector<std::string> tasks;
  for (int i = 0; i < count; ++i) tasks.push_back(FullTaskName("ps", i));
  return AllPairs(tasks, elements)
      .Measure({.target = StrCat("grpc://", cluster->ps_hosts()[0])}, SumsFor(options), options.protocol);
}

}  // namespace tensorbraid
