// The variables that lose their values when a program fails (pjrt/loss.h).
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_LOST_VARIABLES_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_LOST_VARIABLES_H_

#include <memory>
#include <string>
#include <vector>

#include "core/threads/mutex.h"
#include "executor/clusters/cluster_run.h"
#include "pjrt/emitter.h"
#include "pjrt/loss.h"
#include "runtime/variables/locked_variables.h"

namespace tensorbraid {

// For the runs of one cluster. Thread-safe.
class LostVariables {
 public:
  // `device` is the name that messages give.
  explicit LostVariables(std::string device) : device_(std::move(device)) {}

  // The loss that happens if this run of the program fails. Null if the program updates no variable.
  std::shared_ptr<pjrt::Loss> LossOfUpdated(const ClusterRun& run, const pjrt::ProgramText& text);
  // The program has failed with `error` before it was enqueued. Marks the variables whose values the plugin has
  // consumed all the same, and returns the error of the run.
  Status LoseConsumed(const ClusterRun& run, const pjrt::ProgramText& text, const LockedVariables& locked,
                      const Status& error) const;

 private:
  // "the variables 'w' and 'b' on /device:XLA_CPU:0 have lost their values".
  std::string LossOf(const ClusterRun& run, const std::vector<int>& numbers) const;

  const std::string device_;
  Mutex mu_;
  // Runs mostly have the same variables, so the text is kept.
  std::shared_ptr<const std::string> loss_of_updated_ TB_GUARDED_BY(mu_);  // of the variables `updated_`
  std::vector<const VariableResource*> updated_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_LOST_VARIABLES_H_
