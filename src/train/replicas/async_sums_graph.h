// The nodes with which a worker of asynchronous training lets its gradients be summed on its host (docs/design/0029).
#ifndef TENSORBRAID_TRAIN_REPLICAS_ASYNC_SUMS_GRAPH_H_
#define TENSORBRAID_TRAIN_REPLICAS_ASYNC_SUMS_GRAPH_H_

#include <functional>
#include <map>
#include <vector>

#include "tensorbraid/optimizers/optimizer.h"
#include "train/replicas/host_sums_graph.h"
#include "train/replicas/stale_gradients.h"

namespace tensorbraid {

// Adds the nodes in the order of its functions.
//
//   values:    the dense variables ─ their versions ─ the epoch of the parameter servers
//   gradients: of dense variables (sum) and slices (rows one after the other) ─ the versions of all (min)
//   outcomes:  one for each gradient, as in AsyncReplicasOptimizer::outcomes ─ the stamp from which on the values
//              include them
class AsyncSumsGraph final : private HostSumsGraph {
 public:
  using HostSumsGraph::Options;

  // `anchor` is on the device of the worker and `step_place` on that of the global step. `grads` are valid, and
  // floating (see CheckGradients). `clocks` has the UpdateClock of each variable, keyed by the node of its handle, and,
  // for a gradient that is slices, the version that the step has read.
  AsyncSumsGraph(Graph& g, Options options, const Operation& anchor, const Operation& step_place,
                 std::vector<GradAndVar> grads, std::map<const Node*, Versioned> clocks);

  // InvalidArgument if a gradient has a type that cannot be summed.
  static Status CheckGradients(const std::vector<GradAndVar>& grads);

  using HostSumsGraph::UseValues;
  // Adds the gradients of this step, and waits until they have been applied or dropped and this worker has values that
  // include them. Returns one outcome for each gradient.
  Output AddGradients();

  // The sums of the host, in the order of the gradients, and the versions that they were computed from. REQUIRES: the
  // nodes that apply the sums are added next, and then Routes.
  std::vector<GradAndVar> TakeSums(std::map<const Node*, Versioned>* versions);
  // The number of workers whose gradients are in the sums, a scalar on the worker.
  Output NumSummed(DType dtype);
  // Adds what the background needs. `outcomes` are those of the gradients, each known after its update. `applied` runs
  // after all updates.
  HostRouteOps Routes(const std::vector<Output>& outcomes, const Operation& applied);

 private:
  // Reads the dense variables, each after the operation that `after` returns for its gradient, if it returns one.
  std::vector<Output> ReadValues(const std::function<Operation(size_t gradient)>& after);

  const std::vector<GradAndVar> grads_;
  const std::map<const Node*, Versioned> clocks_;
  Output servers_;  // a HostSums without values beside the global step, for its epoch
  Operation taken_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPLICAS_ASYNC_SUMS_GRAPH_H_
