// The workers of the other tasks of a cluster.
#ifndef TENSORBRAID_CLUSTER_WORKER_WORKER_CACHE_H_
#define TENSORBRAID_CLUSTER_WORKER_WORKER_CACHE_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "cluster/membership/membership.h"
#include "cluster/worker/link_worker.h"
#include "core/threads/mutex.h"
#include "core/threads/still_wanted.h"

namespace tensorbraid {

// Finds RemoteWorkers by task, and passes them the messages of their links. Today all of them are LinkWorkers. Masters
// see only the interface, so other kinds can be added here. Thread-safe.
class WorkerCache {
 public:
  // `membership` must outlive the cache.
  explicit WorkerCache(Membership* membership) : membership_(membership) {}

  // Null if the task is not connected.
  std::shared_ptr<RemoteWorker> Find(const std::string& task);
  // Blocks until the task is connected; see Membership::WaitFor.
  StatusOr<std::shared_ptr<RemoteWorker>> WaitFor(const std::string& task,
                                                  std::chrono::steady_clock::time_point deadline,
                                                  const StillWanted& still_wanted);
  // Returns the current connection to the incarnation of `known`, which is `known` itself while it is up. Unavailable
  // if the task is not connected, Aborted if it has been restarted or has ended the session.
  StatusOr<std::shared_ptr<RemoteWorker>> Current(const std::shared_ptr<RemoteWorker>& known);

  // Events of a link: first OnLinkUp, then messages, last OnLinkDown.
  void OnLinkUp(const std::shared_ptr<Link>& link);
  void OnReply(const Link& link, const Reply& m);
  void OnStepDone(const Link& link, const StepDone& m);
  void OnLinkDown(const Link& link, const Status& why);

 private:
  std::shared_ptr<LinkWorker> WorkerOf(const Link& link);

  Membership* const membership_;
  Mutex mu_;
  absl::flat_hash_map<const Link*, std::shared_ptr<LinkWorker>> workers_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_WORKER_WORKER_CACHE_H_
