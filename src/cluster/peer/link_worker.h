// A RemoteWorker whose calls travel as messages over a link.
#ifndef TENSORBRAID_CLUSTER_PEER_LINK_WORKER_H_
#define TENSORBRAID_CLUSTER_PEER_LINK_WORKER_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cluster/peer/remote_worker.h"
#include "core/threads/mutex.h"
#include "transport/transport.h"

namespace tensorbraid {

// Each request carries a number, which the reply repeats. Steps are told apart by their ids. Thread-safe.
class LinkWorker final : public RemoteWorker {
 public:
  explicit LinkWorker(std::shared_ptr<Link> link) : link_(std::move(link)) {}

  const std::string& task() const override { return link_->peer().task; }
  uint64_t incarnation() const override { return link_->peer().incarnation; }
  Status state() const override;
  void RegisterGraph(SessionId session, uint64_t handle, const std::string& partition, bool isolated_state,
                     bool limited_files, Done done) override;
  void DeregisterGraph(SessionId session, uint64_t handle) override;
  void CloseSession(SessionId session) override;
  void ResetContainers(const std::vector<std::string>& containers, Done done) override;
  void GetReport(tensorbraid::GetReport question, ReportDone done) override;
  void RunGraph(StepId step, SessionId session, uint64_t handle, bool trace,
                std::shared_ptr<StepListener> listener) override;
  void AbortStep(StepId step, const Status& why) override;
  void EndStep(StepId step) override;

  // The worker's answers. Answers to calls that are no longer pending are ignored.
  void OnReply(const Reply& m);
  void OnStepDone(const StepDone& m);
  // The link is down: fails all pending calls and steps. Later calls of this function do nothing.
  void OnLinkDown(const Status& why);

 private:
  // Called with the status of the reply and its body.
  using Replied = std::function<void(const Status&, const std::string& body)>;
  // Sends a request (a message with a field `request`, which is filled in here).
  template <typename M>
  void Ask(M request, Replied done);
  static Replied WithoutBody(Done done) {
    return [done = std::move(done)](const Status& status, const std::string&) { done(status); };
  }

  const std::shared_ptr<Link> link_;
  mutable Mutex mu_;
  Status down_ TB_GUARDED_BY(mu_);  // OK while the link is up
  uint64_t last_request_ TB_GUARDED_BY(mu_) = 0;
  std::map<uint64_t, Replied> calls_ TB_GUARDED_BY(mu_);  // by request number
  absl::flat_hash_map<StepId, std::shared_ptr<StepListener>> steps_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_PEER_LINK_WORKER_H_
