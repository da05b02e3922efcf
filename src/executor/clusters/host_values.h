// Which tensors of control flow on an accelerator stay in host memory.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_HOST_VALUES_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_HOST_VALUES_H_

#include <vector>

#include "executor/clusters/changing_values.h"
#include "graph/model/node.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Loops count with small integers, and compare them to decide whether they go on. If a device computed these, the host
// would wait for it in each iteration. So within control flow the host computes small integers and bools, as far as all
// that they depend on is on the host. The nodes that pass such tensors on are there, too, and so are those of lists
// whose elements are on the host. Outside of control flow, the host computes the small integers that depend on values
// that change from step to step (changing_values.h). Immutable.
class HostValues {
 public:
  // `on_accelerator` and `runs_on_host` are indexed by node id: whether the node is placed on a device that runs
  // programs, and whether the host runs it all the same because nothing else can. `graph` must outlive the object.
  HostValues(const Graph& graph, const std::vector<bool>& on_accelerator, const std::vector<bool>& runs_on_host,
             ChangingValues::Set changing);

  // Whether the host runs the node because of these rules.
  bool Contains(const Node& node) const { return on_host_[node.id()]; }
  // Whether a program would often meet another value of the tensor: in each iteration of a loop, or from step to step.
  bool Varies(const Output& tensor) const {
    return varies_[NodeOf(tensor)->id()] || changing_.contains(ChangingValues::KeyOf(tensor));
  }

 private:
  const ChangingValues::Set changing_;
  std::vector<bool> on_host_, varies_;  // by node id
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_HOST_VALUES_H_
