// The state of one step on its master.
#ifndef TENSORBRAID_CLUSTER_MASTER_STEP_H_
#define TENSORBRAID_CLUSTER_MASTER_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "cluster/client_edges.h"
#include "cluster/master.h"
#include "runtime/step_tracer.h"

namespace tensorbraid {

// A step has one part on the master's own task and one on each other task that takes part. A remote part ends with
// StepDone or when its link breaks; the step ends when all parts have ended. The first error aborts the other parts.
// The step's error is the one that says most about the cause (core/error_rank.h). The step may outlive the client that
// waits for it. Thread-safe.
struct MasterSession::Step : std::enable_shared_from_this<MasterSession::Step> {
  Step(Master* master, StepId id, SessionId session, std::vector<std::shared_ptr<Link>> links, StepOptions options)
      : master(master),
        id(id),
        session(session),
        held(master->owner_.lock()),
        links(std::move(links)),
        client(std::move(options.client)),
        tracer(options.trace ? std::make_unique<StepTracer>() : nullptr),
        link_done(this->links.size(), false),
        remaining(static_cast<int>(this->links.size()) + 1) {}

  // Whether the whole step runs on the master's task, and so needs no rendezvous with other tasks.
  bool is_local() const { return links.empty(); }

  void OnLocalDone(const Status& status, std::vector<Tensor> values);
  // `trace` is a serialized StepStats if the step is traced.
  void OnRemoteDone(const std::shared_ptr<Link>& link, const Status& status, const std::string& trace);
  void OnLinkDown(const std::shared_ptr<Link>& link, const Status& why);
  // Fails the step with `why` and tells every part to stop.
  void Abort(const Status& why);
  // Blocks until the step has ended; returns false if `deadline` passes first. Logs which tasks it waits for, and for
  // which operations on this task.
  bool WaitUntil(MasterSession::Deadline deadline);
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

  Master* const master;
  const StepId id;
  const SessionId session;
  std::shared_ptr<Executor> local;   // of the master's own part; constant once the step has been started
  const std::shared_ptr<void> held;  // the master's owner, if it has one
  const std::vector<std::shared_ptr<Link>> links;
  const std::shared_ptr<ClientEdges> client;  // null unless the step is a partial run
  const std::unique_ptr<StepTracer> tracer;   // of the master's own part; null unless the step is traced
  CancellationManager cancellation;           // only for a local step; others are cancelled through their rendezvous
  Mutex mu;
  CondVar cv;
  std::vector<bool> link_done TB_GUARDED_BY(mu);
  bool local_done TB_GUARDED_BY(mu) = false;
  int remaining TB_GUARDED_BY(mu);                   // parts that have not ended; -1 when the step has ended
  bool others_told TB_GUARDED_BY(mu) = false;        // all parts have been told to stop
  bool aborted_by_client TB_GUARDED_BY(mu) = false;  // `status` is final
  Status status TB_GUARDED_BY(mu);
  // What parts reported after the step was aborted: the nodes that were interrupted, with their tasks.
  std::vector<std::string> interrupted TB_GUARDED_BY(mu);
  std::vector<Tensor> values TB_GUARDED_BY(mu);
  std::vector<std::string> traces TB_GUARDED_BY(mu);
  std::function<void()> on_end TB_GUARDED_BY(mu);

 private:
  // Records the error of a part or of an abort. Returns true if the other parts must be told.
  bool NoteError(const Status& error) TB_REQUIRES(mu);
  Status LateStatusLocked() const TB_REQUIRES(mu);
  void LogWait(std::chrono::steady_clock::duration waited);
  void PartDone(bool tell_others, const Status& error, bool ended);
  void Ended();
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MASTER_STEP_H_
