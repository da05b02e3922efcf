// When nodes run: in which loop, and in which branches of conditionals.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_RUN_CONDITIONS_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_RUN_CONDITIONS_H_

#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Returns a number for each node, indexed by id. Nodes with one number run in the same iterations of the same loop, and
// in these either all of them run or all of them are dead. So they can be one program. Nodes with different numbers may
// run at the same times, too. InvalidArgument if the loops are malformed (AssignFrames).
//
// What decides whether a node runs is a set of conditions, such as "output 1 of the Switch nodes of this predicate". It
// is the union of the conditions of its inputs and control inputs. A Merge of all branches of a predicate runs under
// the conditions that the branches have in common. Within a loop the conditions of the loop itself are left out: they
// hold in each iteration.
StatusOr<std::vector<int>> RunConditions(const Graph& graph);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_RUN_CONDITIONS_H_
