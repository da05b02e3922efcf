#include "cli/bench/steps.h"

#include <chrono>

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr int kWarmUpSteps = 3;

// The CPU time that the tasks have taken so far, in ms.
StatusOr<double> CpuMs(const std::vector<std::unique_ptr<BenchProcess>>& tasks) {
  double sum = 0;
  for (const auto& task : tasks) {
    TF_ASSIGN_OR_RETURN(const json use, task->Call({{"do", "use"}}));
    sum += use["cpu_ms"].get<double>();
  }
  return sum;
}

// All workers run `steps` steps at the same time. Returns the duration of each.
StatusOr<std::vector<double>> RunOnAll(const BenchCluster& cluster, int steps) {
  for (const auto& worker : cluster.workers()) TF_RETURN_IF_ERROR(worker->Send({{"do", "measure"}, {"steps", steps}}));
  std::vector<double> all;
  for (const auto& worker : cluster.workers()) {
    TF_ASSIGN_OR_RETURN(const json measured, worker->Receive());
    for (const double ms : measured["times_ms"]) all.push_back(ms);
  }
  return all;
}

StatusOr<StepTimes> RunRound(const BenchOptions& options, const json& config, int steps) {
  TF_ASSIGN_OR_RETURN(const auto cluster, BenchCluster::Start(options.ps, options.workers, config));
  for (size_t i = 1; i < cluster->workers().size(); ++i) {
    TF_RETURN_IF_ERROR(cluster->workers()[i]->Call({{"do", "start"}}).status());
  }
  TF_RETURN_IF_ERROR(RunOnAll(*cluster, kWarmUpSteps).status());
  TF_ASSIGN_OR_RETURN(const double workers_before, CpuMs(cluster->workers()));
  TF_ASSIGN_OR_RETURN(const double ps_before, CpuMs(cluster->ps()));
  const auto start = Clock::now();
  StepTimes times;
  TF_ASSIGN_OR_RETURN(times.ms, RunOnAll(*cluster, steps));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  TF_ASSIGN_OR_RETURN(const double workers_after, CpuMs(cluster->workers()));
  TF_ASSIGN_OR_RETURN(const double ps_after, CpuMs(cluster->ps()));
  const auto count = static_cast<double>(times.ms.size());
  times.steps_per_s = count / seconds;
  times.worker_cpu_ms = (workers_after - workers_before) / count;
  times.ps_cpu_ms = (ps_after - ps_before) / count;
  const int64_t total = static_cast<int64_t>(options.workers) * (steps + kWarmUpSteps);
  TF_RETURN_IF_ERROR(cluster->workers()[0]->Call({{"do", "verify"}, {"steps", total}}).status());
  return times;
}

}  // namespace

StatusOr<StepTimes> MeasureSteps(const BenchOptions& options, const json& config, int steps, int rounds) {
  StepTimes best;
  for (int i = 0; i < rounds; ++i) {
    TF_ASSIGN_OR_RETURN(StepTimes times, RunRound(options, config, steps));
    if (times.steps_per_s > best.steps_per_s) best = std::move(times);
  }
  return best;
}

void AddTimes(const StepTimes& times, nlohmann::ordered_json* result) {
  (*result)["median_ms"] = MedianOf(times.ms);
  (*result)["min_ms"] = Minimum(times.ms);
  (*result)["p99_ms"] = Percentile(times.ms, 99);
  (*result)["steps_per_s"] = times.steps_per_s;
  (*result)["worker_cpu_ms"] = times.worker_cpu_ms;
  (*result)["ps_cpu_ms"] = times.ps_cpu_ms;
}

Status RunStepWorker(JsonChannel& parent, const json& config, const Server& server) {
  const auto step = config["bench"] == "sparse" ? MakeSparseStep(config) : MakeNullStep(config);
  const bool is_first = config["index"] == 0;
  if (is_first) TF_RETURN_IF_ERROR(step->Start(server.target(), /*is_first=*/true));
  TF_RETURN_IF_ERROR(parent.Send(json::object()));
  while (true) {
    TF_ASSIGN_OR_RETURN(const json message, parent.Receive());
    const auto what = message["do"].get<std::string>();
    json reply = json::object();
    if (what == "stop") return OkStatus();
    if (what == "start") {
      TF_RETURN_IF_ERROR(step->Start(server.target(), /*is_first=*/false));
    } else if (what == "use") {
      TF_ASSIGN_OR_RETURN(reply, UseOfThisProcess());
    } else if (what == "verify") {
      TF_RETURN_IF_ERROR(step->Verify(message["steps"].get<int64_t>()));
    } else {
      std::vector<double> times;
      for (int i = message["steps"].get<int>(); i > 0; --i) {
        const auto start = Clock::now();
        TF_RETURN_IF_ERROR(step->Run());
        times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
      }
      reply["times_ms"] = times;
    }
    TF_RETURN_IF_ERROR(parent.Send(reply));
  }
}

}  // namespace tensorbraid
