// Ranks the nodes of a plan (plan.h) so that a step soon sends the tensors for which other tasks wait.
#ifndef TENSORBRAID_EXECUTOR_SEND_ORDER_H_
#define TENSORBRAID_EXECUTOR_SEND_ORDER_H_

#include <vector>

#include "executor/plan.h"

namespace tensorbraid {

// Returns a rank for each node of the plan, all different: of several ready nodes, the node with the lowest rank should
// run first. Empty if the plan has no _Send, since no order then brings a tensor to another task sooner.
//
// The _Send nodes are put in an order first: next comes the one that needs the fewest further nodes, beyond the nodes
// that the earlier ones need. Every other node is as urgent as the first _Send that needs it, and nodes that no _Send
// needs come last. For example, in a stack of recurrent layers, all layers read the first element of a sequence before
// the first layer reads the second one, so the next task can begin early. In the backward pass, the products for the
// gradients of the weights wait while gradients that another task needs can be computed. A worker sends the gradient of
// each variable before it computes the next one.
//
// _Recv and _Send nodes come before all others: they are short, and the transfers that they start do not need this
// task's threads. Among nodes with the same first _Send, a node that is deeper in the graph comes first, because it
// frees memory sooner.
//
// The time is usually linear in the size of the plan. REQUIRES: the plan has no control flow.
std::vector<int> RankBySends(const Plan& plan);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_SEND_ORDER_H_
