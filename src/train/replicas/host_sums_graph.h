// The nodes with which a worker of synchronous training exchanges values and gradients through the HostSums of its task
// (docs/design/0029).
#ifndef TENSORBRAID_TRAIN_REPLICAS_HOST_SUMS_GRAPH_H_
#define TENSORBRAID_TRAIN_REPLICAS_HOST_SUMS_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/optimizers/optimizer.h"
#include "train/replicas/host_plan.h"
#include "train/replicas/host_routes.h"

namespace tensorbraid {

// Adds the nodes in the order of its functions. As always while building, mistakes are recorded in Graph::status().
class HostSumsGraph {
 public:
  // Whether the gradient of the variable can be summed on the host: it is dense, floating, and has a known shape.
  static bool CanSum(const GradAndVar& grad);

  // `anchor` is on the device of the worker and `step_place` on that of the global step. `prefix` begins the names of
  // what the tasks share. `spares` is the number of workers that a step does not need. `grads` are those that CanSum.
  HostSumsGraph(Graph& g, const HostPlan& plan, std::string prefix, int64_t spares, const Operation& anchor,
                const Operation& step_place, std::vector<GradAndVar> grads);

  // Lets the nodes on the worker that exist so far use the values of the HostSums instead of reading the variables.
  // Does not change reads in loops and branches, and reads with control dependencies.
  void UseValues();
  // The stamp of the values that a step of this worker uses.
  const Output& stamp() const { return stamp_; }
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
  NodeBuilder Here(const char* op, const char* name);  // a node on the worker
  Output Sums(const std::string& shared_name) const;   // a handle, placed by the open scopes
  Operation Read(const Output& sums, const Output& after, bool values, const char* name);
  HostRoute RouteByServers(const std::vector<Output>& accumulators);
  HostRoute RouteByHost(const Output& sums_of_host);
  // The push of a route after the sums are taken.
  Operation Report(const Output& outcomes);
  Operation Store(const Operation& read, const std::vector<Output>& values);
  Operation Take();

  Graph& g_;
  const HostPlan plan_;
  const std::string prefix_;
  const int64_t spares_;
  const Operation anchor_;
  const std::vector<GradAndVar> grads_;
  std::vector<DType> types_;
  std::vector<Shape> shapes_;
  Output own_;    // the HostSums of this task
  Output clock_;  // the HostSums without values, beside the global step
  Operation read_;
  Output stamp_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPLICAS_HOST_SUMS_GRAPH_H_
