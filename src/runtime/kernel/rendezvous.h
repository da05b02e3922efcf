// The interface through which the kernels of a step exchange tensors with the partitions of other tasks.
#ifndef TENSORBRAID_RUNTIME_KERNEL_RENDEZVOUS_H_
#define TENSORBRAID_RUNTIME_KERNEL_RENDEZVOUS_H_

#include <cstdint>
#include <functional>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// One end of an edge between two partitions. A control edge carries an empty tensor.
struct StepEdge {
  uint32_t number = 0;      // of the edge; unique among the edges that a step with the same feeds and fetches has
  uint32_t peer = 0;        // the number that this task has given to the other task
  int64_t bytes_hint = -1;  // size of the tensor if known before the step runs, otherwise -1
};

// Identifies one run of a node in a loop by two numbers: one for the run of the loop (the frame), one for the
// iteration. They are the same on every task, and 0 outside of loops.
struct LoopPosition {
  uint64_t frame = 0;
  uint64_t iteration = 0;
};

// One per step and task. Thread-safe.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  // Sends the tensor to the task at the other end; an invalid tensor means a dead one. Never blocks. A failure fails
  // the step.
  virtual void Send(const StepEdge& edge, LoopPosition at, Tensor value) = 0;
  // Calls `done` once with the tensor when it has arrived, or with an error if it will not arrive. The call may come
  // from any thread, possibly before Recv returns.
  using RecvDone = std::function<void(StatusOr<Tensor>)>;
  virtual void Recv(const StepEdge& edge, LoopPosition at, RecvDone done) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_RENDEZVOUS_H_
