// Runs plans.
#ifndef TENSORBRAID_EXECUTOR_EXECUTOR_H_
#define TENSORBRAID_EXECUTOR_EXECUTOR_H_

#include <functional>
#include <memory>
#include <vector>

#include "executor/plan.h"

namespace tensorbraid {

// While one lives, this thread belongs to a transport: it runs only what is quick, the rest goes to the pool.
class ScopedTransportThread {
 public:
  ScopedTransportThread();
  ~ScopedTransportThread();
};

// Runs steps of one plan, and keeps the memory of finished steps for the next. Thread-safe.
//
// Nodes run as soon as what they wait for is there, on the thread that made them ready, or on the pool when they are
// expensive and that thread has other work (or belongs to a transport). The first error stops the step: nothing new is
// started, what waits is cancelled, and the step is done when the last started kernel has returned.
//
// This is the propagator for plans without control flow. Steps of others are run by that of frame_step.h.
class Executor : public std::enable_shared_from_this<Executor> {
 public:
  Executor(std::shared_ptr<const Plan> plan, ThreadPool* pool, ResourceManager* resources);
  ~Executor();

  using Done = std::function<void(const Status& status, std::vector<Tensor> retvals)>;
  // Runs a step; this thread takes part and returns when it has nothing more to do. `done` is called once, by the
  // thread that finishes. `args`: one per argument of the plan. `step` may be null when the plan has no Send or Recv.
  // `cancellation`, `step` and `tracer` (null unless the step is traced) must live until `done` is called. REQUIRES:
  // this is held by a shared_ptr.
  void Run(std::vector<Tensor> args, StepContext* step, CancellationManager* cancellation, Done done,
           StepTracer* tracer = nullptr);

  const Plan& plan() const { return *plan_; }

 private:
  struct Step;
  struct AsyncRun;
  using ReadyList = std::vector<int>;

  std::unique_ptr<Step> NewStep();
  void Process(Step* step, ReadyList ready);
  // Runs one node; appends what it made ready. False when an asynchronous kernel has taken over.
  void RunNode(Step* step, int node, ReadyList* ready);
  void StartAsync(Step* step, int node, ReadyList* ready);
  void Propagate(Step* step, const Plan::PlanNode& p, Entry* outputs, ReadyList* ready);
  void Deliver(Step* step, const Plan::DataEdge* begin, const Plan::DataEdge* end, Entry* outputs, ReadyList* ready);
  void Release(Step* step, int node, ReadyList* ready);
  void Fail(Step* step, const Plan::PlanNode& p, const Status& status);
  void NodesDone(Step* step, int count);

  const std::shared_ptr<const Plan> plan_;
  ThreadPool* const pool_;
  ResourceManager* const resources_;
  Mutex mu_;
  std::vector<std::unique_ptr<Step>> free_steps_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_EXECUTOR_H_
