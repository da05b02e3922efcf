// Makes loops that cross tasks run on each task the right number of times.
//
// A _Recv has no inputs, so its part (the graph of one task, see partition.h) does not show to which loop the _Recv
// belongs or in which iterations it runs. The same is true for nodes of a loop in a part where they depend only on loop
// invariants. So a part gets a small loop of its own in the same frame, its *driver*, if it receives within a loop, or
// if it has nodes of a loop but no Merge with a back edge. The driver has exactly the iterations of the real loop:
//
//     start ─► Enter ─► Merge ─► Switch ─► NextIteration ─┐         Merge ─control─► every _Recv of the loop here
//                         ▲        ▲                      │
//                         │     condition of the loop     │
//                         └───────────────────────────────┘
//
// The Merge runs in all iterations, including the last one, in which the loop's body is dead: a _Recv must run as often
// as its _Send sends a tensor, live or dead. The condition is the output of the loop's LoopCond, received like any
// other tensor of the loop. In a nested loop, `start` waits for the driver of the outer loop.
#ifndef TENSORBRAID_PARTITION_LOOP_DRIVERS_H_
#define TENSORBRAID_PARTITION_LOOP_DRIVERS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/control_flow/control_flow.h"

namespace tensorbraid {

struct LoopDriver {
  int frame = 0;
  std::string task;
  std::string device;  // of its nodes
  Node* merge = nullptr;
};

// The drivers of one partitioned graph, in the order in which they were created. Not thread-safe.
class LoopDrivers {
 public:
  // Returns the Merge that runs once per iteration of `frame` in the part of `task`; null for frame 0. Creates the
  // driver of the loop, and the drivers of the enclosing loops, if they do not exist.
  StatusOr<Node*> BeginOn(Graph* part, const std::string& task, const std::string& device,
                          const FrameAssignment& frames, int frame);
  // Completes a driver with its loop's condition, which must be in `part`.
  Status Close(Graph* part, const LoopDriver& driver, Output condition);

  size_t size() const { return drivers_.size(); }
  const LoopDriver& operator[](size_t i) const { return drivers_[i]; }

 private:
  std::map<std::pair<int, std::string>, Node*> merges_;  // keyed by frame and task
  std::vector<LoopDriver> drivers_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_PARTITION_LOOP_DRIVERS_H_
