// The updates of synchronous training, as SyncReplicasOptimizer makes them (src/train/replicas/sync_replicas.cc).
#ifndef TENSORBRAID_PLANNER_SIMULATION_SYNC_UPDATES_H_
#define TENSORBRAID_PLANNER_SIMULATION_SYNC_UPDATES_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "planner/model/step_program.h"
#include "planner/simulation/event_queue.h"
#include "planner/simulation/machines.h"

namespace tensorbraid::planner {

// Accumulators gather gradients. When all of them have enough, the chief's operation applies them on the servers and
// puts a token for each worker into a queue; then the chief, worker 0, starts the operation again. A worker that has
// given its gradients takes a token, which carries the number of the update. Used by one thread.
class SyncUpdates {
 public:
  // `got_token` is called when a worker has its next token. An update uses the gradients of `needed` workers. All
  // pointers and references must outlive this object.
  SyncUpdates(const StepProgram& program, SimulatedMachines* machines, EventQueue* events, int workers, int needed,
              std::function<void(int worker)> got_token);

  int64_t updates() const { return updates_; }
  // Whether a gradient that the worker adds now comes late: it was computed from the values before the last update.
  bool IsLate(int worker) const { return workers_[worker].stamp < updates_; }
  // How long it takes to add one more gradient to the accumulator of this activity, on one core.
  double AccumulateNs(int activity) const;
  // The accumulator of this activity has got a gradient in time.
  void AddGradient(int activity);
  // The worker has given its gradients.
  void AwaitToken(int worker);
  // How long the worker has waited for the gradients of slower workers since the last call.
  double TakeStragglerNs(int worker);

 private:
  struct Worker {
    int64_t stamp = 0;           // the update whose values its step reads
    double waits_since_ns = -1;  // for the gradients of others; -1: it does not
    double straggler_ns = 0;
  };
  void MaybeApply();
  void Apply(int server);
  void OnApplied();
  void Arm();
  void GiveTokens();

  const StepProgram& program_;
  SimulatedMachines* const machines_;
  EventQueue* const events_;
  const int needed_;
  const std::function<void(int worker)> got_token_;
  int accumulators_ = 0;
  std::vector<int> gathered_;  // gradients in each accumulator, by activity
  int complete_ = 0;           // accumulators with enough gradients
  bool applying_ = false;
  int servers_applying_ = 0;
  int answers_left_ = 0;     // servers that have not told the chief that the operation has ended
  std::vector<bool> armed_;  // servers on which the chief's operation waits
  std::deque<int64_t> tokens_;
  std::deque<int> waiting_;  // for a token
  std::vector<Worker> workers_;
  int64_t updates_ = 0;
};

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_SIMULATION_SYNC_UPDATES_H_
