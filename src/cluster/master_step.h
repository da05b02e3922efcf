// One step, seen by its master.
#ifndef TENSORBRAID_CLUSTER_MASTER_STEP_H_
#define TENSORBRAID_CLUSTER_MASTER_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "cluster/client_edges.h"
#include "cluster/master.h"
#include "runtime/step_tracer.h"

namespace tensorbraid {

// Ends when all its parts have: its own part, and one per other task, which ends by StepDone or with its link. The
// first error, ranked by code, is the step's; it aborts the other parts. Outlives the client that waits for it.
// Thread-safe.
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

  // Whether all of it runs on the master's task: then it needs no rendezvous with others.
  bool is_local() const { return links.empty(); }

  void OnLocalDone(const Status& status, std::vector<Tensor> values);
  // `trace`: a StepStats, of a step that is traced.
  void OnRemoteDone(const std::shared_ptr<Link>& link, const Status& status, const std::string& trace);
  void OnLinkDown(const std::shared_ptr<Link>& link, const Status& why);
  // Makes every part stop.
  void Abort(const Status& why);
  // True when the step ended before `deadline`. Logs what it waits for.
  bool WaitUntil(MasterSession::Deadline deadline);
  // Calls back when the step has ended, on the thread that ends it; at once if it has. To be called once at most.
  void WhenEnded(std::function<void()> callback);
  // The fetches, or why there are none. REQUIRES: it has ended; once.
  StatusOr<std::vector<Tensor>> TakeResult();
  // What the tasks say of when their nodes ran, a StepStats each. REQUIRES: it has ended; was traced.
  std::vector<std::string> TakeTraces();

  Master* const master;
  const StepId id;
  const SessionId session;
  const std::shared_ptr<void> held;
  const std::vector<std::shared_ptr<Link>> links;
  const std::shared_ptr<ClientEdges> client;  // null unless it is fed and fetched bit by bit
  const std::unique_ptr<StepTracer> tracer;   // of the own part; null unless the step is traced
  CancellationManager cancellation;           // of a local step; others are cancelled through their rendezvous
  Mutex mu;
  CondVar cv;
  std::vector<bool> link_done TB_GUARDED_BY(mu);
  bool local_done TB_GUARDED_BY(mu) = false;
  int remaining TB_GUARDED_BY(mu);
  bool aborted TB_GUARDED_BY(mu) = false;
  Status status TB_GUARDED_BY(mu);
  std::vector<Tensor> values TB_GUARDED_BY(mu);
  std::vector<std::string> traces TB_GUARDED_BY(mu);
  std::function<void()> on_end TB_GUARDED_BY(mu);

 private:
  // Notes an error; true when the other parts must be told.
  bool NoteError(const Status& error) TB_REQUIRES(mu);
  void PartDone(bool tell_others, const Status& error, bool ended);
  void Ended();
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MASTER_STEP_H_
