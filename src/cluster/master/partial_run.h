// A partial run: a step that is fed and fetched in several calls.
#ifndef TENSORBRAID_CLUSTER_MASTER_PARTIAL_RUN_H_
#define TENSORBRAID_CLUSTER_MASTER_PARTIAL_RUN_H_

#include <functional>
#include <memory>
#include <vector>

#include "cluster/exchange/client_edges.h"
#include "cluster/master/master_session.h"

namespace tensorbraid {

// A partial run lasts from its setup until everything has been fed and fetched, or until an error. The first call
// starts the step. An invalid call (one with a tensor that was not set up, is fed or fetched again, or cannot be
// computed yet) gets InvalidArgument and changes nothing. Thread-safe.
class PartialRun : public std::enable_shared_from_this<PartialRun> {
 public:
  using Deadline = MasterSession::Deadline;
  using Done = std::function<void(StatusOr<std::vector<Tensor>>)>;

  // `compiled` is the result of MasterSession::Prepare for the signature. If it is an error, the first call returns it,
  // since errors of a step are reported when it runs. REQUIRES: signature.by_client_edges.
  PartialRun(std::shared_ptr<MasterSession> session, RunSignature signature,
             StatusOr<std::shared_ptr<CompiledGraph>> compiled);

  // One call of the client.
  struct Part {
    std::vector<Output> feeds;
    std::vector<Tensor> values;
    std::vector<Output> fetches;
  };
  // Checks a call and records what it feeds and fetches.
  Status Accept(const Part& part);
  // Returns the step. The first call starts it, which may block as MasterSession::Start does.
  StatusOr<std::shared_ptr<MasterStep>> Begin(Deadline deadline);
  // Whether Begin would not block now.
  bool CanBegin();
  // Passes the feeds to the step, whose kernels may run on this thread, and calls `done` with the fetches once they are
  // computed. For the last call of the run, `done` is called when the step has ended. REQUIRES: Accept and Begin have
  // succeeded.
  void Continue(Part part, Done done);
  // Aborts the step if it has been started.
  void Abort(const Status& why);
  // The number of feeds and fetches, plus 1 so that it is never 0.
  size_t num_edges() const { return 1 + signature_.feeds.size() + signature_.fetches.size(); }
  // Whether no further call is possible: everything has been fed and fetched, or the step has failed.
  bool is_over();

 private:
  // The index of `output` in `in`, or -1.
  static int Find(const std::vector<Output>& in, const Output& output);
  Status CheckComputable(const Part& part) TB_REQUIRES(mu_);
  void WhenEnded(std::function<void(const Status&)> callback);
  void OnEnded(const Status& status);

  const std::shared_ptr<MasterSession> session_;
  const RunSignature signature_;
  const StatusOr<std::shared_ptr<CompiledGraph>> compiled_;
  const std::shared_ptr<ClientEdges> edges_;
  Mutex begin_mu_;  // held while the step is started; taken before mu_
  Mutex mu_;
  std::shared_ptr<MasterStep> step_ TB_GUARDED_BY(mu_);
  std::vector<bool> fed_ TB_GUARDED_BY(mu_);
  std::vector<bool> fetched_ TB_GUARDED_BY(mu_);
  bool complete_ TB_GUARDED_BY(mu_) = false;  // everything has been fed and requested
  bool ended_ TB_GUARDED_BY(mu_) = false;
  Status status_ TB_GUARDED_BY(mu_);  // of the step, once it has ended
  std::vector<std::function<void(const Status&)>> when_ended_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MASTER_PARTIAL_RUN_H_
