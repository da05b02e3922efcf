// Ranks the nodes of a plan (plan.h) so that a step sends early the tensors that other tasks wait for.
#ifndef TENSORBRAID_EXECUTOR_SEND_ORDER_H_
#define TENSORBRAID_EXECUTOR_SEND_ORDER_H_

#include <vector>

#include "executor/plan.h"

namespace tensorbraid {

// Returns a rank for each node of the plan, all different: of several ready nodes, the node with the lowest rank should
// run first. Empty if the plan has no _Send, since no order then brings a tensor to another task sooner.
//
// First orders the _Send nodes, greedily: each time it takes the _Send that needs the fewest nodes not already needed
// by the _Sends taken before. Every other node is as urgent as the first _Send that needs it, and nodes that no _Send
// needs come last.
//
// For example, if a task runs a stack of recurrent layers, all of them process time step 0 before any processes time
// step 1, so the task that receives the top layer's outputs can begin early. If the layers are split over tasks, the
// backward pass first computes the gradients that the previous task waits for, and the matrix products for the weight
// gradients later. If variables are on parameter servers, a worker sends each variable's gradient before it computes
// the next one.
//
// _Recv and _Send nodes come before all others: they are short, and the transfers that they start do not need this
// task's threads. Among nodes with the same first _Send, a node that is deeper in the graph comes first, because it
// frees memory sooner.
//
// The time is usually linear in the size of the plan. REQUIRES: the plan has no control flow.
std::vector<int> RankBySends(const Plan& plan);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_SEND_ORDER_H_
