// Records which operations of a graph train, and reads the global step after each of them.
#ifndef TENSORBRAID_TRAIN_SESSIONS_TRAIN_OP_H_
#define TENSORBRAID_TRAIN_SESSIONS_TRAIN_OP_H_

#include <utility>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"

namespace tensorbraid {

// Records that `train` does one training step, which changes `global_step`. Adds a read of that variable that runs
// after `train`, on the variable's device. If `holder` is valid, it is a variable that holds the global step after
// `train`, and is read instead of `global_step`. If the graph has another global step, calls RegisterTrainOpWithoutStep
// instead.
void RegisterTrainOp(const Operation& train, const Variable& global_step, const Variable& holder = {});

// Records that `train` does one training step and leaves the global step as it is.
void RegisterTrainOpWithoutStep(const Operation& train);

// Checks that training changes the graph's global step. Returns FailedPrecondition, with the name `hook` in its
// message, if the graph has no global step, or if it has optimizers but none of them was given the global step. A
// global step that the program itself changes is accepted.
Status CheckGlobalStep(const Graph& graph, const char* hook);

// Finds the operations with which the program itself, instead of an optimizer, changes the global step. Calls
// RegisterTrainOp for each of them that is not recorded yet. Leaves out operations in loops and conditionals, because
// they may not run in every step. The graph must not change afterwards.
Status RegisterChangesOfStep(Graph& graph);

// Returns for each node, in order of node id, whether a run of these fetches and feeds executes it. A fetch or feed is
// a node and the number of one of its outputs, or -1 for the operation. A node that is needed only to compute a fed
// tensor is not executed.
std::vector<bool> NodesBehind(const Graph& graph, const std::vector<std::pair<const Node*, int>>& fetches,
                              const std::vector<std::pair<const Node*, int>>& feeds);

// Returns the tensors whose maximum is the global step after a run that executes these nodes (see NodesBehind). A read
// in parallel with an operation that changes the step could be one step old, so each such operation has a read of its
// own after it. Empty if the graph has no global step.
std::vector<Output> StepsAfter(Graph& graph, const std::vector<bool>& executed);

// The operations recorded so far.
std::vector<const Node*> TrainOps(const Graph& graph);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_SESSIONS_TRAIN_OP_H_
