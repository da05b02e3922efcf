// Which operations train, and the global step right after each: what hooks want to know with every step.
#ifndef TENSORBRAID_TRAIN_TRAIN_OP_H_
#define TENSORBRAID_TRAIN_TRAIN_OP_H_

#include <vector>

#include "tensorbraid/graph.h"
#include "tensorbraid/variable.h"

namespace tensorbraid {

// Notes that `train` does a step of training after which `global_step` holds its number: adds a read of that
// variable which runs after `train`, on the variable's device.
void RegisterTrainOp(const Operation& train, const Variable& global_step);

// For a run with these fetches: the tensor that holds the global step after it. Reads of the variable that run beside
// the training operation could come out one step old; this one cannot. Invalid when the graph has no global step.
Output GlobalStepAfter(Graph& graph, const std::vector<const Node*>& fetched);

// The operations noted so far.
std::vector<const Node*> TrainOps(const Graph& graph);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_TRAIN_OP_H_
