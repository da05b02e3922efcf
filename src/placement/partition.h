// Cuts a placed graph into one part per task.
#ifndef TENSORBRAID_PLACEMENT_PARTITION_H_
#define TENSORBRAID_PLACEMENT_PARTITION_H_

#include <map>
#include <memory>
#include <string>

#include "tensorbraid/graph.h"

namespace tensorbraid {

// The parts of `graph` by full task name ("/job:ps/replica:0/task:0"). An edge between tasks becomes a _Send in one
// part and a _Recv in the other with the same edge number; each tensor crosses to a task once however many nodes take
// it there. Control edges cross as empty tensors. Devices of one task stay together in its part. Where an edge within a
// loop crosses, the part that receives gets a driver (loop_drivers.h), so that it receives once in each iteration.
// InvalidArgument when frames are mixed up (AssignFrames), or a loop that crosses has no LoopCond of its own.
// REQUIRES: every node's device is a full name.
StatusOr<std::map<std::string, std::unique_ptr<Graph>>> PartitionByTask(const Graph& graph);

}  // namespace tensorbraid

#endif  // TENSORBRAID_PLACEMENT_PARTITION_H_
