// Rewrites of a graph that leave what it computes as it is, and make it cheaper.
#ifndef TENSORBRAID_EXECUTOR_OPTIMIZE_H_
#define TENSORBRAID_EXECUTOR_OPTIMIZE_H_

#include <memory>

#include "tensorbraid/graph.h"

namespace tensorbraid {

struct OptimizeOptions {
  bool fold_constants = true;
  bool merge_equal = true;  // nodes that compute the same
};

// A copy of `graph`, the placed subgraph of one run signature, in which
// - what depends on constants alone is a constant, when it is small; so is the shape of a tensor that is known by now;
// - stateless nodes that compute the same on the same device are one;
// - an Identity that only passes a value on, on one device, is gone; so is one that reads a reference: its consumers
//   read it then, when they start.
// Nodes that remain keep their names, devices and locations. Other nodes with state or references, and nodes that wait
// for others, are left alone, and so is control flow: nothing is folded within loops and branches. An expression that
// cannot be computed now stays, to fail when it runs.
StatusOr<std::unique_ptr<Graph>> Optimize(const Graph& graph, const OptimizeOptions& options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_OPTIMIZE_H_
