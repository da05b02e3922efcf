// The state of one step on its master.
#ifndef TENSORBRAID_CLUSTER_MASTER_MASTER_STEP_H_
#define TENSORBRAID_CLUSTER_MASTER_MASTER_STEP_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/exchange/client_edges.h"
#include "cluster/master/master_env.h"
#include "cluster/peer/remote_worker.h"
#include "core/system/clock.h"
#include "runtime/kernel/step_tracer.h"

namespace tensorbraid {

struct StepOptions {
  std::shared_ptr<ClientEdges> client = nullptr;  // required if the signature has by_client_edges
  bool trace = false;
  bool lasts_with_session = false;  // no log or report mentions that the step has not ended
};

// The error of a step that has not ended by its deadline.
Status LateStep();
// After the deadline all parts of the step are told to stop. A task that does not answer within this time (such as a
// stopped process) is not waited for.
inline constexpr std::chrono::milliseconds kStepGrace{500};

// A step has one part on the master's own task and one on each other worker that takes part. The step ends when each
// part has ended or the connection to its worker is gone. The first error aborts the other parts. The step's error is
// the one that says most about the cause (core/errors/error_rank.h). The step may outlive the client that waits for it.
// Thread-safe.
class MasterStep final : public RemoteWorker::StepListener, public std::enable_shared_from_this<MasterStep> {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // `local` is the master's own part. `workers` have registered the other parts under `handle`.
  MasterStep(MasterEnv* env, SessionId session, std::shared_ptr<Executor> local,
             std::vector<std::shared_ptr<RemoteWorker>> workers, StepOptions options);

  // Starts all parts, and runs the master's own on this thread while kernels are ready. Call once.
  void Run(uint64_t handle, std::vector<Tensor> feeds);
  // Fails the step with `why` and tells every part to stop.
  void Abort(const Status& why);
  // Blocks until the step has ended; returns false if `deadline` passes first. Logs which tasks it waits for, and for
  // which operations on this task.
  bool WaitUntil(Deadline deadline);
  // Calls back when the step has ended, on the thread that ends it, or at once if it has ended already. Call at most
  // once.
  void WhenEnded(std::function<void()> callback);
  // DeadlineExceeded, with the nodes that the step was waiting for when it was aborted, or else the tasks on which it
  // still runs.
  Status LateStatus();
  // Returns the fetches or the step's error. REQUIRES: the step has ended; called once.
  StatusOr<std::vector<Tensor>> TakeResult();
  // Returns a serialized StepStats from each task. REQUIRES: the step has ended and was traced.
  std::vector<std::string> TakeTraces();

  // Called when a part has ended.
  void OnLocalDone(const Status& status, std::vector<Tensor> values);
  void OnPartDone(const RemoteWorker& worker, const Status& status, const std::string& stats) override;

  // The parts that have not ended, as the full names of their tasks; none if the step lasts with its session.
  // `cancellation` identifies the master's own part in
  // its executor (Executor::WaitsOf); it is null if that part has ended.
  struct Progress {
    std::vector<std::string> tasks;
    const CancellationManager* cancellation = nullptr;
  };
  Progress progress();

  // Whether the whole step runs on the master's task, and so needs no rendezvous with other tasks.
  bool is_local() const { return workers_.empty(); }

  const SessionId session;
  const StepId id;
  const MonotonicClock::time_point begun;

 private:
  // Records the error of a part or of an abort. Returns true if the other parts must be told.
  bool NoteError(const Status& error) TB_REQUIRES(mu_);
  // The workers whose parts have not ended.
  std::vector<std::shared_ptr<RemoteWorker>> RunningWorkers() const TB_REQUIRES(mu_);
  Status LateStatusLocked() const TB_REQUIRES(mu_);
  void LogWait(std::chrono::steady_clock::duration waited);
  // Tells every part that has not ended to stop.
  void TellParts(const Status& why);
  void PartDone(bool tell_others, const Status& error, bool ended);
  void Ended();

  MasterEnv* const env_;
  const std::shared_ptr<Executor> local_;
  const std::shared_ptr<void> owner_;  // the master's owner, if it has one
  const std::vector<std::shared_ptr<RemoteWorker>> workers_;
  const std::shared_ptr<ClientEdges> client_;  // null unless the step is a partial run
  const bool lasts_with_session_;
  const std::unique_ptr<StepTracer> tracer_;  // of the master's own part; null unless the step is traced
  CancellationManager cancellation_;          // only for a local step; others are cancelled through their rendezvous
  std::atomic<bool> has_ended_{false};        // set with remaining_, for threads that poll
  Mutex mu_;
  CondVar cv_;
  std::vector<bool> worker_done_ TB_GUARDED_BY(mu_);
  bool local_done_ TB_GUARDED_BY(mu_) = false;
  int remaining_ TB_GUARDED_BY(mu_);                   // parts that have not ended; -1 when the step has ended
  bool others_told_ TB_GUARDED_BY(mu_) = false;        // all parts have been told to stop
  bool aborted_by_client_ TB_GUARDED_BY(mu_) = false;  // then `status_` is final
  Status status_ TB_GUARDED_BY(mu_);
  // What parts reported after the step was aborted: the errors of the nodes that were interrupted, with their tasks.
  std::vector<Status> interrupted_ TB_GUARDED_BY(mu_);
  std::vector<Tensor> values_ TB_GUARDED_BY(mu_);
  std::vector<std::string> traces_ TB_GUARDED_BY(mu_);
  std::function<void()> on_end_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MASTER_MASTER_STEP_H_
