// A run whose feeds and fetches come in several calls.
#ifndef TENSORBRAID_CLUSTER_PARTIAL_RUN_H_
#define TENSORBRAID_CLUSTER_PARTIAL_RUN_H_

#include <functional>
#include <memory>
#include <vector>

#include "cluster/client_edges.h"
#include "cluster/master.h"

namespace tensorbraid {

// From its setup until everything has been fed and fetched, or an error. The step begins with the first call. Mistakes
// of a call (what was not set up, what is fed or fetched again, what cannot be computed yet) are InvalidArgument and
// change nothing. Thread-safe.
class PartialRun : public std::enable_shared_from_this<PartialRun> {
 public:
  using Deadline = MasterSession::Deadline;
  using Done = std::function<void(StatusOr<std::vector<Tensor>>)>;

  // `compiled` is what MasterSession::Prepare gave for the signature; its error is the first call's: what is wrong with
  // a step is said when it runs. REQUIRES: signature.by_client_edges.
  PartialRun(std::shared_ptr<MasterSession> session, RunSignature signature,
             StatusOr<std::shared_ptr<CompiledGraph>> compiled);

  // One call of the client.
  struct Part {
    std::vector<Output> feeds;
    std::vector<Tensor> values;
    std::vector<Output> fetches;
  };
  // Checks a call and notes what it feeds and fetches.
  Status Accept(const Part& part);
  // The step that calls are part of; the first of them starts it, which may block as MasterSession::Start does.
  StatusOr<std::shared_ptr<MasterSession::Step>> Begin(Deadline deadline);
  // Whether Begin does not block now.
  bool CanBegin();
  // Hands the feeds to the step, some of which may run on this thread, and calls `done` with the fetches when they have
  // come: after the last call when the step has ended. REQUIRES: accepted; the step has begun.
  void Continue(Part part, Done done);
  // Ends the step, if it has begun.
  void Abort(const Status& why);
  // Feeds and fetches; never 0.
  size_t num_ends() const { return 1 + signature_.feeds.size() + signature_.fetches.size(); }
  // Whether no call can follow: everything has been fed and fetched, or the step has failed.
  bool is_over();

 private:
  // The position of an output in the signature; -1 when it is not there.
  static int Find(const std::vector<Output>& in, const Output& output);
  Status CheckComputable(const Part& part) TB_REQUIRES(mu_);
  void WhenEnded(std::function<void(const Status&)> callback);
  void OnEnded(const Status& status);

  const std::shared_ptr<MasterSession> session_;
  const RunSignature signature_;
  const StatusOr<std::shared_ptr<CompiledGraph>> compiled_;
  const std::shared_ptr<ClientEdges> edges_;
  Mutex begin_mu_;  // the step begins once; taken before mu_
  Mutex mu_;
  std::shared_ptr<MasterSession::Step> step_ TB_GUARDED_BY(mu_);
  std::vector<bool> fed_ TB_GUARDED_BY(mu_);
  std::vector<bool> fetched_ TB_GUARDED_BY(mu_);
  bool complete_ TB_GUARDED_BY(mu_) = false;  // everything has been fed and asked for
  bool ended_ TB_GUARDED_BY(mu_) = false;
  Status status_ TB_GUARDED_BY(mu_);  // of the step that has ended
  std::vector<std::function<void(const Status&)>> when_ended_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_PARTIAL_RUN_H_
