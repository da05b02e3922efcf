// The propagator for plans (plan.h) with control flow: the code that passes the outputs of nodes on and finds the nodes
// that become ready. It implements frames, iterations and dead tensors.
//
// - A node runs at most once per iteration of its frame. If one of its inputs is dead, its kernel does not run and its
//   outputs are dead. There are three exceptions. A Merge forwards its first live input, and is dead only if all its
//   inputs are dead. A ControlTrigger is never dead. _Send and _Recv run even if an input is dead: a _Send tells the
//   other task whether the tensor is dead, and the output of a _Recv is dead if the other task says so.
// - A frame is one run of a loop. It is created when the first Enter runs, and belongs to one iteration of the
//   enclosing frame (the parent iteration). A frame ends when all its Enters have run and all its iterations are idle:
//   none of their nodes is ready or running, and they have no inner frame. Each Exit that never had a live input is
//   then dead in the parent iteration.
// - A dead NextIteration has no effect; this is how a loop ends. At most `parallel_iterations` iterations of a frame
//   are in flight. A NextIteration that would begin one more is deferred until the oldest iteration ends. The memory of
//   ended iterations is reused.
#ifndef TENSORBRAID_EXECUTOR_FRAME_STEP_H_
#define TENSORBRAID_EXECUTOR_FRAME_STEP_H_

#include <functional>
#include <memory>
#include <vector>

#include "executor/plan.h"
#include "executor/step_watch.h"

namespace tensorbraid {

// How code outside the step observes it. Each pointer may be null, and must otherwise outlive the step.
struct FrameStepOptions {
  AsyncWaits* waits = nullptr;  // records the asynchronous kernels that are waiting
  WorkTime* work = nullptr;     // the time in which threads work on the step is added to it
};

// Runs one step, with the same contract as Executor::Run. Its kernels may use the same files as the calling thread
// (core/system/file_access.h). A step that fetches a dead tensor fails with InvalidArgument. After a cancellation, no
// further node is started. After a fixed number of nodes, a thread hands the rest of the step to the pool, so that a
// long loop does not hold up the calling thread or other work of the pool. REQUIRES: plan->flow() is not null.
void RunWithFrames(std::shared_ptr<const Plan> plan, const StepEnvironment& env, std::vector<Tensor> args,
                   const FrameStepOptions& options,
                   std::function<void(const Status& status, std::vector<Tensor> retvals)> done);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_FRAME_STEP_H_
