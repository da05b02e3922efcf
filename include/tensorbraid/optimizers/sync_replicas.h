// Synchronous training: replicas apply the mean of their gradients together.
#ifndef TENSORBRAID_OPTIMIZERS_SYNC_REPLICAS_H_
#define TENSORBRAID_OPTIMIZERS_SYNC_REPLICAS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/optimizers/optimizer.h"

namespace tensorbraid {

struct SyncReplicasOptions {
  // The number of gradients in one step.
  int replicas_to_aggregate = 1;
  // The number of workers; 0: as many as replicas_to_aggregate. If there are more workers than gradients, the slowest
  // are spare; if there are fewer, some workers contribute more than one gradient to a step.
  int total_num_replicas = 0;
  bool use_locking = false;
  std::string name = "sync_replicas";
  // Lets the gradients of the workers of a host meet there: one sum for each host and step is sent to the parameter
  // servers, and the values of the variables are sent to each host once per step (docs/design/0029). It helps if a host
  // has several workers and the network limits the training. All workers must have the same setting. Needs `cluster`,
  // `worker_device`, a MonitoredTrainingSession with the hook or a Supervisor, and replicas_to_aggregate <=
  // total_num_replicas. Has no effect if no host has two workers.
  bool sum_per_host = false;
  // For sum_per_host, as in ReplicaDeviceSetterOptions. Workers share a host if their addresses have the same host.
  // `worker_device` names this worker: "/job:worker/task:1".
  ClusterSpec cluster = {};
  std::string worker_device = "";
  // Adds an operation that the chief also runs in each step, after the update of the variables, such as
  // ExponentialMovingAverage::Apply (in TensorFlow: variable_averages). ApplyGradients calls it once.
  std::function<Operation()> after_update = {};
};

// Synchronous training: gradients gather in one accumulator per variable. When enough have arrived, the chief applies
// their mean with the wrapped optimizer, increments the global step and gives every worker a token for the next step.
// Gradients of an earlier step, and those sent to a chief that was replaced, are dropped; the hook of the worker counts
// them (see dropped_gradients). Source: tf.train.SyncReplicasOptimizer.
//
//   worker: gradients ─► accumulators (on the PS) ─► token = dequeue(sync_token_q) ─► local_step = token
//   chief:  take(accumulators) ─► apply ─► global_step + 1 ─► enqueue(sync_token_q, total_num_replicas tokens)
//
// A graph may have several SyncReplicasOptimizers, each with a global step of its own. For all but the first optimizer,
// the name of the global step is part of the names of the queue of tokens and of the accumulators. Two optimizers with
// one global step are a mistake, because the updates of one would make gradients of the other look stale. Each
// optimizer trains in runs of its own. In a run that trains with two of them, the workers could wait for each other
// forever, so the hook refuses such a run. To train groups of variables in one step, use a GroupedOptimizer.
//
// In a MonitoredTrainingSession every worker needs the hook (MakeSessionRunHook). When the chief's session closes, its
// hook closes the token queue, and the sessions of the other workers then stop without an error. Under a Supervisor the
// chief starts chief_queue_runner() and then runs init_tokens_op(); the supervisor does the rest.
class SyncReplicasOptimizer final : public Optimizer {
 public:
  SyncReplicasOptimizer(std::shared_ptr<Optimizer> optimizer, SyncReplicasOptions options);
  ~SyncReplicasOptimizer() override;

  StatusOr<std::vector<GradAndVar>> ComputeGradients(
      const Output& loss, const std::vector<Variable>& variables = {},
      std::source_location loc = std::source_location::current()) override;
  // Needs a global step. May be called once per optimizer.
  Operation ApplyGradients(const std::vector<GradAndVar>& grads, const ApplyGradientsOptions& options = {},
                           std::source_location loc = std::source_location::current()) override;
  Variable GetSlot(const Variable& variable, const std::string& slot) const override;
  std::vector<std::string> GetSlotNames() const override;

  // Returns the hook that initialises this replica. On the chief, the hook also runs the chief's part of the steps. May
  // be called before ApplyGradients.
  //
  // `num_tokens` is the number of tokens with which the chief begins; -1: replicas_to_aggregate. Each of these tokens
  // lets a worker go on to its next step before the first update. With 0, a worker's step ends when the update that its
  // gradients are for has ended. There must be enough tokens for the first step: at least replicas_to_aggregate -
  // total_num_replicas. A chief that takes over makes at least replicas_to_aggregate tokens, because the workers may
  // wait for tokens of the chief before it. With sum_per_host, only -1 is possible.
  std::shared_ptr<SessionRunHook> MakeSessionRunHook(bool is_chief, int num_tokens = -1);

  // The operations that the hook uses, for programs that run them themselves. Valid after ApplyGradients.
  // Chief: enqueues the first tokens. For `num_tokens`, see MakeSessionRunHook; except for -1, each call adds nodes.
  Operation init_tokens_op(int num_tokens = -1) const;
  Operation chief_init_op() const;       // chief: as local_step_init_op; also sets the accumulators to the global step
  Operation local_step_init_op() const;  // other workers
  Output ready_for_local_init() const;   // names of global variables without a value; empty when ready
  Operation close_tokens_op() const;     // chief, at the end
  // Chief: runs its part of the steps. When a stop is requested, it closes the token queue, and the runs of the other
  // workers then fail with OutOfRange.
  QueueRunner chief_queue_runner() const;

  // The number of steps of this worker whose gradients arrived too late and were dropped, as the accumulators have told
  // the hook. A step is counted even if its gradients were dropped for some of the variables only. Thread-safe.
  int64_t dropped_gradients() const;

 private:
  struct State;
  class Hook;
  Operation Apply(const Gradient& grad, const Variable& variable) override;

  const std::shared_ptr<State> state_;  // shared with the hooks, which may outlive the optimizer
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPTIMIZERS_SYNC_REPLICAS_H_
