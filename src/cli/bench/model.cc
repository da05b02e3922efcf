// Measures training steps of models: in this process, compared with the time that oneDNN alone needs for their
// arithmetic, or on several workers, compared with the same training in one process.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "cli/bench/bench.h"
#include "cli/bench/models.h"
#include "cli/bench/task.h"
#include "cli/bench/training.h"
#include "core/text/strings.h"
#include "core/threads/thread.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using nlohmann::json;

constexpr int kModelWarmUp = 3;

struct LocalTraining {
  std::vector<double> ms;         // of each measured step
  double cpu_ms = 0;              // CPU time of a measured step, all threads together
  double memory_mb = 0;           // peak of the steps, beyond what the process had before it made the variables
  double memory_of_steps_mb = 0;  // the same, beyond what it had before the first step
};

StatusOr<double> Memory(const char* key) {
  TF_ASSIGN_OR_RETURN(const json memory, UseOfThisProcess());
  return memory[key].get<double>();
}

StatusOr<LocalTraining> TrainLocally(BenchModel& m, int threads, int steps) {
  TF_ASSIGN_OR_RETURN(const Operation train, AddTraining(m));
  const Operation init = GlobalVariablesInitializer(m.graph);
  TF_ASSIGN_OR_RETURN(const auto session, Session::Create(m.graph, {.inter_op_parallelism_threads = threads}));
  TF_ASSIGN_OR_RETURN(const double before, Memory("rss_mb"));
  TF_RETURN_IF_ERROR(session->Run({init}).status());
  TF_ASSIGN_OR_RETURN(const auto step, session->Prepare({train, m.loss}, m.inputs));
  TF_ASSIGN_OR_RETURN(const double before_steps, Memory("rss_mb"));
  TF_RETURN_IF_ERROR(ForgetPeakOfMemory());
  LocalTraining training;
  std::vector<double> losses;
  std::clock_t cpu_start = 0;
  for (int i = 0; i < kModelWarmUp + steps; ++i) {
    if (i == kModelWarmUp) cpu_start = std::clock();
    const auto start = std::chrono::steady_clock::now();
    TF_ASSIGN_OR_RETURN(const auto values, step.Run(m.batches[0]));
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (i >= kModelWarmUp) training.ms.push_back(time.count());
    losses.push_back(values[1].scalar<float>());
  }
  training.cpu_ms = 1e3 * static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC / steps;
  if (!std::isfinite(losses.back()) || losses.back() >= losses.front()) {
    return Internal("the loss did not fall: ", losses.front(), " at the start, ", losses.back(), " at the end");
  }
  TF_ASSIGN_OR_RETURN(const double peak, Memory("peak_mb"));
  training.memory_mb = peak - before;
  training.memory_of_steps_mb = peak - before_steps;
  return training;
}

double ExamplesPerSecond(const BenchModel& m, double ms) { return static_cast<double>(m.examples) / ms * 1e3; }

StatusOr<BenchResults> BenchLocally(const BenchOptions& options, int steps) {
  const int threads = options.threads > 0 ? options.threads : NumCores();
  BenchModel m;
  MakeModel(options.name, /*worker=*/0, m);
  TF_ASSIGN_OR_RETURN(const LocalTraining training, TrainLocally(m, threads, steps));
  BenchResults results{{{"bench", options.name},
                        {"threads", threads},
                        {"median_ms", MedianOf(training.ms)},
                        {"min_ms", Minimum(training.ms)},
                        {"cpu_ms", training.cpu_ms},
                        {"examples_per_s", ExamplesPerSecond(m, MedianOf(training.ms))},
                        {"memory_mb", training.memory_mb},
                        {"memory_of_steps_mb", training.memory_of_steps_mb}}};
  if (options.baseline) {
    const double onednn_ms = OneDnnMs(m.arithmetic, threads, options.smoke);
    results[0]["onednn_ms"] = onednn_ms;
    results[0]["fraction_of_onednn"] = onednn_ms / Minimum(training.ms);
  }
  return results;
}

// Compares training by synchronous workers that have one core each with training in one process on one core. Each round
// measures both, and the results are the fastest round of each.
StatusOr<BenchResults> BenchWorkers(const BenchOptions& options, int steps) {
  const int rounds = options.rounds > 0 ? options.rounds : options.smoke ? 1 : 3;
  double median_ms = 0, local_ms = 0;
  for (int round = 0; round < rounds; ++round) {
    if (options.baseline) {
      TF_ASSIGN_OR_RETURN(const auto process, BenchProcess::Start("local"));
      TF_ASSIGN_OR_RETURN(const json reply, process->Call({{"job", "local"},
                                                           {"index", 0},
                                                           {"bench", options.name},
                                                           {"cores", CoresOfTask("worker", 0, 1)},
                                                           {"steps", steps}}));
      const auto ms = reply["median_ms"].get<double>();
      local_ms = round == 0 ? ms : std::min(local_ms, ms);
    }
    TF_ASSIGN_OR_RETURN(const auto workers, MeasureTraining(options, /*is_sync=*/true, steps, /*one_core_each=*/true));
    double slowest_ms = 0;
    for (const WorkerTimes& times : workers) slowest_ms = std::max(slowest_ms, MedianOf(times.ms));
    median_ms = round == 0 ? slowest_ms : std::min(median_ms, slowest_ms);
  }
  BenchModel m;
  MakeModel(options.name, /*worker=*/0, m);
  BenchResults results{{{"bench", options.name},
                        {"mode", "sync"},
                        {"workers", options.workers},
                        {"ps", options.ps},
                        {"median_ms", median_ms},
                        {"examples_per_s", options.workers * ExamplesPerSecond(m, median_ms)}}};
  if (options.baseline) {
    results[0]["local_median_ms"] = local_ms;
    results[0]["local_examples_per_s"] = ExamplesPerSecond(m, local_ms);
    results[0]["times_local"] = options.workers * local_ms / median_ms;
  }
  return results;
}

}  // namespace

Status RunLocalTraining(JsonChannel& parent, const json& config) {
  BenchModel m;
  MakeModel(config["bench"], /*worker=*/0, m);
  TF_ASSIGN_OR_RETURN(const LocalTraining training, TrainLocally(m, /*threads=*/1, config["steps"]));
  return parent.Send({{"median_ms", MedianOf(training.ms)}});
}

StatusOr<BenchResults> BenchModels(const BenchOptions& options) {
  const int steps = options.steps > 0 ? options.steps : options.smoke ? 5 : 100;
  return options.workers > 1 ? BenchWorkers(options, steps) : BenchLocally(options, steps);
}

}  // namespace tensorbraid
