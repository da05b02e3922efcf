// The propagator for plans with control flow: it knows frames, iterations and dead tensors.
//
// - Every node runs at most once per iteration of its frame. A node with a dead input does not compute; its outputs are
//   dead. Merge goes on with the first live input and is dead only when all inputs are; ControlTrigger is never dead;
//   _Send and _Recv pass deadness on to other tasks.
// - A frame is one run of a loop: made when the first Enter reaches it, in one iteration of the frame around it. It
//   ends when all its Enters have come and no iteration has anything left to do; then Exits that never had a live input
//   are dead in the iteration around it.
// - A dead NextIteration goes nowhere: that is how loops end. At most `parallel_iterations` iterations of a frame are
//   under way; what wants to begin another waits until the oldest has ended, whose memory is then used again.
#ifndef TENSORBRAID_EXECUTOR_FRAME_STEP_H_
#define TENSORBRAID_EXECUTOR_FRAME_STEP_H_

#include <functional>
#include <memory>
#include <vector>

#include "executor/plan.h"

namespace tensorbraid {

// Runs one step; see Executor::Run, whose promises these are. A fetched tensor that is dead makes the step
// InvalidArgument. When the step is cancelled nothing new is started. Loops leave the calling thread after a while and
// go on on the pool, where they take turns with other work. REQUIRES: plan->flow().
void RunWithFrames(std::shared_ptr<const Plan> plan, const StepEnvironment& env, std::vector<Tensor> args,
                   std::function<void(const Status& status, std::vector<Tensor> retvals)> done);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_FRAME_STEP_H_
