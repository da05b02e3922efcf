// Splits a placed graph into one part per task.
#ifndef TENSORBRAID_PARTITION_PARTITION_H_
#define TENSORBRAID_PARTITION_PARTITION_H_

#include <map>
#include <memory>
#include <string>

#include "partition/wire_edges.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Returns the parts of `graph`, keyed by full task name ("/job:ps/replica:0/task:0"). An edge between tasks becomes a
// _Send in one part and a _Recv in the other, with the same edge number. A tensor is sent to a task once, however many
// nodes use it there, but a reference is sent once for each set of nodes that its reads follow
// (graph/model/references.h). A control edge is sent as an empty tensor. All devices of a task are in the same part. If
// an edge within a loop crosses tasks, the receiving part gets a driver (loop_drivers.h), so that it receives once in
// each iteration.
//
// A tensor with a wire type (wire_edges.h) goes through a _WireEncode before the _Send and a _WireDecode after the
// _Recv, on the first CPU of their tasks. `jobs` has, for each job, the wire types of its variables that have none of
// their own.
//
// Tensors of growing tables that can wait for each other go through a _JoinTensors before one _Send, and a _TakeJoined
// each after its _Recv (joined_edges.h). With `feeding` kInParts nothing is joined, because a client that feeds a step
// in several calls may wait for a tensor before it feeds what others need.
//
// InvalidArgument if inputs of a node come from different frames (AssignFrames), or if a loop that crosses tasks does
// not have exactly one LoopCond. REQUIRES: every node's device is a full name.
enum class Feeding { kAtOnce, kInParts };
StatusOr<std::map<std::string, std::unique_ptr<Graph>>> PartitionByTask(const Graph& graph,
                                                                        const JobWireTypes& jobs = {},
                                                                        Feeding feeding = Feeding::kAtOnce);

}  // namespace tensorbraid

#endif  // TENSORBRAID_PARTITION_PARTITION_H_
