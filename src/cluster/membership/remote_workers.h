// The workers of the other tasks of a cluster.
#ifndef TENSORBRAID_CLUSTER_MEMBERSHIP_REMOTE_WORKERS_H_
#define TENSORBRAID_CLUSTER_MEMBERSHIP_REMOTE_WORKERS_H_

#include <chrono>
#include <memory>
#include <string>

#include "cluster/membership/membership.h"
#include "cluster/peer/remote_worker.h"
#include "core/threads/still_wanted.h"

namespace tensorbraid {

// Finds RemoteWorkers by task. Today every one is the LinkWorker of a PeerConnection; masters see only RemoteWorkers,
// so that others can be added here. Thread-safe.
class RemoteWorkers {
 public:
  // `membership` must outlive this object.
  explicit RemoteWorkers(Membership* membership) : membership_(membership) {}

  // Null if the task is not connected.
  std::shared_ptr<RemoteWorker> Find(const std::string& task);
  // Blocks until the task is connected; see Connections::WaitFor.
  StatusOr<std::shared_ptr<RemoteWorker>> WaitFor(const std::string& task,
                                                  std::chrono::steady_clock::time_point deadline,
                                                  const StillWanted& still_wanted);
  // Returns the current connection to the incarnation of `known`, which is `known` itself while it is up. Unavailable
  // if the task is not connected, Aborted if it has been restarted or has ended the session.
  StatusOr<std::shared_ptr<RemoteWorker>> Current(const std::shared_ptr<RemoteWorker>& known);

 private:
  Membership* const membership_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MEMBERSHIP_REMOTE_WORKERS_H_
