// Records which operations of a graph train, and the value of the global step right after each.
#ifndef TENSORBRAID_TRAIN_SESSIONS_TRAIN_OP_H_
#define TENSORBRAID_TRAIN_SESSIONS_TRAIN_OP_H_

#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"

namespace tensorbraid {

// Records that `train` does one training step, after which `global_step` holds the step's number. Adds a read of that
// variable that runs after `train`, on the variable's device.
void RegisterTrainOp(const Operation& train, const Variable& global_step);

// Records that `train` does one training step and leaves the global step as it is.
void RegisterTrainOpWithoutStep(const Operation& train);

// Checks that training changes the graph's global step. FailedPrecondition, in the name of `hook`, if there is none, or
// if no optimizer was given it. A step that the program itself changes is accepted.
Status CheckGlobalStep(const Graph& graph, const char* hook);

// Returns the tensor that holds the global step after a run with these fetches. A read that runs in parallel with the
// training operation could be one step old; this one cannot. Invalid when the graph has no global step.
Output GlobalStepAfter(Graph& graph, const std::vector<const Node*>& fetched);

// The training operations recorded so far.
std::vector<const Node*> TrainOps(const Graph& graph);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_SESSIONS_TRAIN_OP_H_
