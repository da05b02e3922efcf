// Training on parameter servers, in the tasks of a benchmark.
#ifndef TENSORBRAID_CLI_BENCH_TRAINING_H_
#define TENSORBRAID_CLI_BENCH_TRAINING_H_

#include <memory>
#include <string>
#include <vector>

#include "cli/bench/bench.h"
#include "cli/bench/models.h"
#include "nlohmann/json.hpp"
#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/train/hooks.h"
#include "tensorbraid/train/monitored_session.h"

namespace tensorbraid {

// One worker's part in training a model.
class BenchTraining {
 public:
  struct Options {
    std::string model;
    // The session's target on a cluster. This and the following fields are not set for training within this process.
    std::string target = "";
    ClusterSpec cluster = {};
    int worker = 0;  // worker 0 is the chief
    bool is_sync = false;
  };
  explicit BenchTraining(const Options& options);

  Status Start();
  bool ShouldStop() const { return session_->ShouldStop(); }
  // Runs one step with the next batch and returns its duration.
  StatusOr<double> StepMs();
  // Ends training and returns the values for VerifyTraining: {"runs": …, "first_loss": …}, and on the chief also
  // "global_step" and "last_loss".
  StatusOr<nlohmann::json> Finish();

 private:
  std::vector<Feed> FeedsOf(const std::vector<Tensor>& batch) const;
  StatusOr<double> Loss();

  const std::string target_;
  const bool is_chief_;
  BenchModel model_;
  Operation train_;
  Variable global_step_;
  std::vector<std::shared_ptr<SessionRunHook>> hooks_;
  std::unique_ptr<MonitoredSession> session_;
  int64_t runs_ = 0;
  double first_loss_ = 0;
};

// Internal unless the loss has fallen and the global step fits the number of runs of all workers. `all` has the result
// of Finish on each worker, the chief's first.
Status VerifyTraining(const std::vector<nlohmann::json>& all, bool is_sync);

// The measured steps of one worker.
struct WorkerTimes {
  std::vector<double> ms;  // of each step
  double seconds = 0;      // from the first to the last
};

// Trains options.name on a cluster of new processes, and measures `steps` steps of each worker while all of them train.
// If `one_core_each`, each worker runs on one core; the parameter servers run on the cores that the workers leave, or
// if there are none, on any. Verifies the training.
StatusOr<std::vector<WorkerTimes>> MeasureTraining(const BenchOptions& options, bool is_sync, int steps,
                                                   bool one_core_each);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_BENCH_TRAINING_H_
