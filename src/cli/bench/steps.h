// Benchmarks whose workers all repeat one step on variables of the parameter servers.
#ifndef TENSORBRAID_CLI_BENCH_STEPS_H_
#define TENSORBRAID_CLI_BENCH_STEPS_H_

#include <memory>
#include <string>
#include <vector>

#include "cli/bench/bench.h"
#include "cli/bench/task.h"
#include "nlohmann/json.hpp"

namespace tensorbraid {

// The step of one worker.
class RepeatedStep {
 public:
  virtual ~RepeatedStep() = default;
  // Makes the session. `is_first` is true on the first worker, which sets the initial values.
  virtual Status Start(const std::string& target, bool is_first) = 0;
  virtual Status Run() = 0;
  // Checks the variables after `steps` steps of all workers together.
  virtual Status Verify(int64_t steps) = 0;
};

// `config` is the argument of MeasureSteps, extended by "index", "ps_hosts" and "worker_hosts".
std::unique_ptr<RepeatedStep> MakeNullStep(const nlohmann::json& config);
std::unique_ptr<RepeatedStep> MakeSparseStep(const nlohmann::json& config);

struct StepTimes {
  std::vector<double> ms;    // of all workers' steps
  double steps_per_s = 0;    // of all workers together
  double worker_cpu_ms = 0;  // per step
  double ps_cpu_ms = 0;      // per step, of all parameter servers
};

// Measures `steps` steps of each worker, in `rounds` rounds with new processes each. Returns the round with the most
// steps per second. `config` needs "bench" and "protocol".
StatusOr<StepTimes> MeasureSteps(const BenchOptions& options, const nlohmann::json& config, int steps, int rounds);

// Adds the times that all of these benchmarks print.
void AddTimes(const StepTimes& times, nlohmann::ordered_json* result);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_BENCH_STEPS_H_
