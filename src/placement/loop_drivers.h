// Loops that cross tasks.
//
// A _Recv has no inputs, so nothing says that it belongs to a loop, nor in which iterations it should run. Nor does
// anything where all that a part has of a loop depends on what stays the same in it. Each part that receives within a
// loop, or has nothing of it that goes around, gets a small loop of its own in the same frame, its *driver*, which
// makes the iterations of the real one and no more:
//
//     start ─► Enter ─► Merge ─► Switch ─► NextIteration ─┐         Merge ─control─► every _Recv of the loop here
//                         ▲        ▲                      │
//                         │     condition of the loop     │
//                         └───────────────────────────────┘
//
// The Merge runs in all iterations, the last one included, in which the loop's body is dead: a _Recv waits for as many
// tensors, live or dead, as its _Send gives. The condition is the LoopCond's, received like any other tensor of the
// loop. In a loop within another, `start` waits for the outer loop's driver.
#ifndef TENSORBRAID_PLACEMENT_LOOP_DRIVERS_H_
#define TENSORBRAID_PLACEMENT_LOOP_DRIVERS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/control_flow.h"

namespace tensorbraid {

struct LoopDriver {
  int frame = 0;
  std::string task;
  std::string device;  // of its nodes
  Node* merge = nullptr;
};

// The drivers of one partitioned graph, in the order in which they were begun. Not thread-safe.
class LoopDrivers {
 public:
  // The Merge that runs once per iteration of a frame in a task's part; made when there is none. Null for frame 0.
  StatusOr<Node*> BeginOn(Graph* part, const std::string& task, const std::string& device,
                          const FrameAssignment& frames, int frame);
  // Completes a driver. `condition` is in `part`.
  Status Close(Graph* part, const LoopDriver& driver, Output condition);

  size_t size() const { return drivers_.size(); }
  const LoopDriver& operator[](size_t i) const { return drivers_[i]; }

 private:
  std::map<std::pair<int, std::string>, Node*> merges_;  // by frame and task
  std::vector<LoopDriver> drivers_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_PLACEMENT_LOOP_DRIVERS_H_
