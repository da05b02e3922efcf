// The part of AsyncReplicasOptimizer that runs in the training loop.
#ifndef TENSORBRAID_TRAIN_REPLICAS_ASYNC_HOOK_H_
#define TENSORBRAID_TRAIN_REPLICAS_ASYNC_HOOK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/system/clock.h"
#include "core/threads/mutex.h"
#include "tensorbraid/optimizers/async_replicas.h"
#include "tensorbraid/train/coordinator.h"
#include "tensorbraid/train/hooks.h"
#include "train/replicas/host_routes.h"

namespace tensorbraid {

struct AsyncReplicasOptimizer::State {
  std::shared_ptr<Optimizer> optimizer;
  AsyncReplicasOptions options;
  Operation train;
  Output outcomes;  // see AsyncReplicasOptimizer::outcomes
  // Valid only if replicas wait for each other.
  Operation join, leave;
  Operation heartbeat;                 // _ReplicaHeartbeat: tells what this replica waits for
  std::optional<HostRouteOps> routes;  // if gradients are summed on each host
  mutable Mutex mu;
  StalenessCounts counts TB_GUARDED_BY(mu);
};

// Lets this worker join and leave the replicas that wait for each other, sends heartbeats, and counts what became of
// the gradients of this worker.
class AsyncReplicasOptimizer::Hook final : public SessionRunHook {
 public:
  explicit Hook(std::shared_ptr<State> state) : state_(std::move(state)) {}

  Status Begin(Graph& graph) override;
  Status AfterCreateSession(SessionRunContext& context) override;
  SessionRunArgs BeforeRun(SessionRunContext& context) override;
  Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override;
  Status End(SessionRunContext& context, const Status& status) override;

 private:
  // Sends heartbeats until a stop is requested. Errors are not reported: if they last, the training steps fail, too.
  static void SendHeartbeats(const State& state, Session& session, const Coordinator& coordinator);
  // Adds the outcomes of one step to the counts, and sometimes logs the counts.
  void Count(std::span<const int64_t> outcomes);

  const std::shared_ptr<State> state_;
  MonotonicClock::time_point last_report_;
  int64_t reported_ = 0;  // how many gradients were dropped or scaled before the last report
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPLICAS_ASYNC_HOOK_H_
