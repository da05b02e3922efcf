// Lookups that are made ahead of the steps that use them.
#ifndef TENSORBRAID_TRAIN_SESSIONS_STAGED_LOOKUPS_H_
#define TENSORBRAID_TRAIN_SESSIONS_STAGED_LOOKUPS_H_

#include <optional>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/train/coordinator.h"

namespace tensorbraid {

// A step takes its batch out of `queue` by the operation `taken`. This function moves the lookups that follow from the
// batch into a thread, which makes them ahead of the steps:
//
//   queue --> thread: lookups --> staged batches, rows --> step
//
// Lookups of growing tables and of variables are moved, and the operations `marked`, with all that they are computed
// from. A lookup stays in the step if it depends on more than the batch: on the value of a variable, on a feed, a
// random number, a loop, a conditional or a check of values.
//
// The lookups of a batch begin when the step before it has taken its own rows. So they run beside that step and miss
// its updates, but never those of a step before it. The queue "turns" sees to that: the thread puts an element into it
// before it takes a batch, and a step takes one out of it.
//
// Returns the runner of the thread, or nothing, without changing the graph, if there is nothing to move. Sessions that
// exist keep the earlier graph. Returns FailedPrecondition if the graph is finalized, and the errors of adding nodes.
StatusOr<std::optional<QueueRunner>> LookUpAhead(const Output& queue, const Operation& taken,
                                                 const std::vector<Operation>& marked);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_SESSIONS_STAGED_LOOKUPS_H_
