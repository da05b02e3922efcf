// The part of SyncReplicasOptimizer that runs in the training loop.
#ifndef TENSORBRAID_TRAIN_REPLICAS_SYNC_HOOK_H_
#define TENSORBRAID_TRAIN_REPLICAS_SYNC_HOOK_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/system/clock.h"
#include "tensorbraid/ops/data_flow.h"
#include "tensorbraid/optimizers/sync_replicas.h"
#include "tensorbraid/train/hooks.h"
#include "train/replicas/host_routes.h"
#include "train/replicas/replica_setup.h"

namespace tensorbraid {

// The training operations of all SyncReplicasOptimizers of a graph.
struct SyncTrainOps {
  std::vector<Operation> ops;
};

struct SyncReplicasOptimizer::State {
  std::shared_ptr<Optimizer> optimizer;
  SyncReplicasOptions options;
  Operation train;
  Operation sync;         // the chief's part of a step: applies the mean gradients and enqueues tokens
  Operation init_tokens;  // enqueues the default number of first tokens
  FIFOQueue tokens;       // each element is a stamp
  Output chief;           // the number of the chief
  Output first_stamp;     // the stamp of the first step
  Operation close_tokens;
  ReplicaSetup setup;
  std::optional<HostRouteOps> routes;  // if gradients are summed on each host
  Output ready;                        // the names of the global variables that have no value yet
  // bool: for each gradient of this step, whether it came in time; then, whether the worker's new token comes from the
  // same chief as the token before it.
  Output applied;
  std::atomic<int64_t> dropped{0};

  // Returns the operation that enqueues the first tokens (see MakeSessionRunHook). Adds it to the graph if `num_tokens`
  // is not the default.
  StatusOr<Operation> InitTokens(int num_tokens) const;
};

// Initialises this replica in each new session, on the chief runs the chief's part of the steps, and counts gradients
// that came too late.
class SyncReplicasOptimizer::Hook final : public SessionRunHook {
 public:
  Hook(std::shared_ptr<State> state, bool is_chief, int num_tokens)
      : state_(std::move(state)), is_chief_(is_chief), num_tokens_(num_tokens) {}

  Status Begin(Graph& graph) override;
  Status AfterCreateSession(SessionRunContext& context) override;
  SessionRunArgs BeforeRun(SessionRunContext& context) override;
  Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override;
  Status End(SessionRunContext& context, const Status& status) override;

 private:
  const std::shared_ptr<State> state_;
  const bool is_chief_;
  const int num_tokens_;
  Operation init_tokens_;  // on the chief
  MonotonicClock::time_point last_report_;
  int64_t steps_ = 0;
  int64_t dropped_since_report_ = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPLICAS_SYNC_HOOK_H_
