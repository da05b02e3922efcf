// The nodes with which a worker of synchronous training lets its gradients be summed on its host (docs/design/0029).
#ifndef TENSORBRAID_TRAIN_REPLICAS_SYNC_SUMS_GRAPH_H_
#define TENSORBRAID_TRAIN_REPLICAS_SYNC_SUMS_GRAPH_H_

#include <vector>

#include "tensorbraid/optimizers/optimizer.h"
#include "train/replicas/host_sums_graph.h"

namespace tensorbraid {

// Adds the nodes in the order of its functions.
class SyncSumsGraph final : private HostSumsGraph {
 public:
  using HostSumsGraph::Options;
  // Whether the gradient of the variable can be summed on the host: it is dense, floating, and has a known shape.
  static bool CanSum(const GradAndVar& grad);

  // `anchor` is on the device of the worker and `step_place` on that of the global step. `grads` are those that CanSum.
  SyncSumsGraph(Graph& g, Options options, const Operation& anchor, const Operation& step_place,
                std::vector<GradAndVar> grads);

  using HostSumsGraph::UseValues;
  // The stamp of the values that a step of this worker uses.
  Output stamp() const { return read_.valid() ? read_.output(1) : Output(); }
  // Adds the gradients of this step, and waits until it is known what became of them. bool: for each, whether it is
  // part of the step.
  Output AddGradients();
  // Waits, after the operations, for a stamp that is later than stamp(), and returns it.
  Output NextStamp(const std::vector<Operation>& after);
  // Adds what the background needs. `accumulators` are the handles of the accumulators of the gradients.
  HostRouteOps Routes(const std::vector<Output>& accumulators);

  // Chief: gives the workers a new stamp, and so the next step. With `reopens` also after the end of a training.
  Operation Publish(const Output& stamp, bool reopens);
  // Chief: ends the training of all workers.
  Operation EndAll();

 private:
  HostRoute RouteByServers(const std::vector<Output>& accumulators);

  const std::vector<GradAndVar> grads_;
  Output clock_;  // the HostSums without values, beside the global step
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPLICAS_SYNC_SUMS_GRAPH_H_
