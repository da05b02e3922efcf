// Asynchronous training with measures against stale gradients. A gradient is stale if other replicas have updated the
// variables since the replica read the values from which it computes the gradient. docs/staleness.md compares the
// measures and says which one to choose.
//
//   auto optimizer = std::make_shared<tensorbraid::AsyncReplicasOptimizer>(
//       std::make_shared<tensorbraid::GradientDescentOptimizer>(0.5),
//       tensorbraid::AsyncReplicasOptions{.staleness = {.max_age = 8, .gradient_decay = 1}, .replica = task_index});
//   hooks.push_back(optimizer->MakeSessionRunHook());
//   auto train = optimizer->Minimize(loss, {.global_step = global_step});
#ifndef TENSORBRAID_OPTIMIZERS_ASYNC_REPLICAS_H_
#define TENSORBRAID_OPTIMIZERS_ASYNC_REPLICAS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/optimizers/optimizer.h"
#include "tensorbraid/optimizers/rules.h"

namespace tensorbraid {

// The measures against stale gradients. By default, no measure is taken. All of them can be combined, except
// delay_compensation with a batches_per_push above 1.
//
// The age of a gradient is the number of updates of its variable that were accepted since the replica read the
// variable, so each variable's gradient has its own age. The parameter server of the variable determines the age when
// the gradient arrives. An age is never too small: a gradient older than max_age is never applied.
struct StalenessPolicy {
  // Drops gradients that are older than this. Unset: drops none.
  std::optional<int64_t> max_age = std::nullopt;
  // Multiplies a gradient of age a by 1 / (1 + gradient_decay * a). 1 is the usual choice.
  double gradient_decay = 0;
  // As gradient_decay, but for the learning rate. The two differ for optimizers that divide by the size of the
  // gradients (Adam, Adagrad, RMSProp), which undo much of the decay of a gradient.
  double rate_decay = 0;
  // Corrects a gradient g by delay_compensation * g² * (present value - value that the replica read), an estimate of
  // what the gradient would be at the present value. Not for gradients that are slices. Source: Zheng et al., 2017
  // (DC-ASGD).
  double delay_compensation = 0;
  // Limits the lead: a replica that is more than max_lead steps ahead of the slowest replica waits. 0: all replicas
  // take the same step at the same time. Unset: unbounded. Source: Ho et al., 2013 (stale synchronous parallel).
  std::optional<int64_t> max_lead = std::nullopt;
  // The number of batches that a replica sums locally before it pushes their mean, by global step: {{0, 1}, {1000, 4}}
  // pushes every batch until global step 1000, then every fourth. The global step counts pushes.
  std::map<int64_t, int> batches_per_push = {{0, 1}};
  // Until this global step, replica 0 trains alone and the others wait.
  int64_t warm_up_steps = 0;
  // With max_lead: a replica from which nothing has been received for this long no longer holds the others back.
  std::chrono::milliseconds lost_after{30'000};

  // InvalidArgument names the first field that is wrong.
  Status Check() const;
  // Reads the form of a flag: "max_age=8,gradient_decay=1,batches_per_push=0:1/1000:4". Each name is a field of this
  // struct; lost_after is in seconds. "" is the default. InvalidArgument if it cannot be read, or as Check().
  static StatusOr<StalenessPolicy> Parse(const std::string& text);
  // The fields, for the help of a flag.
  static std::string FlagHelp();
};

struct AsyncReplicasOptions {
  StalenessPolicy staleness = {};
  // The number of this replica, such as the task index of its worker.
  int replica = 0;
  std::string name = "async_replicas";
  // Lets the gradients of the workers of a host meet there: one sum of the gradients that are ready leaves the host at
  // a time, and the values of the variables are sent to each host once per sum (docs/design/0029, docs/staleness.md).
  // It helps if a host has several workers and the network limits the training. A sum of k gradients is one update; the
  // global step grows by k. All workers must have the same setting. Needs `cluster`, `worker_device`, and the hook or a
  // Supervisor. Cannot be combined with delay_compensation, nor with a batches_per_push above 1. Has no effect if no
  // host has two workers.
  bool sum_per_host = false;
  // For sum_per_host, as in ReplicaDeviceSetterOptions. Workers share a host if their addresses have the same host.
  // `worker_device` names this worker: "/job:worker/task:1".
  ClusterSpec cluster = {};
  std::string worker_device = "";
};

// Counts what happened to this replica's own gradients. A step has one gradient per variable. The parameter server of
// the variable decides on the gradient, which is counted once.
struct StalenessCounts {
  int64_t pushes = 0;   // steps that sent gradients
  int64_t applied = 0;  // gradients that were applied, including the scaled ones
  int64_t scaled = 0;   // gradients of age 1 or more, applied with a smaller weight or rate
  int64_t dropped = 0;
  int64_t max_age = 0;    // of all gradients
  int64_t total_age = 0;  // of all gradients

  double mean_age() const {
    return applied + dropped == 0 ? 0 : static_cast<double>(total_age) / static_cast<double>(applied + dropped);
  }
};

// Asynchronous training under a StalenessPolicy: the wrapped optimizer applies the gradients that the policy accepts.
// The parameter server counts the accepted updates of each variable w with a clock:
//
//   worker: version = read(clock of w) ─► read w ─► gradient ─► (sum of k batches)
//   PS of w: age = clock - version ─► drop, or scale and apply ─► clock + 1 ─► outcome
//
// The global step grows by one with every push, even if all gradients of the push are dropped; with sum_per_host, by
// the number of gradients in the sum. MakeSessionRunHook says when a worker needs the hook.
class AsyncReplicasOptimizer final : public Optimizer {
 public:
  AsyncReplicasOptimizer(std::shared_ptr<Optimizer> optimizer, AsyncReplicasOptions options);
  ~AsyncReplicasOptimizer() override;

  StatusOr<std::vector<GradAndVar>> ComputeGradients(
      const Output& loss, const std::vector<Variable>& variables = {},
      std::source_location loc = std::source_location::current()) override;
  // Needs a global step. May be called once per optimizer. A policy that Check() refuses is a mistake of the graph.
  Operation ApplyGradients(const std::vector<GradAndVar>& grads, const ApplyGradientsOptions& options = {},
                           std::source_location loc = std::source_location::current()) override;
  Variable GetSlot(const Variable& variable, const std::string& slot) const override;
  std::vector<std::string> GetSlotNames() const override;

  // An int64 vector with one element for each variable that has a gradient, in the order of the gradients: the age of
  // the gradient that this step applied, or -1 minus the age of the gradient that was dropped. Empty in a step that
  // pushes nothing. Fetch it together with the training operation.
  Output outcomes() const;
  // Returns the hook that counts the outcomes, logs how many gradients were dropped or scaled (at most every ten
  // seconds, and only if there are more of them), and lets the replica join and leave the others. Every worker needs
  // the hook if max_lead, warm_up_steps or, in a MonitoredTrainingSession, sum_per_host is set. While the replica waits
  // for another, the hook logs for which one.
  std::shared_ptr<SessionRunHook> MakeSessionRunHook();
  // The sums of what the hook has seen. Thread-safe.
  StalenessCounts counts() const;

 private:
  struct State;
  class Hook;
  Operation Apply(const Gradient& grad, const Variable& variable) override;

  const std::shared_ptr<State> state_;  // shared with the hooks
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPTIMIZERS_ASYNC_REPLICAS_H_
