// How the kernels of a step reach the partitions of other tasks.
#ifndef TENSORBRAID_RUNTIME_STEP_CONTEXT_H_
#define TENSORBRAID_RUNTIME_STEP_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "tensorbraid/tensor.h"

namespace tensorbraid {

// One edge between two partitions: its number in the signature, and the tasks at its ends. Control edges carry an empty
// tensor.
struct StepEdge {
  uint32_t number = 0;
  std::string peer;         // full name of the other task
  int64_t bytes_hint = -1;  // size of the tensor if it is known before running, else -1
};

// Where in its loops a node runs: which instance of a frame, and which iteration. Both 0 outside of loops. The same on
// every task.
struct LoopPosition {
  uint64_t frame = 0;
  uint64_t iteration = 0;
};

// Of one step on one task. Thread-safe.
class StepContext {
 public:
  virtual ~StepContext() = default;
  // Gives the tensor to the other side. A tensor that is not valid is a dead one. Never blocks; failures surface as the
  // step's.
  virtual void Send(const StepEdge& edge, LoopPosition at, Tensor value) = 0;
  // Calls `done` with the tensor when it has come, or with why it will not. Once, from any thread, perhaps before
  // returning.
  using RecvDone = std::function<void(StatusOr<Tensor>)>;
  virtual void Recv(const StepEdge& edge, LoopPosition at, RecvDone done) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_STEP_CONTEXT_H_
