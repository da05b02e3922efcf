// Runs the steps of a plan: a task's part of a graph, compiled for execution (plan.h).
#ifndef TENSORBRAID_EXECUTOR_EXECUTOR_H_
#define TENSORBRAID_EXECUTOR_EXECUTOR_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/system/file_access.h"
#include "executor/plan.h"
#include "executor/step_watch.h"

namespace tensorbraid {

// While an object of this class exists, executors treat the current thread as a transport thread: they run only cheap
// kernels on it and send the others to the pool. Scopes may be nested.
class ScopedTransportThread {
 public:
  ScopedTransportThread();
  ~ScopedTransportThread();
};

// Runs steps of one plan. Keeps the state of finished steps to reuse it for later ones. Thread-safe.
//
// A node runs as soon as its inputs and control inputs are ready, on the thread that completed the last of them. It
// runs on the pool instead if its kernel is expensive (scheduling.h) and that thread has other ready nodes or is a
// transport thread. If the plan ranks its nodes, each thread runs the ready nodes of a step in the order of their
// ranks. The first error stops the step: no further node is started, waiting kernels are cancelled, and the step ends
// when the last kernel that was started has returned.
//
// This class contains the propagator for plans without control flow: the code that passes the outputs of nodes on and
// finds the nodes that become ready. It passes steps of other plans to RunWithFrames (frame_step.h).
class Executor : public std::enable_shared_from_this<Executor> {
 public:
  // The kernels of all steps may use the same files as the thread that calls this constructor
  // (core/system/file_access.h). The time in which threads work on steps with a rendezvous is added to `*work`. `work`
  // may be null, and must outlive the executor.
  Executor(std::shared_ptr<const Plan> plan, ThreadPool* pool, ResourceManager* resources, WorkTime* work = nullptr);
  ~Executor();

  using Done = std::function<void(const Status& status, std::vector<Tensor> retvals)>;
  // Runs a step. The calling thread takes part and returns when it has no more nodes to run. `done` is called once, by
  // the thread that finishes the step, possibly before Run returns. `args` has one value per argument of the plan.
  // `rendezvous` may be null if the plan has no Send or Recv. `rendezvous`, `cancellation` and `tracer` (null unless
  // the step is traced) must stay alive until `done` is called. REQUIRES: a shared_ptr owns this executor.
  void Run(std::vector<Tensor> args, Rendezvous* rendezvous, CancellationManager* cancellation, Done done,
           StepTracer* tracer = nullptr);

  // Operations that a running step waits for, because their asynchronous kernels have not called back. Waits returns at
  // most a few of each step. `cancellation` identifies the step and may be gone when Waits returns.
  struct StepWaits {
    const CancellationManager* cancellation = nullptr;
    std::vector<WaitingOperation> operations;
  };
  std::vector<StepWaits> Waits();
  // The operations that the step with this `cancellation` waits for; empty if no such step runs here.
  std::vector<WaitingOperation> WaitsOf(const CancellationManager* cancellation);

  const Plan& plan() const { return *plan_; }

 private:
  // A running step as Waits sees it.
  struct Running {
    explicit Running(const Plan& plan) : waits(plan) {}
    const CancellationManager* cancellation = nullptr;  // constant while the step runs
    AsyncWaits waits;
  };
  struct Step;
  struct AsyncRun;
  using ReadyList = std::vector<int>;

  std::unique_ptr<Step> NewStep(const CancellationManager* cancellation);
  void RunFrames(const StepEnvironment& env, std::vector<Tensor> args, Done done);
  void Process(Step* step, ReadyList ready);
  // Lets a thread of the pool run the node.
  void HandOver(Step* step, int node);
  // If the first node that waits for the pool has a lower rank than `node`, returns it and lets `node` wait in its
  // place. Otherwise returns `node`.
  int ExchangeForLowerRank(Step* step, int node);
  // Runs one node with a synchronous kernel and appends the nodes that it made ready.
  void RunNode(Step* step, int node, ReadyList* ready);
  void StartAsync(Step* step, int node, ReadyList* ready);
  void Propagate(Step* step, const Plan::PlanNode& p, Entry* outputs, ReadyList* ready);
  void Deliver(Step* step, const Plan::DataEdge* begin, const Plan::DataEdge* end, Entry* outputs, ReadyList* ready);
  void Release(Step* step, int node, ReadyList* ready);
  void Fail(Step* step, const Plan::PlanNode& p, const Status& status);
  void NodesDone(Step* step, int count);

  const std::shared_ptr<const Plan> plan_;
  const FileAccess* const files_;  // the files that kernels may use; null if they may use all
  ThreadPool* const pool_;
  ResourceManager* const resources_;
  WorkTime* const work_;
  Mutex mu_;
  std::vector<std::unique_ptr<Step>> free_steps_ TB_GUARDED_BY(mu_);
  std::vector<Running*> running_steps_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_EXECUTOR_H_
