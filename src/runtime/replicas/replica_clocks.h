// The clocks of replicas that train asynchronously. They limit how far a replica may be ahead of the slowest one, and
// let the first replica warm up alone.
#ifndef TENSORBRAID_RUNTIME_REPLICAS_REPLICA_CLOCKS_H_
#define TENSORBRAID_RUNTIME_REPLICAS_REPLICA_CLOCKS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/system/clock.h"
#include "runtime/resources/waiting_resource.h"

namespace tensorbraid {

// The clock of a replica is the number of steps that it has finished. Only replicas that have joined are considered. A
// replica that joins later starts with the clock of the slowest one. A replica that has left, or has sent no heartbeat
// for long, does not hold the others back. Thread-safe; waiting blocks no thread.
class ReplicaClocks final : public WaitingResource {
 public:
  static constexpr const char* kTypeName = "replica clocks";
  // A replica may be at most `max_lead` steps ahead of the slowest, or any number of steps if `max_lead` is negative.
  // Until the global step reaches `warm_up_steps`, only the first replica, number 0, may join.
  ReplicaClocks(std::string name, int64_t max_lead, int64_t warm_up_steps)
      : name_(std::move(name)), max_lead_(max_lead), warm_up_steps_(warm_up_steps) {}

  // Adds the replica, once the warm-up is over. `global_step` is the current global step. Like all calls that wait,
  // calls `done` once, possibly from another thread, and with Cancelled if `cancellation` is cancelled first.
  void Join(int64_t replica, int64_t global_step, CancellationManager* cancellation, Done done);
  // Counts a step, then waits until the replica may begin the next one. `global_step` is the global step after this
  // step.
  void FinishStep(int64_t replica, int64_t global_step, CancellationManager* cancellation, Done done);
  // Removes the replica. If the warm-up is not over, the departure of replica 0 ends it.
  void Leave(int64_t replica);
  // What a replica waits for. The values are those of the output `wait` of _ReplicaHeartbeat.
  enum class Wait : int64_t { kNone, kEndOfWarmUp, kSlowerReplica };
  struct WaitState {
    Wait wait = Wait::kNone;
    std::string description;  // for messages; "" for kNone
  };
  // Records that the replica is alive. Removes replicas from which no heartbeat has come for `lost_after`, with a
  // warning. Returns what `replica` waits for.
  WaitState Heartbeat(int64_t replica, MonotonicClock::duration lost_after);
  std::string DebugString() const override;

 private:
  struct Replica {
    int64_t clock = 0;
    bool waits = false;
    MonotonicClock::time_point seen;  // the last heartbeat, or the last finished step
  };
  void Add(int64_t replica) TB_REQUIRES(mu_);
  bool InWarmUp(int64_t replica) const TB_REQUIRES(mu_);
  // The replica with the lowest clock. REQUIRES: there is one.
  std::map<int64_t, Replica>::const_iterator Slowest() const TB_REQUIRES(mu_);
  bool MustWait(int64_t replica) const TB_REQUIRES(mu_);

  const std::string name_;
  const int64_t max_lead_;
  const int64_t warm_up_steps_;
  std::map<int64_t, Replica> replicas_ TB_GUARDED_BY(mu_);  // those that have joined
  int64_t global_step_ TB_GUARDED_BY(mu_) = 0;              // the highest that was seen
  bool warm_up_over_ TB_GUARDED_BY(mu_) = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_REPLICAS_REPLICA_CLOCKS_H_
